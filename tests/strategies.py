"""Typed programs and tables for Hypothesis: source text that compiles, and options that fit its schema.

The schema has a field of every type, with and without `?`; options go to the edges: 64 bits, huge doubles, leap days,
folds and gaps of New York, absent values, texts that differ only by composition.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ucl.kernels.columns import Column, Columns, InvalidCell, Path, Presence, Scalars, Sets, Texts
from ucl.semantics import types as t
from ucl.semantics.program import Schema

DAY = 86_400_000_000
MINUTE = 60_000_000
# More values than a byte counts.
WIDE = tuple(f"v{number}" for number in range(300))

HEADER = """
timezone "America/New_York"
dimension money { USD, CENT = 0.01USD }
schema Inner { a: int?  label: text = "x"  at: datetime?  mild: "mid" | "soft" = "mid" }
context { mood: "calm" | "busy" = "calm"  level: int? }
schema Visit {
  place: text  cost: int  stars: float?  at: datetime
  kind: "low" | "mid" | "high"  with: set<text>  took: duration  paid: money  good: bool?  day: date?  who: Inner?
}
memory visits: list<Visit>
schema S {
  n: int  m: int?  k: int in 1..=9  f: float  g: float?  b: bool  c: bool?
  title: text  place: text?  kind: "low" | "mid" | "high"
  wide: WIDE
  day: date  day2: date?  t: time  t2: time?  start: datetime  end: datetime?  w: weekday  w2: weekday?
  d: duration  d2: duration?  cost: money  fee: money?
  tags: set<text>  more: set<text>?  nums: set<int>  days: set<weekday>
  inner: Inner  host: Inner?
}
def twice(x: int) -> int = x + x
def seen(p: text) -> int = count(v in visits where v.place == p)
def known() -> set<text> = distinct(v.place for v in visits)
def often(p: text, k: "low" | "mid" | "high") -> bool = count(v in visits where v.place == p and v.kind == k) > 1
def mild(x: float, y: float) -> float = if x > y then x else y
""".replace("WIDE", " | ".join(f'"{value}"' for value in WIDE))

# --- expressions ----------------------------------------------------------------------------------------------------


class Text:
    """Source text from a source of chance. Hypothesis chooses the seed: its own draws come too close to one another."""

    def __init__(self, make: Callable[[random.Random], str]) -> None:
        self.make = make

    def map(self, change: Callable[[str], str]) -> Text:
        return Text(lambda chance: change(self.make(chance)))


def _built(join: Callable[..., str], *parts: Text) -> Text:
    return Text(lambda chance: join(*(part.make(chance) for part in parts)))


def _one_of(*texts: Text) -> Text:
    return Text(lambda chance: chance.choice(texts).make(chance))


TEXTS = ["", "a", "b", "A", "caf\u00e9", "cafe\u0301", "STRASSE", "straße", "你好", "ab", "home"]
INTS = [0, 1, -1, 2, 3, 7, 9, 10, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63) + 1, 3_037_000_500]
FLOATS = [0.0, 0.5, 1.0, -1.0, 2.5, 3.0, 9007199254740993.0, 1e308, -1e308, 5e-324, 0.1, 9.3e18]
DECIMALS = ["0.0", "0.5", "1.0", "-1.0", "2.5", "9007199254740993.0", "0.1", "9300000000000000000.0", "0.000000001"]
WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
TIMES = ["00:00", "05:59:59", "06:00", "13:00", "22:00", "23:59"]
DATES = ["2024-02-29", "2026-03-08", "2026-11-01", "2026-03-04", "0001-01-01", "9999-12-31"]
DATETIMES = ["2026-03-08T02:30", "2026-11-01T01:30", "2026-03-04T13:00Z", "2024-02-29T23:59:59", "9999-12-31T12:00Z"]
DURATIONS = ["0min", "30min", "1d", "36h", "1ms", "106751991d"]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _pick(values: Sequence[str]) -> Text:
    return Text(lambda chance: chance.choice(values))


def _binary(left: Text, operators: Sequence[str], right: Text) -> Text:
    return _built(lambda a, op, b: f"({a} {op} {b})", left, _pick(operators), right)


def _call(name: str, *arguments: Text) -> Text:
    return _built(lambda *values: f"{name}({', '.join(values)})", *arguments)


def _choice(condition: Text, value: Text) -> Text:
    return _built(lambda c, a, b: f"(if {c} then {a} else {b})", condition, value, value)


def _or_default(optional: Sequence[str], default: Text) -> Text:
    return _built(lambda x, y: f"({x} ?? {y})", _pick(optional), default)


def _range(value: Text, end: Text, ends: Sequence[str] = ("..", "..=")) -> Text:
    closed = _built(lambda x, a, op, b: f"({x} in {a}{op}{b})", value, end, _pick(ends), end)
    if ends == ("..=",):
        return closed
    opened = _built(lambda x, a: f"({x} in {a}..)", value, end)
    return _one_of(closed, opened)


# Each operation at least once where its result shows, so that a small number of programs meets them all.
CONDITIONS = [
    "next_weekday(day, w) > day + d",
    "next_weekday(day, w).weekday == w",
    "add_months(day, k * 5).day < 29",
    "add_months(day2 ?? day, n).month in 2..=11",
    "at(day, t) < start",
    "at(day, t).time == t",
    "at(start.date, start.time) == start",
    "start + d < (end ?? start) - 1h",
    "start - (end ?? start) in -1d..1d",
    "day - 2026-03-04 > d",
    "day + d != day - d",
    "start.date == day or start.date.weekday == w",
    "start.weekday == night_of(start)",
    "start.year == 2026 and start.month in 3..=11 and start.day > 7",
    "start.hour in 1..3 or start.minute == 30",
    "t.hour < 12 and t.minute >= 30",
    "day.year > 2000 and day.month == 2",
    "t in (t2 ?? 22:00)..06:00",
    "w in (w2 ?? fri)..=mon",
    "d in 30min..=36h",
    "d * 3 > d2 ?? 1h",
    "d * f > 1d",
    "d / 2.0 < 30min",
    "(d / f ?? 1h) == d",
    "(d / (d2 ?? 2h) ?? 0.5) > 0.5",
    "abs(d) - 1h > -d",
    "d.days > 0.5 or d.minutes < -30 or d.seconds == 0",
    "n > f",
    "n == f",
    "n <= (g ?? 2.5)",
    "f in 0.5..2.5",
    "f in k..n",
    "f < 9007199254740993",
    "n > 9007199254740992.5",
    "n + k > n",
    "n - (m ?? 1) < k",
    "n * n > 4",
    "n * k == k",
    "n / k > 2.5",
    "(n / (m ?? 0) ?? 0.25) == 0.25",
    "floor(f) == ceil(f)",
    "round(f) > n",
    "floor(f * 1000) > k",
    "min(n, k) < max(m ?? 3, 2)",
    "clamp(f, -1.0, 1.0) == f",
    "clamp(n, k, 5) > 4",
    "f * f > 1",
    "f + f == f * 2",
    "f - (g ?? f) == 0",
    "-f < abs(f)",
    "cost * 2 > fee ?? 1USD",
    "cost / 2USD > 0.5",
    "ramp(f, 0.0, 2.0) > 0.25",
    "ramp(n, 0, k) < 0.75",
    "ramp(t, 22:00, 06:00) > 0.5",
    "ramp(d, 0min, d2 ?? 1h) == 1",
    "near(t, 23:30, 2h) > 0.5",
    "near(f, g ?? 1.0, f) > 0.5",
    "near(start, end ?? start, 1d) > 0.5",
    "near(n, 2, 3) > 0.4",
    "lowest(n)",
    "highest(f)",
    "rank_of(start) == 2",
    "rank_of(n * n) < 3",
    "n > mean_of(k)",
    "d > mean_of(d)",
    "cost < mean_of(cost)",
    "count(v in visits where v.place == title) > 0",
    "(if lowest(n) then title else inner.label) == lower(title)",
    "any(v in visits where v.at > start and v.cost < n)",
    "(mean(v.cost for v in visits where v.place == title) ?? 1.0) < 50",
    "sum(v.cost for v in visits where v.place != title) > n",
    "title in known()",
    'often(title, kind) or often("a", kind)',
    "seen(lower(title)) > 0",
    "twice(n) > k",
    "mild(f, 0.5) == f",
    "(first(x for x in nums by x desc) ?? 7) > n",
    "size(more ?? {}) > size(tags)",
    "overlaps(tags, more ?? {})",
    "subset(more ?? {}, tags)",
    'subset(tags, {"a", "b", ""})',
    'subset({"a"}, tags) and not overlaps(tags, {"b"})',
    "n in nums or w in days or title in tags",
    'any(x in tags where starts_with(x, "caf"))',
    "count(x in nums where x > 2) == 1",
    "any(x in nums where x * x > n)",
    'contains(title, place ?? "a")',
    'ends_with(inner.label, "b") or like(title, "*a*")',
    'length(title) > length(place ?? "")',
    'title == (place ?? "home")',
    "title != inner.label",
    "kind == inner.mild",
    'wide in {"v255", "v299"} or kind in {"low"}',
    "present(m) and m * m > 4",
    "absent(g) or g > f",
    "present(host) and (host.a ?? 2) > 1 and host.mild == inner.mild",
    "c ?? b",
    "present(c) and c == b",
    "present(level) and level > n",
    'mood == "busy" or now > start',
    "today > day",
]


# What is made of the memory, by what it says of the row: nothing, one or more equal keys, bounds, anything else.
WHERE = [
    "",
    "where v.cost > 20",
    "where v.stars ?? 0.0 > 1 and v.at < now",
    'where contains(v.place, "a") or v.kind == "mid"',
    "where v.cost * v.cost > 100 and v.took * 2 > 1h",
    "where any(o in visits where o.place == v.place and o.cost > v.cost)",
    "where v.place in v.with",
    "where v.place == title",
    'where v.place == (place ?? "a") and v.cost > 3',
    "where title == v.place and v.kind == kind",
    "where v.kind == inner.mild and b",
    "where b and v.at.weekday == start.weekday",
    'where v.at.weekday == w and v.at.hour == start.hour and v.place != "a"',
    'where v.cost == n and v.place == title and v.kind == "low"',
    "where v.cost == k * 7",
    "where n * n == v.cost",
    'where v.kind == "low" and v.cost < n * n',
    "where v.cost * 2 == n",
    "where v.stars ?? 1.0 == f",
    "where present(v.stars) and v.stars == g ?? f",
    "where present(v.good) and v.good == b and v.place == title",
    "where v.day ?? 2026-03-04 == day",
    "where v.paid == cost",
    "where v.cost == level ?? 3",
    "where present(v.who) and (v.who.a ?? 1) == n and v.who.label == title",
    "where v.at < start",
    "where v.place == title and v.at < start",
    "where v.kind == kind and v.at in start - d..start",
    "where v.cost in k..=n",
    "where n in v.cost..",
    "where not (v.cost < k or v.place != title)",
    "where v.cost >= k and v.cost < n and b",
    "where v.cost < n and v.at < start",
    "where v.took <= d and v.kind == kind",
    "where v.paid > cost",
    "where v.at.time in t..06:00",
    "where v.place == title or v.cost > n",
    "where v.place in tags",
    "where title in v.with and v.cost > 3",
    "where n > 3 and f < 2",
]
FOLDS = [
    "(count(v in visits {w}) > {n})",
    "(n - count(v in visits {w}) > 3)",
    "any(v in visits {w})",
    "(sum(v.cost for v in visits {w}) > {n})",
    "(sum(v.stars ?? 0.5 for v in visits {w}) > f)",
    "(sum(v.took for v in visits {w}) > d)",
    "(sum(v.cost * v.cost * 300_000_000_000_000 for v in visits {w}) > {n})",
    "((max(v.at for v in visits {w}) ?? now) > start)",
    "((min(v.cost for v in visits {w}) ?? 2) == {n})",
    "((max(v.cost for v in visits {w}) ?? 2) > {n})",
    "((mean(v.cost for v in visits {w}) ?? 0.5) > f)",
    "((mean(v.took for v in visits {w}) ?? 1h) > d)",
    "((mean(v.paid for v in visits {w}) ?? 1USD) > cost)",
    "((first(v.cost for v in visits {w}) ?? 1) > {n})",
    "((first(v.cost for v in visits {w} by v.stars ?? 0.0 desc, v.at) ?? 1) > {n})",
    "((last(v.at for v in visits {w} by v.cost desc) ?? now) > start)",
    "((last(v.cost > 3 for v in visits {w} by v.at) ?? b) == b)",
    '((mode(v.kind for v in visits {w}) ?? "low") == kind)',
    "((mode(v.cost for v in visits {w}) ?? 3) == {n})",
    "((mode(v.at.weekday for v in visits {w}) ?? mon) == w)",
    "(title in distinct(v.place for v in visits {w}))",
    "(title in distinct(lower(v.place) for v in visits {w}))",
    "(w in distinct(v.at.weekday for v in visits {w}))",
    "(title in frequent(v.place for v in visits {w}, 25%))",
    "overlaps(tags, distinct(v.place for v in visits {w}))",
    "((first(p for p in known() by sum(v.cost for v in visits where v.place == p) desc) ?? title) == title)",
]


def _remembered(chance: random.Random) -> str:
    """A condition on the memory."""
    where = chance.choice(WHERE)
    if chance.random() < 0.15 and where:
        return f"all(v in visits {where})"
    return chance.choice(FOLDS).format(w=where, n=chance.choice(["n", "k", "3", "30"]))


@dataclass(frozen=True)
class Expressions:
    """Strategies of source text, by type."""

    bools: Text
    ints: Text
    floats: Text
    texts: Text


def expressions(depth: int) -> Expressions:
    """Expressions of about that depth; each is total, but may overflow."""
    if depth == 0:
        return Expressions(
            bools=_pick(["b", "true", "false", "(c ?? true)", "(present(c) and c)", "present(host)", "absent(m)"]),
            ints=_pick(["n", "k", "size(nums)", "length(title)", "inner_a", *map(str, INTS)]).map(
                lambda text: "(inner.a ?? 4)" if text == "inner_a" else text
            ),
            floats=_pick(["f", "(g ?? 0.5)", "(cost / 2USD)", *DECIMALS]),
            texts=_pick(["title", '(place ?? "home")', "inner.label", "kind", "wide", *map(_quoted, TEXTS)]),
        )
    inner = expressions(depth - 1)
    bools, ints, floats, texts = inner.bools, inner.ints, inner.floats, inner.texts
    moments = _pick(["start", "(end ?? start)", "(start + d)", "at(day, t)", "now"])
    dates = _one_of(
        _pick(["day", "start.date", "today", "(day + d)", "add_months(day, n)", "next_weekday(day, w)"]), _pick(DATES)
    )
    times = _one_of(_pick(["t", "start.time", "(t2 ?? 12:00)"]), _pick(TIMES))
    weekdays = _pick(["w", "start.weekday", "day.weekday", "night_of(start)", "(w2 ?? mon)"])
    durations = _one_of(
        _pick(
            [
                "d",
                "(d2 ?? 1h)",
                "(start - (end ?? start))",
                "(day - 2026-01-01)",
                "(d * 2)",
                "(d * f)",
                "(-d)",
                "abs(d)",
            ]
        ),
        _pick(DURATIONS),
    )
    money = _pick(
        ["cost", "(fee ?? 1USD)", "20USD", "1CENT", "(cost * f)", "(cost + (fee ?? 3USD))", "min(cost, 5USD)"]
    )
    compared = ["==", "!=", "<", "<=", ">", ">="]
    return Expressions(
        bools=_one_of(
            bools,
            _binary(bools, ["and", "or", "==", "!="], bools),
            bools.map(lambda x: f"(not {x})"),
            _choice(bools, bools),
            _binary(ints, compared, _one_of(ints, floats)),
            _binary(floats, compared, _one_of(ints, floats)),
            _range(_one_of(ints, floats), ints),
            _range(times, times),
            _range(dates, dates, ("..=",)),
            _range(moments, moments),
            _range(durations, durations),
            _range(weekdays, _pick(WEEKDAYS), ("..=",)),
            _binary(moments, compared, moments),
            _binary(money, compared, money),
            _binary(weekdays, ["==", "!="], _one_of(weekdays, _pick(WEEKDAYS))),
            _binary(texts, ["==", "!="], texts),
            _call("contains", texts, texts),
            _call("like", texts, _pick(['"*a*"', '"caf\u00e9"', '"*"'])),
            _pick(
                [
                    'mood == "busy"',
                    "(present(level) and level > n)",
                    "(present(m) and m * m > 4)",
                    "(n in {1, 2, 3, 7, -1})",
                    '(title in {"a", "caf\u00e9", "你好"})',
                    '(kind in {"low", "high"})',
                    '(wide in {"v299", "v256", "v43"})',
                    "(kind == inner.mild)",
                    "(present(host) and host.mild == kind)",
                    "(title == inner.label)",
                    "(w in days)",
                    '("a" in tags)',
                    "(title in tags)",
                    "(n in nums)",
                    "(title in known())",
                    'overlaps(tags, {"a", "b"})',
                    "overlaps(tags, (more ?? {}))",
                    'subset(tags, {"a", "caf\u00e9"})',
                    'subset({"a", "b"}, tags)',
                    "subset(tags, known())",
                    'any(x in tags where contains(x, "a"))',
                    "all(x in nums where x > 2)",
                    "any(x in nums where x > n)",
                    "any(v in visits where v.place == title and v.cost > n)",
                    "all(v in visits where v.cost != k)",
                    "lowest(n)",
                    "highest(cost)",
                    "(rank_of(f) <= 2)",
                    "(f < mean_of(f))",
                    "(n > mean_of(twice(k)))",
                    "((if highest(n) then title else inner.label) == lower(title))",
                    '(if present(host) then host.mild == "soft" else inner.label != place ?? "x")',
                    "(present(host) and (host.a ?? 1) > 2)",
                    "(present(end) and end.month == 11)",
                    "(day.year > 2025)",
                    '(lower(title) == "a")',
                    '(casefold(title) == casefold("STRASSE"))',
                ]
            ),
        ),
        ints=_one_of(
            ints,
            _binary(ints, ["+", "-", "*"], ints),
            _choice(bools, ints),
            _or_default(["m", "inner.a", "max(v.cost for v in visits where v.place == title)"], ints),
            _call("min", ints, ints),
            _call("abs", ints),
            _call("twice", ints),
            _call("clamp", ints, ints, ints),
            ints.map(lambda x: f"(-{x})"),
            _call("floor", floats),
            _call("round", floats),
            _pick(
                [
                    "start.hour",
                    "start.minute",
                    "start.day",
                    "day.month",
                    "t.minute",
                    "seen(title)",
                    "seen(lower(title))",
                    "rank_of(n * 2)",
                    "count(x in tags where length(x) > 1)",
                    "count(v in visits where v.at > start)",
                    "sum(v.cost for v in visits where v.place == title)",
                    "sum(x for x in nums)",
                    "(first(x for x in nums by x desc) ?? 7)",
                ]
            ),
        ),
        floats=_one_of(
            floats,
            _binary(floats, ["+", "-", "*"], _one_of(ints, floats)),
            _choice(bools, floats),
            _binary(_one_of(ints, floats), ["/"], _one_of(ints, floats)).map(lambda x: f"({x} ?? 0.25)"),
            _call("mild", floats, floats),
            _call("ramp", floats, floats, floats),
            _call("near", floats, floats, _pick(["1.5", "f", "0.001"])),
            _call("ramp", times, times, times),
            _call("near", times, times, _pick(["90min", "d", "1d"])),
            _call("near", moments, moments, _pick(["90min", "d"])),
            _call("ramp", durations, durations, durations),
            durations.map(lambda x: f"{x}.hours" if x[0].isalpha() or x[0] == "(" else "1.5"),
            _pick(["(n / k)", "mean_of(f)", "(mean(v.cost for v in visits) ?? 1.0)", "(cost / (fee ?? 2USD) ?? 3.0)"]),
        ),
        texts=_one_of(texts, _call("lower", texts), _choice(bools, texts)),
    )


# --- programs -------------------------------------------------------------------------------------------------------


def program_of(seed: int, most: int = 8) -> str:
    """A program with up to so many rules and constraints on S."""
    chance = random.Random(seed)
    kinds = expressions(chance.choice([0, 1, 2]))
    # What is needed and what is not shows where a part decides and another overflows.
    needed = _pick(["(n * n > 4)", "(n + n > k)", "(f * f > 1)", "(d * k > 1h)", "((m ?? n) * 3 > n)"])
    shown = _one_of(*[_pick(CONDITIONS).map(lambda text: f"({text})")] * 3, Text(_remembered))
    deciding = _binary(_one_of(kinds.bools, shown), ["and", "or"], _one_of(kinds.bools, needed))
    conditions = _one_of(kinds.bools, deciding, shown, shown)
    constants = _pick(["0.5", "-0.25", "0.3", "-1", "0.25", "-0.5", "0", "-0.1", "100000"])
    branches = _choice(conditions, _pick(["0.1", "-0.7", "f"]))
    scores = _one_of(constants, constants, kinds.floats, kinds.ints, branches)
    rules: list[str] = []
    constraints: list[str] = []
    lines = [HEADER, chance.choice(["", "resolve S by priority"])]
    for number in range(chance.randint(1, most)):
        is_rule = chance.random() < 0.75
        names = rules if is_rule else constraints
        name = f"{'r' if is_rule else 'c'}{number}"
        overridden = chance.sample(names, chance.randint(0, min(2, len(names)))) if chance.random() < 0.5 else []
        clauses = _clauses(chance, conditions, scores, is_rule)
        overrides = f" overrides {', '.join(overridden)}" if overridden else ""
        lines.append(f"{'rule' if is_rule else 'constraint'} {name} on S{overrides} {{ {' '.join(clauses)} }}")
        names.append(name)
    return "\n".join(lines)


def _clauses(chance: random.Random, conditions: Text, scores: Text, is_rule: bool) -> list[str]:
    def sometimes(share: float, clause: str, *parts: Text) -> list[str]:
        return [clause.format(*(part.make(chance) for part in parts))] if chance.random() < share else []

    clauses = sometimes(0.3, "unless {}", conditions) + sometimes(0.1, "unless {}", conditions)
    clauses += sometimes(0.2, chance.choice(["status shadow", "status shadow", "status retired"]))
    clauses += sometimes(0.1, chance.choice(["valid 2026-01-01..2027-01-01", "valid ..2020-01-01"]))
    if is_rule:
        clauses += sometimes(0.8, "when {}", conditions)
        clauses += sometimes(0.3, "except when {} score {}", conditions, scores)
        clauses += sometimes(1, "score {}", scores)
        clauses += sometimes(0.7, f"priority {chance.choice(['1', '2', '0.5', '10'])}")
    elif chance.random() < 0.5:
        clauses += sometimes(1, "forbid when {}", conditions)
    else:
        clauses += sometimes(1, "require {}", conditions) + sometimes(0.5, "when {}", conditions)
    return clauses


PROGRAMS = st.builds(program_of, st.integers(0, 2**32))


# --- options --------------------------------------------------------------------------------------------------------

# Of each kind what programs mostly meet, and edges.
KNOWN_TEXTS = sorted({unicodedata.normalize("NFC", text) for text in TEXTS})
WILD_INSTANTS = [-62_135_596_800_000_000, 253_402_300_799_999_999, 0, 1_709_251_199_000_000]
# Midnight in New York of the days of 2026 on which clocks change.
CHANGES = [1_772_946_000_000_000, 1_793_505_600_000_000]


class _Tables:
    """Options from a seed: a table of Hypothesis's own making holds too few rows to meet a program's edges.

    `wild` is how often a value is an edge.
    """

    def __init__(self, seed: int, wild: float) -> None:
        self._random = random.Random(seed)
        self._wild = wild

    def options(self, rows: int) -> list[dict[str, Any] | InvalidCell]:
        cell = InvalidCell("n", "absent", None)
        return [cell if self._random.random() < 0.06 else self._option() for _ in range(rows)]

    def visits(self) -> list[dict[str, Any]]:
        """Few and, past what is gone over one by one, many."""
        maybe = self._maybe
        return [
            {
                "place": self._text(),
                "cost": self._random.randint(-3, self._random.choice([12, 200])),
                "stars": maybe(self._float),
                "at": self._instant(),
                "kind": self._random.choice(["low", "mid", "high"]),
                "with": self._set(self._text),
                "took": self._duration(),
                "paid": self._float(),
                "good": maybe(lambda: self._random.random() < 0.5),
                "day": maybe(self._date),
                "who": maybe(self._inner),
            }
            for _ in range(self._random.choice([0, 1, 4, 4, 4, 45, 90]))
        ]

    def _option(self) -> dict[str, Any]:
        r, maybe = self._random, self._maybe
        return {
            "n": self._int(),
            "m": maybe(self._int),
            "k": r.randint(1, 9),
            "f": self._float(),
            "g": maybe(self._float),
            "b": r.random() < 0.5,
            "c": maybe(lambda: r.random() < 0.5),
            "title": self._text(),
            "place": maybe(self._text),
            "kind": r.choice(["low", "mid", "high"]),
            "wide": r.choice(["v0", "v43", "v255", "v256", "v299"]),
            "day": self._date(),
            "day2": maybe(self._date),
            "t": self._time(),
            "t2": maybe(self._time),
            "start": self._instant(),
            "end": maybe(self._instant),
            "w": r.randrange(7),
            "w2": maybe(lambda: r.randrange(7)),
            "d": self._duration(),
            "d2": maybe(self._duration),
            "cost": self._float(),
            "fee": maybe(self._float),
            "tags": self._set(self._text),
            "more": maybe(lambda: self._set(self._text)),
            "nums": self._set(self._int),
            "days": self._set(lambda: r.randrange(7)),
            "inner": self._inner(),
            "host": maybe(self._inner),
        }

    def _pick(self, usual: Callable[[], Any], edges: Sequence[Any]) -> Any:
        return self._random.choice(edges) if self._random.random() < self._wild else usual()

    def _maybe(self, value: Callable[[], Any]) -> Any:
        return None if self._random.random() < 0.3 else value()

    def _set(self, value: Callable[[], Any]) -> frozenset[Any]:
        return frozenset(value() for _ in range(self._random.randrange(4)))

    def _int(self) -> int:
        return int(self._pick(lambda: self._random.randint(-3, 11), [*INTS, -(2**63)]))

    def _float(self) -> float:
        return float(self._pick(lambda: round(self._random.uniform(-3, 5), self._random.randrange(3)), FLOATS))

    def _text(self) -> str:
        return self._random.choice(KNOWN_TEXTS)

    def _instant(self) -> int:
        change = self._random.choice(CHANGES) + self._random.randrange(-8, 60) * 15 * MINUTE
        return int(self._pick(lambda: self._random.choice([change, change, 1_780_000_000_000_000]), WILD_INSTANTS))

    def _date(self) -> int:
        edges = [-719_162, 2_932_896, 0, 59]
        return int(self._pick(lambda: self._random.choice([20_520, 20_758, 20_516, 19_782]), edges))

    def _time(self) -> int:
        return int(self._pick(lambda: self._random.randrange(96) * 15 * MINUTE, [0, DAY - 1]))

    def _duration(self) -> int:
        edges = [2**63 - 1, -(2**63), DAY, DAY - 1, 0]
        return int(self._pick(lambda: self._random.randint(-8, 300) * 15 * MINUTE, edges))

    def _inner(self) -> dict[str, Any]:
        return {
            "a": self._maybe(self._int),
            "label": self._text(),
            "at": self._maybe(self._instant),
            "mild": self._random.choice(["mid", "soft"]),
        }


@dataclass(frozen=True)
class Table:
    options: list[dict[str, Any] | InvalidCell]
    visits: list[dict[str, Any]]


def table_of(seed: int, rows: int, wild: float) -> Table:
    tables = _Tables(seed, wild)
    return Table(tables.options(rows), tables.visits())


TABLES = st.builds(table_of, st.integers(0, 2**32), st.sampled_from([30, 70, 5, 1, 0]), st.sampled_from([0.02, 0.15]))


# --- options as columns ---------------------------------------------------------------------------------------------


def columns_of(schema: Schema, options: Sequence[Mapping[str, Any] | InvalidCell]) -> Columns:
    """The options' columns, as `tables` would build them; a row that is an `InvalidCell` holds some values."""
    invalid = {row: option for row, option in enumerate(options) if isinstance(option, InvalidCell)}
    valid = [option for option in options if not isinstance(option, InvalidCell)]
    stand_in: Mapping[str, Any] | None = valid[0] if valid else None
    records = [stand_in if isinstance(option, InvalidCell) else option for option in options]
    columns: dict[Path, Column] = {}
    _add_columns(schema, (), records, columns)
    return Columns(len(options), columns, invalid)


def _add_columns(
    schema: Schema, outer: Path, records: Sequence[Mapping[str, Any] | None], columns: dict[Path, Column]
) -> None:
    for field in schema.fields:
        path = (*outer, field.name)
        values = [None if record is None else record[field.name] for record in records]
        type = t.present(field.type)
        if isinstance(type, t.Record):
            if isinstance(field.type, t.Optional):
                columns[path] = Presence(np.array([value is not None for value in values], np.bool_))
            _add_columns(type.schema, path, values, columns)
        else:
            columns[path] = _column(type, values)


def _column(type: t.Type, values: list[Any]) -> Column:
    there = np.array([value is not None for value in values], np.bool_)
    valid = None if there.all() else there
    match type:
        case t.Text() | t.Closed():
            listed = type.values if isinstance(type, t.Closed) else dict.fromkeys(v for v in values if v is not None)
            dictionary = tuple(listed)
            code = {value: number for number, value in enumerate(dictionary)}
            return Texts(np.array([code.get(value, 0) for value in values], np.int32), valid, dictionary)
        case t.Set(element):
            rows = [sorted(value or ()) for value in values]
            offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
            flat = [element_ for row in rows for element_ in row]
            if not isinstance(element, t.Text | t.Closed):
                return Sets(offsets, np.array(flat, np.int64), valid, None)
            words = tuple(dict.fromkeys(flat))
            number = {word: code for code, word in enumerate(words)}
            return Sets(offsets, np.array([number[word] for word in flat], np.int64), valid, words)
        case _:
            dtype = (
                np.bool_
                if isinstance(type, t.Bool)
                else np.float64
                if isinstance(type, t.Float | t.Quantity)
                else np.int64
            )
            return Scalars(np.array([0 if value is None else value for value in values], dtype), valid)
