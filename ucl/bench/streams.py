"""A Parquet file scored in parts, beside only reading it: rows a second, and the most memory that a process took.

In: how large the file is. Out: a comparison. Every run is a process of its own, timed from the first byte that is read
to the last that is written, since memory is never given back within one; its memory is that of the whole process.

Only reading is pyarrow's own, part by part, of all columns, which are then thrown away: as the file has them, texts as
texts; and texts by the codes that they have in it. Of ours, the first finds the best ten rows and writes nothing; the
second writes each row's number, total, feasibility and decision; the third all of the input's columns with all that is
said of a row. Each is given as many threads as it takes: reading one for a column, ours one to read, one to score, one
to write. So there are two shares of the speed of only reading: by the clock, with all cores; and by the processor's
time, which is what one core would take for each.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from ucl.bench.comparison import OURS, Comparison
from ucl.bench.meetings import TWELVE, some_meetings

_ROWS_AT_ONCE = 1 << 17

# The most memory of this program, in KiB. What `getrusage` says may be that of the process that started it.
_MEASURED = """
import json, resource, sys, time
def most_memory():
    try:
        lines = open("/proc/self/status").read().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
path, out = sys.argv[1:3]
{before}
start, before = time.perf_counter(), time.process_time()
{run}
taken, worked = time.perf_counter() - start, time.process_time() - before
print(json.dumps([taken, worked, most_memory()]))
"""
_READ = """
rows = 0
for batch in parquet.ParquetFile(path, {how}).iter_batches({size}):
    rows += batch.num_rows
"""
_TEXTS = 'read_dictionary=["kind", "organizer", "attendees.list.element"], pre_buffer=False, buffer_size=1 << 20'
_SCORE = f"""
import ucl
from ucl.kernels.engines.choice import warm_up
program = ucl.compile({TWELVE!r})
warm_up()
"""


def file_in_parts(megabytes: int, repeats: int) -> Iterator[Comparison]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "meetings.parquet"
        rows = _write(path, megabytes << 20)
        reading = {
            "only reading": _READ.format(how="pre_buffer=True", size=_ROWS_AT_ONCE),
            "only reading, texts as codes": _READ.format(how=_TEXTS, size=_ROWS_AT_ONCE),
        }
        scoring = {
            f"{OURS}": 'program.score_file(path, top=10, now="2026-01-01T00:00:00Z")',
            f"{OURS}, scores written": 'program.score_file(path, out, columns="scores", now="2026-01-01T00:00:00Z")',
            f"{OURS}, all columns written": 'program.score_file(path, out, now="2026-01-01T00:00:00Z")',
        }
        runs = {name: _MEASURED.format(before=_SCORE, run=run) for name, run in scoring.items()}
        runs |= {
            name: _MEASURED.format(before="import pyarrow.parquet as parquet", run=run) for name, run in reading.items()
        }
        found: dict[str, list[_Run]] = {name: [] for name in runs}
        for _ in range(repeats):
            for name, code in runs.items():
                found[name].append(_run(code, path, Path(folder) / "out.parquet"))
        size = path.stat().st_size >> 20
    seconds = {name: [run.taken for run in own] for name, own in found.items()}
    comparison = Comparison(f"{size:,} MiB of Parquet, {rows:,} rows, 12 rules", seconds, rows)
    comparison.print()
    print("  of the speed of only reading, and the most memory of the process")
    for name, own in found.items():
        pairs = list(zip(found["only reading"], own, strict=True))
        clock = median(read.taken / run.taken for read, run in pairs)
        core = median(read.worked / run.worked for read, run in pairs)
        memory = max(run.memory for run in own) / 1024
        print(f"  {name:34} {clock * 100:6.0f} % by the clock {core * 100:6.0f} % on one core {memory:8.0f} MiB")
    yield comparison


class _Run(NamedTuple):
    """Seconds by the clock and of the processor, KiB of memory."""

    taken: float
    worked: float
    memory: int


def _run(code: str, path: Path, out: Path) -> _Run:
    done = subprocess.run([sys.executable, "-c", code, path, out], check=True, capture_output=True, text=True)
    return _Run(*json.loads(done.stdout))


def _write(path: Path, size: int) -> int:
    """Meetings until the file is so large: texts with dictionaries of Parquet's own."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    from ucl.bench.peers.frames import arrow_table

    def part(seed: int) -> pa.Table:
        table = arrow_table(some_meetings(_ROWS_AT_ONCE * 4, seed))
        return pa.table({name: _plain(table[name]) for name in table.column_names})

    rows, first = 0, part(0)
    with parquet.ParquetWriter(path, first.schema) as writer:
        while rows == 0 or path.stat().st_size < size:
            table = first if rows == 0 else part(rows)
            writer.write_table(table)
            rows += table.num_rows
    return rows


def _plain(column: object) -> object:
    """Texts as most files have them."""
    import pyarrow as pa

    assert isinstance(column, pa.ChunkedArray)
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return column.cast(pa.list_(pa.string()))
    return column
