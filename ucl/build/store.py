"""A checked program as data: JSON with a version and a hash, and back.

In: a `Program`. Out: text that holds the same tree, and from such text an equal tree again, without parser or checker.
What is read is not trusted: only the classes of the typed tree are made, every field must have its declared type, and
anything else is `CorruptProgramError`. There is no pickle and no code in it.

Scalars stand for themselves; all else is a list that opens with its kind: the name of a class, or one of `tuple`,
`set`, `map`, `fraction`, `op` (a row of the table of builtins) and `ref`. Schemas, lets, definitions and sources are
compared by identity, so each is stored once, after those that it refers to, and referred to by its number.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import cache
from graphlib import TopologicalSorter
from types import UnionType
from typing import Any, ForwardRef, Union, get_args, get_origin, get_type_hints

from ucl.diagnostics import Source, Span
from ucl.semantics import builtins, program, types
from ucl.semantics.builtins import Signature
from ucl.semantics.program import Program

FORMAT = "ucl-program"
VERSION = 2

_SHARED = (program.Schema, program.Let, program.Definition, Source)
_ENUMS: Mapping[str, type[StrEnum]] = {e.__name__: e for e in (program.Status, program.Resolution)}


class CorruptProgramError(ValueError):
    """Stored program data that is damaged, foreign or of another version."""


def _tree_classes() -> Iterator[type]:
    """The dataclasses of the typed tree, and no others: what `decode` may make."""
    for module in (types, program):
        for value in vars(module).values():
            if isinstance(value, type) and dataclasses.is_dataclass(value) and value.__module__ == module.__name__:
                yield value
    yield Source
    yield Span


def _class_name(cls: type) -> str:
    """`Compare`, `type.Set`: types carry a prefix, so that a name stands for one class."""
    return f"type.{cls.__name__}" if cls.__module__ == types.__name__ else cls.__name__


_CLASSES: Mapping[str, type] = {_class_name(cls): cls for cls in _tree_classes()}


# --- builtins -------------------------------------------------------------------------------------------------------


def _signatures() -> Iterator[tuple[str, Signature]]:
    for operator, rows in builtins.OPERATORS.items():
        yield from ((operator, row) for row in rows)
    for (type_, part), row in builtins.PARTS.items():
        yield f"{type_}.{part}", row
    for name, builtin in builtins.FUNCTIONS.items():
        yield from ((name, row) for row in builtin.signatures)
    yield "widen", builtins.WIDEN


def _signature_name(name: str, row: Signature) -> str:
    """Says enough that a row which changed its meaning is no longer found: `+ add_int(int, int)`."""
    return f"{name} {row.op}({', '.join(map(_pattern_name, row.parameters))})"


def _pattern_name(pattern: builtins.Pattern) -> str:
    match pattern:
        case builtins.Var(name):
            return name
        case builtins.SetOf(element):
            return f"set<{element.name}>"
        case _:
            return str(pattern)


_BY_NAME: Mapping[str, Signature] = {_signature_name(name, row): row for name, row in _signatures()}
_BY_SIGNATURE: Mapping[Signature, str] = {row: name for name, row in _BY_NAME.items()}


# --- writing --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Stored:
    """The text of a stored program, and the hash of what it holds."""

    text: str
    hash: str


def encode(checked: Program, shown_path: Callable[[Source], str]) -> Stored:
    """A checked program as text; `shown_path` gives the path under which a source is remembered."""
    writer = _Writer(shown_path)
    root = writer.value(checked)
    writer.drain()
    content = {"objects": writer.in_order(), "program": root}
    canonical = _canonical(content)
    digest = _digest(canonical)
    return Stored(f'{{"format":"{FORMAT}","version":{VERSION},"hash":"{digest}","content":{canonical}}}\n', digest)


def _canonical(content: Any) -> str:
    """One text for one content: compact, and ASCII, since texts may hold what UTF-8 can't."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


class _Writer:
    """Numbers shared objects as it meets them and writes them one by one, so that long chains don't nest."""

    def __init__(self, shown_path: Callable[[Source], str]) -> None:
        self._shown_path = shown_path
        self._numbers: dict[int, int] = {}
        self._waiting: list[Any] = []
        self._bodies: list[Any] = []
        self._needs: list[set[int]] = []
        self._met: set[int] = set()

    def drain(self) -> None:
        """Writes what was met and is not written yet."""
        while len(self._bodies) < len(self._waiting):
            self._met = set()
            body = self._plain(self._waiting[len(self._bodies)])
            self._bodies.append(body)
            self._needs.append(self._met)

    def in_order(self) -> list[Any]:
        """Pairs of number and body, each after those that it needs."""
        graph = {number: sorted(needs) for number, needs in enumerate(self._needs)}
        return [[number, self._bodies[number]] for number in TopologicalSorter(graph).static_order()]

    def value(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float():
                return value
            case StrEnum():
                return [type(value).__name__, str(value)]
            case str():
                return value
            case tuple() | list():
                return ["tuple", *map(self.value, value)]
            case frozenset():
                return ["set", *sorted(value)]
            case Fraction():
                return ["fraction", value.numerator, value.denominator]
            case Signature():
                return ["op", _BY_SIGNATURE[value]]
            case Mapping():
                return ["map", *([key, self.value(item)] for key, item in value.items())]
            case Span():
                return self._plain(value.in_document)
            case _ if isinstance(value, _SHARED):
                return ["ref", self._number(value)]
            case _:
                return self._plain(value)

    def _number(self, value: Any) -> int:
        number = self._numbers.setdefault(id(value), len(self._waiting))
        if number == len(self._waiting):
            self._waiting.append(value)
        self._met.add(number)
        return number

    def _plain(self, value: Any) -> Any:
        cls = type(value)
        if isinstance(value, Source):
            return [_class_name(cls), self._shown_path(value), value.text]
        if _CLASSES.get(_class_name(cls)) is not cls:
            raise TypeError(f"{cls.__name__} is no part of a program's tree")
        return [_class_name(cls), *(self.value(getattr(value, f.name)) for f in dataclasses.fields(cls))]


# --- reading --------------------------------------------------------------------------------------------------------


def decode(text: str, expected_hash: str | None = None) -> Program:
    """The program in `text`; raises `CorruptProgramError` for anything that `encode` would not write.

    `expected_hash` is that of the program which the caller means.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise CorruptProgramError("this is no compiled program: it can't be read as JSON") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise CorruptProgramError("this is no compiled program")
    if document.get("version") != VERSION:
        raise CorruptProgramError(
            f"the program is stored in version {document.get('version')} of the format, and this is version {VERSION}; "
            "build it again"
        )
    content, stored_hash = document.get("content"), document.get("hash")
    if _digest(_canonical(content)) != stored_hash:
        raise CorruptProgramError("the compiled program is damaged: it does not match its hash; build it again")
    if expected_hash not in (None, stored_hash):
        raise CorruptProgramError("the compiled program is not the one that its module was built with; build it again")
    try:
        return _read(content)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise CorruptProgramError(f"the compiled program is damaged ({error}); build it again") from None


def _read(content: Any) -> Program:
    reader = _Reader()
    for number, body in content["objects"]:
        reader.objects[number] = reader.value(body)
    result = reader.value(content["program"])
    if not isinstance(result, Program):
        raise ValueError("it holds no program")
    return result


class _Reader:
    def __init__(self) -> None:
        self.objects: dict[int, Any] = {}

    def value(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float() | str():
                return value
            case ["tuple", *items]:
                return tuple(map(self.value, items))
            case ["set", *items]:
                return frozenset(items)
            case ["map", *items]:
                return {key: self.value(item) for key, item in items}
            case ["fraction", int(numerator), int(denominator)] if denominator > 0:
                return Fraction(numerator, denominator)
            case ["op", str(name)]:
                return _BY_NAME[name]
            case ["ref", int(number)]:
                return self.objects[number]
            case [str(name), str(word)] if name in _ENUMS:
                return _ENUMS[name](word)
            case [str(name), *items]:
                return self._make(_CLASSES[name], [self.value(item) for item in items])
            case _:
                raise ValueError("a value of no known kind")

    def _make(self, cls: type, items: list[Any]) -> Any:
        fields = _field_types(cls)
        if len(items) != len(fields):
            raise ValueError(f"{cls.__name__} with {len(items)} parts")
        for (name, expected), item in zip(fields.items(), items, strict=True):
            if not _fits(item, expected):
                raise ValueError(f"{name} of {cls.__name__} is of another kind")
        return cls(**dict(zip(fields, items, strict=True)))


@cache
def _field_types(cls: type) -> Mapping[str, Any]:
    """The declared type of each field, with the forward references of the tree resolved."""
    hints = get_type_hints(cls, localns={"Signature": Signature, "Schema": program.Schema})
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def _fits(value: Any, expected: Any) -> bool:
    """Whether a value is of a declared type: plain classes, unions, tuples, sets and mappings of them."""
    if isinstance(expected, ForwardRef):
        expected = program.Value
    if expected is None or expected is type(None):
        return value is None
    if expected is float:
        return isinstance(value, float)
    if expected is int:
        return isinstance(value, int) and not isinstance(value, bool)
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (Union, UnionType):
        return any(_fits(value, a) for a in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, arguments[0]) for item in value)
    if origin is frozenset:
        return isinstance(value, frozenset) and all(_fits(item, arguments[0]) for item in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            isinstance(k, str) and _fits(v, arguments[1]) for k, v in value.items()
        )
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return isinstance(value, tuple) and all(_fits(item, arguments[0]) for item in value)
    return isinstance(expected, type) and isinstance(value, expected)
