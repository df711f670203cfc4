"""Columns taken at their word: what a long column holds is found out by whoever scores it, who looks at it anyway.

In: a field's place in the table. Out: its column, and the bounds within which every value must lie for that to be
right; or None where cells have to be looked at one by one: of other types, with nulls, or in parts.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ucl.kernels.columns import Bounds, Scalars
from ucl.semantics import calendar
from ucl.semantics import types as t
from ucl.semantics.types import present
from ucl.semantics.zones import Zone
from ucl.tables.cells import Cells
from ucl.tables.ingest.fill import ends_of
from ucl.tables.ingest.places import Place
from ucl.tables.ingest.readers.reading import values_of

if TYPE_CHECKING:
    import pyarrow as pa

_INTS = (-(2**63), 2**63 - 1)
_FLOATS = (-sys.float_info.max, sys.float_info.max)
_INSTANTS = (calendar.FIRST_INSTANT, calendar.LAST_INSTANT)


def trusted(place: Place, zone: Zone) -> tuple[Scalars, Bounds] | None:
    """Of fields whose values Arrow holds as the kernels do: eight bytes each, in the same unit."""
    column, kind = place.column, present(place.field.type)
    if column is None or place.within is not None or place.cells is not Cells.TYPED or place.field.unit is not None:
        return None
    if column.num_chunks != 1 or column.null_count:
        return None
    ends = _ends(kind, column.type)
    if ends is None:
        return None
    values = _eight_bytes(column.chunk(0))
    least, greatest = ends
    if place.field.domain is not None:
        inner = ends_of(place.field.domain, values.dtype, zone)
        if inner is None:
            return None
        least, greatest = max(least, inner[0]), min(greatest, inner[1])
    return Scalars(values, None), Bounds(values, least, greatest)


def _ends(kind: t.Type, type: pa.DataType) -> tuple[float, float] | None:
    """The least and the greatest that a field of the kind may be, where the column is of its own type."""
    import pyarrow as pa

    match kind:
        case t.Int() if type == pa.int64():
            return _INTS
        case t.Float() if type == pa.float64():
            return _FLOATS
        case t.DateTime() if pa.types.is_timestamp(type) and type.unit == "us" and type.tz is not None:
            return _INSTANTS
        case _:
            return None


def _eight_bytes(array: pa.Array) -> Any:
    import pyarrow as pa

    plain = array if pa.types.is_floating(array.type) else array.view(pa.int64())
    values = values_of(plain)
    assert values.dtype in (np.int64, np.float64)
    return values
