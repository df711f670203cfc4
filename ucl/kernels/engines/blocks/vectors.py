"""Sixty-four rows at a time: what loops over blocks are made of. This module imports numba.

In: addresses of contiguous, aligned arrays, and masks of 64 rows, the first row in the lowest bit. Out: masks, or rows
changed in place. Each is there as LLVM's vectors, and as a plain loop for processors whose bits stand otherwise.
"""

from __future__ import annotations

import sys

from llvmlite import ir
from numba import types as nt
from numba.extending import intrinsic

from ucl.kernels.engines.blocks.loop_forms import LOOPS
from ucl.kernels.engines.blocks.vector_forms import VECTORS

_CHOSEN = VECTORS if sys.byteorder == "little" else LOOPS
at_least_64, at_least_32 = _CHOSEN["at_least_64"], _CHOSEN["at_least_32"]
at_least_16, at_least_8 = _CHOSEN["at_least_16"], _CHOSEN["at_least_8"]
at_least_float = _CHOSEN["at_least_float"]
any_bit_64, any_bit_32 = _CHOSEN["any_bit_64"], _CHOSEN["any_bit_32"]
any_bit_16, any_bit_8 = _CHOSEN["any_bit_16"], _CHOSEN["any_bit_8"]
equals_32, equals_16 = _CHOSEN["equals_32"], _CHOSEN["equals_16"]
less_64, less_float = _CHOSEN["less_64"], _CHOSEN["less_float"]
equal_64, equal_float = _CHOSEN["equal_64"], _CHOSEN["equal_float"]
add_amount, add_rows = _CHOSEN["add_amount"], _CHOSEN["add_rows"]
conjoin, conjoin_three = _CHOSEN["conjoin"], _CHOSEN["conjoin_three"]
which_words = _CHOSEN["which_words"]
spread, transpose, fill_run = _CHOSEN["spread"], _CHOSEN["transpose"], _CHOSEN["fill_run"]


@intrinsic
def lowest_bit(context, word):  # type: ignore[no-untyped-def]
    """The place of the lowest bit that is set; there is one."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return nt.int64(nt.uint64), generate
