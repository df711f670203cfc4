"""Masks to masks, and masks to what is said of rows. This module imports numba.

In: masks of one block, `stride` bytes apart, named by literals; padded to whole groups of eight words. Out: further
masks; totals and bools of rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ucl.kernels.engines.blocks.addresses import uint64s
from ucl.kernels.engines.blocks.vectors import (
    add_amount,
    add_rows,
    conjoin,
    conjoin_three,
    lowest_bit,
    spread,
    which_words,
)


@njit
def flip_of(literal):  # type: ignore[no-untyped-def]
    return np.uint64(0) - np.uint64(literal & 1)


@njit
def conjoin_all(operands, first, masks, stride, words):  # type: ignore[no-untyped-def]
    """`masks[first + j]`: all of the literals `operands[j]`."""
    size = operands.shape[1]
    for conjunction in range(operands.shape[0]):
        out = masks + (first + conjunction) * stride
        literals = operands[conjunction]
        start = 2
        if size >= 3:
            start = 3
            a, b, c = literals[0], literals[1], literals[2]
            at_a, at_b, at_c = masks + (a >> 1) * stride, masks + (b >> 1) * stride, masks + (c >> 1) * stride
            for byte in range(0, words * 8, 64):
                conjoin_three(out + byte, at_a + byte, flip_of(a), at_b + byte, flip_of(b), at_c + byte, flip_of(c))
        else:
            a, b = literals[0], literals[size - 1]
            at_a, at_b = masks + (a >> 1) * stride, masks + (b >> 1) * stride
            for byte in range(0, words * 8, 64):
                conjoin(out + byte, at_a + byte, flip_of(a), at_b + byte, flip_of(b))
        while start + 2 <= size:
            a, b = literals[start], literals[start + 1]
            at_a, at_b = masks + (a >> 1) * stride, masks + (b >> 1) * stride
            for byte in range(0, words * 8, 64):
                conjoin_three(out + byte, out + byte, np.uint64(0), at_a + byte, flip_of(a), at_b + byte, flip_of(b))
            start += 2
        if start < size:
            a = literals[start]
            at_a = masks + (a >> 1) * stride
            for byte in range(0, words * 8, 64):
                conjoin(out + byte, out + byte, np.uint64(0), at_a + byte, flip_of(a))


@njit
def add_amounts(literals, amounts, masks, stride, words, totals):  # type: ignore[no-untyped-def]
    """Adds each amount to the totals of the rows in which its literal holds. Words that hold no row are passed over."""
    for number in range(literals.shape[0]):
        literal, amount = literals[number], amounts[number]
        mask, flip = masks + (literal >> 1) * stride, flip_of(literal)
        for first in range(0, words, 64):
            some = which_words(mask + first * 8, flip)
            if words - first < 64:
                some &= (np.uint64(1) << np.uint64(words - first)) - np.uint64(1)
            held = uint64s(mask + first * 8, 64)
            while some:
                word = lowest_bit(some)
                add_amount(totals + (first + word) * 512, held[word] ^ flip, amount)
                some &= some - np.uint64(1)


@njit
def add_values(literal, values, masks, stride, words, totals):  # type: ignore[no-untyped-def]
    """Adds each row's own value where the literal holds."""
    held, flip = uint64s(masks + (literal >> 1) * stride, words), flip_of(literal)
    for word in range(words):
        bits = held[word] ^ flip
        if bits:
            add_rows(totals + word * 512, bits, values + word * 512)


@njit
def keep_all(literals, masks, stride, words, kept, apart):  # type: ignore[no-untyped-def]
    """Copies the masks of literals to where they are kept, so many bytes apart."""
    for number in range(literals.shape[0]):
        literal = literals[number]
        held, flip = uint64s(masks + (literal >> 1) * stride, words), flip_of(literal)
        out = uint64s(kept + number * apart, words)
        for word in range(words):
            out[word] = held[word] ^ flip


@njit
def spread_bools(literal, masks, stride, words, bools):  # type: ignore[no-untyped-def]
    held, flip = uint64s(masks + (literal >> 1) * stride, words), flip_of(literal)
    for word in range(words):
        spread(held[word] ^ flip, bools + word * 64)
