"""A Parquet file scored in parts, beside only reading it: rows a second, and the most memory that a process took.

In: how large the file is. Out: a comparison. Every run is a process of its own, timed from the first byte that is read
to the last that is written, since memory is never given back within one. Only reading is pyarrow's own, part by part,
of all columns: as the file has them, and with the codes that texts have in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from ucl.bench.comparison import OURS, Comparison
from ucl.bench.meetings import TWELVE, some_meetings

_ROWS_AT_ONCE = 1 << 17

_MEASURED = """
import json, resource, sys, time
path, out = sys.argv[1:3]
{before}
start = time.perf_counter()
{run}
taken = time.perf_counter() - start
print(json.dumps([taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
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
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        most: dict[str, int] = dict.fromkeys(runs, 0)
        for _ in range(repeats):
            for name, code in runs.items():
                taken, memory = _run(code, path, Path(folder) / "out.parquet")
                seconds[name].append(taken)
                most[name] = max(most[name], memory)
        size = path.stat().st_size >> 20
    found = Comparison(f"{size:,} MiB of Parquet, {rows:,} rows, 12 rules", seconds, rows)
    found.print()
    for name, memory in most.items():
        share = median(read / own for read, own in zip(seconds["only reading"], seconds[name], strict=True))
        print(f"  {name:34} {memory / 1024:10.0f} MiB of memory, {share * 100:.0f} % of the speed of only reading")
    yield found


def _run(code: str, path: Path, out: Path) -> tuple[float, int]:
    done = subprocess.run([sys.executable, "-c", code, path, out], check=True, capture_output=True, text=True)
    taken, memory = json.loads(done.stdout)
    return taken, memory


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
