"""Typed programs and tables for Hypothesis: source text that compiles, and options that fit its schema.

The schema has a field of every type, with and without `?`; options go to the edges: 64 bits, huge doubles, leap days,
folds and gaps of New York, absent values, texts that differ only by composition.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
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
context { mood: "calm" | "busy" = "calm"  level: int? }
schema Visit { place: text  cost: int  stars: float?  at: datetime }
memory visits: list<Visit>
schema Inner { a: int?  label: text = "x"  at: datetime?  mild: "mid" | "soft" = "mid" }
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
def mild(x: float, y: float) -> float = if x > y then x else y
""".replace("WIDE", " | ".join(f'"{value}"' for value in WIDE))

# --- expressions ----------------------------------------------------------------------------------------------------

Text = st.SearchStrategy[str]

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
    return st.sampled_from(list(values))


def _binary(left: Text, operators: Sequence[str], right: Text) -> Text:
    return st.builds(lambda a, op, b: f"({a} {op} {b})", left, _pick(operators), right)


def _call(name: str, *arguments: Text) -> Text:
    return st.builds(lambda *values: f"{name}({', '.join(values)})", *arguments)


def _choice(condition: Text, value: Text) -> Text:
    return st.builds(lambda c, a, b: f"(if {c} then {a} else {b})", condition, value, value)


def _or_default(optional: Sequence[str], default: Text) -> Text:
    return st.builds(lambda x, y: f"({x} ?? {y})", _pick(optional), default)


def _range(value: Text, end: Text, ends: Sequence[str] = ("..", "..=")) -> Text:
    closed = st.builds(lambda x, a, op, b: f"({x} in {a}{op}{b})", value, end, _pick(ends), end)
    if ends == ("..=",):
        return closed
    opened = st.builds(lambda x, a: f"({x} in {a}..)", value, end)
    return st.one_of(closed, opened)


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
    dates = st.one_of(
        _pick(["day", "start.date", "today", "(day + d)", "add_months(day, n)", "next_weekday(day, w)"]), _pick(DATES)
    )
    times = st.one_of(_pick(["t", "start.time", "(t2 ?? 12:00)"]), _pick(TIMES))
    weekdays = _pick(["w", "start.weekday", "day.weekday", "night_of(start)", "(w2 ?? mon)"])
    durations = st.one_of(
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
        bools=st.one_of(
            bools,
            _binary(bools, ["and", "or", "==", "!="], bools),
            bools.map(lambda x: f"(not {x})"),
            _choice(bools, bools),
            _binary(ints, compared, st.one_of(ints, floats)),
            _binary(floats, compared, st.one_of(ints, floats)),
            _range(st.one_of(ints, floats), ints),
            _range(times, times),
            _range(dates, dates, ("..=",)),
            _range(moments, moments),
            _range(durations, durations),
            _range(weekdays, _pick(WEEKDAYS), ("..=",)),
            _binary(moments, compared, moments),
            _binary(money, compared, money),
            _binary(weekdays, ["==", "!="], st.one_of(weekdays, _pick(WEEKDAYS))),
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
        ints=st.one_of(
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
        floats=st.one_of(
            floats,
            _binary(floats, ["+", "-", "*"], st.one_of(ints, floats)),
            _choice(bools, floats),
            _binary(st.one_of(ints, floats), ["/"], st.one_of(ints, floats)).map(lambda x: f"({x} ?? 0.25)"),
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
        texts=st.one_of(texts, _call("lower", texts), _choice(bools, texts)),
    )


# --- programs -------------------------------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn, depth: int = 2, most: int = 6) -> str:
    """A program with rules and constraints on S."""
    kinds = expressions(depth)
    # What is needed and what is not shows where a part decides and another overflows.
    needed = _binary(kinds.ints, ["*", "+"], kinds.ints).map(lambda product: f"({product} > 0)")
    deciding = _binary(kinds.bools, ["and", "or"], st.one_of(kinds.bools, needed))
    shown = _pick(CONDITIONS)
    conditions = st.one_of(kinds.bools, deciding, shown, shown, _binary(shown, ["and", "or"], needed))
    scores = st.one_of(
        _pick(["0.5", "-0.25", "0.3", "-1", "0", "100000"]),
        kinds.floats,
        kinds.ints,
        _choice(conditions, _pick(["0.1", "-0.7", "f"])),
    )
    lines = [HEADER]
    if draw(st.booleans()):
        lines.append("resolve S by priority")
    rules: list[str] = []
    constraints: list[str] = []
    for number in range(draw(st.integers(1, most))):
        parts = []
        if draw(st.integers(0, 5)):
            parts.append(f"when {draw(conditions)}")
        parts += [f"unless {draw(conditions)}" for _ in range(draw(st.integers(0, 2)))]
        status = draw(st.sampled_from(["active", "active", "active", "shadow", "retired"]))
        parts.append(f"status {status}")
        if draw(st.integers(0, 5)) == 0:
            parts.append(draw(st.sampled_from(["valid 2026-01-01..2027-01-01", "valid ..2020-01-01"])))
        is_rule = draw(st.integers(0, 3)) > 0
        names = rules if is_rule else constraints
        overrides = draw(st.lists(st.sampled_from(names), max_size=2, unique=True)) if names else []
        clause = f" overrides {', '.join(overrides)}" if overrides else ""
        name = f"{'r' if is_rule else 'c'}{number}"
        if is_rule:
            parts += [f"except when {draw(conditions)} score {draw(scores)}" for _ in range(draw(st.integers(0, 1)))]
            parts += [f"score {draw(scores)}", f"priority {draw(st.sampled_from(['1', '2', '0.5', '10']))}"]
            lines.append(f"rule {name} on S{clause} {{ {' '.join(parts)} }}")
        else:
            body = draw(st.sampled_from(["forbid", "require"]))
            if body == "forbid":
                parts = [part for part in parts if not part.startswith("when ")]
                parts.insert(0, f"forbid when {draw(conditions)}")
            else:
                parts.insert(0, f"require {draw(conditions)}")
            lines.append(f"constraint {name} on S{clause} {{ {' '.join(parts)} }}")
        names.append(name)
    return "\n".join(lines)


# --- options --------------------------------------------------------------------------------------------------------


def _or_none(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


_ints = st.one_of(st.integers(-5, 12), st.sampled_from(INTS), st.integers(-(2**63), 2**63 - 1))
_floats = st.one_of(
    st.sampled_from(FLOATS),
    st.floats(-10, 10).map(lambda x: round(x, 2)),
    st.floats(allow_nan=False, allow_infinity=False),
)
_texts = st.sampled_from(sorted({_nfc(text) for text in TEXTS}))
# Around the folds and gaps of 2026 in New York, the leap day of 2024, and the ends of time.
_instants = st.one_of(
    st.integers(-12, 12).map(lambda k: 1_772_953_200_000_000 + k * 30 * MINUTE),
    st.integers(-12, 12).map(lambda k: 1_793_509_200_000_000 + k * 30 * MINUTE),
    st.integers(1_700_000_000, 1_800_000_000).map(lambda s: s * 1_000_000),
    st.sampled_from([-62_135_596_800_000_000, 253_402_300_799_999_999, 0, 1_709_251_199_000_000]),
)
_dates = st.one_of(st.integers(20_400, 20_600), st.sampled_from([-719_162, 2_932_896, 19_782, 0, 59]))
_times = st.one_of(st.integers(0, 1439).map(lambda m: m * MINUTE), st.sampled_from([0, DAY - 1, 22 * 60 * MINUTE]))
_weekdays = st.integers(0, 6)
_durations = st.one_of(
    st.integers(-3000, 3000).map(lambda m: m * MINUTE), st.sampled_from([0, 2**63 - 1, -(2**63), DAY, DAY - 1])
)
_inner = st.fixed_dictionaries(
    {"a": _or_none(_ints), "label": _texts, "at": _or_none(_instants), "mild": st.sampled_from(["mid", "soft"])}
)

OPTIONS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "n": _ints,
        "m": _or_none(_ints),
        "k": st.integers(1, 9),
        "f": _floats,
        "g": _or_none(_floats),
        "b": st.booleans(),
        "c": _or_none(st.booleans()),
        "title": _texts,
        "place": _or_none(_texts),
        "kind": st.sampled_from(["low", "mid", "high"]),
        "wide": st.sampled_from(["v0", "v43", "v255", "v256", "v299"]),
        "day": _dates,
        "day2": _or_none(_dates),
        "t": _times,
        "t2": _or_none(_times),
        "start": _instants,
        "end": _or_none(_instants),
        "w": _weekdays,
        "w2": _or_none(_weekdays),
        "d": _durations,
        "d2": _or_none(_durations),
        "cost": _floats,
        "fee": _or_none(_floats),
        "tags": st.frozensets(_texts, max_size=3),
        "more": _or_none(st.frozensets(_texts, max_size=3)),
        "nums": st.frozensets(_ints, max_size=3),
        "days": st.frozensets(_weekdays, max_size=3),
        "inner": _inner,
        "host": _or_none(_inner),
    }
)

VISITS: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries({"place": _texts, "cost": st.integers(-3, 200), "stars": _or_none(_floats), "at": _instants}),
    max_size=4,
)


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
