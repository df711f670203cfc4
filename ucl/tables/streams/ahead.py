"""The next parts of a stream made by a thread of their own, while the last one is used.

In: an iterator. Out: the same in the same order. At most `AHEAD` parts wait; what the iterator raises is raised where
its part would have come; who stops early stops the thread, too.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from queue import Empty, Full, Queue
from typing import TypeVar

T = TypeVar("T")

AHEAD = 2
_PATIENCE = 0.1


class _End:
    """After the last part; `problem` is what ended the iterator too early."""

    def __init__(self, problem: BaseException | None = None) -> None:
        self.problem = problem


def ahead(parts: Iterable[T]) -> Generator[T]:
    """The thread starts with the first part that is asked for, and ends before the generator does."""
    waiting: Queue[T | _End] = Queue(AHEAD)
    stopped = threading.Event()
    thread = threading.Thread(target=_fill, args=(parts, waiting, stopped), name="ucl-ahead", daemon=True)
    thread.start()
    try:
        while True:
            part = waiting.get()
            if isinstance(part, _End):
                if part.problem is not None:
                    raise part.problem
                return
            yield part
    finally:
        stopped.set()
        _empty(waiting)
        thread.join()


def _fill(parts: Iterable[T], waiting: Queue[T | _End], stopped: threading.Event) -> None:
    end = _End()
    try:
        iterator = iter(parts)
        for part in iterator:
            if not _put(part, waiting, stopped):
                break
        if isinstance(iterator, Generator):
            iterator.close()
    except BaseException as problem:
        end = _End(problem)
    _put(end, waiting, stopped)


def _put(part: T | _End, waiting: Queue[T | _End], stopped: threading.Event) -> bool:
    while not stopped.is_set():
        try:
            waiting.put(part, timeout=_PATIENCE)
        except Full:
            continue
        return True
    return False


def _empty(waiting: Queue[T | _End]) -> None:
    try:
        while True:
            waiting.get_nowait()
    except Empty:
        return
