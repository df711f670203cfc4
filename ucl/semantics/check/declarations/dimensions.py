"""Dimensions: units to exact factors.

In: a `dimension` as written. Out: a `types.Dimension`, its base unit first, each factor an exact fraction, possibly
through other units of the same dimension; and, for a module, what each unit's name can mean in it.
"""

from __future__ import annotations

from fractions import Fraction

from ucl.diagnostics import Report
from ucl.semantics import declaration_errors as errors
from ucl.semantics.check.graph import components
from ucl.semantics.check.modules import Alias, Asked, Imported, Module, Own
from ucl.semantics.types import DURATION_UNITS, Dimension, Unit
from ucl.syntax import ast

Meanings = dict[str, tuple[tuple[Dimension | None, Unit], ...]]

# A chain of units multiplies digits: past this many bits the exact factor is refused.
_LONGEST_FACTOR = 2048


def check_dimensions(module: Module, report: Report) -> None:
    """Fills in the module's dimensions, and the units that it can use: its own, and those of what it imports."""
    for declared in module.own(ast.Dimension):
        module.globals[declared.name.text] = _dimension(declared, module.name, report)
    meanings: Meanings = {unit.name: ((None, unit),) for unit in DURATION_UNITS}
    for dimension in usable_dimensions(module):
        for unit in dimension.units:
            others = meanings.get(unit.name, ())
            if all(owner is not dimension for owner, _ in others):
                meanings[unit.name] = (*others, (dimension, unit))
    for declared in module.own(ast.Dimension):
        for unit in declared.units:
            meanings.setdefault(unit.name.text, ())  # left out above, since it is wrong
    module.units = Asked(meanings)


def usable_dimensions(module: Module) -> list[Dimension]:
    """Declared here, imported by name, or in a module that is imported as a whole."""
    found: list[Dimension] = []
    for entry in module.surroundings.values():
        match entry:
            case Own(declaration):
                candidates = [module.globals.get(declaration.name.text)]
            case Imported(owner, declaration):
                candidates = [owner.globals.get(declaration.name.text)]
            case Alias(owner):
                candidates = [owner.globals.get(d.name.text) for d in owner.own(ast.Dimension)]
            case _:
                candidates = []
        found.extend(d for d in candidates if isinstance(d, Dimension))
    return found


def _dimension(declared: ast.Dimension, module: str, report: Report) -> Dimension:
    """Units with a mistake are left out; where there is no base unit, the first stands in for it."""
    name = declared.name.text
    units: dict[str, ast.UnitDeclaration] = {}
    for unit in declared.units:
        first = units.get(unit.name.text)
        if first is not None:
            report.add(errors.duplicate_name(unit.name.span, unit.name.text, first.name.span, "unit"))
        else:
            units[unit.name.text] = unit
    bases = [unit for unit in units.values() if unit.definition is None]
    if len(bases) != 1:
        report.add(errors.base_units(declared.name.span, name, [unit.name.text for unit in bases]))
        return Dimension(module, name, tuple(Unit(unit, Fraction(1)) for unit in units))
    factors = {bases[0].name.text: Fraction(1)}
    for group in components(units, lambda unit: [n for n in _mentioned(units[unit]) if n in units]):
        first = units[group[0]]
        if len(group) > 1 or group[0] in _mentioned(first):
            report.add(errors.recursion(first.name.span, group, [(n, units[n].name.span) for n in group[1:]]))
        elif first.definition is not None:
            factor = _factor(first.name.text, first.definition, factors, units, name, report)
            if factor is not None:
                factors[group[0]] = factor
    multiples = [unit for unit in units if unit in factors and unit != bases[0].name.text]
    return Dimension(module, name, tuple(Unit(unit, factors[unit]) for unit in (bases[0].name.text, *multiples)))


def _mentioned(unit: ast.UnitDeclaration) -> list[str]:
    return [] if unit.definition is None else [part.unit for part in unit.definition.parts]


def _factor(
    name: str,
    definition: ast.QuantityLiteral,
    factors: dict[str, Fraction],
    units: dict[str, ast.UnitDeclaration],
    dimension: str,
    report: Report,
) -> Fraction | None:
    """In base units; None where it is wrong, or built on a unit that is."""
    total = Fraction(0)
    for part in definition.parts:
        if part.unit not in units:
            durations = {unit.name for unit in DURATION_UNITS}
            if part.unit in durations:
                report.add(errors.foreign_unit(definition.span, part.unit, dimension))
            else:
                report.add(errors.unknown_unit(definition.span, part.unit, dimension, units))
            return None
        if part.unit not in factors:
            return None
        total += part.amount * factors[part.unit]
    if total <= 0:
        report.add(errors.unit_of_nothing(definition.span, name))
        return None
    if max(total.numerator.bit_length(), total.denominator.bit_length()) > _LONGEST_FACTOR or not _is_finite(total):
        report.add(errors.unit_too_fine(definition.span, name))
        return None
    return total


def _is_finite(factor: Fraction) -> bool:
    try:
        return float(factor) > 0
    except OverflowError:
        return False
