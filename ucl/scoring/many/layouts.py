"""Which programs can be scored together, and which mean the same.

In: programs and their schemas. Out: keys, equal where two programs read options in the same way, or where they say the
same of every option. Words that people only read (names of modules, reasons, sources) don't count.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.evaluate.options import in_source_order, resolution_of
from ucl.semantics.parts import evaluated, expressions_of
from ucl.semantics.program import Constraint, Program, Rule, Schema


def shape(schema: Schema) -> Hashable:
    """What reading a table's rows depends on."""
    return tuple((f.name, _shape_of(f.type), f.unit, f.column, f.domain, f.default) for f in schema.fields)


def _shape_of(type: t.Type) -> Hashable:
    match type:
        case t.Record(schema):
            return ("record", shape(schema))
        case t.Optional(inner):
            return ("optional", _shape_of(inner))
        case _:
            return type


# Declarations that are remembered, before all are forgotten.
_MOST_DECLARATIONS = 1 << 15


@dataclass
class Meanings:
    """What declarations say, as numbers: programs are compared by those, and one that has a rule of another's asks what
    it says no second time.

    `_known` is by identity, and holds the declaration.
    """

    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _known: dict[int, tuple[Rule | Constraint, int, bool]] = field(default_factory=dict)
    _next: int = 0

    def of(self, program: Program, schema: Schema) -> tuple[Hashable, bool]:
        """What is said of options of `schema`; whether two calls in one zone may say different things of an option, by
        the day, the context, the memory.

        Lets and definitions that a call evaluates are the same if they are the same objects.
        """
        declared: list[Rule | Constraint] = [*program.rules_on(schema), *program.constraints_on(schema)]
        found = [self._of(each) for each in in_source_order(program, declared)]
        reads_call = any(reads for _, _, reads in found)
        # What a call doesn't give, each program says itself.
        around = (program.context, program.memory) if reads_call else None
        return (resolution_of(program, schema), around, tuple(number for _, number, _ in found)), reads_call

    def _of(self, declared: Rule | Constraint) -> tuple[Rule | Constraint, int, bool]:
        known = self._known.get(id(declared))
        if known is None:
            if len(self._known) >= _MOST_DECLARATIONS:
                self._known.clear()
                self._numbers.clear()
            number = self._numbers.setdefault(_meaning_of(declared), self._next)
            self._next = max(self._next, number + 1)
            known = self._known[id(declared)] = declared, number, _reads_call(declared)
        return known


def _meaning_of(declared: Rule | Constraint) -> Hashable:
    meta = declared.meta
    parts = (declared.name, declared.overrides, declared.when, declared.unless)
    weighed = (meta.priority, meta.confidence, meta.valid, meta.status)
    if isinstance(declared, Rule):
        return (*parts, declared.score, declared.exceptions, *weighed)
    return (*parts, declared.require, *weighed)


def _reads_call(declared: Rule | Constraint) -> bool:
    if declared.meta.valid != p.ALWAYS:
        return True
    found = evaluated(expressions_of(declared))
    return any(isinstance(expr, p.ContextValue | p.MemoryValue) for expr in found)
