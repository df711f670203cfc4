"""What is said of declarations: modules and imports, types and fields, rules and what surrounds them.

In: a place and the names that the message speaks of. Out: one `Diagnostic`. Each function is one message, and its
docstring shows what calls for it; the words follow the style of LANGUAGE §15.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ucl.diagnostics import Diagnostic, Note, Span, diagnostic
from ucl.semantics.foreign import standard_import
from ucl.semantics.suggest import nearest

_LONGEST_PATH = 60

# --- modules and names ----------------------------------------------------------------------------------------------


def nothing_declared(place: Span) -> Diagnostic:
    """A file that is empty, or holds comments alone: more likely cut off or the wrong one than meant."""
    return diagnostic(
        "syntax", place, "this file declares nothing", "a program begins with words such as `rule` or `let`"
    )


def duplicate_name(place: Span, name: str, first: Span, what: str = "name") -> Diagnostic:
    """`let x = 1  rule x on S { … }`: names are unique within a module and what it imports."""
    return diagnostic(
        "duplicate-name",
        place,
        f"the {what} `{name}` is taken",
        "give one of the two another name",
        [Note(first, f"`{name}` is introduced here")],
    )


def type_word_taken(place: Span, name: str) -> Diagnostic:
    """`schema text { … }`: the names of the types of the language are taken."""
    return diagnostic("duplicate-name", place, f"`{name}` is the name of a type of the language", "choose another name")


def unknown_module(place: Span, name: str, known: Iterable[str]) -> Diagnostic:
    """`import std.unit`: there is no such module."""
    near = nearest(name, known)
    if near is not None:
        help = f"did you mean `{near}`?"
    elif name.startswith("std.") or len(name) > _LONGEST_PATH:
        help = None
    else:
        help = f"`{name}` is looked up as `{name.replace('.', '/')}.ucl`, beside the file that is compiled"
    shown = name if len(name) <= _LONGEST_PATH else name[: _LONGEST_PATH - 1] + "…"
    return diagnostic("unknown-import", place, f"there is no module `{shown}`", help)


def imported_unit(place: Span, name: str, dimension: str, module: str) -> Diagnostic:
    """`import std.units (m)`: units come with their dimension."""
    message = f"`{name}` is a unit of `{dimension}`, and comes with it"
    return diagnostic("unknown-import", place, message, f"write `import {module} ({dimension})`")


def unknown_import(place: Span, name: str, module: str, known: Iterable[str], owner: str | None) -> Diagnostic:
    """`import std.units (lenght)`: the module has no such name; `owner` is the module that it gets the name from."""
    near = nearest(name, known)
    if owner is not None:
        help: str | None = f"it comes from `{owner}`: import it from there"
    else:
        help = None if near is None else f"did you mean `{near}`?"
    return diagnostic("unknown-import", place, f"`{module}` declares no `{name}`", help)


def missing_companion(place: Span, name: str, rule: str, module: str) -> Diagnostic:
    """`import m (p)`, where the property `p` speaks of a rule that the list leaves out."""
    return diagnostic(
        "unknown-import",
        place,
        f"the property `{name}` speaks of `{rule}`, which is not imported",
        f"import `{rule}` from `{module}` too",
    )


def import_cycle(place: Span, modules: Sequence[str]) -> Diagnostic:
    """a imports b, b imports a; `modules` is the way round, its first again at its end."""
    way = " imports ".join(f"`{name}`" for name in modules)
    return diagnostic(
        "import-cycle", place, f"imports run in a circle: {way}", "move what both need into a third module"
    )


def unknown_zone(place: Span, name: str) -> Diagnostic:
    """`timezone "Europe/Pariss"`: not in the tz database."""
    return diagnostic(
        "unknown-name",
        place,
        f"there is no time zone `{name}`",
        'write it as in the tz database, such as "Europe/Paris"',
    )


def unused(place: Span, what: str, name: str) -> Diagnostic:
    """A let, a def or an import that nothing uses."""
    return diagnostic("unused", place, f"the {what} `{name}` is not used", f"remove `{name}`")


def clashing_needs(place: Span, what: str, name: str, module: str, other: Span, own: Span) -> Diagnostic:
    """Two modules whose rules take part call different things by one name of the context or the memory."""
    return diagnostic(
        "duplicate-name",
        place,
        f"the {what} `{name}` that `{module}` needs is declared differently elsewhere",
        "declare both in the same way, or give one of them another name",
        [Note(other, f"`{module}` declares it here"), Note(own, "the other declaration is here")],
    )


# --- types ----------------------------------------------------------------------------------------------------------

_OTHER_LANGUAGES = {
    "string": "text",
    "str": "text",
    "String": "text",
    "varchar": "text",
    "integer": "int",
    "long": "int",
    "number": "float",
    "double": "float",
    "decimal": "float",
    "real": "float",
    "boolean": "bool",
    "timestamp": "datetime",
    "timedelta": "duration",
    "interval": "duration",
    "day": "weekday",
    "enum": '"a" | "b"',
    "array": "set<…>",
}


def unknown_type(place: Span, name: str, known: Iterable[str]) -> Diagnostic:
    """`name: string`."""
    near = _OTHER_LANGUAGES.get(name) or nearest(name, known)
    instead = near or standard_import(name)
    help = None if instead is None else f"write `{instead}`"
    return diagnostic("unknown-name", place, f"there is no type `{name}`", help)


def not_a_type(place: Span, name: str) -> Diagnostic:
    """`n: limit`, where `limit` is a let."""
    return diagnostic("type-mismatch", place, f"`{name}` is not a type", "a schema or a dimension can stand here")


def type_needs_element(place: Span, name: str) -> Diagnostic:
    """`tags: set`."""
    return diagnostic("type-mismatch", place, f"`{name}` needs the type of its elements", f"write `{name}<text>`")


def unknown_constructor(place: Span, name: str) -> Diagnostic:
    """`tags: array<text>`."""
    return diagnostic(
        "unknown-name", place, f"there is no type `{name}<…>`", "write `set<…>`, or `list<…>` in a memory"
    )


def bad_element(place: Span, element: str) -> Diagnostic:
    """`set<float>`."""
    return diagnostic(
        "type-mismatch",
        place,
        f"a set can't hold values of type `{element}`",
        "a set holds texts, closed texts, ints, weekdays or dates",
    )


def bad_list(place: Span) -> Diagnostic:
    """A `list<S>` outside a memory."""
    return diagnostic("type-mismatch", place, "only a memory can hold a list", "declare it as `memory name: list<…>`")


def list_of_no_schema(place: Span, element: str) -> Diagnostic:
    """`memory xs: list<int>`."""
    return diagnostic(
        "type-mismatch",
        place,
        f"a list holds records of a schema, not values of type `{element}`",
        "declare a schema with a field for the value",
    )


def optional_twice(place: Span, type: str) -> Diagnostic:
    """`int??`, or a list that may be absent."""
    return diagnostic("type-mismatch", place, f"`{type}` can't be made optional", "leave the `?` out")


def repeated_variant(place: Span, value: str, first: Span) -> Diagnostic:
    """`"a" | "b" | "a"`."""
    return diagnostic(
        "duplicate-name",
        place,
        f'the value "{value}" is listed twice',
        "leave one out",
        [Note(first, "the first is here")],
    )


def not_a_schema(place: Span, name: str) -> Diagnostic:
    """`rule r on x`, where `x` is a let."""
    return diagnostic("type-mismatch", place, f"`{name}` is not a schema", "the name of a schema stands here")


def unknown_reference(place: Span, what: str, name: str, known: Iterable[str]) -> Diagnostic:
    """`rule r on T`, `overrides z`, `do z()`, `for p in z`: there is no such schema, rule, effect, memory."""
    near, brought = nearest(name, known), standard_import(name)
    help = None if near is None else f"did you mean `{near}`?"
    if brought is not None:
        help = f"write `{brought}`"
    return diagnostic("unknown-name", place, f"there is no {what} `{name}`", help)


# --- dimensions -----------------------------------------------------------------------------------------------------


def base_units(place: Span, dimension: str, names: Sequence[str]) -> Diagnostic:
    """`dimension d { a, b }`, or none without a definition."""
    found = "no base unit" if not names else "more than one base unit: " + _listed(names)
    return diagnostic(
        "unit-mismatch",
        place,
        f"`{dimension}` has {found}",
        "exactly one unit stands without `=`; the others are multiples",
    )


def foreign_unit(place: Span, unit: str, dimension: str) -> Diagnostic:
    """`dimension length { m, h = 1min }`."""
    return diagnostic(
        "unit-mismatch", place, f"`{unit}` is not a unit of `{dimension}`", f"define it by a unit of `{dimension}`"
    )


def unknown_unit(place: Span, unit: str, dimension: str, known: Iterable[str]) -> Diagnostic:
    """`dimension length { m, km = 1000n }`."""
    near = nearest(unit, known)
    help = f"define it by a unit of `{dimension}`" if near is None else f"did you mean `{near}`?"
    return diagnostic("unknown-name", place, f"`{dimension}` has no unit `{unit}`", help)


def unit_of_nothing(place: Span, unit: str) -> Diagnostic:
    """`dimension length { m, x = 0m }`."""
    return diagnostic(
        "out-of-range", place, f"one `{unit}` can't be nothing", "a unit is a positive multiple of another"
    )


def unit_too_fine(place: Span, unit: str) -> Diagnostic:
    """A unit whose factor has thousands of digits, or lies outside what a float holds."""
    return diagnostic("too-large", place, f"the exact value of `{unit}` in base units is out of bounds")


def field_unit(place: Span, unit: str, type: str, known: Sequence[str]) -> Diagnostic:
    """`far: length unit min`, `n: int unit km`."""
    if not known:
        message, help = f"a field of type `{type}` has no unit", "leave `unit` out"
    else:
        near = nearest(unit, known)
        message = f"`{unit}` is not a unit of `{type}`"
        help = f"write {_listed(known, 'or')}" if near is None else f"did you mean `{near}`?"
    return diagnostic("unit-mismatch", place, message, help)


# --- values that must be constant -----------------------------------------------------------------------------------


def default_outside(place: Span, field: str, domain: Span) -> Diagnostic:
    """`n: int in 1..=5 = 9`."""
    return diagnostic(
        "out-of-range",
        place,
        f"the default of `{field}` lies outside its domain",
        "choose a value within the domain",
        [Note(domain, "the domain is here")],
    )


def shared_column(place: Span, column: str, first: Span) -> Diagnostic:
    """`a: int from "x"  b: int from "x"`."""
    return diagnostic(
        "duplicate-name",
        place,
        f'two fields read the column "{column}"',
        "let each field read a column of its own",
        [Note(first, "the first is here")],
    )


def reserved_context_field(place: Span, name: str) -> Diagnostic:
    """`context { now: datetime }`."""
    return diagnostic("duplicate-name", place, f"the context always has `{name}`", "leave it out; a caller may give it")


def default_of_list(place: Span) -> Diagnostic:
    """`memory trips: list<Trip> = {}`."""
    return diagnostic(
        "type-mismatch", place, "a list has no default", "leave it out: a list that is not given is empty"
    )


def range_has_no_type(place: Span, written: str) -> Diagnostic:
    """`let r: int = 3..5`: what lies in a range has a type, the range has none."""
    return diagnostic("type-mismatch", place, "a range has no type to write", f"leave `: {written}` out")


def null_default(place: Span, word: str, optional: bool) -> Diagnostic:
    """`n: int? = null`."""
    help = f"leave `= {word}` out: what is missing is absent" if optional else "write a `?` behind the type instead"
    return diagnostic("unknown-name", place, f"there is no `{word}`", help)


def recursion(place: Span, names: Sequence[str], others: Iterable[tuple[str, Span]]) -> Diagnostic:
    """`let a = b  let b = a`: what a declaration is can't depend on itself."""
    if len(names) == 1:
        message = f"`{names[0]}` is defined by itself"
    else:
        message = f"{_listed(names)} are defined by each other"
    notes = [Note(span, f"`{name}` takes part") for name, span in others]
    return diagnostic("recursion", place, message, "every value must be found without knowing it already", notes)


def too_large(place: Span, name: str, limit: int) -> Diagnostic:
    """A def that calls defs that call defs, each of them more than once; a let of many datetimes."""
    return diagnostic(
        "too-large",
        place,
        f"`{name}`, with everything that it uses written out, has more than {limit:,} parts",
        "use fewer defs and lets within each other",
    )


def expansion_too_deep(place: Span, name: str, limit: int) -> Diagnostic:
    """A def that calls a def that calls a def, and so on, too many times."""
    return diagnostic(
        "too-deep",
        place,
        f"`{name}`, with everything that it calls written out, is nested more than {limit} deep",
        "use fewer levels of defs within defs",
    )


def schema_too_deep(place: Span, name: str, limit: int) -> Diagnostic:
    """A schema with a field of a schema with a field of a schema, and so on."""
    return diagnostic(
        "too-deep", place, f"`{name}` nests records more than {limit} deep", "use fewer levels of schemas"
    )


def schema_too_large(place: Span, name: str, limit: int) -> Diagnostic:
    """Schemas that contain each other many times have more fields than anyone wrote."""
    message = f"`{name}`, with the records in it written out, has more than {limit:,} fields"
    return diagnostic("too-large", place, message, "use fewer fields that are records")


def too_many_mistakes(place: Span, limit: int) -> Diagnostic:
    """The check stops after so many declarations with a mistake, to keep the report one that can be read."""
    return diagnostic("too-large", place, f"{limit:,} declarations have a mistake; the rest was not checked")


def too_many(place: Span, what: str, limit: int) -> Diagnostic:
    """More than 100,000 rules."""
    return diagnostic("too-large", place, f"a program has at most {limit:,} {what}", "split it into several programs")


def option_in_def(found: Diagnostic, name: str) -> Diagnostic:
    """`def f() -> bool = n > 3`, where `n` is a field: the unknown name, with what to do instead."""
    return diagnostic(
        found.code,
        found.span,
        found.message,
        f"a `def` can't read the option: give it a parameter, and pass `{name}` where it is called",
        found.notes,
    )


# --- rules and other bodies -----------------------------------------------------------------------------------------


def missing_clause(place: Span, what: str, name: str, clause: str, help: str) -> Diagnostic:
    """`rule r on S { when n > 3 }`: no `score`."""
    return diagnostic("syntax", place, f"the {what} `{name}` needs {clause}", help)


def forbid_and_require(place: Span, name: str) -> Diagnostic:
    """`constraint c on S { forbid when a  require b }`."""
    return diagnostic(
        "syntax", place, f"the constraint `{name}` says both `forbid` and `require`", "make two constraints of it"
    )


def forbid_with_when(place: Span, name: str) -> Diagnostic:
    """`constraint c on S { forbid when a  when b }`."""
    return diagnostic(
        "syntax",
        place,
        f"the constraint `{name}` says `forbid when`, and `when` besides",
        "join the two conditions by `and` after `forbid when`",
    )


def outside_scale(place: Span, what: str, most: int) -> Diagnostic:
    """`confidence 1.5`, `priority 11`."""
    return diagnostic("out-of-range", place, f"a {what} lies between 0 and {most}", f"write a number in 0..={most}")


def ill_scaled(place: Span) -> Diagnostic:
    """`score 5`."""
    return diagnostic(
        "score-scale", place, "a score lies between -1 and 1", "say how much it counts by `priority`, not by the score"
    )


def bad_word(place: Span, what: str, word: str, known: Sequence[str]) -> Diagnostic:
    """`status activ`, `severity high`, `resolve S by weight`."""
    near = nearest(word, known)
    help = f"write {_listed(known, 'or')}" if near is None else f"did you mean `{near}`?"
    return diagnostic("unknown-name", place, f"`{word}` is no {what}", help)


def not_days(place: Span) -> Diagnostic:
    """`valid 1..3`, `valid 2026-03-04`."""
    return diagnostic(
        "type-mismatch",
        place,
        "`valid` needs a range of dates",
        "write such as `2026-03-01..2026-04-01`, or `2026-03-01..`",
    )


def bad_override(place: Span, name: str, kind: str, found: str, declared: Span) -> Diagnostic:
    """A rule that overrides a constraint."""
    return diagnostic(
        "bad-override",
        place,
        f"{_a(kind)} can't override `{name}`, which is {_a(found)}",
        f"{_a(kind)} overrides {kind}s on its own schema",
        [Note(declared, f"`{name}` is declared here")],
    )


def other_schema(place: Span, name: str, schema: str, found: str, declared: Span) -> Diagnostic:
    """A rule on S that overrides, or a property on S that speaks of, a rule on T."""
    return diagnostic(
        "bad-override",
        place,
        f"`{name}` is on `{found}`, not on `{schema}`",
        f"only what is on `{schema}` too can be overridden here",
        [Note(declared, f"`{name}` is declared here")],
    )


def fact_of_other_schema(place: Span, name: str, schema: str, found: str) -> Diagnostic:
    """`property p on S { expect fires(r) }`, where r is on T."""
    return diagnostic(
        "type-mismatch", place, f"`{name}` is on `{found}`, not on `{schema}`", f"speak of what is on `{schema}`"
    )


def overridden_twice(place: Span, name: str, first: Span) -> Diagnostic:
    """`overrides a, a`."""
    return diagnostic(
        "duplicate-name", place, f"`{name}` is overridden twice", "leave one out", [Note(first, "the first is here")]
    )


def override_cycle(place: Span, names: Sequence[str], others: Iterable[tuple[str, Span]]) -> Diagnostic:
    """a overrides b, b overrides a."""
    message = (
        f"`{names[0]}` overrides itself" if len(names) == 1 else f"{_listed(names)} override each other in a circle"
    )
    notes = [Note(span, f"`{name}` takes part") for name, span in others]
    return diagnostic("override-cycle", place, message, "take one of the `overrides` away", notes)


def resolved_twice(place: Span, schema: str, first: Span) -> Diagnostic:
    """`resolve S by priority  resolve S by weighted`."""
    return diagnostic(
        "duplicate-name", place, f"`{schema}` is resolved twice", "leave one out", [Note(first, "the first is here")]
    )


def argument_count(place: Span, effect: str, wanted: Sequence[str], given: int) -> Diagnostic:
    """`do tag("a", "b")`."""
    takes = "no argument" if not wanted else f"{len(wanted)} argument{'s' * (len(wanted) > 1)} ({', '.join(wanted)})"
    return diagnostic(
        "wrong-arguments", place, f"`{effect}` takes {takes}, not {given}", f"write `{effect}({', '.join(wanted)})`"
    )


def asked_twice(place: Span, action: str, effect: str, first: Span) -> Diagnostic:
    """`do tag("a"), tag("b")`, where `tag` is not declared `effect many tag`."""
    found = diagnostic(
        "clashing-actions",
        place,
        f"`{action}` asks for `{effect}` twice, with different arguments",
        f"declare it as `effect many {effect}`, or ask once",
        [Note(first, "it is asked for here first")],
    )
    return replace(found, rules=(action,))


def not_an_effect(place: Span, name: str) -> Diagnostic:
    """`do limit(3)`, where `limit` is a let."""
    return diagnostic("type-mismatch", place, f"`{name}` is not an effect", "declare it as `effect name(…)`")


def not_a_list(place: Span, name: str) -> Diagnostic:
    """`alert a for p in limit`, where `limit` is no list."""
    return diagnostic("type-mismatch", place, f"`{name}` is not a list", "an alert looks at each record of a `list<…>`")


def bad_interpolation(place: Span, text: str) -> Diagnostic:
    """`say "{p.a + 1}"`, `say "{p.drug"`."""
    return diagnostic(
        "syntax",
        place,
        f"`{text}` is not a path to a value",
        "write such as `{p.drug}`, and `{{` for a brace",
    )


def no_one_text(place: Span, path: str, type: str) -> Diagnostic:
    """`say "{p}"`, where p is a record."""
    return diagnostic(
        "type-mismatch", place, f"`{path}` is a `{type}`, which has no one text", "name one of its fields"
    )


def say_absent(place: Span, path: str) -> Diagnostic:
    """`say "{p.dose}"`, where the dose may be absent."""
    return diagnostic(
        "absent-unhandled", place, f"`{path}` may be absent here", f"add `present({path})` to the `when` of the alert"
    )


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _listed(names: Sequence[str], word: str = "and") -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"
