"""From text to the tree: the shape that each construct gets, its values, spans and comments."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from golden_files import good_programs

from ucl.diagnostics import Report, Source
from ucl.syntax import ast
from ucl.syntax.parse import parse, read_source


def read(text: str) -> ast.File:
    """The tree of a text that has no mistake."""
    report = Report()
    file = parse(Source("test.ucl", text), report)
    assert [d.message for d in report] == []
    return file


def declared(text: str) -> Any:
    (declaration,) = read(text).declarations
    return declaration


def expression(text: str) -> ast.Expr:
    value: ast.Expr = declared(f"let x = {text}").value
    return value


def shape(node: Any) -> str:
    """An expression with all its parentheses, so that precedence can be read."""
    match node:
        case None:
            return ""
        case ast.Name(text=text) | ast.IntLiteral(text=text) | ast.FloatLiteral(text=text):
            return text
        case ast.QuantityLiteral(text=text):
            return text
        case ast.TextLiteral(value=value):
            return f'"{value}"'
        case ast.BoolLiteral(value=value):
            return str(value).lower()
        case ast.WeekdayLiteral(value=value):
            return ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[value]
        case ast.TimeLiteral(value=value):
            return f"{value // 3_600_000_000:02}:{value // 60_000_000 % 60:02}"
        case ast.DateLiteral(value=value):
            return value.isoformat()
        case ast.SetLiteral(elements=elements):
            return "{" + ", ".join(map(shape, elements)) + "}"
        case ast.Attribute(value=value, name=name):
            return f"{shape(value)}.{name}"
        case ast.Call(function=function, arguments=arguments):
            return f"{shape(function)}({', '.join(map(shape, arguments))})"
        case ast.Negate(operand=operand):
            return f"(- {shape(operand)})"
        case ast.Arithmetic() | ast.Compare():
            return f"({shape(node.left)} {node.operator} {shape(node.right)})"
        case ast.Coalesce(value=value, default=default):
            return f"({shape(value)} ?? {shape(default)})"
        case ast.Range(low=low, high=high, inclusive=inclusive):
            return f"[{shape(low)}{'..=' if inclusive else '..'}{shape(high)}]"
        case ast.In(value=value, container=container, negated=negated):
            return f"({shape(value)} {'not in' if negated else 'in'} {shape(container)})"
        case ast.Not(operand=operand):
            return f"(not {shape(operand)})"
        case ast.And(operands=operands):
            return "(" + " and ".join(map(shape, operands)) + ")"
        case ast.Or(operands=operands):
            return "(" + " or ".join(map(shape, operands)) + ")"
        case ast.If():
            return f"(if {shape(node.condition)} then {shape(node.then)} else {shape(node.otherwise)})"
        case ast.Comprehension():
            keys = ", ".join(shape(key.value) + (" desc" if key.descending else "") for key in node.keys)
            parts = (shape(node.value), node.variable.text, shape(node.source), shape(node.condition), keys)
            return f"{node.kind.text}<{' | '.join((*parts, shape(node.share)))}>"
    raise AssertionError(node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # from loosest to tightest, LANGUAGE §5
        ("if a then b else c or d", "(if a then b else (c or d))"),
        ("if a then b else if c then d else e", "(if a then b else (if c then d else e))"),
        ("a or b and c", "(a or (b and c))"),
        ("not a and b", "((not a) and b)"),
        ("not a == b", "(not (a == b))"),
        ("not not a", "(not (not a))"),
        ("a == b ?? c", "(a == (b ?? c))"),
        ("a ?? b + c", "(a ?? (b + c))"),
        ("n / m ?? 0", "((n / m) ?? 0)"),
        ("a + b * c", "(a + (b * c))"),
        ("-a * b", "((- a) * b)"),
        ("a * -b.c", "(a * (- b.c))"),
        ("-f(x).y", "(- f(x).y)"),
        # associativity
        ("a - b - c", "((a - b) - c)"),
        ("a - (b - c)", "(a - (b - c))"),
        ("a / b * c", "((a / b) * c)"),
        ("a ?? b ?? c", "((a ?? b) ?? c)"),
        # `and` and `or` are flat
        ("a and b and c", "(a and b and c)"),
        ("(a and b) and (c and d)", "(a and b and c and d)"),
        ("(a or b) and (c or d)", "((a or b) and (c or d))"),
        # `in` and ranges
        ("a in b", "(a in b)"),
        ("a not in {1, 2}", "(a not in {1, 2})"),
        ("not a in b", "(not (a in b))"),
        ("a + 1 in b .. c", "((a + 1) in [b..c])"),
        ("a in 1..5", "(a in [1..5])"),
        ("a in 1..=5 and b", "((a in [1..=5]) and b)"),
        ("a in 5.. or b", "((a in [5..]) or b)"),
        ("a in ..=-5", "(a in [..=-5])"),
        ("a in lo + 1..hi * 2 ?? 3", "(a in [(lo + 1)..((hi * 2) ?? 3)])"),
        ("a in -1..-b.c(2)", "(a in [-1..(- b.c(2))])"),
        ("a in 0..context.limit", "(a in [0..context.limit])"),
        ("a in 0..count(t in l)", "(a in [0..count< | t | l |  |  | >])"),
        ("a in 0..max(t.x for t in l)", "(a in [0..max<t.x | t | l |  |  | >])"),
        ("t in 22:00..24:00", "(t in [22:00..24:00])"),
        ("w in fri..=mon", "(w in [fri..=mon])"),
        # calls, attributes and comprehensions
        ("f()", "f()"),
        ("f(a, b + 1).c.d(e)", "f(a, (b + 1)).c.d(e)"),
        ("option.x + memory . y", "(option.x + memory.y)"),
        ("x.context.memory", "x.context.memory"),
        ("any(t in l where t.x)", "any< | t | l | t.x |  | >"),
        ("count(t in l where a by b desc, c)", "count< | t | l | a | b desc, c | >"),
        ("sum(t.x for t in l)", "sum<t.x | t | l |  |  | >"),
        ("first(t for t in f(a) where b or c by d)", "first<t | t | f(a) | (b or c) | d | >"),
        ("frequent(t.x for t in l where a, 25%)", "frequent<t.x | t | l | a |  | 25%>"),
        ("count > any", "(count > any)"),
        # sets
        ("{}", "{}"),
        ('{"a", "b",}', '{"a", "b"}'),
    ],
)
def test_expressions_have_this_shape(text: str, expected: str) -> None:
    assert shape(expression(text)) == expected


@pytest.mark.parametrize(
    "text", ["5..", "..5", "1..5", "1..=5", "22:00..06:00", "fri..=mon", "-5..=-1", "2026-03-04.."]
)
def test_a_let_may_be_a_range(text: str) -> None:
    assert shape(expression(text)) == f"[{text}]"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("1_000", 1000),
        ("-5", -5),
        ("-9223372036854775808", -(2**63)),
        ("99999999999999999999", 99999999999999999999),
        ("0.8", 0.8),
        ("15%", 0.15),
        ("2.5%", 0.025),
        ("true", True),
        ("sat", 5),
        ("07:30:15", 27_015_000_000),
        ("2024-02-29", date(2024, 2, 29)),
        (r'"a \"b\" \\ \/ \n \t \u00e9 \ud83d\ude00 你"', 'a "b" \\ / \n \t é 😀 你'),
        (r'"e\u0301"', "é"),
    ],
)
def test_literals_have_this_value(text: str, value: object) -> None:
    assert expression(text).value == value  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "local", "offset"),
    [
        ("2026-03-04T13:00", datetime(2026, 3, 4, 13), None),
        ("2026-03-04T13:00:30Z", datetime(2026, 3, 4, 13, 0, 30), timedelta(0)),
        ("2026-03-04T13:00+08:00", datetime(2026, 3, 4, 13), timedelta(hours=8)),
        ("2026-03-04T13:00-05:30", datetime(2026, 3, 4, 13), timedelta(hours=-5, minutes=-30)),
    ],
)
def test_datetimes(text: str, local: datetime, offset: timedelta | None) -> None:
    literal = expression(text)
    assert isinstance(literal, ast.DateTimeLiteral)
    assert (literal.local, literal.offset) == (local, offset)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("90min", [(90, "min")]),
        ("1h30min", [(1, "h"), (30, "min")]),
        ("1h05min", [(1, "h"), (5, "min")]),
        ("2km500m", [(2, "km"), (500, "m")]),
        ("2.5km", [(Fraction(5, 2), "km")]),
        ("1_000m", [(1000, "m")]),
        ("3公里", [(3, "公里")]),
    ],
)
def test_quantities(text: str, parts: list[tuple[Fraction, str]]) -> None:
    literal = expression(text)
    assert isinstance(literal, ast.QuantityLiteral)
    assert [(part.amount, part.unit) for part in literal.parts] == parts


def test_a_minus_that_is_no_sign_of_an_int_stays() -> None:
    assert isinstance(expression("-0.5"), ast.Negate)
    assert isinstance(expression("- -5"), ast.Negate)


def test_a_rule_with_all_its_clauses_in_any_order() -> None:
    rule = declared("""
        rule r on S overrides a, b {
          status shadow
          except when c score 1
          from chat "c1" at 2026-03-04
          unless d
          score 0.5
          because "x"
          when e
          unless f
          except when g score 2
          from email "e1"
          valid 2026-01-01..
          confidence 0.9
          priority 3
        }""")
    assert isinstance(rule, ast.Rule)
    assert [name.text for name in rule.overrides] == ["a", "b"]
    assert shape(rule.when) == "e"
    assert [shape(u) for u in rule.unless] == ["d", "f"]
    assert shape(rule.score) == "0.5"
    assert [(shape(e.condition), shape(e.score)) for e in rule.exceptions] == [("c", "1"), ("g", "2")]
    meta = rule.meta
    assert meta.because is not None
    assert meta.status is not None
    assert (meta.because.value, meta.status.text) == ("x", "shadow")
    assert (shape(meta.confidence), shape(meta.priority), shape(meta.valid)) == ("0.9", "3", "[2026-01-01..]")
    assert [(s.kind.text, s.id.value, shape(s.at)) for s in meta.sources] == [
        ("chat", "c1", "2026-03-04"),
        ("email", "e1", ""),
    ]


def test_constraints_properties_and_prefers() -> None:
    constraint = declared("constraint c on S { require a when b unless d }")
    assert (shape(constraint.require), shape(constraint.when), constraint.forbid) == ("a", "b", None)
    assert shape(declared("constraint c on S { forbid when a }").forbid) == "a"
    property_ = declared("property p on S { given a expect b expect score < 0 }")
    assert (shape(property_.given), [shape(e) for e in property_.expect]) == ("a", ["b", "(score < 0)"])
    prefer = declared("prefer p on S { better a worse b }")
    assert (shape(prefer.better), shape(prefer.worse)) == ("a", "b")


def test_actions_effects_and_alerts() -> None:
    action = declared('action a on S { do tag("x"), m.move() except when b do nothing except when c do tag("y") }')
    assert [(c.effect.text, [shape(x) for x in c.arguments]) for c in action.calls] == [
        ("tag", ['"x"']),
        ("m.move", []),
    ]
    assert [len(e.calls) for e in action.exceptions] == [0, 1]
    assert declared("action a on S { do nothing }").calls == ()
    assert declared("action a on S { when b }").calls is None
    assert declared("effect many tag(label: text, n: int)").many
    assert not declared("effect many()").many
    alert = declared('alert a for p in l { when b say "x" severity critical }')
    assert (alert.variable.text, alert.memory.text, alert.say.value, alert.severity.text) == ("p", "l", "x", "critical")


def test_fields_and_types() -> None:
    schema = declared("""
        schema S {
          a: int in 0..=10 from "A" unit km = 5, b: text?
          c: "x" | "y" = "x"
          d: set<text>={}
          e: list<m.T>
          f: int = 1 in {1, 2}
        }""")
    a, b, c, d, e, f = schema.fields
    assert (a.name.text, shape(a.domain), a.column.value, a.unit.text, shape(a.default)) == (
        "a",
        "[0..=10]",
        "A",
        "km",
        "5",
    )
    assert isinstance(b.type, ast.OptionalType)
    assert [value.value for value in c.type.values] == ["x", "y"]
    assert (d.type.constructor.text, d.type.element.path, shape(d.default)) == ("set", ("text",), "{}")
    assert (e.type.constructor.text, e.type.element.path) == ("list", ("m", "T"))
    assert (shape(f.domain), shape(f.default)) == ("{1, 2}", "1")


def test_the_other_declarations() -> None:
    file = read("""
        module a.b
        import c.d
        import c.e (x, Y)
        timezone "Europe/Oslo"
        dimension length { m, km = 1000m }
        memory m: list<T>
        memory n: int = 3
        let s: set<text> = {}
        def f(p: int, q: text?) -> bool = p > 3
        resolve S by priority
        context { mood: text }
    """)
    module, whole, names, zone, dimension, memory, scalar, let, def_, resolve, context = file.declarations
    assert [name.text for name in module.path] == ["a", "b"]  # type: ignore[union-attr]
    assert whole.names is None  # type: ignore[union-attr]
    assert [name.text for name in names.names] == ["x", "Y"]  # type: ignore[union-attr]
    assert zone.zone.value == "Europe/Oslo"  # type: ignore[union-attr]
    assert [u.definition and u.definition.text for u in dimension.units] == [None, "1000m"]  # type: ignore[union-attr]
    assert memory.default is None  # type: ignore[union-attr]
    assert shape(scalar.default) == "3"  # type: ignore[union-attr]
    assert isinstance(let.type, ast.GenericType)  # type: ignore[union-attr]
    assert [p.name.text for p in def_.parameters] == ["p", "q"]  # type: ignore[union-attr]
    assert (resolve.schema.text, resolve.method.text) == ("S", "priority")  # type: ignore[union-attr]
    assert isinstance(context, ast.Context)


def test_an_open_range_ends_before_a_clause_or_declaration() -> None:
    let, context, rule = read("let a = 5..\ncontext { n: int }\nrule r on S { when n in 5.. score 1 }").declarations
    assert shape(let.value) == "[5..]"  # type: ignore[union-attr]
    assert isinstance(context, ast.Context)
    assert (shape(rule.when), shape(rule.score)) == ("(n in [5..])", "1")  # type: ignore[union-attr]


def test_spans_cover_what_was_written() -> None:
    text = "let x = (a + b) * c.d"
    let = declared(text)
    assert text[let.span.start : let.span.end] == text
    product = let.value
    assert text[product.span.start : product.span.end] == "(a + b) * c.d"
    assert text[product.left.span.start : product.left.span.end] == "a + b"
    assert text[product.right.name_span.start : product.right.name_span.end] == "d"


def test_positions_are_code_points() -> None:
    report = Report()
    source = read_source("x.ucl", 'let 😀x = "\u00e9"\n'.encode(), report)
    assert source is not None
    parse(source, report)
    (found,) = report
    assert (found.span.line, found.span.column) == (1, 5)


def test_comments_are_kept_and_a_block_right_above_is_documentation() -> None:
    file = read(
        "# far\n\n# one\n#  two\nlet a = 1 # after\nlet b = 2\n"
        "# of c\nschema c {\n  # of d\n  d: int # not of e\n  e: int\n}"
    )
    assert [comment.text for comment in file.comments] == [
        "# far",
        "# one",
        "#  two",
        "# after",
        "# of c",
        "# of d",
        "# not of e",
    ]
    a, b, c = file.declarations
    assert (a.doc, b.doc, c.doc) == ("one\ntwo", None, "of c")  # type: ignore[union-attr]
    assert [field.doc for field in c.fields] == ["of d", None]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        "schema S { tags: set<text>={} # one\n n: int # two\n}",
        "schema S { tags: set<text>= # one\n{} # two\n}",
        "# one\nlet x = context # two\n",
    ],
)
def test_comments_beside_tokens_that_are_cut_anew_are_kept_once(text: str) -> None:
    file = read(text)
    assert [comment.text for comment in file.comments] == ["# one", "# two"]


def test_comments_behind_a_mistake_are_read_once() -> None:
    report = Report()
    text = "let x = ) # one\nlet y = 1 # two\nlet z = && # three\nlet w = 1\n# four"
    file = parse(Source("test.ucl", text), report)
    assert [comment.text for comment in file.comments] == ["# two", "# four"]
    assert [d.name.text for d in file.declarations if isinstance(d, ast.Let)] == ["y", "w"]


@pytest.mark.parametrize(
    "sign", ["\u2118", "\u212e", "\u00b7", "\u093e", "\u00d7", "\u200b", "\u301c", "\u20ac", "\u2019"]
)
def test_reading_ends_where_a_word_of_a_declaration_runs_on(sign: str) -> None:
    """Of what stands in names, `\\w` leaves out the signs that some scripts write vowels with."""
    text = f"rule{sign} a on S {{ score 1 }}\nrule{sign}\n}} schema{sign}\nlet{sign} a = 1\nlet y = 2\n"
    report = Report()
    file = parse(Source("test.ucl", text), report)
    assert report.has_errors
    assert [d.name.text for d in file.declarations if isinstance(d, ast.Let)][-1] == "y"


def test_a_name_alone_spans_what_a_name_with_a_part_begins_with() -> None:
    """The one is read without an identifier on the way."""
    alone, part = expression("size"), expression("size.x")
    assert isinstance(alone, ast.Name)
    assert isinstance(part, ast.Attribute)
    assert alone == part.value
    assert alone.span.start == part.value.span.start == len("let x = ")


def test_long_flat_chains_are_no_depth() -> None:
    assert len(expression(" and ".join(["a"] * 5_000)).operands) == 5_000  # type: ignore[union-attr]
    assert len(expression(" or ".join(["a and b"] * 2_000)).operands) == 2_000  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("opening", "inner", "closing"),
    [
        ("(", "a", ")"),
        ("not ", "a", ""),
        ("- ", "a", ""),
        ("{", "1", "}"),
        ("f(", "1", ")"),
        ("if a then b else ", "c", ""),
        ("if a then ", "b", " else c"),
        ("", "a", " + a"),
        ("", "a", " ?? a"),
        ("", "a", ".b"),
    ],
)
def test_nesting_ends_at_a_hundred(opening: str, inner: str, closing: str) -> None:
    def found(depth: int) -> list[str]:
        report = Report()
        parse(Source("x", f"let x = {opening * depth}{inner}{closing * depth}"), report)
        return [d.code for d in report]

    assert found(100) == []
    assert found(102) == ["too-deep"]
    assert found(20_000) == ["too-deep"]


def test_types_nest_no_deeper_either() -> None:
    report = Report()
    parse(Source("x", "memory a: " + "set<" * 101 + "int" + ">" * 101), report)
    assert [d.code for d in report] == ["too-deep"]


@pytest.mark.parametrize("data", [b"\xef\xbb\xbflet a = 1\r\n", b"let a = 1", b"\nlet a = 1\r\n\r\n"])
def test_bom_and_line_ends_are_no_part_of_the_text(data: bytes) -> None:
    report = Report()
    source = read_source("x.ucl", data, report)
    assert source is not None
    assert len(parse(source, report).declarations) == 1
    assert list(report) == []


@pytest.mark.parametrize("text", ['\ufefflet cafe\u0301 = "e\u0301"', 'let cafe\u0301 =\r\n  "e\u0301"\r\n'])
def test_a_text_reads_as_a_file_of_it_does(text: str) -> None:
    """Whoever makes a source of a text need not know how files are read."""
    report = Report()
    (let,) = parse(Source("x.ucl", text), report).declarations
    source = read_source("x.ucl", text.encode(), report)
    assert source is not None
    assert parse(source, report).declarations == (let,)
    assert let.name.text == "caf\u00e9"
    assert let.value.value == "\u00e9"
    assert [d.message for d in report] == []


@pytest.mark.parametrize("text", ["let a = 1\0", 'let a = "\ud800"', "\ud83d"])
def test_a_text_that_no_file_can_hold_is_said(text: str) -> None:
    report = Report()
    assert parse(Source("x.ucl", text), report).declarations == ()
    assert [d.code for d in report] == ["syntax"]


def test_the_text_is_nfc() -> None:
    source = read_source("x.ucl", 'let cafe\u0301 = "e\u0301"'.encode(), Report())
    assert source is not None
    assert source.text == 'let caf\u00e9 = "\u00e9"'


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b"let a = 1\nlet b = \xff\xfe", "syntax", "the file is not UTF-8 text: its line 2 can't be decoded"),
        (b"let a = 1\0", "syntax", "the file is not text"),
        (b" " * (4 * 1024 * 1024 + 1), "too-large", "the file is larger than 4 MiB"),
    ],
)
def test_what_is_no_text_is_said(data: bytes, code: str, message: str) -> None:
    report = Report()
    assert read_source("x.ucl", data, report) is None
    (found,) = report
    assert found.code == code
    assert message in found.message


@pytest.mark.parametrize("path", good_programs(), ids=lambda path: path.stem)
def test_golden_programs_have_no_mistake(path: Path) -> None:
    report = Report()
    source = read_source(str(path), path.read_bytes(), report)
    assert source is not None
    parse(source, report)
    assert [d.message for d in report] == []
