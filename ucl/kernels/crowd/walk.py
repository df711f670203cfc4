"""From person to person: what each one's rules say of the options next to each other. This module imports numba.

In: passages, constants, columns (`columns`), where each person's options stand. Out: totals, and where options are
infeasible or contested. No lock of Python's is held. Sixty-four options are one word; there are two for each mask, the
second its negation, so that a literal is the place of its word. What can't be predicted is done without branches.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit
from numba import types as nt

from ucl.kernels.crowd.fill import BLOCK, fill, place
from ucl.kernels.crowd.passages import GROUP, HEAD, OTHER_ELEMENTS, PLACE, UNIT
from ucl.kernels.crowd.words import (
    OCTET,
    ROWS,
    add_amounts,
    at_least_8,
    at_least_16,
    at_least_32,
    at_least_64,
    at_least_double,
    double_at,
    equal_8,
    equal_16,
    equal_32,
    int32_at,
    int64_at,
    put_mask,
    word_at,
)
from ucl.kernels.engines.blocks.addresses import int64s, uint8s
from ucl.kernels.engines.blocks.vectors import lowest_bit

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)

_CODE = nt.Array(nt.int32, 1, "C", readonly=True)
_INTS = nt.Array(nt.int64, 1, "C", readonly=True)
_TABLE = nt.Array(nt.int64, 2, "C", readonly=True)

LAST_PLACE = (1 << PLACE) - 1
DOUBLE = 0
"""As the width of a slot: doubles; others are ints or codes of so many bytes."""


@njit
def reaching(rows, width, constant):  # type: ignore[no-untyped-def]
    """Of 64 rows of a slot, those that reach the constant at an address."""
    if width == 1:
        return at_least_8(rows, int64_at(constant))
    if width == 2:
        return at_least_16(rows, int64_at(constant))
    if width == DOUBLE:
        return at_least_double(rows, double_at(constant))
    if width == 4:
        return at_least_32(rows, int64_at(constant))
    return at_least_64(rows, int64_at(constant))


@njit
def equal(rows, width, code):  # type: ignore[no-untyped-def]
    if width == 1:
        return equal_8(rows, code)
    if width == 2:
        return equal_16(rows, code)
    return equal_32(rows, code)


@njit
def run_cuts(code, count, constants, here, masks):  # type: ignore[no-untyped-def]
    """`here` has for each slot an address and bytes a row; what follows takes and gives addresses, too."""
    for at in range(code, code + count * 4, 4):
        entry = int32_at(at)
        slot = here + (entry >> PLACE) * 16
        put_mask(masks, reaching(int64_at(slot), int64_at(slot + 8), constants + (entry & LAST_PLACE) * 8))
        masks += 16
    return masks


@njit
def run_words(code, count, constants, here, masks):  # type: ignore[no-untyped-def]
    for at in range(code, code + count * 4, 4):
        entry = int32_at(at)
        slot = here + (entry >> PLACE) * 16
        put_mask(masks, equal(int64_at(slot), int64_at(slot + 8), int64_at(constants + (entry & LAST_PLACE) * 8)))
        masks += 16
    return masks


@njit
def run_elements(code, tests, constants, elements, owners, width, row, start, stop, flip, masks):  # type: ignore[no-untyped-def]
    """The rows from `row` of the block on that have an element among the words or, flipped, one that is not among them.

    Theirs are those from `start` to before `stop`. Gives what stands behind the tests.
    """
    owner_of = uint8s(owners, 0)
    for _ in range(tests):
        first = code + 4
        code = first + int32_at(code) * 4
        bits = np.uint64(0)
        for element in range(start, stop, ROWS):
            hits = np.uint64(0)
            for word in range(first, code, 4):
                hits |= equal(elements + element * width, width, int64_at(constants + int32_at(word) * 8))
            hits ^= flip
            if stop - element < ROWS:
                hits &= (_ONE << np.uint64(stop - element)) - _ONE
            while hits:
                owner = np.uint8(owner_of[np.uint64(element + lowest_bit(hits))] - np.uint8(row))
                bits |= _ONE << np.uint64(owner)
                hits &= hits - _ONE
        put_mask(masks, bits)
        masks += 16
    return code


@njit
def run_units(code, count, words, masks):  # type: ignore[no-untyped-def]
    """Conjunctions; `words` is the address of mask 0, `masks` that of the next one."""
    for at in range(code, code + count * UNIT * 4, UNIT * 4):
        bits = word_at(words + int32_at(at) * 8)
        for operand in range(at + 4, at + UNIT * 4, 4):
            bits &= word_at(words + int32_at(operand) * 8)
        put_mask(masks, bits)
        masks += 16


@njit
def run_word(code, constants, amounts, slots, places, here, first, row, rows, masks, total, some):  # type: ignore[no-untyped-def]
    """All that a passage says of up to 64 rows: writes its masks, and the totals of the rows."""
    slot_rows = int64s(here, slots.shape[0] * 2)
    for slot in range(slots.shape[0]):
        width = slots[slot, 1]
        slot_rows[2 * slot] = places[slot, 0] + row * (width if width != DOUBLE else 8)
        slot_rows[2 * slot + 1] = width
    cuts, words, groups = int32_at(code), int32_at(code + 4), int32_at(code + 8)
    conjunctions, additions = int32_at(code + 12), int32_at(code + 16)
    at, mask = code + HEAD * 4, masks + 16
    mask = run_cuts(at, cuts, constants, here, mask)
    at += cuts * 4
    mask = run_words(at, words, constants, here, mask)
    at += words * 4
    for _ in range(groups):
        slot, tests = int32_at(at + 4), int32_at(at + 8)
        flip = _ALL if int32_at(at) == OTHER_ELEMENTS else np.uint64(0)
        start, stop = int64_at(places[slot, 0] + row * 8), int64_at(places[slot, 0] + (row + rows) * 8)
        elements, owners, width = places[slot, 1], places[slot, 2], slots[slot, 1]
        at += GROUP * 4
        at = run_elements(at, tests, constants, elements, owners, width, row - first, start, stop, flip, mask)
        mask += tests * 16
    run_units(at, conjunctions, masks, mask)
    at += conjunctions * UNIT * 4
    octets, behind = rows >> 3, rows & 7
    add_amounts(at, additions, amounts, masks, total + row * 8, octets)
    if behind:
        add_amounts(at, additions, amounts, masks + octets, some, 1)
        given, out = int64s(some, behind), int64s(total + (row + octets * OCTET) * 8, behind)
        for number in range(behind):
            out[number] = given[number]


@njit
def find(sources, slots, room, first, places):  # type: ignore[no-untyped-def]
    """Writes for each slot the address of its row 0, of its element 0 and of that one's owner, as if all were there."""
    for slot in range(slots.shape[0]):
        source = sources[slots[slot, 0]]
        start = place(source, room, first)
        places[slot, 0] = start - first * source[1]
        if slots[slot, 2]:
            elements, owners = sources[slots[slot, 2]], sources[slots[slot, 3]]
            begin = int64s(start, 1)[0]
            places[slot, 1] = place(elements, room, first) - begin * elements[1]
            places[slot, 2] = place(owners, room, first) - begin


def work_bytes(slots: int, most_masks: int) -> int:
    return OCTET * 8 + slots * 16 + (most_masks + 1) * 16


@njit
def write(bits, bools, value):  # type: ignore[no-untyped-def]
    rows = uint8s(bools, ROWS)
    while bits:
        rows[lowest_bit(bits)] = value
        bits &= bits - _ONE


def walk(code, starts, amounts, constants, slots, sources, steps, transitions, offsets, room, people, first_person, last_person, options, total, feasible, contested, work):  # type: ignore[no-untyped-def]  # fmt: skip  # noqa: E501
    """The people from `first_person` to before `last_person`: `people` has for each a program, and where options start
    and stop, in order; there are so many `options` in all.

    `slots` has a source (for sets, of their ends), bytes a row, and the sources of elements and of their owners.
    `total`, `feasible` and `contested` are addresses of int64 and of bytes that are 1 and 0 to begin with. There is
    `room` for columns of a block, and at `work` for a few totals, where slots stand, and masks (`work_bytes`).
    """
    places = np.zeros((slots.shape[0], 3), np.int64)
    here = work + OCTET * 8
    words = here + slots.shape[0] * 16
    codes, given, known = np.int64(code.ctypes.data), np.int64(constants.ctypes.data), np.int64(amounts.ctypes.data)
    put_mask(words, _ALL)
    first, filled = 0, 0
    for person in range(first_person, last_person):
        row, stop = people[person, 1], people[person, 2]
        head = codes + starts[people[person, 0]] * 4
        infeasible, contests = words + int32_at(head + 20) * 8, words + int32_at(head + 24) * 8
        while row < stop:
            rows = min(ROWS, stop - row)
            if row + rows > filled:
                first, filled = row, min(row + BLOCK, options)
                fill(sources, steps, transitions, offsets, room, first, filled - first)
                find(sources, slots, room, first, places)
            run_word(head, given, known, slots, places, here, first, row, rows, words, total, work)
            inside = _ALL if rows == ROWS else (_ONE << np.uint64(rows)) - _ONE
            write(word_at(infeasible) & inside, feasible + row, np.uint8(0))
            write(word_at(contests) & inside, contested + row, np.uint8(1))
            row += rows


_I = nt.int64
_SIGNATURE = nt.void(
    *(_CODE, _INTS, _INTS, _INTS, _TABLE, _TABLE, _TABLE, _INTS, _INTS, _I), *(_TABLE, _I, _I, _I), *(_I, _I, _I, _I)
)
KERNELS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "walk": (numba.njit(nogil=True, boundscheck=False, error_model="numpy")(walk), (_SIGNATURE,))
}
"""Each kernel's dispatcher and signatures, by name."""

loaded = False


def named() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """The kernels under names that change with what they are made from, for the cache."""
    folder = Path(__file__).parent
    sources = b"".join((folder / f"{name}.py").read_bytes() for name in ("passages", "fill", "words", "walk"))
    version = hashlib.sha256(sources).hexdigest()[:16]
    return {f"{name}-{version}": kernel for name, kernel in KERNELS.items()}
