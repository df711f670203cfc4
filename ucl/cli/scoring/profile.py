"""Where the time of a run went: `--profile`.

In: the spans of a run. Out: a table on standard error, or one JSON object there where the results are JSON. The spans
of the command's own thread and what lies outside of them add up to the whole; other threads worked beside it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ucl.cli.output import remark, text_table
from ucl.spans import Recording, recorded


@contextmanager
def profiled(wanted: bool, as_json: bool) -> Iterator[None]:
    """Measures what is done within, and says it at the end, of a run that went well."""
    if not wanted:
        yield
        return
    with recorded() as recording:
        yield
    if as_json:
        print(json.dumps({"profile": as_data(recording)}), file=sys.stderr)
    else:
        for line in _lines(recording):
            remark(line)


def as_data(recording: Recording) -> dict[str, Any]:
    """Seconds: `total`, `spans` of the command's thread, which with `other` are the total, and `beside` it."""
    return {
        "total": recording.total,
        "spans": dict(recording.own),
        "other": recording.rest,
        "beside": dict(recording.beside),
    }


def _lines(recording: Recording) -> Iterator[str]:
    rows = [_row(name, seconds, recording.total) for name, seconds in _greatest(recording.own)]
    rows.append(_row("other", recording.rest, recording.total))
    rows.append(_row("in all", recording.total, recording.total))
    yield from text_table(["where the time went", "ms", "share"], rows, [()] * len(rows), right={1, 2})
    if recording.beside:
        rows = [_row(name, seconds, recording.total) for name, seconds in _greatest(recording.beside)]
        yield from text_table(["meanwhile, in other threads", "ms", "share"], rows, [()] * len(rows), right={1, 2})


def _greatest(seconds: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(seconds.items(), key=lambda item: -item[1])


def _row(name: str, seconds: float, total: float) -> list[str]:
    return [name, f"{seconds * 1e3:.1f}", f"{seconds / total * 100 if total else 0:.0f}%"]
