"""Claims as a file of pytest and Hypothesis: a test for each statement, to be read and kept.

In: statements of a program. Out: the text of a Python file that needs pytest, Hypothesis and the package that
`uclc build` makes of the program. The same statements give the same text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ucl.build.package import package_path
from ucl.facts.history import Belief
from ucl.facts.language import region_text
from ucl.facts.regions import Region, Subject, region_within, regions_meet
from ucl.models.naming import Names, quoted
from ucl.models.records import may_lack
from ucl.models.surface import Surface, surface_of
from ucl.scoring.calls import scored_schemas
from ucl.semantics import types as t
from ucl.semantics.program import Program
from ucl.semantics.types import DAY
from ucl.semantics.values import iso
from ucl.testing.facts.claims import Claim, Expected, neighbours
from ucl.testing.facts.frame import HELPERS, NEEDS, RUNTIME
from ucl.testing.facts.layout import WIDTH, docstring, plain_name, prose, put_text, row_lines, uses, wrapped
from ucl.testing.facts.promises import number_text, told
from ucl.testing.facts.python import Attributes, Edit, conditions, few_values, variants
from ucl.testing.facts.statements import Statements

EXAMPLES = 6
_HOW = (
    "A test draws options of any kind, moves them just inside and just outside of what its statement speaks of, and "
    "asks the program that `uclc build` made. What another statement speaks of too is left to that one, unless it is "
    "more general. A score is as strong as the sentiment of the statement, within a factor of the square root of two."
)
_MOST_LISTED = 200
_MOST_VALUES = 12
MARK = "Written by `uclc facts2tests"
"""By this a file of ours is known."""


def needs_memory(program: Program) -> bool:
    """Whether a call must be given a memory: then nothing can be drawn that fits it."""
    return any(not may_lack(field) for field in program.memory)


def test_file(statements: Statements, origin: str) -> str:
    """The file; `origin` is how its facts were named."""
    return _Writer(statements).text(origin)


class _Writer:
    """Writes a file from top to bottom."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements
        self._schema = statements.vocabulary.schema
        self._surface: Surface = surface_of(statements.program)
        self._context = self._surface.context
        self._attributes = Attributes(self._schema, self._context)
        self._record = self._surface.models[self._schema]
        self._module = statements.program.module
        self._beliefs = statements.tested
        instants = [fact.instant for belief in self._beliefs for fact in belief.facts if fact.instant is not None]
        self._latest = statements.zone.local(max(instants)) // DAY if instants else 0
        short, tests = Names(), Names()
        self._short = {id(b): short.take(plain_name(f"about_{b.fact.id}")) for b in self._beliefs}
        self._tests = {id(b): tests.take(plain_name(f"test_{statements.names[b.fact.id]}")) for b in self._beliefs}

    def text(self, origin: str) -> str:
        regions = "\n\n".join("\n".join(self._about(belief)) for belief in self._beliefs)
        tests = "\n\n".join("\n".join(self._test(belief)) for belief in self._beliefs)
        body = f"{regions}\n\n\n{self._lists()}\n\n# {'-' * 3} what was said {'-' * 60}\n\n\n{tests}\n"
        runtime = self._runtime()
        used = f"{body}{runtime}"
        helpers = self._helpers(used)
        return "\n".join(
            [
                self._doc(origin),
                *self._imports(f"{used}{helpers}"),
                "",
                *self._constants(f"{used}{helpers}"),
                "",
                "",
                helpers + runtime.lstrip("\n"),
                "",
                f"# {'-' * 3} what each statement speaks of {'-' * 47}",
                "",
                "",
                body,
            ]
        )

    # --- the frame --------------------------------------------------------------------------------------------------

    def _doc(self, origin: str) -> str:
        written = f"{MARK} {prose(origin)}`, and yours to keep. {_HOW}"
        lines = [f'"""What was said, as tests of `{self._module}`: one for each statement.', ""]
        lines += wrapped(written)
        for title, items in (
            ("Said later, or otherwise:", list(_contradictions(self._statements))),
            ("Not tested:", list(_untested(self._statements))),
        ):
            if items:
                left = len(items) - _MOST_LISTED
                lines += ["", title, ""]
                lines += [line for item in items[:_MOST_LISTED] for line in wrapped(f"- {item}", "  ")]
                lines += [f"- and {left:,} more"] if left > 0 else []
        return "\n".join([*lines, '"""', "", "# isort: skip_file", ""])

    def _imports(self, used: str) -> Iterator[str]:
        yield from ("from __future__ import annotations", "")
        yield "import math"
        abc = [name for name in ("Callable", "Iterable", "Iterator", "Mapping", "Sequence") if uses(used, name)]
        yield f"from collections.abc import {', '.join(abc)}"
        yield "from dataclasses import dataclass"
        dates = [name for name in ("UTC", "date", "datetime", "time", "timedelta") if uses(used, name)]
        if dates:
            yield f"from datetime import {', '.join(dates)}"
        yield f"from typing import {', '.join(n for n in ('Any', 'TypeVar') if uses(used + self._put(), n))}"
        if uses(used, "ZONE"):
            yield "from zoneinfo import ZoneInfo"
        yield from ("", "import pytest")
        yield "from hypothesis import HealthCheck, Phase, assume, given, settings"
        yield from ("from hypothesis import strategies as st", "from hypothesis.errors import Unsatisfiable")
        yield from ("", "from ucl.testing import options", "")
        package, _, name = _package(self._module).rpartition(".")
        yield f"from {package} import {name}" if package else f"import {name}"
        yield f"from {_package(self._module)} import {', '.join(self._models())}"

    def _models(self) -> list[str]:
        """The models that are named: the option's, the context's, and what both hold."""
        found: dict[str, None] = {}
        for schema in (self._schema, self._context):
            for field in () if schema is None else schema.fields:
                inner = t.present(field.type)
                if isinstance(inner, t.Record):
                    found[self._surface.models[inner.schema]] = None
            if schema is not None:
                found[self._surface.models[schema]] = None
        return sorted(found)

    def _constants(self, used: str) -> Iterator[str]:
        zone = self._statements.program.timezone
        if uses(used, "ZONE"):
            yield f"ZONE = ZoneInfo({quoted(zone)})"
        yield f"OPTIONS = options({self._record}, {quoted(zone)})"
        if self._context is not None:
            yield f"CONTEXTS = options({self._context.name}, {quoted(zone)})"
        yield "# The same examples every time. Without `derandomize` every run tries others."
        yield "SETTINGS = settings("
        yield f"    max_examples={EXAMPLES},"
        yield "    derandomize=True,"
        yield "    database=None,"
        yield "    deadline=None,"
        yield "    phases=[Phase.generate, Phase.shrink],"
        yield "    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],"
        yield ")"
        yield from self._few()
        yield f"About = Callable[[{self._given_types()}], bool]"

    def _few(self) -> Iterator[str]:
        """Each value of the fields that have few, and the ends of short ranges."""
        yield "FEW: dict[str, tuple[object, ...]] = {"
        for field in self._schema.fields:
            subject = Subject("option", (field.name,), "", t.present(field.type), isinstance(field.type, t.Optional))
            values = few_values(field)
            if 0 < len(values) <= _MOST_VALUES:
                listed = ", ".join(self._attributes.literal(value, subject) for value in values)
                alone = "," if len(values) == 1 else ""
                yield f"    {quoted(self._attributes.field(subject)[0])}: ({listed}{alone}),"
        yield "}"

    def _given_types(self) -> str:
        return self._record if self._context is None else f"{self._record}, {self._context.name}"

    def _parameters(self) -> str:
        return f"option: {self._record}" + ("" if self._context is None else f", context: {self._context.name}")

    def _runtime(self) -> str:
        context = None if self._context is None else self._context.name
        schemas = scored_schemas(self._statements.program)
        name = "" if len(schemas) == 1 else f"schema={quoted(self._schema.name)}, "
        day = "claim.days[pick % len(claim.days)]"
        filled = RUNTIME.format(
            record=self._record,
            module=_package(self._module).rpartition(".")[2],
            score=name + ("context=context, " if context else ""),
            asked="option, self.context" if context else "option",
            passed="option, context" if context else "option",
            context_field=f"    context: {context}\n" if context else "",
            context_parameter=f", context: {context}" if context else "",
            context_strategy=", context=CONTEXTS" if context else "",
            passed_context=", context" if context else "",
            dumped_context=', **context.model_dump(mode="json")' if context else "",
            call_type=f"tuple[{context}, str]" if context else "str",
            call_key=f"(claim.context, {day})" if context else day,
            call_name="(context, now)" if context else "now",
            given_types=self._given_types(),
        )
        return f"\n{self._put()}\n{filled}"

    def _put(self) -> str:
        models = self._models()
        kind = models[0] if len(models) == 1 else "R"
        head = "" if len(models) == 1 else f'R = TypeVar("R", {", ".join(models)})\n\n\n'
        return (
            f"{head}def put(record: {kind}, **changes: object) -> {kind}:\n"
            '    """The same with some fields changed."""\n'
            "    return record.model_copy(update=changes)\n"
        )

    def _helpers(self, used: str) -> str:
        wanted = {name for name in HELPERS if uses(used, name)}
        wanted |= {need for name in wanted for need in NEEDS.get(name, ())}
        return "".join(f"{text}\n\n" for name, text in HELPERS.items() if name in wanted)

    # --- statements -------------------------------------------------------------------------------------------------

    def _about(self, belief: Belief) -> Iterator[str]:
        yield from self._head(self._short[id(belief)], "bool")
        yield from docstring(f"`{region_text(belief.region, shared=self._statements.vocabulary.shared)}`")
        parts = list(conditions(belief.region, self._attributes))
        alone = len(parts) == 1 and parts[0].startswith("(")
        text = parts[0][1:-1] if alone else " and ".join(parts)
        if len(text) < WIDTH - 11:
            yield f"    return {text}"
        else:
            yield "    return ("
            yield f"        {parts[0]}"
            yield from (f"        and {part}" for part in parts[1:])
            yield "    )"
        yield ""

    def _head(self, name: str, result: str) -> Iterator[str]:
        line = f"def {name}({self._parameters()}) -> {result}:"
        if len(line) <= WIDTH:
            yield line
        else:
            yield from (f"def {name}(", *(f"    {each}," for each in self._parameters().split(", ")), f") -> {result}:")

    def _lists(self) -> str:
        blocks = []
        for name, hard in (("SOFT", False), ("HARD", True)):
            members = [self._short[id(b)] for b in self._beliefs if b.hard == hard]
            lines = [f"{name}: list[About] = [", *(f"    {member}," for member in members), "]"]
            if members:
                blocks.append("\n".join(lines))
        return "\n".join(blocks) + "\n"

    def _test(self, belief: Belief) -> Iterator[str]:
        yield "@statement"
        yield from self._head(self._tests[id(belief)], "list[Claim]")
        yield from docstring(_statement(belief, self._statements))
        yield "    return ["
        for claims in self._grouped(belief):
            yield from self._claims(claims)
        yield from ("    ]", "")

    def _grouped(self, belief: Belief) -> list[list[Claim]]:
        """Claims that say the same of the same days: what is outside along each condition."""
        found: dict[tuple[str, int | None, int | None], list[Claim]] = {}
        for claim in self._statements.of(belief):
            found.setdefault((claim.kind, claim.first, claim.end), []).append(claim)
        return list(found.values())

    def _claims(self, claims: Sequence[Claim]) -> Iterator[str]:
        """One for each edit of the context."""
        by_context: dict[str, list[str]] = {}
        for claim in claims:
            for edits in self._edits(claim):
                context = put_text("context", edits["context"])
                row = put_text("option", edits["option"])
                rows = by_context.setdefault(context, [])
                if row not in rows:
                    rows.append(row)
        for context, rows in by_context.items():
            yield from self._claim(claims[0], context, rows)

    def _edits(self, claim: Claim) -> Iterator[Mapping[str, list[Edit]]]:
        """Into the region, and to the edges of what is excepted from it."""
        yield from variants(claim.region, self._attributes)
        if claim.kind != "inside":
            return
        for other in claim.others:
            if region_within(other.region, claim.belief.region):
                for subject, near in neighbours(other.region):
                    if other.region[subject] != claim.region.get(subject):
                        inside: Region = {**claim.region, **near}
                        yield from variants(inside, self._attributes)[:2]

    def _claim(self, claim: Claim, context: str, rows: Sequence[str]) -> Iterator[str]:
        own = self._short[id(claim.belief)]
        world = "HARD" if claim.belief.hard else "SOFT"
        besides = [self._short[id(b)] for b in self._beside(claim)]
        yield "        Claim("
        listed = f"            options=[{', '.join(rows)}],"
        if len(listed) <= WIDTH:
            yield listed
        else:
            yield "            options=["
            for row in rows:
                yield from row_lines(row)
            yield "            ],"
        if self._context is not None:
            yield f"            context={context},"
        yield f"            days=[{', '.join(quoted(iso.write_date(day)) for day in self._days(claim))}],"
        yield f"            others={world},"
        if besides:
            line = f"            besides=[{', '.join(besides)}],"
            if len(line) <= WIDTH:
                yield line
            else:
                yield from (
                    "            besides=[",
                    *(f"                {each}," for each in besides),
                    "            ],",
                )
        if claim.kind != "outside":
            yield f"            where={own},"
        yield from (f"            {bound}," for bound in _bounds(claim.expected))
        yield "        ),"

    def _beside(self, claim: Claim) -> list[Belief]:
        """Whose region does not take an option away: its own, more general ones, and those that no longer hold."""
        kept = {id(other) for other in claim.others}
        mine = [] if claim.kind == "outside" else [claim.belief]
        world = [b for b in self._beliefs if b.hard == claim.belief.hard and b is not claim.belief]
        return mine + [b for b in world if id(b) not in kept and self._may_hide(b, claim)]

    def _may_hide(self, belief: Belief, claim: Claim) -> bool:
        """Those that cannot meet the region need not be named."""
        return regions_meet(belief.region, claim.region)

    def _days(self, claim: Claim) -> list[int]:
        """The first day of the period and its last, or the last that a fact tells of."""
        latest = self._latest if claim.end is None else claim.end - 1
        first = latest if claim.first is None else claim.first
        last = max(latest, first)
        return list(dict.fromkeys([first, last]))


def _bounds(expected: Expected) -> Iterator[str]:
    if expected.feasible is not None:
        yield f"feasible={expected.feasible}"
        return
    if not math.isinf(expected.low):
        yield f"{'at_least' if expected.low_in else 'above'}={number_text(expected.low)}"
    if not math.isinf(expected.high):
        yield f"{'at_most' if expected.high_in else 'below'}={number_text(expected.high)}"


def _statement(belief: Belief, statements: Statements) -> str:
    """`I am nobody before eight (chat c12, 2026-01-20)`."""
    fact = belief.fact
    day = "" if fact.instant is None else f", {iso.write_date(statements.zone.local(fact.instant) // DAY)}"
    source = fact.source_id or fact.id
    return f"“{told(belief)}” ({fact.source_type} {source}{day})"


def _contradictions(statements: Statements) -> Iterator[str]:
    for each in statements.history.contradictions:
        since = "at all times" if each.day is None else f"from {iso.write_date(each.day)} on"
        yield prose(
            f"“{each.earlier.sentence}”, but {since} “{each.later.sentence}” ({each.earlier.id}, {each.later.id})"
        )


def _untested(statements: Statements) -> Iterator[str]:
    for each in statements.untested:
        ids = ", ".join(fact.id for fact in each.facts[:8]) + (", …" if len(each.facts) > 8 else "")
        yield prose(f"“{each.facts[-1].sentence}” ({ids}): {each.reason}")


def _package(module: str) -> str:
    return ".".join(package_path(module).parts)
