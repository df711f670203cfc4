"""One option after another, in one call: what a service asks at every keystroke.

In: a program's plan, options as dicts or models. Out: a `Score` each. An option goes by the index of the plan
(`kernels.single`), in a few microseconds however many rules there are; one that is invalid, or that the index can't
tell about, is scored as a table of one row is, and says the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ucl.kernels.single import Unindexed, index_of, straight
from ucl.scoring import errors
from ucl.semantics.evaluate import Exhausted
from ucl.semantics.outcome import NANO, Call, Decision, Invalid
from ucl.semantics.program import Program, Schema

if TYPE_CHECKING:
    from ucl.kernels.plan import Plan
    from ucl.scoring.results.result import Result

# As `Score(…)`, which takes as long as half of the rules do.
_made = tuple.__new__
_INFEASIBLE, _ASK_USER = str(Decision.INFEASIBLE), str(Decision.ASK_USER)
_ACCEPT, _SUGGEST = str(Decision.ACCEPT), str(Decision.SUGGEST_ALTERNATIVE)

Answer = Callable[[dict[str, Any]], tuple[int, bool, bool]]

_FEW_ASKED = 16
"""So many options go by the index as it is: writing it out takes as long."""


class Score(NamedTuple):
    """What is said of one option. Of an invalid one the total is NaN, nothing holds, the decision is None, and
    `invalid` says why."""

    total: float
    feasible: bool
    contested: bool
    decision: str | None
    invalid: Invalid | None = None


class Scorer:
    """Scores options of one schema in one call: context, memory and the moment are those it was made with."""

    def __init__(self, program: Program, schema: Schema, call: Call, plan: Plan) -> None:
        self._program = program
        self._schema = schema
        self._call = call
        self._plan = plan
        self._index = index_of(plan, schema)
        self._answer: Answer = self._table_only if self._index is None else self._first
        self._asked = 0

    def score(self, option: Any) -> Score:
        """`option` is a dict by the fields' columns, or a model. It is a choice set of its own.

        Raises `TableError` as for a table: where a field that an option needs is missing, or is of another kind.
        """
        data = option
        if type(data) is not dict:
            data = _row_of(option)
            if data is None:
                return self._as_table(option)
        try:
            total, feasible, contested = self._answer(data)
        except (Unindexed, Exhausted):
            return self._as_table(option)
        decision = _ACCEPT if total >= 0 else _SUGGEST
        if not feasible or contested:
            decision = _ASK_USER if feasible else _INFEASIBLE
        return _made(Score, (total / NANO, feasible, contested, decision, None))

    def _first(self, option: dict[str, Any]) -> tuple[int, bool, bool]:
        """By the index as it is, until it has been asked so often that writing it out takes no longer."""
        assert self._index is not None
        self._asked += 1
        if self._asked >= _FEW_ASKED:
            self._answer = straight(self._index)
        return self._index.score(option)

    @staticmethod
    def _table_only(option: dict[str, Any]) -> tuple[int, bool, bool]:
        raise Unindexed

    def explained(self, option: Any) -> Result:
        """The option as a table of one row, from whose result reasons can be had."""
        from ucl.scoring.results.making import score_planned
        from ucl.tables.frames import to_table

        return score_planned(self._program, self._schema, self._call, self._plan, to_table([option]))

    def _as_table(self, option: Any) -> Score:
        with errors.bounded():
            result = self.explained(option)
        feasible, contested = bool(result.feasible[0]), bool(result.contested[0])
        return Score(float(result.total[0]), feasible, contested, result.decision[0], result.invalid.get(0))


def _row_of(option: Any) -> dict[str, Any] | None:
    """What a model holds; None for what is none."""
    if hasattr(option, "__ucl_row__"):
        row: dict[str, Any] = option.__ucl_row__()
        return row
    return option.model_dump(by_alias=True) if hasattr(option, "model_dump") else None
