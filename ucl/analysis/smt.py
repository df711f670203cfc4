"""Linear relations between fields, decided by z3: the only module that knows it.

In: a box and the relations that it asks for. Out: values of the fields that take part, that there are none, or None.

Terms are declared and asserted in a fixed order, with a fixed seed and a budget in the solver's own steps, so that the
answer is the same on every machine. Doubles are taken as reals: a model is rounded, and what rounding breaks does not
replay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from ucl.analysis.boxes import line
from ucl.analysis.boxes.axes import DayAxis, LineAxis, MomentAxis
from ucl.analysis.boxes.formula import Relation
from ucl.analysis.boxes.space import Box, Clockwork
from ucl.analysis.boxes.terms import CLOCK, DAY, Place, Term
from ucl.analysis.regions import Scene
from ucl.semantics import types as t
from ucl.semantics.types import DAY as DAY_LENGTH

_STEPS = 2_000_000


def solve(
    scene: Scene, box: Box, asked: Sequence[tuple[Relation, bool]]
) -> Mapping[Place, Any] | Literal["unsatisfiable"] | None:
    return None
