"""How far a long command is: a line on standard error, for a person who waits for more than a second.

In: the phases of a run, and how many rows of each are done. Out: nothing in the first second, nothing where standard
error is no terminal, and nothing left behind at the end.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from ucl.cli.output import remark

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_PATIENCE = 1.0
_EVERY = 256

T = TypeVar("T")


class Progress:
    """The phases of one run, as a context. A timer shows it, since a phase may be one call that takes long."""

    def __init__(self, wanted: bool = True) -> None:
        self._lock = threading.Lock()
        self._phase, self._done = "", 0
        self._rows: int | None = None
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._timer = threading.Timer(_PATIENCE, self._show) if wanted and sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def phase(self, name: str, rows: int | None = None) -> None:
        """What is being done from now on, and to how many rows, where that is known."""
        with self._lock:
            self._phase, self._rows, self._done = name, rows, 0
            if self._bar is not None:
                self._add_task(self._bar)

    def rows_done(self, count: int) -> None:
        """So many more rows of the phase."""
        with self._lock:
            self._done += count
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, completed=self._done)

    def over(self, rows: Iterable[T]) -> Iterator[T]:
        """The same, each counted as a row of the phase."""
        done = 0
        for done, row in enumerate(rows, 1):
            yield row
            if done % _EVERY == 0:
                self.rows_done(_EVERY)
        self.rows_done(done % _EVERY)

    def remark(self, text: str) -> None:
        """A line that stays, above the bar."""
        with self._lock:
            if self._bar is None:
                remark(text)
            else:
                self._bar.console.print(text, markup=False, highlight=False)

    def stop(self) -> None:
        """Shows no more: the run is over, or writes to the terminal itself."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._timer = None
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        with self._lock:
            if self._timer is None:
                return
            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._add_task(self._bar)
            self._bar.start()

    def _add_task(self, bar: Bar) -> None:
        if self._task is not None:
            bar.remove_task(self._task)
        self._task = bar.add_task(self._phase, total=self._rows, completed=self._done)
