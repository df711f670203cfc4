"""Sixty-four options at a time, as one word: what `walk` is made of. This module imports numba.

In: addresses of rows that have something behind them, masks. Out: masks, or totals written. As in `blocks.vectors`,
compares are LLVM's own, whose result is the mask where the lowest bit is the first row: on a little-endian processor.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types as nt
from numba.core import cgutils
from numba.extending import intrinsic

ROWS = 64
OCTET = 8
"""So many totals are added to at once."""

_INT, _LONG, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _load(builder: Any, address: Any, type: ir.Type, align: int) -> Any:
    return builder.load(builder.inttoptr(address, type.as_pointer()), align=align)


def _splat(builder: Any, value: Any, size: int) -> Any:
    nothing = ir.Constant(ir.VectorType(value.type, size), ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_INT, size), [0] * size))


def _compare(operator: str, lane: ir.Type, constant_type: Any) -> Any:
    @intrinsic
    def compare(context, address, constant):  # type: ignore[no-untyped-def]
        """The mask of 64 rows that compare so with the constant."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            address, constant = arguments
            is_double = lane is _DOUBLE
            if not is_double and lane.width < 64:
                constant = builder.trunc(constant, lane)
            rows = _load(builder, address, ir.VectorType(lane, ROWS), 8 if is_double else lane.width // 8)
            test = builder.fcmp_ordered if is_double else builder.icmp_signed
            return builder.bitcast(test(operator, rows, _splat(builder, constant, ROWS)), _LONG)

        return nt.uint64(nt.int64, constant_type), generate

    return compare


at_least_8, at_least_16, at_least_32, at_least_64 = (
    _compare(">=", ir.IntType(width), nt.int64) for width in (8, 16, 32, 64)
)
at_least_double = _compare(">=", _DOUBLE, nt.float64)
equal_8, equal_16, equal_32 = (_compare("==", ir.IntType(width), nt.int64) for width in (8, 16, 32))


def _at(type: ir.Type, result: Any) -> Any:
    @intrinsic
    def at(context, address):  # type: ignore[no-untyped-def]
        """What stands at an address. Of an array, numba would ask whether its index is below 0."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            value = _load(builder, arguments[0], type, type.width // 8)
            return value if type is _LONG else builder.sext(value, _LONG)

        return result(nt.int64), generate

    return at


int32_at, int64_at, word_at = _at(_INT, nt.int64), _at(_LONG, nt.int64), _at(_LONG, nt.uint64)


@intrinsic
def double_at(context, address):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _load(builder, arguments[0], _DOUBLE, 8)

    return nt.float64(nt.int64), generate


@intrinsic
def put_mask(context, address, word):  # type: ignore[no-untyped-def]
    """Writes a mask and, behind it, its negation."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        address, word = arguments
        for place, value in ((address, word), (builder.add(address, ir.Constant(_LONG, 8)), builder.not_(word))):
            builder.store(value, builder.inttoptr(place, _LONG.as_pointer()), align=8)
        return context.get_dummy_value()

    return nt.void(nt.int64, nt.uint64), generate


@intrinsic
def add_amounts(context, code, additions, amounts, masks, out, octets):  # type: ignore[no-untyped-def]
    """Writes the totals of so many times eight rows: of each the amounts whose masks hold it.

    `code` has for each addition a literal and an amount's place, `masks` a word for each literal. Totals stay in a
    register from the first addition to the last; without a branch, since whether a mask holds a row is anybody's guess.
    """

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        code, additions, amounts, masks, out, octets = arguments
        totals_type, bits_type = ir.VectorType(_LONG, OCTET), ir.VectorType(ir.IntType(1), OCTET)
        nothing = ir.Constant(totals_type, None)

        def place(start: Any, index: Any, size: int) -> Any:
            return builder.add(start, builder.mul(index, ir.Constant(_LONG, size)))

        totals = cgutils.alloca_once(builder, totals_type)
        with cgutils.for_range(builder, octets) as octet:
            builder.store(nothing, totals)
            with cgutils.for_range(builder, additions) as addition:
                literal, which = (
                    builder.sext(_load(builder, builder.add(place(code, addition.index, 8), offset), _INT, 4), _LONG)
                    for offset in (ir.Constant(_LONG, 0), ir.Constant(_LONG, 4))
                )
                bits = _load(builder, builder.add(place(masks, literal, 8), octet.index), ir.IntType(OCTET), 1)
                amount = _splat(builder, _load(builder, place(amounts, which, 8), _LONG, 8), OCTET)
                added = builder.select(builder.bitcast(bits, bits_type), amount, nothing)
                builder.store(builder.add(builder.load(totals), added), totals)
            target = builder.inttoptr(place(out, octet.index, 8 * OCTET), totals_type.as_pointer())
            builder.store(builder.load(totals), target, align=8)
        return context.get_dummy_value()

    return nt.void(nt.int64, nt.int64, nt.int64, nt.int64, nt.int64, nt.int64), generate
