"""From fields to axes: what every test of a field asks, gathered, and the cells that come of it.

In: a field and the atoms about it. Out: its axis, or the three of a datetime.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ucl.analysis.boxes.axes import Axis, DayAxis, DayTests, LineAxis, MomentAxis, SampleAxis, bits, skipped_days
from ucl.analysis.boxes.humane import USUAL_DAY
from ucl.analysis.boxes.outcomes import Sampled
from ucl.analysis.boxes.samples import sets, texts, usual_text
from ucl.analysis.formulas import line
from ucl.analysis.formulas.formula import Holds, Is, Within
from ucl.analysis.formulas.line import Intervals
from ucl.analysis.formulas.reading import Reader
from ucl.analysis.formulas.terms import CLOCK, Place, Term, valued
from ucl.semantics import types as t
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call
from ucl.semantics.program import SetDomain
from ucl.semantics.types import DAY as DAY_LENGTH
from ucl.semantics.values.read import constant

OfInstants = tuple[DayAxis, LineAxis, MomentAxis]


class Fields:
    """Builds the axes of one scene; `today` is the first day that `now` may have."""

    def __init__(self, reader: Reader, today: int) -> None:
        self.reader = reader
        self.terms = reader.terms
        self._today = today
        self._call = Call(self.terms.zone, 0, 0)

    def axes(self, place: Place, tests: Sequence[Within | Holds | Is]) -> Axis | OfInstants:
        """The axis of a field, or the three of a datetime."""
        default = self._default(place)
        match place.type:
            case t.Record():
                return Axis([True, None], [1, 0], 0b10)
            case t.Text() | t.Set():
                return self._samples(place, held(tests), default)
            case t.DateTime():
                within = [test for test in tests if isinstance(test, Within)]
                return self._datetime(place, within, default)
            case t.Date():
                within = [test for test in tests if isinstance(test, Within)]
                domain = self.reader.solver.domain(Term(place, ""))
                return DayAxis(
                    domain, _day_tests(within, False), USUAL_DAY, default=default, optional=place.may_be_absent
                )
            case _:
                keys = [test.keys for test in tests if isinstance(test, Within)]
                domain = self.reader.solver.domain(Term(place, ""))
                unit = place.declared.unit
                return LineAxis(place.type, domain, keys, default, place.may_be_absent, unit)

    def _default(self, place: Place) -> Any:
        if place.declared.default is None:
            return None
        try:
            return constant(place.declared.default, self.terms.zone)
        except Overflow:
            return None

    def _datetime(self, place: Place, tests: Sequence[Within], default: int | None) -> OfInstants:
        zone = self.terms.zone
        is_now = place.root == "context" and place.path == ("now",)
        ends = sorted({end for test in tests if test.term.part == "" for interval in test.keys for end in interval})
        first, last = line.span_of(t.DATETIME) or (0, 0)
        own = self.reader.solver.domain(Term(place, ""))
        ends = sorted({end for end in (*ends, *(e for interval in own for e in interval)) if first < end < last})
        edge_days = tuple(((day, day + 1),) for day in sorted({zone.local(end) // DAY_LENGTH for end in ends}))
        # The days of the domain; where it ends within a day, the moments of that day say the rest.
        domain = line.joined(
            (zone.local(low) // DAY_LENGTH, zone.local(end - 1) // DAY_LENGTH + 1) for low, end in bounded(own)
        )
        near = USUAL_DAY
        if is_now:
            domain, near = line.common(domain, ((self._today, domain[-1][1]),)), self._today
        local = None if default is None else zone.local(default)
        days = DayAxis(
            domain,
            _day_tests(tests, True, edge_days),
            near,
            skipped_days(zone, ends),
            self._today if is_now else None if local is None else local // DAY_LENGTH,
        )
        clocks = LineAxis(
            t.TIME,
            ((0, DAY_LENGTH),),
            [test.keys for test in tests if test.term.part == CLOCK],
            None if local is None else local % DAY_LENGTH,
        )
        moments = MomentAxis(zone, days.irregular, clocks, ends, own, place.may_be_absent)
        return days, clocks, moments

    def _samples(self, place: Place, tests: Sequence[Holds], default: Any) -> SampleAxis:
        exprs = [test.expr for test in tests]
        match place.type:
            case t.Set(element):
                samples: list[Any] = list(sets(exprs, element or t.TEXT, default or frozenset()))
            case _:
                samples = texts(exprs, default if isinstance(default, str) else usual_text(place.path[-1]))
        if isinstance(place.declared.domain, SetDomain):  # all of it, in the order in which people would write it
            domain = place.declared.domain.values
            samples = list(dict.fromkeys([*(s for s in samples if s in domain), *sorted(map(str, domain))]))

        holding = [valued(expr, self._call, Term(place, "").name) for expr in exprs]
        sampled = Sampled(samples)
        masks = [sampled.where(expr, holds) for expr, holds in zip(exprs, holding, strict=True)]

        def outcome(value: Any) -> int:
            return bits(number for number, holds in enumerate(holding) if holds(value))

        return SampleAxis(sampled, masks, outcome, place.may_be_absent)


def held(tests: Sequence[Within | Holds | Is]) -> list[Holds]:
    """The tests that only values can answer, as a `SampleAxis` numbers them."""
    return [test for test in tests if isinstance(test, Holds)]


def bounded(keys: Intervals) -> Intervals:
    """Instants whose ends have a local day: a day or so off the first and the last."""
    first, last = line.span_of(t.DATETIME) or (0, 0)
    return tuple((max(low, first), min(end, last - 1)) for low, end in keys)


def _day_tests(tests: Sequence[Within], instants: bool, more: tuple[Intervals, ...] = ()) -> DayTests:
    """What is asked of days; of a datetime, `more` are the days in which tests of the instant itself end."""

    def of(*parts: str) -> tuple[Intervals, ...]:
        return tuple(dict.fromkeys(test.keys for test in tests if test.term.part in parts))

    return DayTests(of("day") + more if instants else of("day", ""), of("weekday"), of("month"), of("monthday"))
