"""Testing what a program promises: strategies of options, verdicts on promises, relations that hold everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucl.testing.strategies import options

__all__ = ["options"]


def __getattr__(name: str) -> Any:
    """`options` brings Hypothesis with it, and is fetched when it is first named."""
    if name != "options":
        raise AttributeError(f"module 'ucl.testing' has no attribute {name!r}")
    from ucl.testing.strategies import options

    return options
