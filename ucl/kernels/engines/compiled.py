"""Masks by compiled loops. This module imports numba: only `engines.choice` imports it, when it is wanted.

In and out: as `execute.Engine` says. The kernels read tables, so that one set of machine code serves every program;
each is compiled for the one or two signatures listed here, and kept on disk by `kernel_cache`. Never `fastmath`: sums
are whole numbers, comparisons exact. Loops run over 64 rows at a time, which compilers turn into vector compares.

Bits of tests by code become tests by row through bit matrix transposition (Warren, Hacker's Delight, 7-3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np
from numba import types as nt
from numba.core import caching, serialize
from numba.core.compiler import CompileResult
from numpy.typing import NDArray

from ucl.kernels.engines import kernel_cache

Words = NDArray[np.uint64]
Bits = NDArray[np.bool_]
Kernel = Callable[..., Any]

_WORDS = nt.Array(nt.uint64, 2, "C")
_WORD_TABLE = nt.Array(nt.uint64, 2, "C", readonly=True)
_MASK = nt.Array(nt.uint64, 1, "C")
_INTS = nt.Array(nt.int64, 1, "C")
_INTS_IN = nt.Array(nt.int64, 1, "C", readonly=True)
_FLOATS_IN = nt.Array(nt.float64, 1, "C", readonly=True)
_CODES_IN = nt.Array(nt.int32, 1, "C", readonly=True)
_BITS_IN = nt.Array(nt.bool_, 1, "C", readonly=True)
_LISTS_IN = nt.Array(nt.int64, 2, "C", readonly=True)

KERNELS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
"""Each kernel's dispatcher and signatures, by name, in the order in which they are compiled."""


def _kernel(*signatures: Any) -> Callable[[Kernel], Kernel]:
    def register(function: Kernel) -> Kernel:
        dispatcher: Kernel = numba.njit(nogil=True, boundscheck=False, error_model="numpy")(function)
        KERNELS[function.__name__] = (dispatcher, signatures)
        return dispatcher

    return register


# Rows whose totals stay in the nearest cache while rule after rule adds to them.
_ROWS_AT_ONCE = 4096
# With up to so many bits in a word, one addition each is cheaper than 64 in vectors.
_FEW_BITS = 3
# Where at least this share of codes means something, most rows have a hit, and looking for rows of hits is wasted.
_DENSE = 0.1

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


# --- tests ----------------------------------------------------------------------------------------------------------


@_kernel(nt.void(_INTS_IN, _INTS_IN, _WORDS), nt.void(_FLOATS_IN, _FLOATS_IN, _WORDS))
def at_least(values, constants, masks):  # type: ignore[no-untyped-def]
    rows = values.shape[0]
    for word in range(masks.shape[1]):
        start = word * 64
        inside = min(64, rows - start)
        for test in range(constants.shape[0]):
            constant = constants[test]
            bits = np.uint64(0)
            if inside == 64:
                for row in range(64):
                    bits |= np.uint64(values[start + row] >= constant) << np.uint64(row)
            else:
                for row in range(inside):
                    bits |= np.uint64(values[start + row] >= constant) << np.uint64(row)
            masks[test, word] = bits


@_kernel(nt.void(_BITS_IN, _MASK))
def pack(bits, mask):  # type: ignore[no-untyped-def]
    rows = bits.shape[0]
    for word in range(mask.shape[0]):
        start = word * 64
        inside = min(64, rows - start)
        packed = np.uint64(0)
        if inside == 64:
            for row in range(64):
                packed |= np.uint64(bits[start + row]) << np.uint64(row)
        else:
            for row in range(inside):
                packed |= np.uint64(bits[start + row]) << np.uint64(row)
        mask[word] = packed


@_kernel(nt.void(_MASK))
def transpose(square):  # type: ignore[no-untyped-def]
    """Turns a 64 by 64 bit matrix in place: bit s of row r becomes bit r of row s."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        shift = np.uint64(width)
        for first in range(0, 64, 2 * width):
            for row in range(first, first + width):
                swap = ((square[row] >> shift) ^ square[row + width]) & mask
                square[row] ^= swap << shift
                square[row + width] ^= swap
        width >>= 1
        mask ^= mask << np.uint64(width)


@_kernel(nt.void(_CODES_IN, _WORD_TABLE, _WORDS))
def look_up(codes, table, masks):  # type: ignore[no-untyped-def]
    """`table[code]` has a bit for each test."""
    rows = codes.shape[0]
    tests = masks.shape[0]
    square = np.empty(64, np.uint64)
    for word in range(masks.shape[1]):
        start = word * 64
        inside = min(64, rows - start)
        for part in range(table.shape[1]):
            first = part * 64
            for row in range(inside):
                square[row] = table[codes[start + row], part]
            for row in range(inside, 64):
                square[row] = np.uint64(0)
            here = min(64, tests - first)
            if here <= 4:
                for test in range(here):
                    bits = np.uint64(0)
                    for row in range(64):
                        bits |= ((square[row] >> np.uint64(test)) & _ONE) << np.uint64(row)
                    masks[first + test, word] = bits
            else:
                transpose(square)
                for test in range(here):
                    masks[first + test, word] = square[test]


@_kernel(nt.void(_INTS_IN, _INTS_IN, _WORD_TABLE, _BITS_IN, _WORDS))
def any_element_sparse(offsets, elements, table, means, masks):  # type: ignore[no-untyped-def]
    """Few codes mean anything: one scan over all elements, and a search for the row of a hit."""
    rows = offsets.shape[0] - 1
    masks[:] = np.uint64(0)
    last = 0
    for place in range(offsets[0], offsets[rows]):
        code = elements[place]
        if means[code]:
            beyond = rows
            row = last
            while beyond - row > 1:
                middle = (row + beyond) >> 1
                if offsets[middle] <= place:
                    row = middle
                else:
                    beyond = middle
            last = row
            bit = _ONE << np.uint64(row & 63)
            for part in range(table.shape[1]):
                found = table[code, part]
                test = part * 64
                while found:
                    if found & _ONE:
                        masks[test, row >> 6] |= bit
                    found >>= _ONE
                    test += 1


@_kernel(nt.void(_INTS_IN, _INTS_IN, _WORD_TABLE, _WORDS))
def any_element_dense(offsets, elements, table, masks):  # type: ignore[no-untyped-def]
    rows = offsets.shape[0] - 1
    tests = masks.shape[0]
    square = np.empty(64, np.uint64)
    for word in range(masks.shape[1]):
        start = word * 64
        inside = min(64, rows - start)
        for part in range(table.shape[1]):
            for row in range(inside):
                found = np.uint64(0)
                for place in range(offsets[start + row], offsets[start + row + 1]):
                    found |= table[elements[place], part]
                square[row] = found
            for row in range(inside, 64):
                square[row] = np.uint64(0)
            transpose(square)
            first = part * 64
            for test in range(min(64, tests - first)):
                masks[first + test, word] = square[test]


# --- masks of masks, and totals -------------------------------------------------------------------------------------


@_kernel(nt.void(_WORDS, _LISTS_IN, nt.int64))
def conjoin(masks, operands, first):  # type: ignore[no-untyped-def]
    words = masks.shape[1]
    for conjunction in range(operands.shape[0]):
        out = masks[first + conjunction]
        literal = operands[conjunction, 0]
        operand = masks[literal >> 1]
        flip = np.uint64(0) - np.uint64(literal & 1)
        for word in range(words):
            out[word] = operand[word] ^ flip
        for place in range(1, operands.shape[1]):
            literal = operands[conjunction, place]
            operand = masks[literal >> 1]
            flip = np.uint64(0) - np.uint64(literal & 1)
            for word in range(words):
                out[word] &= operand[word] ^ flip


@_kernel(nt.void(_WORDS, _INTS_IN, _INTS_IN, _INTS))
def add(masks, literals, amounts, totals):  # type: ignore[no-untyped-def]
    rows = totals.shape[0]
    words = masks.shape[1]
    at_once = _ROWS_AT_ONCE // 64
    for first in range(0, words, at_once):
        beyond = min(words, first + at_once)
        for rule in range(literals.shape[0]):
            mask = masks[literals[rule] >> 1]
            flip = np.uint64(0) - np.uint64(literals[rule] & 1)
            amount = amounts[rule]
            for word in range(first, beyond):
                bits = mask[word] ^ flip
                start = word * 64
                if rows - start < 64:
                    bits &= (_ONE << np.uint64(rows - start)) - _ONE
                if bits == 0:
                    continue
                count = 0
                left = bits
                while left and count <= _FEW_BITS:
                    left &= left - _ONE
                    count += 1
                if count > _FEW_BITS and rows - start >= 64:
                    for row in range(64):
                        totals[start + row] += amount & -np.int64((bits >> np.uint64(row)) & _ONE)
                else:
                    row = start
                    while bits:
                        if bits & _ONE:
                            totals[row] += amount
                        bits >>= _ONE
                        row += 1


# --- the engine -----------------------------------------------------------------------------------------------------


class Table(NamedTuple):
    """Tests by code: `words` of shape (codes, words), a bit for each test; `means` where there is any."""

    words: Words
    means: Bits
    dense: bool


class Compiled:
    """`execute.Engine` by numba."""

    name = "numba"
    block_rows = 1 << 14

    def prepare(self, table: Bits) -> Table:
        tests, codes = table.shape
        padded = np.zeros((codes, -(-tests // 64) * 64), np.bool_)
        padded[:, :tests] = table.T
        means: Bits = np.logical_or.reduce(padded, axis=1)
        words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
        return Table(words, means, bool(means.mean() >= _DENSE))

    def at_least(self, values: NDArray[Any], constants: NDArray[Any], masks: Words) -> None:
        at_least(_plain(values), constants, masks)

    def look_up(self, codes: NDArray[np.int32], prepared: Table, masks: Words) -> None:
        look_up(_plain(codes), prepared.words, masks)

    def any_element(
        self, offsets: NDArray[np.int64], elements: NDArray[np.int64], prepared: Table, masks: Words
    ) -> None:
        if prepared.dense:
            any_element_dense(_plain(offsets), _plain(elements), prepared.words, masks)
        else:
            any_element_sparse(_plain(offsets), _plain(elements), prepared.words, prepared.means, masks)

    def pack(self, bits: Bits, mask: Words) -> None:
        pack(_plain(bits), mask)

    def conjoin(self, masks: Words, operands: NDArray[np.int64], first: int) -> None:
        conjoin(masks, operands, first)

    def add(
        self, masks: Words, literals: NDArray[np.int64], amounts: NDArray[np.int64], totals: NDArray[np.int64]
    ) -> None:
        add(masks, literals, amounts, totals)


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """As the kernels' signatures want it: contiguous and aligned. Columns nearly always are."""
    return np.require(array, requirements=("C", "A"))


# --- compiling ------------------------------------------------------------------------------------------------------


class _Cache(caching.NullCache):  # type: ignore[misc]
    """`kernel_cache`, as numba's dispatchers ask for it. A kernel depends on the processor, too."""

    def __init__(self, name: str) -> None:
        self._name = name

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        reduced = kernel_cache.read(self._name, _depends_on(sig, target_context.codegen()))
        if reduced is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *reduced)
        except Exception:  # made by another world: compile
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        kernel_cache.write(self._name, _depends_on(sig, data.codegen), serialize.dumps(data._reduce()))


def _depends_on(signature: Any, codegen: Any) -> str:
    return f"{signature} {codegen.magic_tuple()} {llvmlite.__version__}"


def load_kernels() -> None:
    """Loads every kernel from the cache, or compiles it."""
    for name, (dispatcher, signatures) in KERNELS.items():
        dispatcher._cache = _Cache(name)
        for signature in signatures:
            dispatcher.compile(signature)
        dispatcher.disable_compile()
    kernel_cache.mark_ready()
