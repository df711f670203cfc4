"""Testing what a program promises: strategies of options, verdicts on promises, relations that hold everywhere."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucl.testing.relations import broken_relations
    from ucl.testing.strategies import options
    from ucl.testing.verdicts import verdicts

__all__ = ["broken_relations", "options", "verdicts"]

_HOMES = {"broken_relations": "relations", "options": "strategies", "verdicts": "verdicts"}


def __getattr__(name: str) -> Any:
    """Each brings Hypothesis or NumPy with it, and is fetched when it is first named."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ucl.testing' has no attribute {name!r}")
    return getattr(import_module(f"ucl.testing.{_HOMES[name]}"), name)
