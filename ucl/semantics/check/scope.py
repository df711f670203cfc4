"""What a name can mean at a place: the question that expressions ask and declarations answer.

In: declarations build a `Scope` for each body. Out: the expression checker looks names up in it. Globals are looked up
through a function, since a declaration is checked when it is first needed (lets and defs may stand in any order).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import field, replace

from ucl.frozen import frozen
from ucl.semantics.program import Definition, Effect, Expr, Field, Let, MemoryField, Schema
from ucl.semantics.types import Dimension, Type, Unit


@frozen
class RangeLet:
    """`let after_lunch = 13:00..14:00`: the checked ends, each a constant; None is an open end."""

    name: str
    element: Type
    low: Expr | None
    high: Expr | None
    inclusive: bool


@frozen
class ModuleName:
    """`import a.b` makes `b.x` usable: `member` finds x, `names` lists what there is for "did you mean"."""

    module: str
    member: Callable[[str], Global | None]
    names: Callable[[], Iterable[str]]


@frozen
class RuleName:
    """A rule or a constraint, for `fires(r)` and its like. `kind` is `rule` or `constraint`."""

    name: str
    kind: str


@frozen
class Wrong:
    """Declared, but with an error that has been said: uses of it have the type Unknown and say nothing."""


Global = Let | RangeLet | Definition | Schema | Dimension | Effect | ModuleName | RuleName | Wrong


@frozen
class Scope:
    """Names at one place.

    A bare name may be a field of `option`, a context field (`now` and `today` among them), a memory, a global or a
    local; where it could be two of them, its use is `ambiguous-name`. `locals` are a def's parameters and the variables
    of enclosing comprehensions. `units` maps a unit's name to what it may mean here: durations' units are always
    there, with None for the dimension; a unit that is wrong has no meaning. `units_missing` says whether there may be
    others, since an import is wrong; `taken_twice` are the names that two declarations claim. `plain` are fields of the
    option whose names mean nothing else outside `expect`, unless a local is called so.
    """

    module: str
    option: Schema | None
    context: Mapping[str, Field]
    memory: Mapping[str, MemoryField]
    find_global: Callable[[str], Global | None]
    global_names: Callable[[], Iterable[str]]
    units: Mapping[str, tuple[tuple[Dimension | None, Unit], ...]]
    locals: Mapping[str, Type] = field(default_factory=dict)
    in_expect: bool = False
    units_missing: bool = False
    taken_twice: Container[str] = ()
    plain: Mapping[str, Field] = field(default_factory=dict)

    def with_local(self, name: str, type: Type) -> Scope:
        return replace(self, locals={**self.locals, name: type})
