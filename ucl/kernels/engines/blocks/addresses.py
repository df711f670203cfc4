"""Arrays by their addresses, as compiled loops see them. This module imports numba.

In: an address and how many values stand there. Out: an array, not checked for bounds.
"""

from __future__ import annotations

import numpy as np
from numba import carray, njit
from numba import types as nt
from numba.extending import intrinsic


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
