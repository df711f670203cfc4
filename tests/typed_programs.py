"""Programs of every kind that the typed sub-grammar is made for, each with the schema that is spoken of."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"
_CLAUSE_WORDS = Path(__file__).parent / "golden" / "good" / "clause_words.ucl"

MEETINGS = """\
module t.meetings

import std.scheduling (Meeting)
import std.dayparts (after_lunch, night, workdays, weekend)

timezone "America/New_York"

let vip = {"ann@example.com", "bo@example.com"}

rule avoid_after_lunch on Meeting { when start.time in after_lunch score -0.8 }

rule vip_is_fine on Meeting overrides avoid_after_lunch { when overlaps(attendees, vip) score 0.6 }

constraint nothing_late on Meeting { forbid when start.time in night }
"""

# Whatever may be absent, within records too; names that mean two things; lets and defs of many types.
NESTED = """\
module t.nested

import std.units
import std.dayparts
import std.money (usd)

timezone "Asia/Shanghai"

schema Office { floor: int  opens: time?  size_: "big" | "small"  tags: set<text> }
schema Person { name: text  age: int?  born: date?  office: Office? }
schema Trip {
  host: Person?
  guest: Person
  price: usd?
  far: units.length
  start: datetime?
  day: date
  tags: set<"a" | "b">?
  days: set<weekday> = {}
  numbers: set<int>?
  dates: set<date> = {}
  score: float?
  feasible: bool?
  decision: text
  flag: bool?
  note: text?
  rating: float in 0.0..=5.0
  wait: duration? unit min
  when_: time?
  wd: weekday?
  mood: int
  a: bool
}
context { mood: int? place: text = "x" limit: float = 1.0 }
memory seen: int = 3
memory last: datetime?
memory people: list<Person>
let favourites = {"a", "c"}
let cheap = 100USD
let early_days = {mon, tue}
let spring = 2026-03-01..2026-06-01
let pause = 12:00..13:00
let top: int = 5
let far_ = 5km
let place = 3
def people_called_x() -> int = count(t in people where t.name == "x")
def youngest() -> int? = min(t.age ?? 0 for t in people)
def fine(p: text, n: int, d: duration, q: usd, k: "big" | "small") -> bool = n > 3 and p == "x"
def overlaps(n: int) -> bool = n > 3
def opening() -> datetime = 2026-03-04T13:00
def in_a_mood() -> bool = (context.mood ?? 0) > 3
def doubled(x: float) -> float? = x / limit
rule first_rule on Trip { when in_a_mood() score 0.5 }
rule second_rule on Trip { score 0.5 status retired }
rule on_an_office on Office { score 0.5 }
constraint known_guest on Trip { forbid when guest.name == "x" }
"""

CHINESE = """\
module 偏好

import std.dayparts (night, workdays, weekend)

schema 会议 {
  标题: text = ""
  开始: datetime
  时长: duration = 30min
  类型: "站会" | "评审" | "外部\\"的\\"\\n" = "站会"
  参会者: set<text> = {}
  优先级: int in 0..=10 = 5
  远程: bool = false
  地点: text?
}
let 贵宾 = {"安", "波"}
rule 避开午饭 on 会议 { when 开始.time in 12:00..14:00 score -0.8 }
rule 避开 on 会议 { score -0.1 }
"""

# Two dimensions share a unit, and one has a unit of durations; builtins are hidden by defs.
UNITS = """\
module t.units

dimension span { m, km = 1000m }
dimension volume { l, m = 2l, h = 3l }
dimension tiny { e, ee = 1000e }

schema Load {
  far: span
  full: volume
  small: tiny?
  takes: duration
  at_: time
  since: datetime
}
let longest = 2d
def lower(t: text) -> text = t
def contains(a: span, b: duration) -> bool = a > 2km and b > 1h30min
constraint only_small on Load { require small ?? 0e < 3e }
"""

ONE_FLAG = "schema S { flag: bool }\n"

ONLY_ABSENT = "schema S { x: int?  y: text?  z: set<text>? }\n"

# Nothing that could be tested but what holds for every call.
NOTHING = "schema S { }\n"

ALIASED = """\
module t.aliased

import std.scheduling
import std.dayparts
import std.money

schema Plan { cost: money.usd  spare: money.eur?  meeting: scheduling.Meeting  other: scheduling.Meeting? }
"""

OUTCOMES = """\
schema S { score: float  contested: bool  option: int  context: int  memory: text  count: int  present: text? }
context { decision: text = "" }
rule fires on S { score 0.1 }
rule contribution on S { score 0.2 }
constraint applies on S { forbid when contested }
"""

_KINDS = (
    "int|float|text|bool|date|time|datetime|duration|length|mass|weekday|set<text>|CLOSED|int?|text?|set<int>|float?"
    "|datetime?|mass?|CLOSED?"
).split("|")
_WORDS = (
    "avoid prefer late early lunch meeting short long remote office vip monday friday external review standup travel "
    "noisy quiet cheap far near morning evening"
).split()


def large(fields: int = 120, rules: int = 200) -> str:
    """A program with so many fields and rules."""
    lines = ["module t.large", "import std.units (length, mass)", "schema S {"]
    for number in range(fields):
        kind = _KINDS[number % len(_KINDS)].replace("CLOSED", f'"red_{number}" | "blue_{number}" | "green"')
        lines.append(f"  field_number_{number}: {kind}")
    chosen = random.Random(1)
    names: set[str] = set()
    while len(names) < rules:
        names.add("_".join(chosen.sample(_WORDS, 3)))
    lines += ["}", *(f"rule {name} on S {{ when field_number_0 > 3 score 0.1 }}" for name in sorted(names))]
    return "\n".join(lines) + "\n"


def _shipped(module: str, schema: str) -> str:
    imports = f"import {module} ({schema})\nimport std.dayparts\n"
    return f"module t.shipped\n\n{imports}\nrule known on {schema} {{ score 0.1 }}\n"


def _example(name: str) -> str:
    return (EXAMPLES / name).read_text(encoding="utf-8")


PROGRAMS: Mapping[str, tuple[str, str]] = {
    "meetings": (MEETINGS, "Meeting"),
    "nested": (NESTED, "Trip"),
    "chinese": (CHINESE, "会议"),
    "clause_words": (_CLAUSE_WORDS.read_text(encoding="utf-8"), "S"),
    "units": (UNITS, "Load"),
    "one_flag": (ONE_FLAG, "S"),
    "only_absent": (ONLY_ABSENT, "S"),
    "nothing": (NOTHING, "S"),
    "aliased": (ALIASED, "Plan"),
    "aliased_schema": (ALIASED, "scheduling.Meeting"),
    "outcomes": (OUTCOMES, "S"),
    "large": (large(), "S"),
    "email": (_shipped("std.mail", "Email"), "Email"),
    "train": (_shipped("std.travel", "Train"), "Train"),
    "hotel": (_shipped("std.travel", "Hotel"), "Hotel"),
    "flight": (_shipped("std.travel", "Flight"), "Flight"),
    "cambridge_hotels": (_example("cambridge/hotels.ucl"), "Hotel"),
    "cambridge_restaurants": (_example("cambridge/restaurants.ucl"), "Restaurant"),
    "flights": (_example("flights/flights.ucl"), "Flight"),
    "mail": (_example("mail/mail.ucl"), "Email"),
    "travel_choices": (_example("travel_choices/choices.ucl"), "Journey"),
}
