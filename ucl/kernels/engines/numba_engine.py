"""Masks by compiled loops: the engine, and its kernels' way from and to the disk. This module imports numba.

In and out: as `schedules.Engine` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite
import numpy as np
from numba.core import caching, serialize
from numba.core.compiler import CompileResult
from numpy.typing import NDArray

from ucl.kernels.engines import compiled, kernel_cache
from ucl.kernels.execution.vector import OPERATIONS, Vector, ZoneTable
from ucl.semantics.outcome import MAGNITUDE, NANO
from ucl.semantics.types import DAY

Words = NDArray[np.uint64]
Bits = NDArray[np.bool_]

# Where at least this share of codes means something, most rows have a hit, and looking for rows of hits is wasted.
_DENSE = 0.1


class Table(NamedTuple):
    """Tests by code: `words` of shape (codes, words), a bit for each test; `means` where there is any."""

    words: Words
    means: Bits
    dense: bool


class Compiled:
    """`schedules.Engine` by numba."""

    name = "numba"
    block_rows = 1 << 16

    def prepare(self, table: Bits) -> Table:
        tests, codes = table.shape
        padded = np.zeros((codes, -(-tests // 64) * 64), np.bool_)
        padded[:, :tests] = table.T
        means: Bits = np.logical_or.reduce(padded, axis=1)
        words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
        return Table(words, means, bool(means.mean() >= _DENSE))

    def at_least(self, values: NDArray[Any], constants: NDArray[Any], masks: Words) -> None:
        compiled.at_least(_plain(values), constants, masks)

    def look_up(self, codes: NDArray[np.int32], prepared: Table, masks: Words) -> None:
        compiled.look_up(_plain(codes), prepared.words, masks)

    def any_element(
        self, offsets: NDArray[np.int64], elements: NDArray[np.int64], prepared: Table, masks: Words
    ) -> None:
        if prepared.dense:
            compiled.any_element_dense(_plain(offsets), _plain(elements), prepared.words, masks)
        else:
            compiled.any_element_sparse(_plain(offsets), _plain(elements), prepared.words, prepared.means, masks)

    def pack(self, bits: Bits, mask: Words) -> None:
        compiled.pack(_plain(bits), mask)

    def conjoin(self, masks: Words, operands: NDArray[np.int64], first: int) -> None:
        compiled.conjoin(masks, operands, first)

    def add(
        self, masks: Words, literals: NDArray[np.int64], amounts: NDArray[np.int64], totals: NDArray[np.int64]
    ) -> None:
        compiled.add(masks, literals, amounts, totals)

    def add_values(self, mask: Words, negative: bool, values: NDArray[np.int64], totals: NDArray[np.int64]) -> None:
        compiled.add_values(mask, compiled.ALL if negative else np.uint64(0), _plain(values), totals)

    def local(self, zone: ZoneTable, instants: NDArray[np.int64]) -> NDArray[np.int64]:
        walls = np.empty(len(instants), np.int64)
        compiled.to_wall(_plain(instants), zone.transitions, zone.offsets, walls)
        return walls

    def operate(self, op: str, arguments: tuple[NDArray[Any], ...]) -> Vector:
        values = arguments[0]
        if values.ndim:
            match op:
                case "wall_time" | "date_weekday":
                    parts = np.empty(len(values), np.int64)
                    (compiled.wall_time if op == "wall_time" else compiled.weekday)(_plain(values), parts)
                    return Vector(parts)
                case "to_float":
                    doubles = np.empty(len(values), np.float64)
                    compiled.to_float(_plain(values), doubles)
                    return Vector(doubles)
                case "contribution":
                    nanos = np.empty(len(values), np.int64)
                    if compiled.contribution(_plain(values), float(arguments[1]), nanos):
                        return Vector(nanos)
        if op == "mul_float":
            first, second = arguments if values.ndim else arguments[::-1]
            if first.ndim and not second.ndim:
                products = np.empty(len(first), np.float64)
                if compiled.scale(_plain(first), float(second), products):
                    return Vector(products)
        return OPERATIONS[op].run(*arguments)


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """As the kernels' signatures want it: contiguous and aligned. Columns nearly always are."""
    flags = array.flags
    return array if flags.c_contiguous and flags.aligned else np.require(array, requirements=("C", "A"))


# --- compiling ------------------------------------------------------------------------------------------------------


class _Cache(caching.NullCache):  # type: ignore[misc]
    """`kernel_cache`, as numba's dispatchers ask for it. A kernel depends on the processor, too."""

    def __init__(self, name: str, on_compile: Callable[[], None]) -> None:
        self._name = name
        self._on_compile = on_compile
        self.kept = True

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        reduced = kernel_cache.read(self._name, _depends_on(sig, target_context.codegen()))
        if reduced is not None:
            try:
                return CompileResult._rebuild(target_context, *reduced)
            except Exception:  # made by another world
                pass
        self._on_compile()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        self.kept &= kernel_cache.write(self._name, _depends_on(sig, data.codegen), serialize.dumps(data._reduce()))


def _depends_on(signature: Any, codegen: Any) -> str:
    constants = (MAGNITUDE, NANO, DAY)  # other modules' constants that kernels hold
    return f"{signature} {codegen.magic_tuple()} {llvmlite.__version__} {constants}"


def load_kernels(on_compile: Callable[[], None] | None = None) -> None:
    """Loads every kernel from the cache, or compiles it; `on_compile` is called before the first that is compiled."""
    waiting = [] if on_compile is None else [on_compile]
    all_kept = True
    for name, (dispatcher, signatures) in compiled.KERNELS.items():
        cache = _Cache(name, lambda: waiting.pop()() if waiting else None)
        dispatcher._cache = cache
        for signature in signatures:
            dispatcher.compile(signature)
        dispatcher.disable_compile()
        all_kept &= cache.kept
    if all_kept:
        kernel_cache.mark_ready()
