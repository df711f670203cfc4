"""A checked program to the text of a typed Python module, for people and type checkers to read.

In: a `Program`. Out: Python source: a model and a row type for each schema, typed dicts for context and memory, and a
function for each question that the program answers. What runs is the stored program; the module only says its types.

Names of the standard library stand behind `_dt` and `_t`, since a field may be called `date` or `Any`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from ucl.build.models import attribute_names, default_text, may_lack, needed_schemas
from ucl.build.naming import Names
from ucl.scoring.calls import scored_schemas
from ucl.semantics import types as t
from ucl.semantics.program import Definition, Field, MemoryField, Program, Schema

# What the module itself defines or imports, and the builtins that its annotations use.
_RESERVED = frozenset(
    {"bool", "int", "float", "str", "frozenset", "list", "dict", "annotations"}
    | {"ActionRow", "AlertRow", "Built", "Record", "Result", "Schema", "Table", "Weekday"}
    | {"Context", "Memory", "score", "act", "alerts"}
)


def module_text(program: Program, data_hash: str, origin: str) -> str:
    """The module's source. `data_hash` is that of the stored program beside it, `origin` names the program's source."""
    return "\n".join(_Module(program).lines(data_hash, origin))


class _Module:
    """Writes the module from top to bottom; each schema that it needs has a class for models and a type for rows."""

    def __init__(self, program: Program) -> None:
        self._program = program
        names = Names(_RESERVED)
        schemas = needed_schemas(program)
        self._models = {schema: names.take(schema.name) for schema in schemas}
        self._rows = {schema: names.take(f"{name}Row") for schema, name in self._models.items()}
        self._queries = {names.take(name): definition for name, definition in program.definitions.items()}

    def lines(self, data_hash: str, origin: str) -> Iterator[str]:
        yield from _HEADER.format(origin=_prose(origin), hash=data_hash).splitlines()
        for number, (schema, name) in enumerate(self._models.items()):
            yield from self._model(schema, name, number)
        for schema, name in self._rows.items():
            about = f"A row of `{schema.name}` as data has it: the keys are the names of the columns."
            yield from _typed_dict(name, {f.column: self._cell(f) for f in schema.fields}, about)
        yield from self._call_types()
        yield from self._scoring()
        if self._program.alerts:
            yield from self._function("alerts", [], "list[AlertRow]", "The alerts that the memory gives rise to.", "")
        for name, definition in self._queries.items():
            yield from self._query(name, definition)

    # --- types ------------------------------------------------------------------------------------------------------

    def _type(self, type: t.Type) -> str:
        """The annotation of a value that Python code gets, or gives to a model."""
        match type:
            case t.Bool() | t.Int() | t.Float():
                return str(type)
            case t.Quantity():
                return "float"
            case t.Text():
                return "str"
            case t.Closed(values):
                return f"_t.Literal[{', '.join(map(repr, values))}]"
            case t.Weekday():
                return "Weekday"
            case t.Date() | t.Time() | t.DateTime():
                return f"_dt.{type}"
            case t.Duration():
                return "_dt.timedelta"
            case t.Set(element):
                return f"frozenset[{'str' if element is None else self._type(element)}]"
            case t.Record(schema):
                return self._models[schema]
            case t.List(t.Record(schema)):
                return f"_t.Sequence[{self._models[schema]} | {self._rows[schema]}]"
            case t.Optional(inner):
                return f"{self._type(inner)} | None"
            case t.Unknown():
                raise AssertionError("a checked program has no unknown types")
            case _:
                assert_never(type)

    def _answer_type(self, type: t.Type) -> str:
        """As `_type`; a record comes as a dict by field name."""
        record = "dict[str, _t.Any]"
        match type:
            case t.Record():
                return record
            case t.Optional(t.Record()):
                return f"{record} | None"
            case t.List():
                return f"list[{record}]"
            case _:
                return self._type(type)

    def _given_type(self, type: t.Type) -> str:
        """The annotation of a value that a caller gives: also as JSON says it."""
        match type:
            case t.Date() | t.Time() | t.DateTime():
                return f"{self._type(type)} | str"
            case t.Duration():
                return "_dt.timedelta | float | str"
            case t.Set(element):
                return f"_t.Collection[{'str' if element is None else self._given_type(element)}]"
            case t.Record(schema):
                return f"{self._models[schema]} | {self._rows[schema]}"
            case t.Optional(inner):
                return f"{self._given_type(inner)} | None"
            case _:
                return self._type(type)

    def _cell(self, field: Field | MemoryField) -> str:
        """The annotation of a key of a typed dict, required where nothing fills it in."""
        given = self._given_type(t.present(field.type))
        return f"{given} | None" if may_lack(field) else f"_t.Required[{given}]"

    # --- declarations -----------------------------------------------------------------------------------------------

    def _model(self, schema: Schema, name: str, number: int) -> Iterator[str]:
        yield from ("", "", f"class {name}(Record):")
        yield f'    """{_prose(schema.doc or f"One `{schema.name}`.")}"""'
        yield ""
        yield f"    __ucl_schema__: _t.ClassVar[Schema] = _built.schemas[{number}]"
        yield ""
        attributes = attribute_names(schema)
        for field in schema.fields:
            default = default_text(field)
            absent = field.default is not None and default == "None" and not isinstance(field.type, t.Optional)
            annotation = self._type(field.type) + (" | None" if absent else "")
            yield f"    {attributes[field.name]}: {annotation}" + (f" = {default}" if default is not None else "")
            if field.doc:
                yield f'    """{_prose(field.doc)}"""'

    def _call_types(self) -> Iterator[str]:
        if self._program.context:
            cells = {field.name: self._cell(field) for field in self._program.context}
            yield from _typed_dict("Context", cells, "What holds for one call.")
        if self._program.memory:
            cells = {field.name: self._cell(field) for field in self._program.memory}
            yield from _typed_dict("Memory", cells, "What is known of the person.")

    def _scoring(self) -> Iterator[str]:
        program = self._program
        scored = set(scored_schemas(program))
        if scored:
            about = f"Scores a table of {_listed(scored, self._models)}: a row an option."
            extra = ["weights: _t.Mapping[str, float] | None = None", "group_by: str | None = None"]
            yield from self._table_function("score", scored, [*extra, "threads: int | None = None"], "Result", about)
        acting = {action.schema for action in program.actions}
        if acting:
            about = f"The effects asked for by each row of a table of {_listed(acting, self._models)}."
            yield from self._table_function("act", acting, [], "list[ActionRow]", about)

    def _table_function(
        self, name: str, schemas: set[Schema], extra: list[str], result: str, about: str
    ) -> Iterator[str]:
        known = [(model, self._rows[schema]) for schema, model in self._models.items() if schema in schemas]
        kinds = " | ".join(f"_t.Sequence[{model}] | _t.Sequence[{row}]" for model, row in known)
        parameters = [f"options: Table | {kinds}"]
        if len(schemas) == 1:
            schema = repr(next(iter(schemas)).name)
        else:
            parameters.append(f"schema: _t.Literal[{', '.join(repr(s.name) for s in self._models if s in schemas)}]")
            schema = "schema"
        keywords = [e.partition(":")[0] for e in extra]
        arguments = ", ".join(["options", schema, *(f"{k}={k}" for k in keywords)])
        yield from self._function(name, parameters, result, about, arguments, extra)

    def _query(self, name: str, definition: Definition) -> Iterator[str]:
        names = Names(["context", "memory", "now", "timezone"])
        parameters = {names.take(p.name): p for p in definition.parameters}
        written = [f"{name}: {self._given_type(p.type)}" for name, p in parameters.items()]
        about = definition.doc or f"What the program answers to `{definition.name}`."
        arguments = ", ".join([repr(definition.name), *parameters])
        yield from self._function(name, written, self._answer_type(definition.result), about, arguments, call="query")

    def _function(
        self, name: str, parameters: list[str], result: str, about: str, arguments: str,
        extra: list[str] | None = None, call: str | None = None,
    ) -> Iterator[str]:  # fmt: skip
        around = list(self._surroundings())
        names = [parameter.partition(":")[0] for parameter in around]
        passed = ", ".join([*filter(None, [arguments]), *(f"{name}={name}" for name in names)])
        yield from ("", "", f"def {name}(")
        yield from (f"    {parameter}," for parameter in parameters)
        yield "    *,"
        yield from (f"    {parameter}," for parameter in [*around, *(extra or [])])
        yield f") -> {result}:"
        yield f'    """{_prose(about)}"""'
        yield f"    return _t.cast({result!r}, _built.{call or name}({passed}))"

    def _surroundings(self) -> Iterator[str]:
        """The parameters for what holds around a call."""
        kinds: Mapping[str, tuple[Field | MemoryField, ...]] = {
            "Context": self._program.context,
            "Memory": self._program.memory,
        }
        for type, fields in kinds.items():
            if fields:
                given = f"{type.lower()}: {type}"
                yield f"{given} | None = None" if all(map(may_lack, fields)) else given
        yield "now: _dt.datetime | str | None = None"
        yield "timezone: str | None = None"


_HEADER = '''"""Compiled from `{origin}`; do not edit: `uclc build` writes it anew."""

from __future__ import annotations

import datetime as _dt
import typing as _t

from ucl.build.runtime import ActionRow, AlertRow, Built, Record, Result, Schema, Table, Weekday

_built = Built(__file__, "{hash}")'''


def _typed_dict(name: str, cells: Mapping[str, str], about: str) -> Iterator[str]:
    """In the form of a call, since a column may have any name."""
    yield from ("", f"{name} = _t.TypedDict(", f"    {name!r},", "    {")
    yield from (f"        {key!r}: {annotation!r}," for key, annotation in cells.items())
    yield from ("    },", "    total=False,", ")", f'"""{_prose(about)}"""')


def _listed(schemas: set[Schema], order: Mapping[Schema, str]) -> str:
    return " or ".join(f"`{schema.name}`" for schema in order if schema in schemas)


def _prose(text: str) -> str:
    """A user's words inside a docstring: nothing in them ends it or is read as an escape."""
    shown = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(c if c == "\n" or c.isprintable() else " " for c in shown)
