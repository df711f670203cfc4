"""What fresh processes take from starting Python to an answer, and what Python and its libraries take of that.

In: how many repeats. Out: lines of seconds by the clock, and of the processor, all processes taking turns. What was
compiled for a machine once is there, but for the line that says that the cache of kernels is empty; modules are
compiled to byte code by a first turn that is not counted.

A few dicts, a small file on the command line, and a million rows with a hundred rules are each a start of their own,
since what one of them puts off, another has to do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from ucl.bench.meetings import TWELVE, many_rules, some_meetings

_TEXT = 'schema S { n: int  kind: "a" | "b" }\nrule r on S { when n > 3 and kind == "a" score 0.5 }'
_DICTS = f"""
import ucl
result = ucl.compile({_TEXT!r}).score([{{"n": n, "kind": "ab"[n % 2]}} for n in range(1000)])
assert result.total.sum() > 0
"""
_LARGE = """
import sys, ucl, pyarrow as pa
with pa.memory_map(sys.argv[2]) as file:
    result = ucl.load(sys.argv[1]).score(pa.ipc.open_file(file).read_all())
assert result.total.sum() != 0
"""
_COMMAND = "from ucl.cli import main; raise SystemExit(main())"
_LARGE_ROWS, _LARGE_RULES, _SMALL_ROWS = 1_000_000, 100, 60


@dataclass(frozen=True)
class _Start:
    """A program that Python runs with some words, and what the environment says beyond our own."""

    code: str
    words: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def seconds(self) -> tuple[float, float]:
        """By the clock, and of the processor."""
        known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        start, before = time.perf_counter(), os.times()
        subprocess.run(
            [sys.executable, "-c", self.code, *self.words],
            env={**known, **self.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        after = os.times()
        worked = after.children_user - before.children_user + after.children_system - before.children_system
        return time.perf_counter() - start, worked


def first_process(repeats: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        starts = _starts(Path(folder))
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in starts}
        for turn in range(repeats + 1):
            for name, start in starts.items():
                seconds = start.seconds()
                if turn:
                    taken[name].append(seconds)
    for name, times in taken.items():
        clock, worked = zip(*times, strict=True)
        print(f"{name:50} {median(clock):6.2f} s ({min(clock):.2f} to {max(clock):.2f}), {min(worked):.2f} s of work")


def _starts(folder: Path) -> dict[str, _Start]:
    program, rules, csv, arrow = (str(folder / name) for name in ("m.ucl", "rules.ucl", "m.csv", "m.arrow"))
    Path(program).write_text(TWELVE)
    Path(rules).write_text(many_rules(_LARGE_RULES))
    _write_tables(csv, arrow)
    empty = folder / "empty"
    empty.mkdir()
    return {
        "python": _Start("pass"),
        "import numpy": _Start("import numpy"),
        "import numpy, pyarrow": _Start("import numpy, pyarrow"),
        "1,000 dicts, cache filled": _Start(_DICTS),
        "1,000 dicts, cache empty": _Start(_DICTS, (), {"UCL_CACHE_DIR": str(empty)}),
        "uclc --help": _Start(_COMMAND, ("--help",)),
        "uclc check --fast, 12 rules": _Start(_COMMAND, ("check", "--fast", program)),
        f"uclc score, 12 rules, {_SMALL_ROWS} rows of CSV": _Start(_COMMAND, ("score", program, csv)),
        f"{_LARGE_RULES} rules, {_LARGE_ROWS:,} rows of Arrow, cache filled": _Start(_LARGE, (rules, arrow)),
    }


def _write_tables(csv: str, arrow: str) -> None:
    """The meetings of the other works: a few, and many."""
    import pyarrow as pa

    from ucl.bench.peers.frames import arrow_table
    from ucl.tables.output import write_table

    write_table(arrow_table(some_meetings(_SMALL_ROWS)), csv, "csv")
    with pa.OSFile(arrow, "wb") as file:
        table = arrow_table(some_meetings(_LARGE_ROWS))
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
