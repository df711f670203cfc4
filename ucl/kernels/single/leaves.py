"""What one field of an option says of all masks, found once for each value that callers give.

In: a field's raw value, as JSON or Python has it. Out: an int with a bit for each mask, 0 where the value rules it out;
or `Unindexed`, where the value is none that the field can have: why not is for the reader of whole tables to say.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from math import inf, nextafter
from typing import Any

from ucl.kernels.columns import Path
from ucl.kernels.plan import Plan, Read, Test
from ucl.kernels.single.cells import ElementCells, Ranges, TextCells
from ucl.kernels.single.evaluating import Evaluation
from ucl.kernels.single.scalars import FLOATS, INTS, Ends
from ucl.semantics import calendar
from ucl.semantics import types as t
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Invalid
from ucl.semantics.program import Field, RangeDomain
from ucl.semantics.values.read import constant, read_field
from ucl.semantics.zones import Zone

MOST_KNOWN = 4096
"""So many values of one field are remembered with what they say; then all are forgotten."""

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)


class Unindexed(Exception):  # noqa: N818 - a signal, not an error
    """The general way has to answer."""


class Instant:
    """Stands for the type of instants among the types of raw values."""


Known = dict[type, dict[Any, Any]]
"""By a raw value's type, then by the raw value. Values that are equal and of one type mean the same."""


class Remembered(dict[Any, Any]):
    """What `find` says of a key, asked for once; of too many, all are forgotten."""

    def __init__(self, find: Callable[[Any], Any]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: Any) -> Any:
        found = self._find(key)
        if len(self) >= MOST_KNOWN:
            self.clear()
        self[key] = found
        return found


def ends_of(field: Field, zone: Zone) -> Ends | None:
    """The least and the greatest of the numbers that a field may have, where it has numbers and all between them."""
    kind = t.present(field.type)
    floating = isinstance(kind, t.Float | t.Quantity)
    limits = FLOATS if floating else _LIMITS.get(type(kind))
    match field.domain:
        case None:
            return limits
        case RangeDomain(low_end, high_end, inclusive) if limits is not None:
            number = float if floating else int
            try:
                low = limits[0] if low_end is None else number(constant(low_end, zone))
                high = limits[1] if high_end is None else number(constant(high_end, zone))
            except Overflow:
                return None
            if high_end is not None and not inclusive:
                high = nextafter(high, -inf) if floating else high - 1
            return (low, high) if limits[0] <= low <= high <= limits[1] else None
        case _:
            return None


@dataclass(frozen=True)
class Cuts:
    """Cells of a value that this field alone decides."""

    value: int
    ranges: Ranges


@dataclass(frozen=True)
class Bit:
    """A test that this field alone decides, as a value with one cut."""

    test: Test
    ranges: Ranges


@dataclass
class Leaf:
    """One field. `known` is what raw values say, which a caller may look at before it asks `find`; of sets, `said` is
    which masks each element decides (`ElementCells`), None where that is not all."""

    path: Path
    field: Field
    plan: Plan
    every: int
    cuts: Sequence[Cuts] = ()
    bits: Sequence[Bit] = ()
    texts: TextCells | None = None
    elements: ElementCells | None = None
    known: Known = default(default_factory=dict)

    def __post_init__(self) -> None:
        kind = t.present(self.field.type)
        self._zone: Zone = self.plan.call.zone
        self._reads = tuple(isinstance(self.plan.values[cuts.value], Read) for cuts in self.cuts)
        self.ends = ends_of(self.field, self._zone)
        self._accepts = _accepted(self.field, self.ends)
        # Of ints, `True` equals 1 and is none; of texts, days and dates nothing equals one that is not.
        of_texts = isinstance(kind, t.Set) and not isinstance(kind.element, t.Int)
        by_element = of_texts and self.field.domain is None and not self.cuts and not self.bits
        self.said: dict[Any, int] | None = {} if by_element else None
        self._has_any_text = isinstance(kind, t.Set) and isinstance(kind.element, t.Text)
        self.unless_met, self.neutral = 0, self.every
        if self.elements is not None:
            self.unless_met, self.neutral = self.elements.unless_met, self.elements.neutral
        self.is_set = isinstance(kind, t.Set)
        self.stand_in = _stand_in(kind)
        self.known = self.memo()

    def memo(self) -> Known:
        """Room for what depends on the field's value alone."""
        return {kind: {} for kind in _TYPES.get(type(t.present(self.field.type)), ())}

    def named_texts(self) -> tuple[dict[str, int], int] | None:
        """What is said of the texts that tests name, and of every other text, where nothing else is said of any."""
        if (
            not isinstance(t.present(self.field.type), t.Text)
            or self.field.domain is not None
            or self.cuts
            or self.bits
        ):
            return None
        return ({}, self.every) if self.texts is None else self.texts.named()

    def named_elements(self) -> dict[str, int] | None:
        """The masks that elements decide that tests name, where no other text decides any."""
        if self.said is None or not self._has_any_text:
            return None
        return {} if self.elements is None else self.elements.named()

    def absent_value(self) -> tuple[int, Any] | None:
        """What the field says when it is left out, and the value that counts then; None where it may not be."""
        try:
            value = self.read(None)
        except Unindexed:
            return None
        return self._bits(value), self.stand_in if value is None else value

    def find(self, raw: Any) -> int:
        """What `known` doesn't hold yet. Raises `Unindexed`."""
        if self.is_set:
            return self._of_set(raw)
        found: int = remember(self.known, raw, lambda: self._bits(self.read(raw)))
        return found

    def read(self, raw: Any) -> Any:
        """The field's value, by the reader that contexts and memories share. Raises `Unindexed`."""
        if self._accepts is not None and self._accepts(raw):
            return raw
        if type(raw) not in _PLAIN:
            raise Unindexed
        value = read_field(raw, self.field, self._zone, self.path)
        if isinstance(value, Invalid):
            raise Unindexed
        return value

    @property
    def absent(self) -> int:
        """What it says within a record that is not there, where nothing is missing."""
        return self._bits(None)

    def _bits(self, value: Any) -> int:
        held = self.every
        if self.texts is not None:
            held &= self.texts.at(value)
        if self.elements is not None:
            held &= self.elements.at(() if value is None else value)
        if not self.cuts and not self.bits:
            return held
        evaluation = Evaluation(self.plan, lambda path: value, {self.path: self.stand_in}, _never)
        for cuts, reads in zip(self.cuts, self._reads, strict=True):
            plain = reads and value is not None
            held &= cuts.ranges.at(value if plain else evaluation.value(cuts.value).value)
        for bit in self.bits:
            held &= bit.ranges.at(evaluation.test(bit.test))
        return held

    # --- sets -------------------------------------------------------------------------------------------------------

    def _of_set(self, raw: Any) -> int:
        """Sets are not remembered, their elements are, where tests look at nothing else."""
        if self.said is None or type(raw) not in SETS:
            return self._bits(self.read(raw))
        return (self.met(raw) ^ self.unless_met) | self.neutral

    def met(self, elements: Iterable[Any]) -> int:
        """The masks that these elements decide."""
        said, met = self.said, 0
        assert said is not None
        for element in elements:
            try:
                found = said.get(element)
            except TypeError:  # what has no hash is no element
                raise Unindexed from None
            if found is None:
                found = self._of_element(element)
                if len(said) >= MOST_KNOWN:
                    said.clear()
                said[element] = found
            met |= found
        return met

    def _of_element(self, element: Any) -> int:
        value = element
        if type(element) is not str or not element.isascii() or not self._has_any_text:
            (value,) = self.read([element])
        return 0 if self.elements is None else self.elements.met(value)


def remember(known: Known, raw: Any, find: Callable[[], Any]) -> Any:
    """What is known of a raw value, or what `find` finds. Two moments of one wall clock are equal to Python, so
    datetimes of a zone are known by their instants."""
    kind = type(raw)
    if kind is dt.datetime and raw.tzinfo is not None:
        kind, raw = Instant, (raw - _EPOCH) // _MICROSECOND
    of_type = known.get(kind)
    if of_type is None:
        return find()
    found = of_type.get(raw)
    if found is None:
        found = find()
        if len(of_type) >= MOST_KNOWN:
            of_type.clear()
        of_type[raw] = found
    return found


def _accepted(field: Field, ends: Ends | None) -> Callable[[Any], bool] | None:
    """A test that holds only of what the field has as it stands; it need not know all of it."""
    kind = t.present(field.type)
    if isinstance(kind, t.Text) and field.domain is None:
        return lambda raw: type(raw) is str and raw.isascii()
    if field.unit is not None or ends is None or not isinstance(kind, t.Int | t.Float | t.Quantity):
        return None
    wanted, (low, high) = int if isinstance(kind, t.Int) else float, ends
    return lambda raw: type(raw) is wanted and low <= raw <= high


def _never(literal: int) -> bool:
    raise AssertionError("a test of one field alone depends on no other")


def _stand_in(kind: t.Type) -> Any:
    match kind:
        case t.Float() | t.Quantity():
            return 0.0
        case t.Bool():
            return False
        case _:
            return 0


_LIMITS: dict[type, tuple[int, int]] = {
    t.Int: INTS,
    t.Date: (calendar.FIRST_DAY, calendar.LAST_DAY),
    t.Time: (0, t.DAY - 1),
    t.DateTime: (calendar.FIRST_INSTANT, calendar.LAST_INSTANT),
    t.Duration: INTS,
}
_NUMBERS = (int, float)
# The types in which values are remembered. Of others, NumPy's say, some equal these and mean something else.
_TYPES: dict[type, tuple[type, ...]] = {
    t.Bool: (bool,),
    t.Int: _NUMBERS,
    t.Float: _NUMBERS,
    t.Quantity: _NUMBERS,
    t.Text: (str,),
    t.Closed: (str,),
    t.Weekday: (str,),
    t.Date: (str, dt.date),
    t.Time: (str, dt.time),
    t.DateTime: (str, dt.datetime, Instant),
    t.Duration: (str, int, float, dt.timedelta),
}
SETS: Iterable[type] = frozenset({list, tuple, set, frozenset})
_PLAIN = frozenset({bool, int, float, str, dt.date, dt.time, dt.datetime, dt.timedelta, *SETS, type(None)})
