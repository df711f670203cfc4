"""C, written for the program and compiled on the spot with AVX-512 intrinsics: what a rival that knows all rules does.

In: a `Work`, prepared columns. Out: a function that computes totals and what is feasible. Sixteen rows at a time: each
test is one compare to a mask, conditions are shared by the compiler, scores are masked adds. Who is invited becomes
bits in a pass over the lists before. Where there is no compiler, or no AVX-512, there is no such peer.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.bench.meetings import PEOPLE
from ucl.bench.peers.frames import Answer
from ucl.bench.peers.work import (
    All,
    Between,
    Condition,
    Holds,
    Line,
    Not,
    OneOf,
    Overlap,
    Some,
    Work,
    codes,
    people_codes,
)

_ROWS = 16
_INTEGERS = ("clock", "day", "duration", "kind", "organizer", "count", "priority")

_HEAD = """
#include <immintrin.h>
#include <stdint.h>
typedef __mmask16 M;
static inline M at_least(__m512i x, int k) { return _mm512_cmpge_epi32_mask(x, _mm512_set1_epi32(k)); }
static inline M less(__m512i x, int k) { return _mm512_cmplt_epi32_mask(x, _mm512_set1_epi32(k)); }
static inline M equal(__m512i x, int k) { return _mm512_cmpeq_epi32_mask(x, _mm512_set1_epi32(k)); }
/* x is below 32 */
static inline M among(__m512i x, uint32_t bits) {
  return _mm512_test_epi32_mask(_mm512_srlv_epi32(_mm512_set1_epi32(bits), x), _mm512_set1_epi32(1));
}
static inline M at_least_double(__m512d a, __m512d b, double k) {
  __m512d c = _mm512_set1_pd(k);
  return _mm512_cmp_pd_mask(a, c, _CMP_GE_OQ) | ((M)_mm512_cmp_pd_mask(b, c, _CMP_GE_OQ) << 8);
}
static inline M bit(const uint64_t *invited, long i, uint64_t mask) {
  __m512i k = _mm512_set1_epi64(mask);
  return _mm512_test_epi64_mask(_mm512_loadu_si512(invited + i), k)
    | ((M)_mm512_test_epi64_mask(_mm512_loadu_si512(invited + i + 8), k) << 8);
}
static inline __m512d lower(__m512i x) { return _mm512_cvtepi32_pd(_mm512_castsi512_si256(x)); }
static inline __m512d upper(__m512i x) { return _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(x, 1)); }
static inline __m512i nanos(__m512d x, double k) {
  return _mm512_cvtpd_epi64(_mm512_mul_pd(_mm512_mul_pd(_mm512_set1_pd(k), x), _mm512_set1_pd(1e9)));
}
"""

# Rows of a block: what the pass over the lists leaves stays in the cache.
_BLOCK = 2048


class NoCompiler(Exception):  # noqa: N818 - there is nothing wrong with that
    """This machine has no C compiler or no AVX-512."""


def native_query(work: Work, folder: Path | None = None) -> Callable[[], Answer]:
    """Writes and compiles the program, and returns what runs it. Raises `NoCompiler`."""
    overlaps = list(dict.fromkeys(_overlaps(work)))
    scorer = _compiled(_Writer(overlaps).source(work), folder)
    words = max(1, -(-len(overlaps) // 64))
    table = np.zeros((len(PEOPLE), words), np.uint64)
    for place, overlap in enumerate(overlaps):
        table[people_codes(overlap), place // 64] |= np.uint64(1) << np.uint64(place % 64)
    rows = len(work.table.start)
    padded = -(-rows // _ROWS) * _ROWS
    columns = [_padded(work.columns[name].astype(np.int32), padded) for name in _INTEGERS]
    columns += [_padded(work.columns["remote"].astype(np.uint8), padded), _padded(work.columns["cost"], padded)]
    offsets = _padded(work.table.offsets[1:], padded, work.table.offsets[-1])
    offsets = np.concatenate((work.table.offsets[:1], offsets)).astype(np.int64)
    people = work.table.attendees.astype(np.int32)
    arrays = [*columns, offsets, people, table]

    def run() -> Answer:
        total, feasible = np.zeros(padded, np.int64), np.zeros(padded // 16, np.uint16)
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (*arrays, total, feasible)]
        scorer(ctypes.c_long(padded), *pointers)
        bits = np.unpackbits(feasible.view(np.uint8), bitorder="little")[:rows].view(bool)
        return total[:rows], bits

    return run


def _padded(column: NDArray[Any], rows: int, value: float = 0) -> NDArray[Any]:
    return np.concatenate((column, np.full(rows - len(column), value, column.dtype)))


def _compiled(source: str, folder: Path | None) -> Callable[..., None]:
    compiler = next(filter(None, map(shutil.which, ("gcc", "cc", "clang"))), None)
    flags = Path("/proc/cpuinfo")
    if compiler is None or not flags.exists() or "avx512dq" not in flags.read_text():
        raise NoCompiler
    with tempfile.TemporaryDirectory(dir=folder) as place:
        text, library = Path(place) / "rules.c", Path(place) / "rules.so"
        text.write_text(source)
        options = ["-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(text)]
        if subprocess.run([compiler, *options], capture_output=True, check=False).returncode != 0:
            raise NoCompiler
        scorer = ctypes.CDLL(str(library)).score
    scorer.restype = None
    return scorer


def _overlaps(work: Work) -> list[Overlap]:
    found: list[Overlap] = []
    waiting: list[Condition] = [work.feasible, *(line.when for line in work.lines)]
    while waiting:
        match waiting.pop():
            case Overlap() as overlap:
                found.append(overlap)
            case Not(part):
                waiting.append(part)
            case All(parts) | Some(parts):
                waiting.extend(parts)
    return found


class _Writer:
    """The program as C. `overlaps` have the bits of `invited`, in their order."""

    def __init__(self, overlaps: list[Overlap]) -> None:
        self._overlaps = overlaps
        self._words = max(1, -(-len(overlaps) // 64))

    def source(self, work: Work) -> str:
        columns = ", ".join(f"const int32_t *{name}" for name in _INTEGERS)
        loads = "\n".join(f"    __m512i {name}_ = _mm512_loadu_si512({name} + i);" for name in _INTEGERS)
        body = "\n".join(self._line(line) for line in work.lines)
        return f"""{_HEAD}
void score(long rows, {columns}, const uint8_t *remote, const double *cost, const int64_t *offsets,
           const int32_t *people, const uint64_t *table, int64_t *total, uint16_t *feasible) {{
  static uint64_t invited[{self._words} * {_BLOCK}];
  for (long block = 0; block < rows; block += {_BLOCK}) {{
    long stop = block + {_BLOCK} < rows ? block + {_BLOCK} : rows;
    for (long i = block; i < stop; i++) {{
      uint64_t found[{self._words}] = {{0}};
      for (int64_t j = offsets[i]; j < offsets[i + 1]; j++)
        for (int w = 0; w < {self._words}; w++) found[w] |= table[(long)people[j] * {self._words} + w];
      for (int w = 0; w < {self._words}; w++) invited[w * {_BLOCK} + i - block] = found[w];
    }}
    for (long i = block; i < stop; i += {_ROWS}) {{
{loads}
    __m512d cost_a = _mm512_loadu_pd(cost + i), cost_b = _mm512_loadu_pd(cost + i + 8);
    __m128i remote_bytes = _mm_loadu_si128((const __m128i *)(remote + i));
    M remote_ = _mm_test_epi8_mask(remote_bytes, remote_bytes);
    __m512i a = _mm512_setzero_si512(), b = a;
    M m;
{body}
    _mm512_storeu_si512(total + i, a);
    _mm512_storeu_si512(total + i + 8, b);
    feasible[i / {_ROWS}] = {self._mask(work.feasible)};
    }}
  }}
}}
"""

    def _line(self, line: Line) -> str:
        first = second = f"_mm512_set1_epi64({line.nano}LL)"
        if line.times == "cost":
            first, second = (f"nanos(cost_{half}, {line.score!r})" for half in "ab")
        elif line.times is not None:
            first, second = (f"nanos({half}({line.times}_), {line.score!r})" for half in ("lower", "upper"))
        return (
            f"    m = {self._mask(line.when)};\n"
            f"    a = _mm512_mask_add_epi64(a, m, a, {first});\n"
            f"    b = _mm512_mask_add_epi64(b, m >> 8, b, {second});"
        )

    def _mask(self, condition: Condition) -> str:
        match condition:
            case Between("cost", low, high):
                ends = [] if low is None else [f"at_least_double(cost_a, cost_b, {float(low)!r})"]
                ends += [] if high is None else [f"(M)~at_least_double(cost_a, cost_b, {float(high)!r})"]
                return f"({' & '.join(ends)})"
            case Between(column, low, high):
                ends = [] if low is None else [f"at_least({column}_, {low})"]
                ends += [] if high is None else [f"less({column}_, {high})"]
                return f"({' & '.join(ends)})"
            case OneOf("organizer"):
                return f"({' | '.join(f'equal(organizer_, {code})' for code in codes(condition))})"
            case OneOf(column):
                return f"among({column}_, {sum(1 << code for code in codes(condition))}u)"
            case Overlap():
                word, place = divmod(self._overlaps.index(condition), 64)
                return f"bit(invited + {word * _BLOCK} - block, i, 1ull << {place})"
            case Holds(column):
                return f"{column}_"
            case Not(part):
                return f"(M)~{self._mask(part)}"
            case All(parts):
                return f"({' & '.join(map(self._mask, parts))})" if parts else "(M)0xffff"
            case Some(parts):
                return f"({' | '.join(map(self._mask, parts))})"
