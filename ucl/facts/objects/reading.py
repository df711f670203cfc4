"""What the object of a fact names, for a field: a range of times, days, a length, a person, one of a closed list.

In: the object's text (or a value of the context, which JSON may have as a number, a boolean or a list), and what it is
about. Out: `Named`, a condition for each subject, or `Unread` with the reason. Nothing is guessed: what can mean two
things, or nothing that the tables know, is left unread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ucl.facts.objects import clocks, words
from ucl.facts.objects.clocks import Unread
from ucl.facts.objects.moments import moment, of_moment
from ucl.facts.objects.ordered import ordered, read_date, read_int, read_quantity
from ucl.facts.objects.phrases import Named, Reading, nothing, plain, split
from ucl.facts.regions import Absent, Among, Between, Condition, Matches, Overlaps, Subject
from ucl.semantics import types as t
from ucl.semantics.suggest import nearest


def read_value(value: object, subject: Subject, names: Mapping[str, str]) -> Reading:
    """What a value of JSON names: a list is one of its elements, null what is absent."""
    if value is None:
        if subject.optional:
            return Named(((subject, Absent()),))
        return Unread(f"`{subject.name}` is always there, and null says that it is not")
    if isinstance(value, list):
        return _any_of([read_value(each, subject, names) for each in value], value)
    if isinstance(value, bool):
        return read_object("true" if value else "false", subject, names)
    if isinstance(value, int | float | str):
        return read_object(str(value), subject, names)
    return Unread(f"`{value!s:.40}` names nothing that `{subject.name}` can be")


def read_object(text: str, subject: Subject, names: Mapping[str, str]) -> Reading:
    """`names` are other words for values: `站会` for `standup`, `Ann` for an address."""
    text = names.get(text, text)
    phrase = plain(text)
    match subject.compared:
        case t.DateTime():
            return moment(phrase, subject)
        case t.Time():
            return of_moment(phrase, subject, "time")
        case t.Weekday():
            return of_moment(phrase, subject, "weekday")
        case t.Date():
            return ordered(phrase, subject, read_date)
        case t.Duration():
            return ordered(phrase, subject, clocks.read_duration)
        case t.Int():
            return ordered(phrase, subject, read_int)
        case t.Float():
            return ordered(phrase, subject, clocks.read_number)
        case t.Quantity() as type:
            return ordered(phrase, subject, lambda each: read_quantity(each, type))
        case t.Bool():
            return _boolean(phrase, subject)
        case t.Closed(values):
            return _variant(text, phrase, subject, values, names)
        case t.Text():
            words_ = Matches("contains", text) if subject.part == "words" else _text(text)
            return Named(((subject, words_),))
        case t.Set(t.Text() | t.Closed()):
            return _members(text, subject, names)
        case _:
            return Unread(f"objects for `{subject.name}` can't be read")


def _any_of(readings: Sequence[Reading], value: object) -> Reading:
    """One of several, where they are conditions of one kind on one subject."""
    found: list[tuple[Subject, Condition]] = []
    for reading in readings:
        if isinstance(reading, Unread):
            return reading
        if reading.turned or len(reading.conditions) != 1:
            return Unread(f"`{value!s:.60}` joins what can't be joined")
        found += reading.conditions
    joined = _joined([condition for _, condition in found]) if found else None
    if joined is None or len({subject for subject, _ in found}) != 1:
        return Unread(f"`{value!s:.60}` joins what can't be joined")
    return Named(((found[0][0], joined),))


def _joined(conditions: Sequence[Condition]) -> Condition | None:
    first = conditions[0]
    if len(conditions) == 1:
        return first
    match first:
        case Among(outside=False):
            same = [c for c in conditions if isinstance(c, Among) and not c.outside]
            values = frozenset(value for c in same for value in c.values)
            return Among(values) if len(same) == len(conditions) else None  # type: ignore[arg-type]
        case Overlaps(outside=False):
            sets = [c for c in conditions if isinstance(c, Overlaps) and not c.outside]
            names = frozenset(name for c in sets for name in c.names)
            return Overlaps(names) if len(sets) == len(conditions) else None
        case Between():
            ranges = [c for c in conditions if isinstance(c, Between)]
            intervals = sorted((i for c in ranges for i in c.intervals), key=lambda each: each.start)
            apart = all(a.stop < b.start for a, b in zip(intervals, intervals[1:]))  # noqa: RUF007
            return Between(tuple(intervals)) if apart and len(ranges) == len(conditions) else None
        case _:
            return None


# --- words ----------------------------------------------------------------------------------------------------------


def _boolean(phrase: str, subject: Subject) -> Reading:
    own = plain(subject.path[-1])
    if phrase in words.YES or phrase == own:
        return Named(((subject, Among(frozenset((True,)))),))
    if phrase in words.NO or phrase == f"not {own}":
        return Named(((subject, Among(frozenset((False,)))),))
    return nothing(phrase, subject)


def _variant(text: str, phrase: str, subject: Subject, values: Sequence[str], names: Mapping[str, str]) -> Reading:
    """One of the list, several, or all but one (`not_external`, `非外部`); blanks, hyphens and case do not matter."""
    known = {plain(value).replace("-", " "): value for value in values}
    known |= {plain(name): value for name, value in names.items() if value in values}

    def one(word: str) -> str | None:
        bare = word.replace("-", " ")
        return known.get(bare, known.get(bare.removesuffix("s")))

    for negation in ("not ", "non ", "非", "不是"):
        if phrase.startswith(negation) and (value := one(phrase.removeprefix(negation))) is not None:
            return Named(((subject, Among(frozenset(values) - {value})),))
    found = [one(each) for each in ([phrase] if one(phrase) else split(phrase, words.ALTERNATIVES))]
    several = [value for value in found if value is not None]
    if several and len(several) == len(found):
        return Named(((subject, Among(frozenset(several))),))
    close = nearest(phrase, known)
    return Unread(
        f"`{text}` is none of {', '.join(f'`{value}`' for value in values)}"
        + (f"; did you mean `{known[close]}`?" if close else "")
    )


def _text(text: str) -> Condition:
    """A text, or with `*` what begins or ends with it, or has it in it."""
    inner = text.strip("*")
    if inner and "*" not in inner and text != inner:
        before, after = text.startswith("*"), text.endswith("*")
        return Matches("contains" if before and after else "ends_with" if before else "starts_with", inner)
    return Among(frozenset((text,)))


def _members(text: str, subject: Subject, names: Mapping[str, str]) -> Reading:
    """A person, or one of several."""
    given = [names.get(each, each) for each in split(text, (";", "；", "、", ",", "，"))]
    compared = subject.compared
    if isinstance(compared, t.Set) and isinstance(compared.element, t.Closed):
        wrong = next((each for each in given if each not in compared.element.values), None)
        if wrong is not None:
            return nothing(wrong, subject)
    return Named(((subject, Overlaps(frozenset(given))),)) if given else nothing(text, subject)
