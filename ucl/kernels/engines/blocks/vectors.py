"""Sixty-four rows at a time: what loops over blocks are made of. This module imports numba.

In: addresses of contiguous, aligned arrays, and masks of 64 rows, the first row in the lowest bit. Out: masks, or rows
changed in place. Compilers do not turn a loop of compares into a mask by themselves, so each is written as LLVM's own
vector compare, whose result is the mask. LLVM makes of it what any processor has; only the order of its bits needs a
little-endian one. `LOOPS` are the same as plain loops, for the others, and to be held against `VECTORS` by test.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, njit
from numba import types as nt
from numba.extending import intrinsic

Make = Callable[..., Any]

_ROWS = 64
_REGISTER = 64  # bytes of the widest; narrower ones take several steps
_WORD = ir.IntType(64)
_MASK = ir.VectorType(ir.IntType(1), _ROWS)
_LANES: dict[Any, ir.Type] = {
    nt.int64: ir.IntType(64),
    nt.uint64: ir.IntType(64),
    nt.int32: ir.IntType(32),
    nt.int16: ir.IntType(16),
    nt.int8: ir.IntType(8),
    nt.uint8: ir.IntType(8),
    nt.float64: ir.DoubleType(),
}


# --- addresses ------------------------------------------------------------------------------------------------------


@intrinsic
def pointer(context, address):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.inttoptr(arguments[0], context.get_value_type(nt.voidptr))

    return nt.voidptr(nt.int64), generate


@njit
def int64s(address, size):  # type: ignore[no-untyped-def]
    return carray(pointer(address), (size,), np.int64)


@njit
def int32s(address, size):  # type: ignore[no-untyped-def]
    return carray(pointer(address), (size,), np.int32)


@njit
def int16s(address, size):  # type: ignore[no-untyped-def]
    return carray(pointer(address), (size,), np.int16)


@njit
def int8s(address, size):  # type: ignore[no-untyped-def]
    return carray(pointer(address), (size,), np.int8)


@njit
def uint8s(address, size):  # type: ignore[no-untyped-def]
    return carray(pointer(address), (size,), np.uint8)


@njit
def uint64s(address, size):  # type: ignore[no-untyped-def]
    return carray(pointer(address), (size,), np.uint64)


@njit
def float64s(address, size):  # type: ignore[no-untyped-def]
    return carray(pointer(address), (size,), np.float64)


# --- as vectors -----------------------------------------------------------------------------------------------------


def _load(builder: Any, address: Any, lane: ir.Type, size: int = _ROWS) -> Any:
    vector = ir.VectorType(lane, size)
    return builder.load(builder.inttoptr(address, vector.as_pointer()), align=_bytes(lane))


def _store(builder: Any, value: Any, address: Any) -> None:
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=_bytes(value.type.element))


def _bytes(lane: ir.Type) -> int:
    return 8 if isinstance(lane, ir.DoubleType) else max(1, lane.width // 8)


def _splat(builder: Any, value: Any, size: int = _ROWS) -> Any:
    vector = ir.VectorType(value.type, size)
    nothing = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), size), [0] * size))


def _at_least_vector(lane: Any) -> Any:
    @intrinsic
    def at_least(context, address, constant, mask):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            compare = builder.fcmp_ordered if lane is nt.float64 else builder.icmp_signed
            _in_pieces(builder, arguments, _LANES[lane], lambda rows, constants: compare(">=", rows, constants))
            return context.get_dummy_value()

        return nt.void(nt.int64, lane, nt.int64), generate

    return at_least


def _any_bit_vector(lane: Any) -> Any:
    @intrinsic
    def any_bit(context, address, bits, mask):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            def some(rows: Any, bits: Any) -> Any:
                return builder.icmp_unsigned("!=", builder.and_(rows, bits), ir.Constant(rows.type, None))

            _in_pieces(builder, arguments, _LANES[lane], some)
            return context.get_dummy_value()

        return nt.void(nt.int64, lane, nt.int64), generate

    return any_bit


def _compare_vector(lane: Any, operator: str) -> Any:
    @intrinsic
    def compare(context, left, right, mask):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            test = builder.fcmp_ordered if lane is nt.float64 else builder.icmp_signed
            rows = [_load(builder, place, _LANES[lane]) for place in arguments[:2]]
            bits = builder.bitcast(test(operator, *rows), _WORD)
            builder.store(bits, builder.inttoptr(arguments[2], _WORD.as_pointer()))
            return context.get_dummy_value()

        return nt.void(nt.int64, nt.int64, nt.int64), generate

    return compare


def _in_pieces(builder: Any, arguments: Any, lane: ir.Type, test: Callable[[Any, Any], Any]) -> None:
    """Tests 64 rows and writes their mask, a register's worth at a time: where a register holds eight rows, writing
    eight times one byte is twice as fast as putting the bits together first."""
    address, operand, mask = arguments
    size = _REGISTER // _bytes(lane)
    operands = _splat(builder, operand, size)
    piece = ir.IntType(size)
    for number in range(_ROWS // size):
        rows = _load(builder, builder.add(address, ir.Constant(_WORD, number * _REGISTER)), lane, size)
        place = builder.add(mask, ir.Constant(_WORD, number * size // 8))
        bits = builder.bitcast(test(rows, operands), piece)
        builder.store(bits, builder.inttoptr(place, piece.as_pointer()), align=size // 8)


@intrinsic
def _add_amount_vector(context, totals, mask, amount):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        before = _load(builder, arguments[0], _WORD)
        amounts = _splat(builder, arguments[2])
        added = builder.select(builder.bitcast(arguments[1], _MASK), amounts, ir.Constant(amounts.type, None))
        _store(builder, builder.add(before, added), arguments[0])
        return context.get_dummy_value()

    return nt.void(nt.int64, nt.uint64, nt.int64), generate


@intrinsic
def _add_rows_vector(context, totals, mask, values):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        before, rows = _load(builder, arguments[0], _WORD), _load(builder, arguments[2], _WORD)
        added = builder.select(builder.bitcast(arguments[1], _MASK), rows, ir.Constant(rows.type, None))
        _store(builder, builder.add(before, added), arguments[0])
        return context.get_dummy_value()

    return nt.void(nt.int64, nt.uint64, nt.int64), generate


@intrinsic
def _and_vector(context, mask, first, first_flip, second, second_flip):  # type: ignore[no-untyped-def]
    """Eight words of a mask: those of two others, each flipped or not."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        operands = []
        for place, flip in (arguments[1:3], arguments[3:5]):
            operands.append(builder.xor(_load(builder, place, _WORD, 8), _splat(builder, flip, 8)))
        _store(builder, builder.and_(*operands), arguments[0])
        return context.get_dummy_value()

    return nt.void(nt.int64, nt.int64, nt.uint64, nt.int64, nt.uint64), generate


@intrinsic
def _and_three_vector(context, mask, first, first_flip, second, second_flip, third, third_flip):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        operands = []
        for place, flip in (arguments[1:3], arguments[3:5], arguments[5:7]):
            operands.append(builder.xor(_load(builder, place, _WORD, 8), _splat(builder, flip, 8)))
        first, second, third = operands
        _store(builder, builder.and_(builder.and_(first, second), third), arguments[0])
        return context.get_dummy_value()

    return nt.void(nt.int64, nt.int64, nt.uint64, nt.int64, nt.uint64, nt.int64, nt.uint64), generate


@intrinsic
def _which_words_vector(context, mask, flip):  # type: ignore[no-untyped-def]
    """Of 64 words of a mask, flipped or not, those that hold any row."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        words = _load(builder, arguments[0], _WORD)
        some = builder.icmp_unsigned("!=", words, _splat(builder, arguments[1]))
        return builder.bitcast(some, _WORD)

    return nt.uint64(nt.int64, nt.uint64), generate


@intrinsic
def _spread_vector(context, mask, bools):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(arguments[0], _MASK)
        _store(builder, builder.zext(bits, ir.VectorType(ir.IntType(8), _ROWS)), arguments[1])
        return context.get_dummy_value()

    return nt.void(nt.uint64, nt.int64), generate


@intrinsic
def _transpose_vector(context, square):  # type: ignore[no-untyped-def]
    """Bit matrix transposition (Warren, Hacker's Delight, 7-3), all 64 words at once: for each width, a word trades
    half of its bits with the word so far away."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        words = _load(builder, arguments[0], _WORD)
        index = ir.VectorType(ir.IntType(32), _ROWS)
        for width, mask in _TRADES:
            others = builder.shuffle_vector(words, words, ir.Constant(index, [row ^ width for row in range(_ROWS)]))
            low = _splat(builder, ir.Constant(_WORD, mask))
            high = _splat(builder, ir.Constant(_WORD, mask << width))
            shift = _splat(builder, ir.Constant(_WORD, width))
            first = builder.or_(builder.and_(words, low), builder.and_(builder.shl(others, shift), high))
            second = builder.or_(builder.and_(words, high), builder.and_(builder.lshr(others, shift), low))
            is_second = ir.Constant(_MASK, [bool(row & width) for row in range(_ROWS)])
            words = builder.select(is_second, second, first)
        _store(builder, words, arguments[0])
        return context.get_dummy_value()

    return nt.void(nt.int64), generate


_TRADES = (
    (32, 0x00000000FFFFFFFF),
    (16, 0x0000FFFF0000FFFF),
    (8, 0x00FF00FF00FF00FF),
    (4, 0x0F0F0F0F0F0F0F0F),
    (2, 0x3333333333333333),
    (1, 0x5555555555555555),
)


@intrinsic
def _fill_run_vector(context, bytes, value):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        _store(builder, _splat(builder, arguments[1], RUN), arguments[0])
        return context.get_dummy_value()

    return nt.void(nt.int64, nt.uint8), generate


RUN = 16
"""So many bytes `fill_run` writes at once."""


@intrinsic
def lowest_bit(context, word):  # type: ignore[no-untyped-def]
    """The place of the lowest bit that is set; there is one."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return nt.int64(nt.uint64), generate


# --- as loops -------------------------------------------------------------------------------------------------------


_ARRAYS = {
    nt.int64: int64s,
    nt.uint64: uint64s,
    nt.int32: int32s,
    nt.int16: int16s,
    nt.int8: int8s,
    nt.uint8: uint8s,
    nt.float64: float64s,
}


def _at_least_loop(lane: Any) -> Any:
    rows = _ARRAYS[lane]

    @njit
    def at_least(address, constant, mask):  # type: ignore[no-untyped-def]
        values = rows(address, _ROWS)
        bits = np.uint64(0)
        for row in range(_ROWS):
            bits |= np.uint64(values[row] >= constant) << np.uint64(row)
        uint64s(mask, 1)[0] = bits

    return at_least


def _any_bit_loop(lane: Any) -> Any:
    rows = _ARRAYS[lane]

    @njit
    def any_bit(address, wanted, mask):  # type: ignore[no-untyped-def]
        values = rows(address, _ROWS)
        bits = np.uint64(0)
        for row in range(_ROWS):
            bits |= np.uint64((values[row] & wanted) != 0) << np.uint64(row)
        uint64s(mask, 1)[0] = bits

    return any_bit


def _compare_loop(lane: Any, operator: str) -> Any:
    rows = _ARRAYS[lane]
    equal = operator == "=="

    @njit
    def compare(left, right, mask):  # type: ignore[no-untyped-def]
        a, b = rows(left, _ROWS), rows(right, _ROWS)
        bits = np.uint64(0)
        for row in range(_ROWS):
            holds = a[row] == b[row] if equal else a[row] < b[row]
            bits |= np.uint64(holds) << np.uint64(row)
        uint64s(mask, 1)[0] = bits

    return compare


@njit
def _add_amount_loop(totals, mask, amount):  # type: ignore[no-untyped-def]
    rows = int64s(totals, _ROWS)
    for row in range(_ROWS):
        if (mask >> np.uint64(row)) & np.uint64(1):
            rows[row] += amount


@njit
def _add_rows_loop(totals, mask, values):  # type: ignore[no-untyped-def]
    rows, added = int64s(totals, _ROWS), int64s(values, _ROWS)
    for row in range(_ROWS):
        if (mask >> np.uint64(row)) & np.uint64(1):
            rows[row] += added[row]


@njit
def _and_loop(mask, first, first_flip, second, second_flip):  # type: ignore[no-untyped-def]
    out, left, right = uint64s(mask, 8), uint64s(first, 8), uint64s(second, 8)
    for word in range(8):
        out[word] = (left[word] ^ first_flip) & (right[word] ^ second_flip)


@njit
def _and_three_loop(mask, first, first_flip, second, second_flip, third, third_flip):  # type: ignore[no-untyped-def]
    _and_loop(mask, first, first_flip, second, second_flip)
    _and_loop(mask, mask, np.uint64(0), third, third_flip)


@njit
def _which_words_loop(mask, flip):  # type: ignore[no-untyped-def]
    words = uint64s(mask, _ROWS)
    some = np.uint64(0)
    for word in range(_ROWS):
        some |= np.uint64(words[word] != flip) << np.uint64(word)
    return some


@njit
def _spread_loop(mask, bools):  # type: ignore[no-untyped-def]
    rows = uint8s(bools, _ROWS)
    for row in range(_ROWS):
        rows[row] = np.uint8((mask >> np.uint64(row)) & np.uint64(1))


@njit
def _transpose_loop(square):  # type: ignore[no-untyped-def]
    words = uint64s(square, _ROWS)
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        shift = np.uint64(width)
        for first in range(0, _ROWS, 2 * width):
            for row in range(first, first + width):
                swap = ((words[row] >> shift) ^ words[row + width]) & mask
                words[row] ^= swap << shift
                words[row + width] ^= swap
        width >>= 1
        mask ^= mask << np.uint64(width)


@njit
def _fill_run_loop(bytes, value):  # type: ignore[no-untyped-def]
    rows = uint8s(bytes, RUN)
    for row in range(RUN):
        rows[row] = value


# --- what the processor has -----------------------------------------------------------------------------------------

VECTORS: dict[str, Any] = {
    "at_least_64": _at_least_vector(nt.int64),
    "at_least_32": _at_least_vector(nt.int32),
    "at_least_16": _at_least_vector(nt.int16),
    "at_least_8": _at_least_vector(nt.int8),
    "at_least_float": _at_least_vector(nt.float64),
    "any_bit_64": _any_bit_vector(nt.uint64),
    "any_bit_32": _any_bit_vector(nt.int32),
    "any_bit_16": _any_bit_vector(nt.int16),
    "any_bit_8": _any_bit_vector(nt.uint8),
    "less_64": _compare_vector(nt.int64, "<"),
    "less_float": _compare_vector(nt.float64, "<"),
    "equal_64": _compare_vector(nt.int64, "=="),
    "equal_float": _compare_vector(nt.float64, "=="),
    "add_amount": _add_amount_vector,
    "add_rows": _add_rows_vector,
    "conjoin": _and_vector,
    "conjoin_three": _and_three_vector,
    "which_words": _which_words_vector,
    "spread": _spread_vector,
    "transpose": _transpose_vector,
    "fill_run": _fill_run_vector,
}
LOOPS: dict[str, Any] = {
    "at_least_64": _at_least_loop(nt.int64),
    "at_least_32": _at_least_loop(nt.int32),
    "at_least_16": _at_least_loop(nt.int16),
    "at_least_8": _at_least_loop(nt.int8),
    "at_least_float": _at_least_loop(nt.float64),
    "any_bit_64": _any_bit_loop(nt.uint64),
    "any_bit_32": _any_bit_loop(nt.int32),
    "any_bit_16": _any_bit_loop(nt.int16),
    "any_bit_8": _any_bit_loop(nt.uint8),
    "less_64": _compare_loop(nt.int64, "<"),
    "less_float": _compare_loop(nt.float64, "<"),
    "equal_64": _compare_loop(nt.int64, "=="),
    "equal_float": _compare_loop(nt.float64, "=="),
    "add_amount": _add_amount_loop,
    "add_rows": _add_rows_loop,
    "conjoin": _and_loop,
    "conjoin_three": _and_three_loop,
    "which_words": _which_words_loop,
    "spread": _spread_loop,
    "transpose": _transpose_loop,
    "fill_run": _fill_run_loop,
}

_CHOSEN = VECTORS if sys.byteorder == "little" else LOOPS
at_least_64, at_least_32 = _CHOSEN["at_least_64"], _CHOSEN["at_least_32"]
at_least_16, at_least_8 = _CHOSEN["at_least_16"], _CHOSEN["at_least_8"]
at_least_float = _CHOSEN["at_least_float"]
any_bit_64, any_bit_32 = _CHOSEN["any_bit_64"], _CHOSEN["any_bit_32"]
any_bit_16, any_bit_8 = _CHOSEN["any_bit_16"], _CHOSEN["any_bit_8"]
less_64, less_float = _CHOSEN["less_64"], _CHOSEN["less_float"]
equal_64, equal_float = _CHOSEN["equal_64"], _CHOSEN["equal_float"]
add_amount, add_rows = _CHOSEN["add_amount"], _CHOSEN["add_rows"]
conjoin, conjoin_three = _CHOSEN["conjoin"], _CHOSEN["conjoin_three"]
which_words = _CHOSEN["which_words"]
spread, transpose, fill_run = _CHOSEN["spread"], _CHOSEN["transpose"], _CHOSEN["fill_run"]
