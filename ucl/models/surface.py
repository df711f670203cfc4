"""What a program shows to Python, and under which names.

In: a `Program`. Out: its `Surface`: a name for the model and the row type of every schema that a caller can meet, of
context and memory as records of their own, and a name for each definition. A built package, a stub, the import hook and
`program.models` all take their names from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ucl.frozen import frozen
from ucl.models.naming import Names
from ucl.semantics import types as t
from ucl.semantics.program import Definition, Field, MemoryField, Program, Schema

# What a module defines by itself, and the builtins that its annotations use.
_RESERVED = frozenset(
    {"bool", "int", "float", "str", "frozenset", "list", "dict", "annotations"}
    | {"Context", "ContextRow", "Memory", "MemoryRow", "program", "score", "score_async", "act", "alerts"}
)


@frozen
class Surface:
    """`models` and `rows` have every schema, each after those that its fields hold; `context` and `memory`, where the
    program has them, come last. `queries` has the definitions."""

    models: Mapping[Schema, str]
    rows: Mapping[Schema, str]
    queries: Mapping[str, Definition]
    context: Schema | None
    memory: Schema | None


def surface_of(program: Program) -> Surface:
    """Made anew by each call: the schemas of context and memory are those of this surface alone."""
    names = Names(_RESERVED)
    models = {schema: names.take(schema.name) for schema in needed_schemas(program)}
    rows = {schema: names.take(f"{name}Row") for schema, name in models.items()}
    queries = {names.take(name): definition for name, definition in program.definitions.items()}
    context = _record("Context", program.context, "What holds for one call.", program)
    memory = _record("Memory", [_as_field(f) for f in program.memory], "What is known of the person.", program)
    for schema in (context, memory):
        if schema is not None:
            models[schema], rows[schema] = schema.name, f"{schema.name}Row"
    return Surface(models, rows, queries, context, memory)


def needed_schemas(program: Program) -> list[Schema]:
    """Every schema that a caller of the program can meet, each after those that its fields hold."""
    found: dict[Schema, None] = {}

    def visit(type: t.Type) -> None:
        match type:
            case t.Optional(inner):
                visit(inner)
            case t.List(element):
                visit(element)
            case t.Record(schema) if schema not in found:
                for field in schema.fields:
                    visit(field.type)
                found[schema] = None
            case _:
                return

    for met in _met_types(program):
        visit(met)
    return list(found)


def _met_types(program: Program) -> Iterator[t.Type]:
    yield from (t.Record(schema) for schema in program.schemas.values())
    yield from (t.Record(rule.schema) for rule in program.rules)
    yield from (t.Record(constraint.schema) for constraint in program.constraints)
    yield from (t.Record(action.schema) for action in program.actions)
    yield from (field.type for field in program.context)
    yield from (field.type for field in program.memory)
    yield from (definition.result for definition in program.definitions.values())
    yield from (p.type for definition in program.definitions.values() for p in definition.parameters)


# --- context and memory as records ----------------------------------------------------------------------------------


def _record(name: str, fields: Sequence[Field], doc: str, program: Program) -> Schema | None:
    return Schema(program.module, name, tuple(fields), doc, fields[0].span) if fields else None


def _as_field(memory: MemoryField) -> Field:
    return Field(memory.name, memory.type, None, memory.name, None, memory.default, memory.doc, memory.span)
