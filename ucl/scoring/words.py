"""Values, scores and decisions in a person's words.

In: values of programs with their types. Out: text in the form in which UCL itself writes such values, so that what is
shown can be copied into a program: `13:00`, `90min`, `{"a", "b"}`, `fri`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ucl.semantics import types as t
from ucl.semantics.outcome import NANO, Decision, Invalid, Outcome, Reason, as_score
from ucl.semantics.values import to_json
from ucl.semantics.zones import Zone

_MOST_ELEMENTS = 8
_LONGEST_TEXT = 80


def shown(value: Any, type: t.Type, zone: Zone) -> str:
    """One value; `absent` for what is not there."""
    if value is None:
        return "absent"
    match type:
        case t.Optional(inner):
            return shown(value, inner, zone)
        case t.Text() | t.Closed():
            text = value if len(value) <= _LONGEST_TEXT else value[: _LONGEST_TEXT - 1] + "…"
            return json.dumps(text, ensure_ascii=False)
        case t.Bool():
            return "true" if value else "false"
        case t.Float():
            return number(value)
        case t.Quantity(dimension):
            return number(value) + dimension.units[0].name
        case t.Duration():
            return duration(value)
        case t.Time():
            return _clock(to_json(value, type, zone))
        case t.Set(element):
            members = [repr(v) if element is None else shown(v, element, zone) for v in sorted(value)]
            return f"{{{_some(members)}}}"
        case t.Record(schema):
            return f"{{{_some([f'{f.name}: {shown(value[f.name], f.type, zone)}' for f in schema.fields])}}}"
        case t.List():
            return "1 record" if len(value) == 1 else f"{len(value)} records"
        case _:
            return str(to_json(value, type, zone))


def _some(members: Sequence[str]) -> str:
    rest = len(members) - _MOST_ELEMENTS
    return ", ".join(members[:_MOST_ELEMENTS]) + (f", and {rest} more" if rest > 0 else "")


def _clock(text: str) -> str:
    """`13:00`, as one writes it; seconds only where there are some."""
    return text.removesuffix(":00") if text.count(":") == 2 else text


def number(value: float) -> str:
    """`0.5`, `3`, never `-0.0` or an exponent where a person would not write one."""
    plain = repr(value + 0.0)
    return plain.removesuffix(".0")


def duration(microseconds: int) -> str:
    """`1h30min`, `2d`, `0.5s`: in the units of the language."""
    if microseconds == 0:
        return "0min"
    sign, rest = ("-" if microseconds < 0 else ""), abs(microseconds)
    parts = []
    for unit in t.DURATION_UNITS[1:5]:
        size = int(unit.factor)
        if unit.name != "s" and rest >= size:
            parts.append(f"{rest // size}{unit.name}")
            rest %= size
        elif unit.name == "s" and rest:
            parts.append(f"{number(rest / size)}s")
    return sign + "".join(parts)


def quoted(text: str) -> str:
    """A person's own words on one line, whatever lines they were written on."""
    return f'"{" ".join(text.split())}"'


def signed(nano: int) -> str:
    """A contribution: `+0.6`, `-0.72`, `0`."""
    return ("+" if nano > 0 else "") + number(as_score(nano))


# --- outcomes -------------------------------------------------------------------------------------------------------

DECISIONS = {
    Decision.ACCEPT: "accept",
    Decision.ASK_USER: "ask the user",
    Decision.SUGGEST_ALTERNATIVE: "suggest an alternative",
    Decision.INFEASIBLE: "infeasible",
}


def total_words(outcome: Outcome) -> str:
    """The total of a valid row and what it is made of: `-0.5 (-0.8 no_late_calls, +0.3 standups_are_fine)`."""
    assert outcome.total is not None
    made_of = [f"{signed(nano)} {name}" for name, nano in outcome.contributions.items()]
    made_of += [f"violates {name}" for name in outcome.violated]
    return number(as_score(outcome.total)) + (f" ({', '.join(made_of)})" if made_of else "")


def reason_of(outcome: Outcome, contested_from: float) -> str:
    """Why the decision is what it is, in one sentence. `contested_from` is the least magnitude that contests."""
    if outcome.invalid is not None:
        return why_invalid(outcome.invalid)
    assert outcome.total is not None
    total = number(as_score(outcome.total))
    match outcome.decision:
        case Decision.INFEASIBLE:
            return f"it violates {_listed(outcome.violated)}"
        case Decision.ASK_USER:
            least = round(contested_from * NANO)
            up = [name for name, nano in outcome.contributions.items() if nano > 0 and nano >= least]
            down = [name for name, nano in outcome.contributions.items() if nano < 0 and -nano >= least]
            return f"{_listed(up)} {_speak(up)} for it, but {_listed(down)} {_speak(down)} against it"
        case Decision.ACCEPT:
            return f"the total {total} is not below 0"
        case _:
            return f"the total {total} is below 0"


def why_invalid(invalid: Invalid) -> str:
    """Why a row has no score. `invalid.field` is a field, or the rule that could not be evaluated."""
    value = json.dumps(invalid.value, ensure_ascii=False, default=str)
    match invalid.reason:
        case Reason.ABSENT:
            return f"the field `{invalid.field}` has no value"
        case Reason.DOMAIN:
            return f"the value `{value}` of the field `{invalid.field}` is outside its domain"
        case Reason.UNREADABLE:
            return f"the field `{invalid.field}` can't be read from `{value}`"
        case Reason.OVERFLOW:
            return f"a value that `{invalid.field}` needs leaves the range of its type"
        case Reason.MAGNITUDE:
            return f"`{invalid.field}` adds more than 8192"


def invalid_json(invalid: Invalid) -> dict[str, Any]:
    """The `invalid` of INTERFACE §2."""
    return {"field": invalid.field, "reason": str(invalid.reason), "value": invalid.value}


def _speak(names: Sequence[str]) -> str:
    return "speaks" if len(names) == 1 else "speak"


def _listed(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}" if quoted else "nothing"
