"""The part of a program that a sentence is about: what a prompt tells of it, and what a grammar lets be named.

In: a program that is opened, a schema, a sentence. Out: a `Slice`. A small schema stays whole; of a large one those
fields are kept that have most to do with the sentence, of the rules those that speak of the same. Whatever a slice
leaves out is out of both the prompt and the grammar, so a model can't name what it was not told of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ucl.llm.grammar import Vocabulary, vocabulary_of
from ucl.llm.prompts.relevance import Topic, topic_of
from ucl.scoring.words import shown
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.modules import Module
from ucl.semantics.check.scope import RangeLet
from ucl.semantics.zones import Zone

MOST_FIELDS = 16
MOST_RULES = 8
_MOST_NAMED = 24
_MOST_VALUES = 40


@dataclass(frozen=True, eq=False)
class Slice:
    """`fields` describe what may be tested, a line each, as UCL declares it; `named` what the program has a name for.

    `rules` are the names of the declarations that may be spoken of, with the words that they stand for: those are
    people's words, for a prompt to quote as data.
    """

    vocabulary: Vocabulary
    fields: tuple[str, ...]
    named: tuple[str, ...]
    rules: tuple[tuple[str, str | None], ...]

    @property
    def text(self) -> str:
        """As a prompt shows it."""
        lines = [f"schema {self.vocabulary.schema}:", *(f"  {line}" for line in self.fields)]
        if self.named:
            lines += ["names that stand for values:", *(f"  {line}" for line in self.named)]
        units = sorted({unit.name for units in self.vocabulary.units.values() for unit in units})
        if units:
            lines.append(f"units, written right behind the number: {' '.join(units)}")
        return "\n".join(lines)


def slice_of(program: p.Program, module: Module, schema: str, said: str) -> Slice:
    """What of the schema, which is one of `schema_names`, matters to a sentence."""
    whole, topic = vocabulary_of(program, module, schema), topic_of(said)
    known = {field.name: field for field in _fields(module, schema)}
    kept = _kept_roots(whole, known, topic)
    subjects = tuple(subject for subject in whole.subjects if _root(subject.text) in kept)
    rules = _kept_rules(program, whole, topic)
    vocabulary = replace(
        whole,
        subjects=subjects,
        rules=tuple(name for name in whole.rules if name in rules),
        constraints=tuple(name for name in whole.constraints if name in rules),
    )
    zone = Zone.load(program.timezone)
    assert zone is not None
    lines = [_described(known[root], root, zone) for root in kept if root in known]
    lines += [f"{s.text}: {s.type}" for s in subjects if _root(s.text) not in known and "." not in s.text]
    return Slice(vocabulary, tuple(lines), tuple(_named(module, vocabulary, topic, zone)), tuple(rules.items()))


# --- fields ---------------------------------------------------------------------------------------------------------


def _fields(module: Module, schema: str) -> Iterable[p.Field]:
    found = module.find_path(schema)
    assert isinstance(found, p.Schema)
    return (*found.fields, *module.scope(found).context.values())


def _root(subject: str) -> str:
    """The field that a value is of: `start` of `start.time` and of `option.start.time`."""
    parts = subject.split(".")
    return parts[1] if parts[0] in ("option", "context", "memory") and len(parts) > 1 else parts[0]


def _kept_roots(vocabulary: Vocabulary, known: dict[str, p.Field], topic: Topic) -> dict[str, None]:
    roots = dict.fromkeys(_root(subject.text) for subject in vocabulary.subjects)
    if len(roots) <= MOST_FIELDS:
        return roots
    types: dict[str, t.Type] = {}
    for subject in vocabulary.subjects:
        types.setdefault(_root(subject.text), subject.type)
    scores = {root: _score(root, known.get(root), types[root], topic) for root in roots}
    best = sorted(roots, key=lambda root: -scores[root])[:MOST_FIELDS]
    return dict.fromkeys(root for root in roots if root in best)


def _score(root: str, field: p.Field | None, type_: t.Type, topic: Topic) -> int:
    """What is said outright counts more than what is hinted at."""
    kind = t.present(type_)
    values = kind.values[:_MOST_VALUES] if isinstance(kind, t.Closed) else ()
    documented = () if field is None or field.doc is None else (field.doc,)
    return 4 * topic.words_shared((root, *values)) + topic.words_shared(documented) + topic.hints(root, type_)


def _described(field: p.Field, name: str, zone: Zone) -> str:
    """The field as it is declared, with what its comment says."""
    line = f"{name}: {field.type}{_domain(field, zone)}"
    return line if field.doc is None else f"{line}  # {' '.join(field.doc.split())}"


def _domain(field: p.Field, zone: Zone) -> str:
    match field.domain:
        case p.RangeDomain(low=low, high=high, inclusive=inclusive):
            return f" in {_range(low, high, inclusive, zone)}"
        case p.SetDomain(values=values):
            return f" in {shown(values, t.Set(t.present(field.type)), zone)}"
        case _:
            return ""


def _range(low: p.Expr | None, high: p.Expr | None, inclusive: bool, zone: Zone) -> str:
    ends = [shown(end.value, end.type, zone) if isinstance(end, p.Const) else "" for end in (low, high)]
    return f"{ends[0]}{'..=' if inclusive else '..'}{ends[1]}"


# --- names ----------------------------------------------------------------------------------------------------------


def _named(module: Module, vocabulary: Vocabulary, topic: Topic, zone: Zone) -> Iterator[str]:
    """Lets and ranges with what they stand for, functions with their types; those that are spoken of first."""
    constants = [name for names in (*vocabulary.lets.values(), *vocabulary.ranges.values()) for name in names]
    lines = {name: _constant(name, module.find_path(name), zone) for name in constants}
    for function in vocabulary.functions:
        parameters = ", ".join(map(str, function.parameters))
        lines[function.name] = f"{function.name}({parameters}) is a {function.result}"
    best = sorted(lines, key=lambda name: -topic.words_shared((name,)))[:_MOST_NAMED]
    yield from (line for name, line in lines.items() if name in best)


def _constant(name: str, found: Any, zone: Zone) -> str:
    match found:
        case p.Let(type=type_, value=p.Const(value=value)):
            return f"{name} = {shown(value, type_, zone)}"
        case RangeLet(low=low, high=high, inclusive=inclusive):
            return f"{name} = {_range(low, high, inclusive, zone)}"
        case p.Let(type=type_):
            return f"{name}: {type_}"
        case _:
            return name


# --- rules ----------------------------------------------------------------------------------------------------------


def _kept_rules(program: p.Program, vocabulary: Vocabulary, topic: Topic) -> dict[str, str | None]:
    declared: list[p.Rule | p.Constraint] = [*program.rules, *program.constraints]
    nameable = {*vocabulary.rules, *vocabulary.constraints}
    known = {d.name: d.meta.because for d in declared if d.name in nameable and d.meta.status is not p.Status.RETIRED}
    if len(known) <= MOST_RULES:
        return known
    scores = {name: topic.words_shared((name, because or "")) for name, because in known.items()}
    best = sorted(known, key=lambda name: -scores[name])[:MOST_RULES]
    return {name: because for name, because in known.items() if name in best}
