"""What two programs share: inputs that they declare alike, and rules that are the same by another name.

In: two sides. Out: values of the inputs that they declare differently, as data that each of them reads; the rules and
constraints whose effect can differ. A rule whose condition, score, weight and days are the same in both, and that is
overridden under the same conditions, adds the same to both, and is left out of what is compared.
"""

from __future__ import annotations

from typing import Any

from ucl.analysis.cells.asking import INVALID
from ucl.analysis.cells.inputs import CHOICES, NOW, Key, Place, canonical, written_out
from ucl.analysis.cells.outcomes import Declarations, Declared
from ucl.analysis.cells.questions import Asked
from ucl.analysis.cells.survey import Side, Survey
from ucl.analysis.cells.values import Values, domain_ends, values_of
from ucl.semantics import types as t
from ucl.semantics.outcome import Invalid
from ucl.semantics.program import Expr, Field, Rule
from ucl.semantics.values import to_data
from ucl.semantics.values.read import read_field

# --- inputs ---------------------------------------------------------------------------------------------------------


def declared_differently(old: Side, new: Side) -> frozenset[Key]:
    """Inputs of which the same data may be read as different values, or by one side alone."""
    keys = old.inputs.by_key.keys() | new.inputs.by_key.keys()
    return frozenset(key for key in keys - {NOW, CHOICES} if not _alike(key, old, new))


def _alike(key: Key, old: Side, new: Side) -> bool:
    if key not in old.inputs.by_key or key not in new.inputs.by_key:
        return False
    one, other = (_declaration(side.inputs.by_key[key].field) for side in (old, new))
    zoned = isinstance(t.present(old.inputs.by_key[key].field.type), t.DateTime | t.Record)
    return one == other and (old.zone == new.zone or not zoned)


def _declaration(field: Field) -> object:
    """All of it but its name."""
    domain, default = field.domain, field.default
    ends = None
    if domain is not None:
        ends = tuple(
            canonical(value) if isinstance(value, Expr) else value
            for value in (getattr(domain, name, None) for name in ("low", "high", "inclusive", "wraps", "values"))
        )
    said = None if default is None else canonical(default)
    return (_type(field.type), ends, said, None if field.unit is None else field.unit.factor)


def _type(type: t.Type) -> object:
    """Schemas by what they hold, dimensions by their units."""
    match type:
        case t.Optional(inner):
            return ("?", _type(inner))
        case t.Set(element) if element is not None:
            return ("set", _type(element))
        case t.Record(schema):
            return ("record", tuple((field.column, field.name, _declaration(field)) for field in schema.fields))
        case t.List(element):
            return ("list", _type(element))
        case t.Quantity(dimension):
            return ("quantity", dimension.name, tuple((unit.name, unit.factor) for unit in dimension.units))
        case _:
            return type


def joint_values(old: Side, new: Side, survey: Survey, keys: frozenset[Key]) -> dict[Key, Values]:
    """Each value is (the old side's, the new side's, the data), `INVALID` where a side can't read the data."""
    return {key: _joint(key, (old, new), survey) for key in keys if key[0] is not Place.MEMORY}


def _joint(key: Key, sides: tuple[Side, Side], survey: Survey) -> Values:
    fields = [side.inputs.by_key[key].field if key in side.inputs.by_key else None for side in sides]
    asked = survey.asked.setdefault(key, {})
    ends = {end for field, side in zip(fields, sides, strict=True) if field for end in domain_ends(field, side.zone)}
    asked.setdefault((), Asked()).points.update(ends)
    data: list[Any] = [None]
    certain = True
    for field, side in zip(fields, sides, strict=True):
        if field is not None:
            found = values_of(side.inputs.by_key[key], asked, side.zone, survey.since)
            certain = certain and found.certain
            data += [to_data({field.name: v}, [field], side.zone).get(field.column) for v in found.values]
    kinds = {_type(t.present(field.type)) for field in fields if field} | {f.unit for f in fields if f}
    certain = certain and len(kinds) <= 2 and sides[0].zone == sides[1].zone
    distinct = {repr(value): value for value in data}.values()
    return Values(tuple((*(_read(v, f, s) for f, s in zip(fields, sides, strict=True)), v) for v in distinct), certain)


def _read(data: Any, field: Field | None, side: Side) -> Any:
    if field is None:
        return None
    value = read_field(data, field, side.zone, (field.name,))
    return INVALID if isinstance(value, Invalid) else value


# --- rules ----------------------------------------------------------------------------------------------------------


def changed(old: Declarations, new: Declarations, sides: tuple[Side, Side]) -> tuple[list[str], list[str]]:
    """The names in either program of what is not the same, by whatever name, in the other."""
    different = declared_differently(*sides)
    if old.resolution is not new.resolution or sides[0].zone != sides[1].zone:
        return list(old.active), list(new.active)
    left, right = (
        [(name, _key(declarations, name, side, different)) for name in declarations.active]
        for declarations, side in ((old, sides[0]), (new, sides[1]))
    )
    unmatched = [key for _, key in right]
    gone = []
    for name, key in left:
        if key is not None and key in unmatched:
            unmatched.remove(key)
        else:
            gone.append(name)
    come = []
    for name, key in reversed(right):
        if key in unmatched:
            unmatched.remove(key)
            come.append(name)
    return gone, come[::-1]


def _key(declarations: Declarations, name: str, side: Side, different: frozenset[Key]) -> object | None:
    """What a declaration's effect depends on; None where that is not only on what both sides read alike."""
    declared = declarations.active[name]
    overriding = [declarations.active[other] for other in declarations.silencers.get(name, ())]
    read: frozenset[Key] = frozenset()
    for expr in (part for each in (declared, *overriding) for part in parts_of(each)):
        read |= side.inputs.read_by(expr)
    if read & different:
        return None
    columns = sorted((side.inputs.by_key[key].path, key) for key in read)
    silent = sorted(repr(_applies_key(other)) for other in overriding)
    return (repr(_applies_key(declared)), repr(_effect_key(declared)), tuple(silent), tuple(columns))


def _applies_key(declared: Declared) -> object:
    when = None if declared.when is None else canonical(written_out(declared.when))
    unless = tuple(canonical(written_out(expr)) for expr in declared.unless)
    return (when, unless, declared.meta.valid.first, declared.meta.valid.end)


def _effect_key(declared: Declared) -> object:
    if not isinstance(declared, Rule):
        return ("constraint", None if declared.require is None else canonical(written_out(declared.require)))
    cases = tuple((canonical(written_out(e.condition)), canonical(written_out(e.score))) for e in declared.exceptions)
    weight = (declared.meta.priority, declared.meta.confidence)
    return ("rule", canonical(written_out(declared.score)), cases, weight)


def parts_of(declared: Declared) -> list[Expr]:
    """Every expression of a declaration."""
    parts = [expr for expr in (declared.when, *declared.unless) if expr is not None]
    if isinstance(declared, Rule):
        return [*parts, declared.score, *(e for x in declared.exceptions for e in (x.condition, x.score))]
    return parts if declared.require is None else [*parts, declared.require]
