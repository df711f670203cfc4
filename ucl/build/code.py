"""A checked program to the text of a typed Python module, for people and type checkers to read.

In: a `Program`. Out: Python source: a model and a row type for each schema, typed dicts for context and memory, and a
function for each question that the program answers. What runs is the stored program; the module only says its types.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ucl.build.annotations import Annotations, quoted
from ucl.build.models import attribute_names, default_text, may_lack, needed_schemas
from ucl.build.naming import Names
from ucl.scoring.calls import scored_schemas
from ucl.semantics import types as t
from ucl.semantics.program import Definition, Field, MemoryField, Program, Schema

_LONGEST_LINE = 120
# What the module itself defines, and the builtins that its annotations use.
_RESERVED = frozenset(
    {"bool", "int", "float", "str", "frozenset", "list", "dict", "annotations"}
    | {"Context", "Memory", "score", "act", "alerts"}
)


def module_text(program: Program, data_hash: str, origin: str) -> str:
    """The module's source. `data_hash` is that of the stored program beside it, `origin` names the program's source."""
    body = "\n".join(_Module(program).lines())
    # Long lists of values make long lines, which linters may mind and nobody edits.
    head = "# ruff: noqa: E501\n" if any(len(line) > _LONGEST_LINE for line in body.splitlines()) else ""
    return _HEAD.format(head=head, origin=_prose(origin), hash=data_hash) + body + "\n"


_HEAD = '''{head}"""Compiled from `{origin}`; do not edit: `uclc build` writes it anew."""

from __future__ import annotations

import datetime as _dt
import typing as _t

import ucl.build.runtime as _ucl

_built = _ucl.Built(__file__, "{hash}")
'''


@dataclass(frozen=True)
class _Function:
    """One function of the module. `keywords` follow the surroundings of the call; `method` of `_built` is called with
    `passed` and with every keyword by its name."""

    name: str
    parameters: Sequence[str]
    result: str
    about: str
    method: str
    passed: Sequence[str]
    keywords: Sequence[str] = ()


class _Module:
    """Writes the module from top to bottom; each schema that it needs has a class for models and a type for rows."""

    def __init__(self, program: Program) -> None:
        self._program = program
        names = Names(_RESERVED)
        schemas = needed_schemas(program)
        self._models = {schema: names.take(schema.name) for schema in schemas}
        self._rows = {schema: names.take(f"{name}Row") for schema, name in self._models.items()}
        self._annotations = Annotations(self._models, self._rows)
        self._queries = {names.take(name): definition for name, definition in program.definitions.items()}

    def lines(self) -> Iterator[str]:
        for number, (schema, name) in enumerate(self._models.items()):
            yield from self._model(schema, name, number)
        for schema, name in self._rows.items():
            about = f"A row of `{schema.name}` as data has it: the keys are the names of the columns."
            yield from _typed_dict(name, {f.column: self._cell(f) for f in schema.fields}, about)
        if self._program.context:
            cells = {field.column: self._cell(field) for field in self._program.context}
            yield from _typed_dict("Context", cells, "What holds for one call.")
        if self._program.memory:
            cells = {field.name: self._cell(field) for field in self._program.memory}
            yield from _typed_dict("Memory", cells, "What is known of the person.")
        for function in self._functions():
            yield from self._function(function)

    # --- types ------------------------------------------------------------------------------------------------------

    def _model(self, schema: Schema, name: str, number: int) -> Iterator[str]:
        yield from ("", "", f"class {name}(_ucl.Record):")
        yield f'    """{_prose(schema.doc or f"One `{schema.name}`.")}"""'
        yield ""
        yield f"    __ucl_schema__: _t.ClassVar[_ucl.Schema] = _built.schemas[{number}]"
        yield ""
        attributes = attribute_names(schema)
        for field in schema.fields:
            default = default_text(field)
            needs_call = default == "None" and not isinstance(field.type, t.Optional)
            annotation = self._annotations.exact(field.type) + (" | None" if needs_call else "")
            yield f"    {attributes[field.name]}: {annotation}" + (f" = {default}" if default is not None else "")
            if field.doc:
                yield f'    """{_prose(field.doc)}"""'

    def _cell(self, field: Field | MemoryField) -> str:
        """The annotation of a key of a typed dict, required where nothing fills it in."""
        given = self._annotations.given(t.present(field.type))
        return f"{given} | None" if may_lack(field) else f"_t.Required[{given}]"

    # --- functions --------------------------------------------------------------------------------------------------

    def _functions(self) -> Iterator[_Function]:
        scored = scored_schemas(self._program)
        if scored:
            about = f"Scores a table of {_listed(scored)}: each row is an option."
            more = ["weights: _t.Mapping[str, float] | None", "group_by: str | None", "threads: int | None"]
            yield self._of_table("score", scored, "_ucl.Result", about, [f"{keyword} = None" for keyword in more])
        acting = list(dict.fromkeys(action.schema for action in self._program.actions))
        if acting:
            about = f"The effects asked for by each row of a table of {_listed(acting)}."
            yield self._of_table("act", acting, "list[_ucl.ActionRow]", about)
        if self._program.alerts:
            yield _Function(
                "alerts", [], "list[_ucl.AlertRow]", "The alerts that the memory gives rise to.", "alerts", []
            )
        for name, definition in self._queries.items():
            yield self._query(name, definition)

    def _of_table(
        self, name: str, schemas: Sequence[Schema], result: str, about: str, keywords: Sequence[str] = ()
    ) -> _Function:
        # One sequence of a union, and not the other way round, lets checkers read a list of dicts as rows.
        rows = " | ".join(names[schema] for schema in schemas for names in (self._models, self._rows))
        parameters = [f"options: _ucl.Table | _t.Sequence[{rows}]"]
        if len(schemas) == 1:
            return _Function(name, parameters, result, about, name, ["options", quoted(schemas[0].name)], keywords)
        parameters.append(f"schema: _t.Literal[{', '.join(quoted(schema.name) for schema in schemas)}]")
        return _Function(name, parameters, result, about, name, ["options", "schema"], keywords)

    def _query(self, name: str, definition: Definition) -> _Function:
        names = Names(["context", "memory", "now", "timezone"])
        parameters = {names.take(p.name): self._annotations.given(p.type) for p in definition.parameters}
        return _Function(
            name,
            [f"{parameter}: {annotation}" for parameter, annotation in parameters.items()],
            self._annotations.answered(definition.result),
            definition.doc or f"What the program answers to `{definition.name}`.",
            "query",
            [quoted(definition.name), *parameters],
        )

    def _function(self, function: _Function) -> Iterator[str]:
        keywords = [*self._surroundings(), *function.keywords]
        passed = [*function.passed, *(f"{name}={name}" for name in map(_name_of, keywords))]
        is_query = function.method == "query"
        yield from ("", "", f"def {function.name}(")
        yield from (f"    {parameter}," for parameter in function.parameters)
        yield "    *,"
        yield from (f"    {parameter}," for parameter in keywords)
        yield f") -> {function.result}:"
        yield f'    """{_prose(function.about)}"""'
        yield f"    answer = _built.{function.method}(" if is_query else f"    return _built.{function.method}("
        yield from (f"        {argument}," for argument in passed)
        yield "    )"
        if is_query:
            yield f"    return _t.cast({quoted(function.result)}, answer)"

    def _surroundings(self) -> Iterator[str]:
        """The parameters for what holds around a call."""
        kinds: Mapping[str, Sequence[Field | MemoryField]] = {
            "Context": self._program.context,
            "Memory": self._program.memory,
        }
        for type, fields in kinds.items():
            if fields:
                given = f"{type.lower()}: {type}"
                yield f"{given} | None = None" if all(map(may_lack, fields)) else given
        yield "now: _dt.datetime | str | None = None"
        yield "timezone: str | None = None"


def _name_of(parameter: str) -> str:
    return parameter.partition(":")[0]


def _typed_dict(name: str, cells: Mapping[str, str], about: str) -> Iterator[str]:
    """As a class; as a call where a column's name is none that a class can have."""
    yield from ("", "")
    if all(key.isidentifier() and not keyword.iskeyword(key) and not key.startswith("__") for key in cells):
        yield from (f"class {name}(_t.TypedDict, total=False):", f'    """{_prose(about)}"""')
        yield from ("", *(f"    {key}: {annotation}" for key, annotation in cells.items()))
        return
    yield from (f"{name} = _t.TypedDict(", f"    {quoted(name)},", "    {")
    yield from (f"        {quoted(key)}: {quoted(annotation)}," for key, annotation in cells.items())
    yield from ("    },", "    total=False,", ")", f'"""{_prose(about)}"""')


def _listed(schemas: Iterable[Schema]) -> str:
    return " or ".join(f"`{schema.name}`" for schema in schemas)


def _prose(text: str) -> str:
    """A user's words inside a docstring: nothing in them ends it or is read as an escape."""
    shown = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(c if c == "\n" or c.isprintable() else " " for c in shown)
