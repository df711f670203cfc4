"""Tests of values, codes and sets, as masks. This module imports numba.

In: addresses of one block's rows, whole words of them. Out: masks, one after another, `stride` bytes apart.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ucl.kernels.engines.blocks.addresses import int16s, int32s, int64s, uint8s, uint64s
from ucl.kernels.engines.blocks.opcodes import LESS, MOST_ELEMENTS
from ucl.kernels.engines.blocks.vector_forms import RUN
from ucl.kernels.engines.blocks.vectors import (
    any_bit_8,
    any_bit_16,
    any_bit_32,
    any_bit_64,
    at_least_8,
    at_least_16,
    at_least_32,
    at_least_64,
    at_least_float,
    equal_64,
    equal_float,
    equals_32,
    fill_run,
    less_64,
    less_float,
    lowest_bit,
    transpose,
)

# So many tests cost no more one by one than turning all rows into masks does.
_FEW = 16


# --- numbers --------------------------------------------------------------------------------------------------------


@njit
def cut_ints(values, width, constants, masks, stride, words):  # type: ignore[no-untyped-def]
    """Ints of `width` bytes. A constant that they can't reach, or can't be below, decides."""
    beyond = np.int64(1) << (8 * width - 1) if width < 8 else 0
    for test in range(constants.shape[0]):
        mask, constant = masks + test * stride, constants[test]
        if beyond and not -beyond < constant < beyond:
            every = uint64s(mask, words)
            every[:] = np.uint64(0) if constant > 0 else ~np.uint64(0)
        elif width == 8:
            for word in range(words):
                at_least_64(values + word * 512, constant, mask + word * 8)
        elif width == 4:
            for word in range(words):
                at_least_32(values + word * 256, np.int32(constant), mask + word * 8)
        elif width == 2:
            for word in range(words):
                at_least_16(values + word * 128, np.int16(constant), mask + word * 8)
        else:
            for word in range(words):
                at_least_8(values + word * 64, np.int8(constant), mask + word * 8)


@njit
def cut_floats(values, constants, masks, stride, words):  # type: ignore[no-untyped-def]
    for test in range(constants.shape[0]):
        for word in range(words):
            at_least_float(values + word * 512, constants[test], masks + test * stride + word * 8)


@njit
def cut_narrow(values, constants, shift, masks, stride, words, narrow):  # type: ignore[no-untyped-def]
    """The same for constants that end in `shift` zero bits and lie close together: values are first brought near
    them, where fewer bits tell them apart. `narrow` is room for four bytes a row."""
    least = (constants[0] >> shift) - 1
    most = constants[-1] >> shift
    rows = words * 64
    given = int64s(values, rows)
    if most - least < 1 << 15:
        shorts = int16s(narrow, rows)
        for row in range(rows):
            shorts[row] = min(max(given[row] >> shift, least), most) - least
        for test in range(constants.shape[0]):
            short = np.int16((constants[test] >> shift) - least)
            for word in range(words):
                at_least_16(narrow + word * 128, short, masks + test * stride + word * 8)
    else:
        ints = int32s(narrow, rows)
        for row in range(rows):
            ints[row] = min(max(given[row] >> shift, least), most) - least
        for test in range(constants.shape[0]):
            constant = np.int32((constants[test] >> shift) - least)
            for word in range(words):
                at_least_32(narrow + word * 256, constant, masks + test * stride + word * 8)


@njit
def compare(kind, floating, left, right, mask, words):  # type: ignore[no-untyped-def]
    """Row by row whether one value is less than another, or equals it."""
    for word in range(words):
        a, b, here = left + word * 512, right + word * 512, mask + word * 8
        if kind == LESS:
            if floating:
                less_float(a, b, here)
            else:
                less_64(a, b, here)
        elif floating:
            equal_float(a, b, here)
        else:
            equal_64(a, b, here)


@njit
def pack(bools, mask, words):  # type: ignore[no-untyped-def]
    """Bools of a byte each."""
    for word in range(words):
        any_bit_8(bools + word * 64, np.uint8(255), mask + word * 8)


# --- codes ----------------------------------------------------------------------------------------------------------


@njit
def one_of_few(codes, wanted, dictionary, masks, stride, words, hot):  # type: ignore[no-untyped-def]
    """A dictionary of at most 32: a code is the bit that it stands for, a test the bits that it wants.

    `hot` is room for four bytes a row.
    """
    rows = words * 64
    given = int32s(codes, rows)
    if dictionary <= 8:
        bytes = uint8s(hot, rows)
        for row in range(rows):
            bytes[row] = np.uint8(np.uint32(1) << np.uint32(given[row]))
        for test in range(wanted.shape[0]):
            for word in range(words):
                any_bit_8(hot + word * 64, np.uint8(wanted[test]), masks + test * stride + word * 8)
    elif dictionary <= 16:
        shorts = int16s(hot, rows)
        for row in range(rows):
            shorts[row] = np.int16(np.uint32(1) << np.uint32(given[row]))
        for test in range(wanted.shape[0]):
            for word in range(words):
                any_bit_16(hot + word * 128, np.int16(wanted[test]), masks + test * stride + word * 8)
    else:
        ints = int32s(hot, rows)
        for row in range(rows):
            ints[row] = np.int32(np.uint32(1) << np.uint32(given[row]))
        for test in range(wanted.shape[0]):
            for word in range(words):
                any_bit_32(hot + word * 256, np.int32(wanted[test]), masks + test * stride + word * 8)


@njit
def look_up(codes, table, size, tests, masks, stride, words, square):  # type: ignore[no-untyped-def]
    """`table[part * size + code]` has a bit for each of 64 tests. `square` is room for 64 words."""
    if tests <= _FEW:
        look_up_few(codes, table, tests, masks, stride, words, square)
        return
    rows = uint64s(square, 64)
    given = int32s(codes, words * 64)
    for first in range(0, tests, 64):
        meaning = uint64s(table + (first // 64) * size * 8, 0)
        for word in range(words):
            for row in range(64):
                rows[row] = meaning[np.uint32(given[word * 64 + row])]
            masks_of_rows(square, min(64, tests - first), masks + first * stride + word * 8, stride)


@njit
def look_up_few(codes, table, tests, masks, stride, words, square):  # type: ignore[no-untyped-def]
    """Rows of two bytes are compared four times as fast."""
    rows = int16s(square, 64)
    meaning = uint64s(table, 0)
    given = int32s(codes, words * 64)
    for word in range(words):
        for row in range(64):
            rows[row] = np.int16(meaning[np.uint32(given[word * 64 + row])])
        for test in range(tests):
            any_bit_16(square, np.int16(1 << test), masks + test * stride + word * 8)


@njit
def masks_of_rows(square, tests, masks, stride):  # type: ignore[no-untyped-def]
    """From a word for each row, with a bit for each test, to a word for each test, with a bit for each row."""
    if tests <= _FEW:
        for test in range(tests):
            any_bit_64(square, np.uint64(1) << np.uint64(test), masks + test * stride)
        return
    transpose(square)
    turned = uint64s(square, 64)
    for test in range(tests):
        mask = uint64s(masks + test * stride, 1)
        mask[0] = turned[test]


# --- sets -----------------------------------------------------------------------------------------------------------


@njit
def any_element(ends, elements, table, size, tests, masks, stride, words, square, owners):  # type: ignore[no-untyped-def]
    """A row has the tests of all its elements: `table` is as `look_up` has it.

    `square` is room for 64 words, `owners` for the row of each of `MOST_ELEMENTS`.
    """
    rows = uint64s(square, 64)
    offsets = int64s(ends, words * 64 + 1)
    for word in range(words):
        start, end = offsets[word * 64], offsets[word * 64 + 64]
        few = end - start <= MOST_ELEMENTS
        if few:
            write_owners(offsets, word * 64, owners)
        for first in range(0, tests, 64):
            meaning = uint64s(table + (first // 64) * size * 8, 0)
            for row in range(64):
                rows[row] = np.uint64(0)
            if few:
                row_of = uint8s(owners - start, 0)
                for place in range(np.uint64(start), np.uint64(end)):
                    rows[np.uint64(row_of[place])] |= meaning[np.uint64(elements[place])]
            else:
                for row in range(64):
                    for place in range(offsets[word * 64 + row], offsets[word * 64 + row + 1]):
                        rows[row] |= meaning[np.uint64(elements[place])]
            masks_of_rows(square, min(64, tests - first), masks + first * stride + word * 8, stride)


@njit
def write_owners(offsets, first, owners):  # type: ignore[no-untyped-def]
    """For each element of 64 rows, its row. Each row writes a run that later rows write over, so that lengths, which
    no processor can guess, mostly decide nothing."""
    base = owners - offsets[first]
    for row in range(64):
        start, end = offsets[first + row], offsets[first + row + 1]
        fill_run(base + start, np.uint8(row))
        while end - start > RUN:
            start += RUN
            fill_run(base + start, np.uint8(row))


@njit
def any_of_few(ends, elements, table, means, size, tests, masks, stride, words, square):  # type: ignore[no-untyped-def]
    """The same where few elements have any test: `means[code]` is 1 for those. Most are passed over, eight at a time,
    and the row of another is looked for."""
    clear(tests, masks, stride, words)
    known = uint8s(means, 0)
    offsets = int64s(ends, words * 64 + 1)
    word = 0
    start, size_here = np.uint64(offsets[0]), np.uint64(offsets[words * 64])
    while start < size_here:
        beyond = min(start + np.uint64(8), size_here)
        if beyond - start == np.uint64(8):
            any_known = np.uint8(0)
            for step in range(8):
                any_known |= known[np.uint64(elements[start + np.uint64(step)])]
            if any_known == 0:
                start = beyond
                continue
        for place in range(start, beyond):
            code = np.uint64(elements[place])
            if known[code]:
                word, bit = owner(offsets, ends, np.int64(place), word, square)
                mark(table, np.int64(code), size, tests, masks + word * 8, stride, bit)
        start = beyond


@njit
def any_of_codes(ends, elements, wanted, table, size, tests, masks, stride, words, square):  # type: ignore[no-untyped-def]
    """The same where only the codes `wanted` have any test, of elements of four bytes: each code is compared with 64
    of them at once."""
    clear(tests, masks, stride, words)
    codes = int32s(elements, 0)
    offsets = int64s(ends, words * 64 + 1)
    word = 0
    beyond = offsets[words * 64]
    for start in range(offsets[0], beyond, 64):
        hits = np.uint64(0)
        if start + 64 <= beyond:
            for code in wanted:
                hits |= equals_32(elements + start * 4, np.int32(code))
        else:
            for place in range(start, beyond):
                for code in wanted:
                    hits |= np.uint64(codes[np.uint64(place)] == code) << np.uint64(place - start)
        while hits:
            place = start + lowest_bit(hits)
            hits &= hits - np.uint64(1)
            word, bit = owner(offsets, ends, place, word, square)
            mark(table, np.int64(codes[np.uint64(place)]), size, tests, masks + word * 8, stride, bit)


@njit
def clear(tests, masks, stride, words):  # type: ignore[no-untyped-def]
    for test in range(tests):
        mask = uint64s(masks + test * stride, words)
        for word in range(words):
            mask[word] = np.uint64(0)


@njit
def owner(offsets, ends, place, word, square):  # type: ignore[no-untyped-def]
    """The row of an element, as its word, from `word` on, and its bit: the first row that ends beyond it."""
    while offsets[word * 64 + 64] <= place:
        word += 1
    at_least_64(ends + 8 + word * 512, place + 1, square)
    return word, np.uint64(1) << np.uint64(lowest_bit(uint64s(square, 1)[0]))


@njit
def mark(table, code, size, tests, masks, stride, bit):  # type: ignore[no-untyped-def]
    """Sets the bit in the mask of each test that the code has."""
    meaning = uint64s(table, 0)
    for first in range(0, tests, 64):
        bits = meaning[(first // 64) * size + code]
        while bits:
            mask = uint64s(masks + (first + lowest_bit(bits)) * stride, 1)
            mask[0] |= bit
            bits &= bits - np.uint64(1)
