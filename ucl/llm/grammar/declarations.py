"""Rules, constraints and properties: the clauses around conditions, in the order in which `fmt` puts them.

In: a `Vocabulary`. Out: the `Grammar` of one to eight declarations. A score is a number from -1 to 1, or a curve
(`ramp`, `near`), perhaps times such a number. What a declaration names among rules was there before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from ucl.llm.grammar import literals
from ucl.llm.grammar.conditions import Conditions, conditions, joined
from ucl.llm.grammar.forms import Form, Grammar, chain, choice, many, maybe, one_of
from ucl.llm.grammar.names import REST_OF_NAME, new_names
from ucl.llm.grammar.values import Definitions, Values, spaced
from ucl.llm.grammar.vocabulary import Vocabulary
from ucl.semantics import types as t
from ucl.semantics.check.expressions.names import OUTCOMES
from ucl.semantics.program import Status
from ucl.semantics.types import BOOL, DATE, DATETIME, DURATION, FLOAT, TIME

# With more rules than this, one is overridden at a time: pairs would be too many.
_MOST_PAIRED = 8


def grammar_of(vocabulary: Vocabulary) -> Grammar:
    """The typed sub-grammar of what can be said of a schema."""
    define = Definitions()
    values = Values(vocabulary, define)
    found = conditions(values)
    meta = _meta(values)
    bodies = {"rule": _rule(values, found, meta)}
    if found is not None:
        bodies["constraint"] = _constraint(values, found, meta)
    promise = _promise(values, found)
    if promise is not None:
        bodies["property"] = _property(values, found, promise, meta)
    first, prefixes = new_names(vocabulary.taken)
    rest = define.terminal("REST_OF_NAME", REST_OF_NAME)
    more: list[Form] = []
    for number, prefix in reversed(list(enumerate(prefixes, 2))):
        options = (chain(f"\n\n{word} {prefix}", rest, body) for word, body in bodies.items())
        declared = define.rule(f"declaration_{number}", choice(*options))
        more = [maybe(define.rule(f"more_{number}", chain(declared, *more)))]
    new = define.terminal("NAME", first)
    declared = define.rule("declaration", choice(*(chain(f"{word} ", new, body) for word, body in bodies.items())))
    return define.grammar(chain(declared, *more, maybe("\n")))


def _body(values: Values, overrides: Form | None, *clauses: Form) -> Form:
    """What stands behind a declaration's name."""
    head = [] if overrides is None else [maybe(" overrides ", overrides)]
    return chain(f" on {values.vocabulary.schema}", *head, " {", *clauses, "\n}")


def _rule_name(values: Values) -> Form | None:
    names = values.vocabulary.rules
    return values.define.terminal("RULE", one_of(names)) if names else None


def _constraint_name(values: Values) -> Form | None:
    names = values.vocabulary.constraints
    return values.define.terminal("CONSTRAINT", one_of(names)) if names else None


def _overrides(names: Sequence[str], name: Form | None) -> Form | None:
    """One of the names, or two different ones."""
    if name is None or not 1 < len(names) <= _MOST_PAIRED:
        return name
    return choice(name, *(", ".join(pair) for pair in permutations(names, 2)))


# --- rules and constraints ------------------------------------------------------------------------------------------


def _rule(values: Values, found: Conditions | None, meta: Form) -> Form:
    score = _score(values)
    clauses: list[Form] = [chain("\n  score ", score)]
    if found is not None:
        split = values.define.terminal("SCORE_WORD", spaced("score"))
        clauses = [
            maybe("\n  when ", found.condition),
            _unless(found),
            *clauses,
            many("\n  except when ", found.condition, split, score),
        ]
    overrides = _overrides(values.vocabulary.rules, _rule_name(values))
    return values.define.rule("rule_body", _body(values, overrides, *clauses, meta))


def _constraint(values: Values, found: Conditions, meta: Form) -> Form:
    forbid = chain("\n  forbid when ", found.condition)
    require = chain("\n  require ", found.condition, maybe("\n  when ", found.condition))
    clauses = (values.define.rule("demand", choice(forbid, require)), _unless(found), meta)
    overrides = _overrides(values.vocabulary.constraints, _constraint_name(values))
    return values.define.rule("constraint_body", _body(values, overrides, *clauses))


def _unless(found: Conditions) -> Form:
    return many("\n  unless ", found.condition)


def _score(values: Values) -> Form:
    define = values.define
    number = define.terminal("SCORE", literals.SCORE)
    curves = [*_ramps(values), *_nears(values)]
    if not curves:
        return number
    curve = define.rule("curve", choice(*curves))
    by = define.terminal("BY", spaced("*"))
    weighted = (chain(number, by, curve), chain(curve, by, number))
    return define.rule("score", choice(number, *weighted, curve, chain("-", curve)))


def _ramps(values: Values) -> Iterator[Form]:
    for type_ in values.types:
        if isinstance(type_, t.Int | t.Float | t.Quantity | t.Duration | t.Time) and values.has("ramp"):
            subject, end = values.subject(type_), values.literal(FLOAT if isinstance(type_, t.Int) else type_)
            if subject is not None and end is not None:
                yield values.call("ramp", subject, end, end)


def _nears(values: Values) -> Iterator[Form]:
    for type_ in values.types:
        if isinstance(type_, t.Int | t.Float | t.Quantity | t.Duration | t.Time | t.DateTime) and values.has("near"):
            subject, target = values.subject(type_), values.literal(FLOAT if isinstance(type_, t.Int) else type_)
            tolerance = values.tolerance(DURATION if type_ in (TIME, DATETIME) else type_)
            if subject is not None and target is not None and tolerance is not None:
                yield values.call("near", subject, target, tolerance)


def _meta(values: Values) -> Form:
    """The clauses that every body can have, in their order."""
    define = values.define
    text = _literal(values, t.TEXT)
    day, moment = _literal(values, DATE), _literal(values, DATETIME)
    source = define.terminal("SOURCE", one_of(values.vocabulary.sources))
    named = values.vocabulary.ranges.get(DATE)
    days = [values.range(DATE), define.terminal("DAYS", one_of(named)) if named else None]
    valid = define.rule_of("days", days)
    assert valid is not None
    return define.rule(
        "meta",
        chain(
            maybe("\n  because ", text),
            many("\n  from ", source, " ", text, maybe(" at ", define.rule("moment", choice(day, moment)))),
            maybe("\n  confidence ", define.terminal("CONFIDENCE", literals.CONFIDENCE)),
            maybe("\n  priority ", define.terminal("PRIORITY", literals.PRIORITY)),
            maybe("\n  valid ", valid),
            maybe("\n  status ", define.terminal("STATUS", one_of(Status))),
        ),
    )


# --- properties -----------------------------------------------------------------------------------------------------


def _property(values: Values, found: Conditions | None, promise: Form, meta: Form) -> Form:
    given = [] if found is None else [maybe("\n  given ", found.condition)]
    expect = chain("\n  expect ", promise)
    return values.define.rule("property_body", _body(values, None, *given, expect, many(expect), meta))


def _promise(values: Values, found: Conditions | None) -> Form | None:
    """What a property expects: facts about rules and the outcome, and tests. Inside `expect` a field called `score` is
    ambiguous, so with such a field there are no tests."""
    vocabulary, define = values.vocabulary, values.define
    fact = define.rule_of("fact", _facts(values))
    if fact is None:
        return None
    said: list[Form] = [fact]
    if found is not None and not vocabulary.values_named & OUTCOMES.keys():
        said.append(found.test)
    return joined(values, "promise", define.rule("expectation", choice(*said)))


def _facts(values: Values) -> Iterator[Form]:
    vocabulary, define = values.vocabulary, values.define
    number = _literal(values, FLOAT)
    rule = _rule_name(values)
    applying = define.rule_of("applying", [rule, _constraint_name(values)])
    if applying is not None and values.has("applies"):
        yield chain("applies(", applying, ")")
    if rule is not None and values.has("fires"):
        yield chain("fires(", rule, ")")
    if rule is not None and values.has("contribution"):
        yield chain("contribution(", rule, ")", values.compare, number)
    for name, type_ in OUTCOMES.items():
        if name in vocabulary.values_named:
            continue
        if type_ == BOOL:
            yield chain(name)
        elif type_ == FLOAT:
            yield chain(name, values.compare, number)
        else:
            yield chain(name, values.equal, _literal(values, type_))


def _literal(values: Values, type_: t.Type) -> Form:
    found = values.literal(type_)
    assert found is not None
    return found
