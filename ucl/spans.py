"""Where the time of a run goes: spans of work, measured where the work is done.

In: `with span("reading"):` around a piece of work, in any room and any thread. Out: while a `Recording` is on, seconds
by name, each span's own without those inside it, so that a thread's spans add up to its time. Off, as nearly always, a
span costs next to nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType


@dataclass
class Recording:
    """`own` has the seconds of the thread that started it, by name, in the order of their first start, `beside` those
    of other threads, which go on at the same time; `total` is how long the recording was on."""

    own: dict[str, float] = field(default_factory=dict)
    beside: dict[str, float] = field(default_factory=dict)
    total: float = 0.0
    _thread: int = field(default_factory=threading.get_ident)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def rest(self) -> float:
        """Seconds of the thread outside any span."""
        return max(0.0, self.total - sum(self.own.values()))

    def open(self, name: str) -> None:
        """Gives the name its place."""
        with self._lock:
            self._of_thread().setdefault(name, 0.0)

    def add(self, name: str, seconds: float) -> None:
        with self._lock:
            self._of_thread()[name] += seconds

    def _of_thread(self) -> dict[str, float]:
        return self.own if threading.get_ident() == self._thread else self.beside

    def shares(self) -> Mapping[str, float]:
        """The parts of the total by name."""
        return {name: seconds / self.total for name, seconds in self.own.items()} if self.total else {}


_recording: Recording | None = None
_inner = threading.local()  # seconds of the spans inside the one that is open, by thread


@contextmanager
def recorded() -> Iterator[Recording]:
    """Turns recording on for the whole process; there is one recording at a time."""
    global _recording  # noqa: PLW0603 - so that rooms need not hand it on
    recording = Recording()
    _recording = recording
    start = time.perf_counter()
    try:
        yield recording
    finally:
        recording.total = time.perf_counter() - start
        _recording = None


class span:  # noqa: N801 - reads as a word of the language where it is used
    """A piece of work of that name, as a context."""

    __slots__ = ("_before", "_name", "_recording", "_start")

    def __init__(self, name: str) -> None:
        self._name = name
        self._recording = _recording

    def __enter__(self) -> None:
        if self._recording is None:
            return
        self._recording.open(self._name)
        self._before = getattr(_inner, "seconds", 0.0)
        _inner.seconds = 0.0
        self._start = time.perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._recording is None:
            return
        taken = time.perf_counter() - self._start
        self._recording.add(self._name, taken - _inner.seconds)
        _inner.seconds = self._before + taken
