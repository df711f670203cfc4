"""What an expression becomes: values and masks of the graph.

In each form `there` is the mask of rows that have a value, `over` that of rows in which evaluating it overflows. What a
row holds that is not in the one, or is in the other, means nothing and is never looked at.
"""

from __future__ import annotations

from typing import Any

from ucl.frozen import frozen
from ucl.kernels.columns import Path
from ucl.kernels.plan import FALSE, TRUE, Literal


@frozen
class Fixed:
    """The same for every row: a constant, or something of the call. None is absent; `over` that it overflows."""

    value: Any
    over: Literal = FALSE

    @property
    def there(self) -> Literal:
        return FALSE if self.value is None else TRUE


@frozen
class Truth:
    holds: Literal
    there: Literal = TRUE
    over: Literal = FALSE


@frozen
class Number:
    """An int64 value of the graph, or a float64 one where `floating`."""

    value: int
    floating: bool
    there: Literal = TRUE
    over: Literal = FALSE


@frozen
class TextColumn:
    path: Path
    there: Literal
    over: Literal = FALSE


@frozen
class SetColumn:
    path: Path
    there: Literal
    over: Literal = FALSE


@frozen
class Nested:
    """A record within the option."""

    path: Path
    there: Literal
    over: Literal = FALSE


Form = Fixed | Truth | Number | TextColumn | SetColumn | Nested


class Unlowered(Exception):  # noqa: N818 - a signal, not an error
    """No vector operation computes this: what surrounds it is evaluated for each distinct tuple of what it reads."""
