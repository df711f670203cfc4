"""Conditions: well-typed tests, joined by `and`, `or` and `not`, with the parentheses that `fmt` would leave.

In: `Values`. Out: rules for conditions, in which every test compares values of one type, and in which a value that may
be absent stands only behind `present(x) and`, in the same chain, or before `??`.

`fmt` keeps parentheses around an `or` within an `and`, and around either after `not`; they go two deep here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ucl.frozen import frozen
from ucl.llm.grammar.forms import Choice, Form, Use, chain, choice, form, many, one_of
from ucl.llm.grammar.values import ORDERED, TEXT_TESTS, Values
from ucl.llm.grammar.vocabulary import Subject
from ucl.semantics import types as t
from ucl.semantics.types import BOOL, INT, TEXT, Type

_DEEPEST = 2
_SET_TESTS = ("overlaps", "subset")
_TEXT_FORMS = ("casefold", "lower")


@frozen
class Conditions:
    """`condition` is any; `test` one test of values that are always there."""

    condition: Form
    test: Form


def conditions(values: Values) -> Conditions | None:
    """None where the vocabulary has nothing that could be tested."""
    present = _presence_terminals(values)
    test = values.define.rule_of("test", [*_tests(values), _presence(values, present)])
    if test is None:
        return None
    known = values.define.rule_of("known", _known(values, present))
    return Conditions(joined(values, "condition", test, known), test)


def joined(values: Values, name: str, test: Form, known: Form | None = None) -> Form:
    """Tests joined by `and`, `or` and `not`; `known` are pairs of tests that `and` has joined already."""
    inner: dict[str, Form] | None = None
    for depth in range(_DEEPEST, 0, -1):
        inner = _level(values, f"{name}_{depth}", test, known, inner)
    return _level(values, name, test, known, inner)["any"]


def _level(values: Values, name: str, test: Form, known: Form | None, inner: dict[str, Form] | None) -> dict[str, Form]:
    """The rules at one depth of parentheses. `both` and `either` join two or more."""
    define, and_, or_ = values.define, values.and_, values.or_
    more = [] if known is None else [known]
    negated = [chain("not ", test)] + ([chain("not (", inner["several"], ")")] if inner else [])
    single = define.rule(f"{name}_single", choice(test, *negated))
    grouped = [chain("(", inner["either"], ")")] if inner else []
    factor = define.rule(f"{name}_factor", choice(single, *more, *grouped))
    both = Use(f"{name}_both")
    define.rule(both.name, choice(chain(factor, and_, factor), chain(both, and_, factor)))
    term = define.rule(f"{name}_term", choice(single, *more, both))
    either = Use(f"{name}_either")
    define.rule(either.name, choice(chain(term, or_, term), chain(either, or_, term)))
    return {
        "any": define.rule(name, choice(term, either)),
        "several": define.rule(f"{name}_several", choice(both, *more, either)),
        "either": either,
    }


# --- tests ----------------------------------------------------------------------------------------------------------


def _tests(values: Values) -> Iterator[Form]:
    for type_ in values.types:
        subject = values.subject(type_)
        if subject is not None:
            yield from _tests_of(values, type_, subject)
    text = _text_value(values)
    if text is not None:
        yield from _text_tests(values, text)


def _tests_of(values: Values, type_: Type, subject: Form) -> Iterator[Form]:
    """Every test of one value."""
    match type_:
        case t.Bool():
            yield subject
            yield chain(subject, values.equal, _needed(values.literal(BOOL)))
        case t.Set(element) if element is not None:
            yield from _set_tests(values, element, subject)
        case _:
            tail = _tail(values, type_)
            if tail is not None:
                yield chain(subject, tail)


def _tail(values: Values, type_: Type) -> Use | None:
    """What stands behind a value, so that it is a test: `>= 8`, `in 9..17`."""
    compare = values.compare if isinstance(type_, ORDERED) else values.equal
    value, among = values.value(type_), values.among(type_)
    options = [
        None if value is None else chain(compare, value),
        None if among is None else chain(values.within, among),
    ]
    return values.define.rule_of(f"{values.key(type_)}_tail", options)


def _set_tests(values: Values, element: Type, subject: Form) -> Iterator[Form]:
    literal = values.literal(element)
    if literal is not None:
        yield chain(literal, values.within, subject)
    others = [values.literal(t.Set(element)), values.let(t.Set(element)), values.field(t.Set(element))]
    others += [values.let(t.Set(TEXT))] if isinstance(element, t.Closed) else []
    other = values.define.rule_of(f"{values.key(t.Set(element))}_other", others)
    for name in _SET_TESTS:
        if other is not None and values.has(name):
            yield values.call(name, subject, other)
            yield values.call(name, other, subject)


def _text_value(values: Values) -> Form | None:
    """A text, perhaps in lower case."""
    subject = values.subject(TEXT)
    if subject is None:
        return None
    forms = (values.call(name, subject) for name in _TEXT_FORMS if values.has(name))
    return values.define.rule("text_form", choice(subject, *forms))


def _text_tests(values: Values, text: Form) -> Iterator[Form]:
    for name in _TEXT_FORMS:
        if values.has(name):
            yield chain(values.call(name, _needed(values.subject(TEXT))), values.equal, _needed(values.literal(TEXT)))
    for name in TEXT_TESTS:
        if values.has(name):
            yield values.call(name, text, _needed(values.literal(TEXT)))


def _needed(form: Form | None) -> Form:
    assert form is not None
    return form


# --- what may be absent ---------------------------------------------------------------------------------------------


def _presence_terminals(values: Values) -> dict[str, Use]:
    """`present(x)` for each path that may be absent, by the path."""
    if not values.has("present"):
        return {}
    paths = dict.fromkeys(path for s in values.vocabulary.subjects for path in s.guards)
    return {path: values.define.terminal(f"PRESENT_{i}", form(f"present({path})")) for i, path in enumerate(paths, 1)}


def _presence(values: Values, present: dict[str, Use]) -> Form | None:
    """A test of presence alone, of what has an owner that is there."""
    guarded = {s.guards[0] for s in values.vocabulary.subjects if s.guards}
    options: list[Form] = [use for path, use in present.items() if path in guarded]
    if guarded and values.has("absent"):
        options.append(values.define.terminal("ABSENT", one_of(f"absent({path})" for path in guarded)))
    return values.define.rule_of("presence", options)


def _known(values: Values, present: dict[str, Use]) -> Iterator[Form]:
    """`present(x) and x > 3 and x < 9`: one form for each set of guards, since all must speak of the same path."""
    guarded: dict[tuple[str, ...], dict[Type, list[Subject]]] = {}
    for subject in values.vocabulary.subjects if present else ():
        if subject.guards:
            guarded.setdefault(subject.guards, {}).setdefault(subject.type, []).append(subject)
    for number, (guards, by_type) in enumerate(guarded.items(), 1):
        tests = [test for type_, subjects in by_type.items() for test in _guarded(values, number, type_, subjects)]
        test = values.define.rule_of(f"known_{number}", tests)
        if test is not None:
            single = values.define.rule(f"known_{number}_single", choice(test, chain("not ", test)))
            head = (part for path in guards for part in (present[path], values.and_))
            yield chain(*head, single, many(values.and_, single))


def _guarded(values: Values, number: int, type_: Type, subjects: Iterable[Subject]) -> Iterator[Form]:
    names = one_of(s.text for s in subjects)
    several = isinstance(names, Choice)
    subject = values.define.terminal(f"KNOWN_{number}_{values.key(type_).upper()}", names) if several else names
    yield from _tests_of(values, type_, subject)
    measure = "length" if type_ == TEXT else "size" if isinstance(type_, t.Set) else None
    if measure is not None and values.has(measure):
        yield chain(values.call(measure, subject), _needed(_tail(values, INT)))
    if type_ == TEXT:
        literal = _needed(values.literal(TEXT))
        yield from (values.call(name, subject, literal) for name in TEXT_TESTS if values.has(name))
