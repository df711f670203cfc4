"""Which programs can be scored together, and which mean the same.

In: programs and their schemas. Out: keys, equal where two programs read options in the same way, or where they say the
same of every option. Words that people only read (names of modules, reasons, sources) don't count.
"""

from __future__ import annotations

from collections.abc import Hashable

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


def meaning(program: Program, schema: Schema) -> Hashable:
    """What is said of options of `schema`. Lets and definitions that a call evaluates are the same if they are the same
    objects."""
    declared: list[Rule | Constraint] = [*program.rules_on(schema), *program.constraints_on(schema)]
    # What a call doesn't give, each program says itself.
    around = (program.context, program.memory) if reads_call(program, schema) else None
    return (resolution_of(program, schema), around, tuple(map(_meaning_of, in_source_order(program, declared))))


def _meaning_of(declared: Rule | Constraint) -> Hashable:
    meta = declared.meta
    parts = (declared.name, declared.overrides, declared.when, declared.unless)
    weighed = (meta.priority, meta.confidence, meta.valid, meta.status)
    if isinstance(declared, Rule):
        return (*parts, declared.score, declared.exceptions, *weighed)
    return (*parts, declared.require, *weighed)


def reads_call(program: Program, schema: Schema) -> bool:
    """Whether two calls in one zone may say different things of an option: by the day, the context, the memory."""
    declared: list[Rule | Constraint] = [*program.rules_on(schema), *program.constraints_on(schema)]
    if any(each.meta.valid != p.ALWAYS for each in declared):
        return True
    found = evaluated(expr for each in declared for expr in expressions_of(each))
    return any(isinstance(expr, p.ContextValue | p.MemoryValue) for expr in found)
