"""Frozen records for trees: a dataclass that is quick to define and quick to build.

In: a class body with annotated fields. Out: a dataclass with slots that type checkers hold frozen, equal and hashed by
the fields that compare. A tree has a hundred classes, and the standard `dataclass(frozen=True)` compiles eight methods
for each (half of what starting the compiler took) and stores each field through `object.__setattr__` (half of what
building a tree took). Here each method is made when it is first needed, `__init__` too, and that nobody writes on a
tree is held by mypy alone.

`collector_paused` is for those who build such trees.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from operator import attrgetter
from types import MethodType
from typing import Any, TypeVar, dataclass_transform

C = TypeVar("C")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[C]) -> type[C]:
    """As `dataclass(frozen=True, slots=True)`."""
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else `dataclass` asks `inspect` for a signature to put there
    made = dataclass(slots=True, eq=False, repr=False, init=False)(cls)
    if "__init__" not in cls.__dict__:
        setattr(made, "__init__", _InitializedLater(made))  # noqa: B010 - mypy takes it for a method
    for name, method in (("__eq__", _equal), ("__hash__", _hash), ("__repr__", _text)):
        if name not in cls.__dict__:
            setattr(made, name, method)
    return made


class _InitializedLater:
    """Stands for the `__init__` of a class until somebody asks for it, to make the first node or to document the class,
    and puts the real one in its own place."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, node: object, owner: type | None = None) -> Any:
        init = _initializer(self._cls)
        self._cls.__init__ = init  # type: ignore[misc]
        return init if node is None else MethodType(init, node)


def _initializer(cls: type) -> Callable[..., None]:
    """As `dataclass` would write it. The text is made of our own classes' field names alone."""
    known: dict[str, Any] = {}
    positional, keywords, body = ["self"], list[str](), list[str]()
    for f in fields(cls):
        if not f.init:
            continue
        parameter, value = f.name, f.name
        if f.default is not MISSING:
            known[f"default_{f.name}"] = f.default
            parameter += f"=default_{f.name}"
        elif f.default_factory is not MISSING:
            known[f"make_{f.name}"], known["MISSING"] = f.default_factory, MISSING
            parameter += "=MISSING"
            value = f"make_{f.name}() if {f.name} is MISSING else {f.name}"
        (keywords if f.kw_only else positional).append(parameter)
        body.append(f" self.{f.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    parameters = ", ".join([*positional, *(["*", *keywords] if keywords else [])])
    exec(f"def __init__({parameters}):\n" + "\n".join(body or [" pass"]), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = {f.name: f.type for f in fields(cls) if f.init} | {"return": None}
    return made


# One getter a class, made when one of its nodes is first compared: it reads all compared fields in one call.
_getters: dict[type, Callable[[Any], Any]] = {}


def _getter(cls: type) -> Callable[[Any], Any]:
    names = [f.name for f in fields(cls) if f.compare]
    getter: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()
    _getters[cls] = getter
    return getter


def _equal(self: Any, other: object) -> Any:
    if self is other:
        return True
    cls = type(self)
    if cls is not type(other):
        return NotImplemented
    read = _getters.get(cls) or _getter(cls)
    return read(self) == read(other)


def _hash(self: Any) -> int:
    """Of the first node of a class that is hashed; the class then has its own."""
    cls = type(self)
    read = _getters.get(cls) or _getter(cls)

    def hash_of(self: Any) -> int:
        return hash((cls, read(self)))

    setattr(cls, "__hash__", hash_of)  # noqa: B010 - mypy takes it for a method of the class itself
    return hash_of(self)


def _text(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


@contextmanager
def collector_paused() -> Iterator[None]:
    """Trees are made of parts that live as long as the whole and hold no cycles: looking for garbage among them took a
    third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
