"""Sixty-four rows at a time, as LLVM's own vectors. This module imports numba.

Compilers do not turn a loop of compares into a mask by themselves, so each is written as LLVM's vector compare, whose
result is the mask. LLVM makes of it what any processor has; only the order of its bits needs a little-endian one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types as nt
from numba.extending import intrinsic

Make = Callable[..., Any]

_ROWS = 64
RUN = 16
"""So many bytes `fill_run` writes at once."""
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


def _equals_vector(lane: Any) -> Any:
    @intrinsic
    def equals(context, address, constant):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            rows = _load(builder, arguments[0], _LANES[lane])
            same = builder.icmp_signed("==", rows, _splat(builder, arguments[1]))
            return builder.bitcast(same, _WORD)

        return nt.uint64(nt.int64, lane), generate

    return equals


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
    "equals_32": _equals_vector(nt.int32),
    "equals_16": _equals_vector(nt.int16),
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
