"""A checked program to the text of a typed Python module, for people and type checkers to read.

In: a `Program`. Out: Python source: a model and a row type for each schema, for context and memory, and a function for
each question that the program answers. What runs is the stored program; the module only says its types. A stub is the
same text without what runs, for programs that are imported as they are.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ucl.build.annotations import Annotations
from ucl.models.naming import Names, quoted
from ucl.models.records import attribute_names, default_text, may_lack
from ucl.models.surface import Surface, surface_of
from ucl.scoring.calls import scored_schemas
from ucl.semantics import types as t
from ucl.semantics.program import Definition, Field, Program, Schema

_LONGEST_LINE = 120


def module_text(program: Program, data_hash: str, origin: str) -> str:
    """The module's source. `data_hash` is that of the stored program beside it, `origin` names the program's source."""
    opening = f"_built = _ucl.Built(__file__, {quoted(data_hash)})\nprogram = _built.program"
    return _text(_Module(program), _HEAD.format(origin=_prose(origin)) + opening)


def stub_text(program: Program, origin: str) -> str:
    """The source of a stub, to stand beside the program's own as `name.pyi`: what checkers know of the import hook."""
    return _text(_Stub(program), _HEAD.format(origin=_prose(origin)) + "program: _ucl.CompiledProgram")


_HEAD = '''"""Compiled from `{origin}`; do not edit: `uclc` writes it anew."""

from __future__ import annotations

import datetime as _dt
import typing as _t

import ucl.build.runtime as _ucl

'''


def _text(module: _Module, opening: str) -> str:
    body = "\n".join([opening, *module.lines()])
    # Long lists of values make long lines, which linters may mind and nobody edits.
    head = "# ruff: noqa: E501\n" if any(len(line) > _LONGEST_LINE for line in body.splitlines()) else ""
    return head + body + "\n"


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
        self._surface: Surface = surface_of(program)
        self._annotations = Annotations(self._surface.models, self._surface.rows)

    def lines(self) -> Iterator[str]:
        for number, (schema, name) in enumerate(self._surface.models.items()):
            yield from self._model(schema, name, number)
        for schema, name in self._surface.rows.items():
            about = f"A row of `{schema.name}` as data has it: the keys are the names of the columns."
            yield from _typed_dict(name, {f.column: self._cell(f) for f in schema.fields}, about)
        for function in self._functions():
            yield from self._function(function)

    # --- types ------------------------------------------------------------------------------------------------------

    def _model(self, schema: Schema, name: str, number: int) -> Iterator[str]:
        yield from ("", "", f"class {name}(_ucl.Record):")
        yield f'    """{_prose(schema.doc or f"One `{schema.name}`.")}"""'
        yield ""
        yield from self._schema_of(number)
        attributes = attribute_names(schema)
        for field in schema.fields:
            default = default_text(field)
            needs_call = default == "None" and not isinstance(field.type, t.Optional)
            annotation = self._annotations.exact(field.type) + (" | None" if needs_call else "")
            yield f"    {attributes[field.name]}: {annotation}" + (f" = {default}" if default is not None else "")
            if field.doc:
                yield f'    """{_prose(field.doc)}"""'

    def _schema_of(self, number: int) -> Iterator[str]:
        yield from (f"    __ucl_schema__: _t.ClassVar[_ucl.Schema] = _built.schemas[{number}]", "")

    def _cell(self, field: Field) -> str:
        """The annotation of a key of a typed dict, required where nothing fills it in."""
        given = self._annotations.given(t.present(field.type))
        return f"{given} | None" if may_lack(field) else f"_t.Required[{given}]"

    # --- functions --------------------------------------------------------------------------------------------------

    def _functions(self) -> Iterator[_Function]:
        scored = scored_schemas(self._program)
        if scored:
            about = f"Scores a table of {_listed(scored)}: each row is an option."
            more = ["weights: _t.Mapping[str, float] | None", "group_by: str | None", "threads: int | None"]
            keywords = [f"{keyword} = None" for keyword in more]
            yield self._of_table("score", scored, "_ucl.Result", about, keywords)
            about = "As `score`, in a thread of its own: the event loop goes on."
            yield self._of_table("score_async", scored, "_ucl.Result", about, keywords)
        acting = list(dict.fromkeys(action.schema for action in self._program.actions))
        if acting:
            about = f"The effects asked for by each row of a table of {_listed(acting)}."
            yield self._of_table("act", acting, "list[_ucl.ActionRow]", about)
        if self._program.alerts:
            yield _Function(
                "alerts", [], "list[_ucl.AlertRow]", "The alerts that the memory gives rise to.", "alerts", []
            )
        for name, definition in self._surface.queries.items():
            yield self._query(name, definition)

    def _of_table(
        self, name: str, schemas: Sequence[Schema], result: str, about: str, keywords: Sequence[str] = ()
    ) -> _Function:
        # One sequence of a union, and not the other way round, lets checkers read a list of dicts as rows.
        rows = " | ".join(names[schema] for schema in schemas for names in (self._surface.models, self._surface.rows))
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
        opening = "async def" if function.method == "score_async" else "def"
        yield from ("", "", f"{opening} {function.name}(")
        yield from (f"    {parameter}," for parameter in function.parameters)
        yield "    *,"
        yield from (f"    {parameter}," for parameter in keywords)
        yield f") -> {function.result}:"
        yield f'    """{_prose(function.about)}"""'
        yield from self._body(function, [*function.passed, *(f"{name}={name}" for name in map(_name_of, keywords))])

    def _body(self, function: _Function, passed: Sequence[str]) -> Iterator[str]:
        is_query = function.method == "query"
        waits = "await " if function.method == "score_async" else ""
        yield f"    {'answer =' if is_query else 'return'} {waits}_built.{function.method}("
        yield from (f"        {argument}," for argument in passed)
        yield "    )"
        if is_query:
            yield f"    return _t.cast({quoted(function.result)}, answer)"

    def _surroundings(self) -> Iterator[str]:
        """The parameters for what holds around a call."""
        for schema in (self._surface.context, self._surface.memory):
            if schema is not None:
                given = f"{schema.name.lower()}: {schema.name} | {schema.name}Row"
                yield f"{given} | None = None" if all(map(may_lack, schema.fields)) else given
        yield "now: _dt.datetime | str | None = None"
        yield "timezone: str | None = None"


class _Stub(_Module):
    """The same without what runs."""

    def _schema_of(self, number: int) -> Iterator[str]:
        yield from ()

    def _body(self, function: _Function, passed: Sequence[str]) -> Iterator[str]:
        yield "    ..."


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
