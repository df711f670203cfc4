"""One cell of text at a time: what a CSV cell, a JSON value or a plain text says for a type.

In: the cell's text. Out: the value, None where it is absent, or why it has none. Beyond the spelling that CSV has of
its own (`yes`, `a;b`), `semantics.values` is the reader.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal
from typing import Any

from ucl.semantics import types as t
from ucl.semantics.outcome import Reason
from ucl.semantics.values import Unreadable, is_absent, parse_value
from ucl.semantics.values.iso import WallClock, read_datetime
from ucl.semantics.zones import Zone
from ucl.tables.cells import Cells
from ucl.tables.formats.json_cells import decode
from ucl.tables.formats.plain import from_decimal
from ucl.tables.ingest.readers.reading import Cell, Parse

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|nan", re.IGNORECASE)
_EPOCH, _EPOCH_UTC = dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)
# Around the words of a CSV cell that is no text.
CSV_SPACE = " \t\r\n\v\f"
_BOOLS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def cell_reader(kind: t.Type, unit: t.Unit | None, zone: Zone, cells: Cells) -> Parse:
    """Reads a cell of the column's distinct ones. A closed text outside its list is `Reason.DOMAIN`.

    Datetimes come as `WallClock`, since what an hour without an offset means is for whole columns to say.
    """

    def read(cell: Any) -> Cell:
        try:
            raw = _raw(cell, kind, cells)
            raw = from_decimal(raw) if isinstance(raw, Decimal) else raw
            if is_absent(raw):
                return None
            value = _wall_clock(raw) if isinstance(kind, t.DateTime) else parse_value(raw, kind, unit, zone)
        except Unreadable:
            return Reason.UNREADABLE
        return value if _listed(value, kind) else Reason.DOMAIN

    return read


def _raw(cell: Any, kind: t.Type, cells: Cells) -> Any:
    """The cell as JSON would give it."""
    if cell is None:
        return None
    match cells:
        case Cells.JSON:
            return decode(cell)
        case Cells.CSV:
            return _from_csv(cell, kind)
    return cell


def _from_csv(cell: str, kind: t.Type) -> Any:
    match kind:
        case t.Text() | t.Closed():
            return cell
        case t.Set(element):
            return _set_from_csv(cell, element)
    word = cell.strip(CSV_SPACE)
    match kind:
        case t.Bool():
            return _BOOLS.get(word.lower(), word)
        case t.Int() | t.Float() | t.Quantity() | t.Duration():
            # Of a duration without a unit a number is no spelling, and ISO text is no number.
            if _INTEGER.fullmatch(word):
                return int(word)
            return float(word) if _DECIMAL.fullmatch(word) else word
    return word


def _set_from_csv(cell: str, element: t.Type | None) -> Any:
    """A JSON array where the cell begins as one, else `a; b`."""
    if cell.lstrip(CSV_SPACE).startswith("["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            raise Unreadable from None
    words = [word for part in cell.split(";") if (word := part.strip(CSV_SPACE))]
    return [word if element is None else _from_csv(word, element) for word in words]


def _wall_clock(raw: Any) -> WallClock:
    clock: WallClock | None = None
    if isinstance(raw, str):
        clock = read_datetime(raw)
    elif isinstance(raw, dt.datetime):
        naive = raw.utcoffset() is None
        since = raw.replace(tzinfo=None) - _EPOCH if naive else raw - _EPOCH_UTC
        clock = WallClock(since // _MICROSECOND, None if naive else 0)
    if clock is None:
        raise Unreadable
    return clock


def _listed(value: Any, kind: t.Type) -> bool:
    match kind:
        case t.Closed(values):
            return value in values
        case t.Set(t.Closed(values)):
            return all(member in values for member in value)
    return True
