"""What the steps of a tape do, and what its slots are: the words that `tape` writes and `driver` reads."""

from __future__ import annotations

OPERANDS = 12
"""A step is its opcode and its operands, of which the rest are 0."""

# Values: from slots to a slot.
LOCAL, SPLIT, DAY, TIME, PART, COMBINE_INTS, COMBINE_FLOATS, TO_FLOAT = range(8)
CONTRIBUTE, TAKE, SELECT, SIZES, WIDEN = range(8, 13)
# Tests: from slots to masks.
CUT_INTS, CUT_FLOATS, CUT_NARROW, PACK, FILL, COMPARE, ONE_OF_FEW, LOOK_UP, ANY_ELEMENT, ANY_OF_FEW = range(13, 23)
ANY_OF_CODES = 23
# Masks to masks, and to what is said of rows.
CONJOIN, ADD_AMOUNTS, ADD_VALUES, SPREAD, KEEP = range(24, 29)
# Of a column, whether all rows lie within bounds.
BOUND_INTS, BOUND_FLOATS = range(29, 31)

# Kinds of slots: a column of the table; room for a block's values; a column of results; where sets begin and end; masks
# that are kept, 64 rows to a word.
COLUMN, SCRATCH, RESULT, OFFSETS, KEPT = range(5)

# Kinds of COMBINE_INTS and COMBINE_FLOATS, of PART, and of COMPARE.
ADD, SUBTRACT, MULTIPLY, DIVIDE, LEAST, GREATEST = range(6)
WEEKDAY, HOUR, MINUTE = range(3)
LESS, EQUAL = range(2)

PADDING = 8
"""So many words lie between a mask and the next: masks a power of two apart would fall into the same lines of a cache,
and masks are read eight words at a time."""

MOST_ELEMENTS = 4096
"""Of 64 rows, so many elements have their rows written down; more are gone through row by row."""

# Where things stand in the room of a thread: 64 words, the rows of elements, four bytes for each row of a block.
SQUARE = 0
OWNERS = SQUARE + 512
NARROW = OWNERS + MOST_ELEMENTS + 64
