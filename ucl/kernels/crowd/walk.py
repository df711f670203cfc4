"""From person to person: what each one's rules say of the options next to each other. This module imports numba.

In: passages of `tables`, the addresses of columns, where each person's options stand. Out: totals, and where options
are infeasible or contested. No lock of Python's is held.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit
from numba import types as nt

from ucl.kernels.crowd.tables import (
    COUNTS,
    CUT_FLOATS,
    CUT_INTS,
    ELEMENTS,
    FLAG,
    HEAD,
    OTHER_ELEMENTS,
    OTHER_TEXTS,
    TEXTS,
)
from ucl.kernels.engines.blocks import values as parts
from ucl.kernels.engines.blocks.addresses import int64s, uint8s
from ucl.kernels.engines.blocks.vectors import (
    add_amount,
    any_bit_8,
    at_least_64,
    at_least_float,
    equals_16,
    equals_32,
    lowest_bit,
)

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_ROWS = 64
_FEW = 3  # so many totals are added to one by one

_CODE = nt.Array(nt.int32, 1, "C", readonly=True)
_INTS = nt.Array(nt.int64, 1, "C", readonly=True)
_FLOATS = nt.Array(nt.float64, 1, "C", readonly=True)
_WORD_CODES = nt.Array(nt.int32, 2, "C", readonly=True)
_TABLE = nt.Array(nt.int64, 2, "C", readonly=True)

LOCAL, DAY, TIME, PART = range(4)


@njit
def mask_of(masks, literal):  # type: ignore[no-untyped-def]
    return masks[literal >> 1] ^ (np.uint64(0) - np.uint64(literal & 1))


@njit
def some_text(codes, width, words, code, at, count):  # type: ignore[no-untyped-def]
    """Of 64 codes of `width` bytes, those of any of the words; a word that the table doesn't have is below 0."""
    bits = np.uint64(0)
    for place in range(at, at + count):
        wanted = words[code[place]]
        if wanted >= 0:
            bits |= equals_16(codes, np.int16(wanted)) if width == 2 else equals_32(codes, wanted)
    return bits


@njit
def some_element(offsets, elements, width, words, code, at, count, row, rows, flip):  # type: ignore[no-untyped-def]
    """The rows that have an element among the words or, flipped, one that is not among them."""
    bits = np.uint64(0)
    place = offsets[row]
    end = offsets[row + rows]
    while place < end:
        hits = some_text(elements + place * width, width, words, code, at, count) ^ flip
        if end - place < _ROWS:
            hits &= (_ONE << np.uint64(end - place)) - _ONE
        while hits:
            hit = place + lowest_bit(hits)
            hits &= hits - _ONE
            owner, beyond = row, row + rows
            while beyond - owner > 1:
                middle = (owner + beyond) >> 1
                if offsets[middle] <= hit:
                    owner = middle
                else:
                    beyond = middle
            bits |= _ONE << np.uint64(owner - row)
        place += _ROWS
    return bits


@njit
def run_tests(code, head, ints, floats, words, slots, row, rows, masks, room):  # type: ignore[no-untyped-def]
    """Makes the passage's masks of tests, kind after kind; gives the number of the next mask, and what stands next."""
    counts, at, place = head + COUNTS, head + HEAD, room
    for _ in range(code[counts + CUT_INTS]):
        place += 8
        at_least_64(slots[code[at], 0] + row * 8, ints[code[at + 1]], place)
        at += 2
    for _ in range(code[counts + CUT_FLOATS]):
        place += 8
        at_least_float(slots[code[at], 0] + row * 8, floats[code[at + 1]], place)
        at += 2
    for _ in range(code[counts + FLAG]):
        place += 8
        any_bit_8(slots[code[at], 0] + row, np.uint8(1), place)
        at += 2
    mask = (place - room) // 8 + 1
    for kind in (TEXTS, OTHER_TEXTS):
        flip = _ALL if kind == OTHER_TEXTS else np.uint64(0)
        for _ in range(code[counts + kind]):
            slot, count = code[at], code[at + 1]
            width, known = slots[slot, 3], words[slots[slot, 1]]
            masks[mask] = some_text(slots[slot, 0] + row * width, width, known, code, at + 2, count) ^ flip
            at += 2 + count
            mask += 1
    for kind in (ELEMENTS, OTHER_ELEMENTS):
        flip = _ALL if kind == OTHER_ELEMENTS else np.uint64(0)
        for _ in range(code[counts + kind]):
            slot, count = code[at], code[at + 1]
            offsets, known = int64s(slots[slot, 0], row + rows + 1), words[slots[slot, 1]]
            elements, width = slots[slot, 2], slots[slot, 3]
            masks[mask] = some_element(offsets, elements, width, known, code, at + 2, count, row, rows, flip)
            at += 2 + count
            mask += 1
    return mask, at


@njit
def run_sums(code, at, additions, ints, masks, sums):  # type: ignore[no-untyped-def]
    """Adds each amount to the rows where its mask holds."""
    address = np.int64(sums.ctypes.data)
    for _ in range(additions):
        bits = mask_of(masks, code[at])
        amount = ints[code[at + 1]]
        at += 2
        if bits == 0:
            continue
        rest = bits
        for _ in range(_FEW):
            rest &= rest - _ONE
        if rest:
            add_amount(address, bits, amount)
        else:
            while bits:
                sums[lowest_bit(bits)] += amount
                bits &= bits - _ONE


def walk(code, starts, ints, floats, words, slots, people, first, last, total, feasible, contested, most_masks):  # type: ignore[no-untyped-def]
    """The people from `first` to before `last`: `people` has for each a program, and where options start and stop.

    `slots` has an address, a row of `words`, the address of elements and the bytes of a code each; addresses are of
    row 0. `total`, `feasible` and `contested` are addresses, too, of int64 and of bytes that are 1 and 0 to begin with.
    """
    room = np.empty(most_masks + 8, np.uint64)
    address = np.int64(room.ctypes.data)
    room[0] = _ALL
    sums = np.empty(_ROWS, np.int64)
    for person in range(first, last):
        row, stop = people[person, 1], people[person, 2]
        head = starts[people[person, 0]]
        conjunctions, additions = code[head], code[head + 1]
        while row < stop:
            rows = min(_ROWS, stop - row)
            first_mask, at = run_tests(code, head, ints, floats, words, slots, row, rows, room, address)
            for mask in range(first_mask, first_mask + conjunctions):
                bits = _ALL
                size = code[at]
                for place in range(at + 1, at + 1 + size):
                    bits &= mask_of(room, code[place])
                room[mask] = bits
                at += 1 + size
            sums[:] = 0
            run_sums(code, at, additions, ints, room, sums)
            out = int64s(total + row * 8, rows)
            for place in range(rows):
                out[place] = sums[place]
            inside = _ALL if rows == _ROWS else (_ONE << np.uint64(rows)) - _ONE
            bits = mask_of(room, code[head + 2]) & inside
            while bits:
                uint8s(feasible + row, rows)[lowest_bit(bits)] = 0
                bits &= bits - _ONE
            bits = mask_of(room, code[head + 3]) & inside
            while bits:
                uint8s(contested + row, rows)[lowest_bit(bits)] = 1
                bits &= bits - _ONE
            row += rows


def derive(kind, which, given, transitions, offsets, out, rows):  # type: ignore[no-untyped-def]
    """A column of times computed from another: wall clocks, their days and times, parts of these."""
    if kind == LOCAL:
        parts.to_wall(given, transitions, offsets, out, rows)
    elif kind == DAY:
        parts.day_of(given, which, out, rows)
    elif kind == TIME:
        parts.time_of(given, out, rows)
    else:
        parts.part(which, given, out, rows)


def _kernel(function: Any, *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
    return numba.njit(nogil=True, boundscheck=False, error_model="numpy")(function), (nt.void(*arguments),)


_I = nt.int64
KERNELS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "walk": _kernel(walk, _CODE, _INTS, _INTS, _FLOATS, _WORD_CODES, _TABLE, _TABLE, _I, _I, _I, _I, _I, _I),
    "derive": _kernel(derive, _I, _I, _I, _INTS, _INTS, _I, _I),
}
"""Each kernel's dispatcher and signatures, by name."""

loaded = False


def named() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """The kernels under names that change with what they are made from, for the cache."""
    sources = b"".join(Path(__file__).with_name(name).read_bytes() for name in ("tables.py", "walk.py"))
    version = hashlib.sha256(sources).hexdigest()[:16]
    return {f"{name}-{version}": kernel for name, kernel in KERNELS.items()}
