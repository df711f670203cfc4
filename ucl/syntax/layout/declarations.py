"""From a declaration to a document: its head on a line, and below it a line for each clause or field, in their order.

The order of clauses is that of LANGUAGE §4 and §9–§12. Comments go with the clause or field that they stand above or
behind, and those before a closing brace stay there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import assert_never

from ucl.syntax import ast
from ucl.syntax.layout.documents import BLANK, LINE, SPACE, Document, group, nest
from ucl.syntax.layout.expressions import Level, Printer
from ucl.syntax.layout.trail import Trail
from ucl.syntax.reading.lexer import words

_ORDER = {
    word: number
    for number, word in enumerate(
        words(
            "given expect better worse forbid require when unless score do say severity except "
            "because from confidence priority valid status"
        )
    )
}
_FIELD_ORDER = {"in": 0, "from": 1, "unit": 2, "=": 3}


def declaration(trail: Trail, node: ast.Declaration) -> list[Document]:
    """The declaration itself. The comments above it are the caller's."""
    match node:
        case ast.Schema() | ast.Context():
            return _fields(trail, node)
        case ast.Rule() | ast.Constraint() | ast.Action() | ast.Alert() | ast.Property() | ast.Prefer():
            return _body(trail, node)
        case _:
            first, end = _extent(trail, node)
            printer = Printer(trail.stretch(first, end))
            printer.above()
            return [*_line(printer, node), *printer.rest()]


def above(trail: Trail, node: ast.Declaration) -> list[Document]:
    """The comments above a declaration, which may have an empty line between them and it."""
    first, end = _extent(trail, node)
    notes = Printer(trail.stretch(first, end)).above()
    return [*notes, BLANK if trail.blank_before(first) else LINE] if notes else []


def _extent(trail: Trail, node: ast.Node) -> tuple[int, int]:
    return trail.token(node.span.start), trail.token(node.span.end)


# --- declarations of one line ---------------------------------------------------------------------------------------

_Line = (
    ast.ModuleDeclaration
    | ast.Import
    | ast.Timezone
    | ast.Dimension
    | ast.Memory
    | ast.Let
    | ast.Def
    | ast.Resolve
    | ast.Effect
)


def _line(printer: Printer, node: _Line) -> list[Document]:
    match node:
        case ast.ModuleDeclaration(path=path):
            return [*printer.word("module"), " ", *_path(printer, path)]
        case ast.Import(path=path, names=names):
            parts = [*printer.word("import"), " ", *_path(printer, path)]
            return parts if names is None else [*parts, " ", *_listed_names(printer, names)]
        case ast.Timezone(zone=zone):
            return [*printer.word("timezone"), " ", *printer.literal(zone)]
        case ast.Dimension(name=name, units=units):
            return [*printer.word("dimension"), " ", *printer.name(name), " ", *_units(printer, units)]
        case ast.Memory(name=name, type=type_, default=default):
            parts = [*printer.word("memory"), " ", *_typed(printer, name, type_)]
            return parts if default is None else [*parts, *_is(printer, default)]
        case ast.Let(name=name, type=type_, value=value):
            named = printer.name
            parts = [*printer.word("let"), " ", *(named(name) if type_ is None else _typed(printer, name, type_))]
            return [*parts, *_is(printer, value)]
        case ast.Def(name=name, parameters=parameters, result=result, body=body):
            parts = [*printer.word("def"), " ", *printer.name(name), *_parameters(printer, parameters)]
            return [*parts, *printer.word("->", " "), " ", *_type(printer, result), *_is(printer, body)]
        case ast.Resolve(schema=schema, method=method):
            parts = [*printer.word("resolve"), " ", *printer.name(schema), " ", *printer.word("by")]
            return [*parts, " ", *printer.name(method)]
        case ast.Effect(name=name, many=many, parameters=parameters):
            parts = [*printer.word("effect"), " ", *([*printer.word("many"), " "] if many else [])]
            return [*parts, *printer.name(name), *_parameters(printer, parameters)]
    assert_never(node)


def _is(printer: Printer, value: ast.Expr) -> list[Document]:
    return [*printer.word("=", " "), " ", *printer.expression(value)]


def _path(printer: Printer, path: Sequence[ast.Identifier]) -> list[Document]:
    parts = printer.name(path[0])
    for name in path[1:]:
        parts += [*printer.word("."), *printer.name(name)]
    return parts


def _listed_names(printer: Printer, names: Sequence[ast.Identifier]) -> list[Document]:
    return printer.listed("(", [partial(printer.name, name) for name in names], ")")


def _units(printer: Printer, units: Sequence[ast.UnitDeclaration]) -> list[Document]:
    parts = printer.word("{")
    inner: list[Document] = []
    for index, unit in enumerate(units):
        inner += [*(printer.word(",") if index else []), *printer.gap(), SPACE, *printer.name(unit.name)]
        if unit.definition is not None:
            inner += [*printer.word("=", " "), " ", *printer.literal(unit.definition)]
    return [group([*parts, nest(inner), *printer.word("}", SPACE)])]


def _parameters(printer: Printer, parameters: Sequence[ast.Parameter]) -> list[Document]:
    return printer.listed("(", [partial(_typed, printer, p.name, p.type) for p in parameters], ")")


def _typed(printer: Printer, name: ast.Identifier, type_: ast.TypeExpr) -> list[Document]:
    return [*printer.name(name), *printer.word(":"), " ", *_type(printer, type_)]


def _type(printer: Printer, type_: ast.TypeExpr) -> list[Document]:
    match type_:
        case ast.NamedType(path=path):
            return printer.dotted(type_.span.start, path)
        case ast.GenericType(constructor=constructor, element=element):
            return [*printer.name(constructor), *printer.word("<"), *_type(printer, element), *printer.word(">")]
        case ast.OptionalType(inner=inner):
            return [*_type(printer, inner), *printer.word("?")]
        case ast.ClosedType(values=values):
            parts = printer.literal(values[0])
            for value in values[1:]:
                parts.append(group([*printer.word("|", SPACE), " ", *printer.literal(value)]))
            return [group([nest(parts)])]
    assert_never(type_)


# --- declarations with fields ---------------------------------------------------------------------------------------


def _fields(trail: Trail, node: ast.Schema | ast.Context) -> list[Document]:
    first, _ = _extent(trail, node)
    if isinstance(node, ast.Schema):
        brace = trail.next("{", trail.token(node.name.span.end))
        head = Printer(trail.stretch(first, brace + 1))
        head.above()
        parts = [*head.word("schema"), " ", *head.name(node.name), *head.word("{", " ")]
    else:
        head = Printer(trail.stretch(first, first + 2))
        head.above()
        parts = [*head.word("context"), *head.word("{", " ")]
    inside = [_field(trail, field) for field in node.fields]
    return _enclosed(trail, node, [*parts, *head.rest()], inside)


def _field(trail: Trail, node: ast.FieldDeclaration) -> list[Document]:
    first, end = _extent(trail, node)
    starts = [trail.token(clause.span.start) for clause in node.clauses]
    head = Printer(trail.stretch(first, min(starts, default=end)))
    notes = head.above()
    before: list[Document] = [*notes, BLANK if trail.blank_before(first) else LINE] if notes else []
    if not notes and trail.blank_before(first):
        before.append(BLANK)
    typed = [*_typed(head, node.name, node.type), *head.rest()]
    parts: list[Document] = []
    ends = dict(zip(starts, [*starts[1:], end]))
    for clause in sorted(node.clauses, key=lambda clause: _FIELD_ORDER[clause.word]):
        start = trail.token(clause.span.start)
        printer = Printer(trail.stretch(start, ends[start]))
        parts += [*printer.above(), " ", *_field_clause(printer, clause), *printer.rest()]
    # The commas go, and a comment that stood before one stands above what follows it.
    commas = Printer(trail.stretch(end, trail.past_commas(end)))
    return [*before, *typed, nest(parts), *commas.rest()]


def _field_clause(printer: Printer, clause: ast.Clause) -> list[Document]:
    level = Level.COALESCE if clause.word == "=" else Level.ANY
    return [*printer.word(clause.word), " ", *_value(printer, clause.value, level)]


# --- declarations with clauses --------------------------------------------------------------------------------------


def _body(trail: Trail, node: ast.Body) -> list[Document]:
    first, last = _extent(trail, node)
    begins = sorted(trail.token(clause.span.start) for clause in node.clauses)
    brace = trail.last_open(begins[0] if begins else last - 1)
    head = Printer(trail.stretch(first, brace + 1))
    head.above()
    parts = [*_head(head, node), *head.word("{", " "), *head.rest()]
    ends = dict(zip(begins, [*begins[1:], last - 1]))
    inside = []
    for clause in sorted(node.clauses, key=lambda clause: _ORDER[clause.word]):
        start = trail.token(clause.span.start)
        printer = Printer(trail.stretch(start, ends[start]))
        inside.append([*printer.above(), *_clause(printer, clause), *printer.rest()])
    return _enclosed(trail, node, parts, inside)


def _head(printer: Printer, node: ast.Body) -> list[Document]:
    parts = [*printer.word(type(node).__name__.lower()), " ", *printer.name(node.name), " "]
    if isinstance(node, ast.Alert):
        parts += [*printer.word("for"), " ", *printer.name(node.variable), " ", *printer.word("in"), " "]
        return parts + printer.name(node.memory)
    parts += [*printer.word("on"), " ", *printer.name(node.schema)]
    if isinstance(node, (ast.Rule, ast.Constraint, ast.Action)) and node.overrides:
        parts += [*printer.word("overrides", " "), " "]
        for index, name in enumerate(node.overrides):
            parts += [*(printer.word(",") if index else []), *([" "] if index else []), *printer.name(name)]
    return parts


def _enclosed(trail: Trail, node: ast.Node, head: list[Document], inside: Iterable[list[Document]]) -> list[Document]:
    """The head with its brace, what the braces enclose, and the closing one."""
    _, end = _extent(trail, node)
    closing = Printer(trail.stretch(end - 1, end))
    notes = closing.above()
    lines: list[Document] = []
    for part in inside:
        lines += [LINE, *part]
    lines += [LINE, *notes] if notes else []
    close = [*closing.word("}"), *closing.rest()]
    if not lines and isinstance(head[-1], str):
        return [*head, *close]
    return [*head, nest(lines), LINE, *close]


def _clause(printer: Printer, clause: ast.Clause) -> list[Document]:
    match clause.value:
        case ast.ScoreException(condition=condition, score=score):
            return [
                group(
                    [
                        *_except(printer, condition),
                        nest([*printer.word("score", SPACE), " ", *printer.expression(score)]),
                    ]
                )
            ]
        case ast.DoException(condition=condition, calls=calls):
            return [
                group([*_except(printer, condition), nest([*printer.word("do", SPACE), " ", *_calls(printer, calls)])])
            ]
        case ast.SourceClause(kind=kind, id=id_, at=at):
            parts = [*printer.word("from"), " ", *printer.name(kind), " ", *printer.literal(id_)]
            return parts if at is None else [*parts, *printer.word("at", " "), " ", *printer.literal(at)]
        case value:
            head = [*printer.word(clause.word), " "]
            head += [*printer.word("when"), " "] if clause.word == "forbid" else []
            return [*head, *_value(printer, value, Level.COALESCE if clause.word == "valid" else Level.ANY)]


def _except(printer: Printer, condition: ast.Expr) -> list[Document]:
    return [*printer.word("except"), " ", *printer.word("when"), " ", *printer.expression(condition)]


def _value(printer: Printer, value: ast.ClauseValue, level: Level) -> list[Document]:
    match value:
        case ast.Identifier():
            return printer.name(value)
        case tuple():
            return _calls(printer, value)
        case ast.SourceClause() | ast.ScoreException() | ast.DoException():
            raise AssertionError("a clause of several parts")
        case ast.Range():
            return printer.expression(value)
        case _:
            return printer.expression(value, level)


def _calls(printer: Printer, calls: Sequence[ast.EffectCall]) -> list[Document]:
    if not calls:
        return printer.word("nothing")
    parts: list[Document] = []
    for index, call in enumerate(calls):
        if index:
            parts += [*printer.word(","), *printer.gap()]
        written = [*printer.name(call.effect), *printer.arguments(call.arguments)]
        parts.append(group([SPACE, *written]) if index else group(written))
    return [nest(parts)]
