"""From what is known of some fields to an option and a context that `score` reads.

In: values for the places that matter. Out: an `Example`: every other field has its default, is absent, or holds what a
person would write there; and the same as data, with no more than is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ucl.analysis.boxes.humane import USUAL_DAY, USUAL_TIME, nice_day, nice_key
from ucl.analysis.boxes.samples import usual_text
from ucl.analysis.formulas.line import value_at
from ucl.analysis.formulas.solve import Solver
from ucl.analysis.formulas.terms import Place, Term, Terms
from ucl.semantics import types as t
from ucl.semantics.operations import Overflow
from ucl.semantics.program import Field, SetDomain
from ucl.semantics.types import DAY, Type
from ucl.semantics.values import to_data, to_json
from ucl.semantics.values.read import constant
from ucl.semantics.zones import Zone

Path = tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """`option` and `context` are data as `score` reads them, `now` is the instant of the call, `key` tells apart."""

    option: Mapping[str, Any]
    context: Mapping[str, Any]
    now: int

    @cached_property
    def key(self) -> str:
        return repr((self.option, self.context, self.now))


class Examples:
    """Fills options and contexts of one schema."""

    def __init__(self, terms: Terms, solver: Solver, now: int, shows_now: bool) -> None:
        self.terms, self.solver = terms, solver
        self.zone: Zone = terms.zone
        self.now = now
        self.shows_now = shows_now
        self._defaults: dict[int, Any] = {}
        self.memory = self._remembered()

    def filled(self, values: Mapping[Place, Any], shown: frozenset[tuple[str, Path]]) -> Example:
        """`values` are those that matter; `shown` are fields that the example names even where a default would do."""
        by_path = {(place.root, place.path): value for place, value in values.items()}
        option = self._record(self.terms.schema.fields, "option", (), by_path)
        context_fields = [f for f in self.terms.context if f.name != "now"]
        context = self._record(context_fields, "context", (), by_path)
        now = by_path.get(("context", ("now",)), self.now)
        data = self._data(option, self.terms.schema.fields, "option", (), shown)
        around = self._data(context, context_fields, "context", (), shown)
        if self.shows_now:
            around = {"now": to_json(now, t.DATETIME, self.zone), **around}
        return Example(data, around, now)

    def _remembered(self) -> dict[str, Any]:
        """What a call must be given of the memory: scalars without a default. Witnesses show none of it."""
        found = {}
        for remembered in self.terms.memory:
            if remembered.default is None and not isinstance(remembered.type, t.List | t.Optional):
                declared = Field(
                    remembered.name, remembered.type, None, remembered.name, None, None, None, remembered.span
                )
                usual = self._value(declared, "memory", (remembered.name,), {})
                found[remembered.name] = to_json(usual, remembered.type, self.zone)
        return found

    # --- values -----------------------------------------------------------------------------------------------------

    def _record(
        self, fields: Iterable[Field], root: str, path: Path, values: Mapping[tuple[str, Path], Any]
    ) -> dict[str, Any]:
        return {field.name: self._value(field, root, (*path, field.name), values) for field in fields}

    def _value(self, field: Field, root: str, path: Path, values: Mapping[tuple[str, Path], Any]) -> Any:
        type = t.present(field.type)
        if isinstance(type, t.Record):
            there = values.get((root, path), not isinstance(field.type, t.Optional))
            return self._record(type.schema.fields, root, path, values) if there else None
        if (root, path) in values:
            return values[root, path]
        default = self.default(field)
        if default is not None:
            return default
        return None if isinstance(field.type, t.Optional) else self.usual(Place(root, path, field))

    def usual(self, place: Place) -> Any:
        """What a person would write in a field of which nothing is asked."""
        type, domain = place.type, place.declared.domain
        match type:
            case t.Text():
                if isinstance(domain, SetDomain) and domain.values:
                    return min(domain.values)
                return usual_text(place.path[-1])
            case t.Set():
                return frozenset()
            case t.DateTime():
                return (
                    self.zone.instant(USUAL_DAY * DAY + USUAL_TIME).instant if domain is None else self._ordered(place)
                )
            case _:
                return self._ordered(place)

    def _ordered(self, place: Place) -> Any:
        type: Type = place.type
        domain = self.solver.domain(Term(place, ""))
        low, end = domain[0] if domain else (0, 1)
        if isinstance(type, t.DateTime):
            if end - low <= 2 * DAY:
                return low
            # A whole local day inside, whatever the offset: neither the first nor the last.
            return self.zone.instant(nice_day(low // DAY + 2, max(end // DAY - 1, low // DAY + 3)) * DAY).instant
        return value_at(nice_key(type, low, end, place.declared.unit), type)

    # --- data -------------------------------------------------------------------------------------------------------

    def _data(
        self,
        record: Mapping[str, Any],
        fields: Iterable[Field],
        root: str,
        path: Path,
        shown: frozenset[tuple[str, Path]],
    ) -> dict[str, Any]:
        """As `to_data`, without fields whose default says the same, unless they are to be shown."""
        kept: dict[str, Any] = {}
        for field in fields:
            value, here = record[field.name], (*path, field.name)
            type = t.present(field.type)
            if value is None:
                continue
            if isinstance(type, t.Record):
                inner = self._data(value, type.schema.fields, root, here, shown)
                if inner or isinstance(field.type, t.Optional):
                    kept[field.column] = inner
            elif (root, here) in shown or not self._is_default(field, value):
                kept |= to_data({field.name: value}, [field], self.zone)
        return kept

    def _is_default(self, field: Field, value: Any) -> bool:
        default = self.default(field)
        return default is not None and bool(default == value)

    def default(self, field: Field) -> Any:
        """The value of a field's default, once for each field; None where it has none."""
        if field.default is None:
            return None
        if id(field) not in self._defaults:
            try:
                self._defaults[id(field)] = constant(field.default, self.zone)
            except Overflow:
                self._defaults[id(field)] = None
        return self._defaults[id(field)]
