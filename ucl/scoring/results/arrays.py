"""What is said of every row, as arrays: the part that the results of one table and of many people share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.run import Scores
from ucl.scoring.results.ranking import Ranked
from ucl.semantics.outcome import NANO, Decision, Invalid

_DECISIONS = np.array([str(d) for d in Decision] + [None], dtype=object)
_DECISION_CODES = {decision: np.int8(code) for code, decision in enumerate(Decision)}


class ScoreArrays:
    """By row from 0. Rows that are invalid keep their place.

    An invalid row has the total NaN, is neither `feasible` nor `contested`, and has no decision; `invalid` says why.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def __len__(self) -> int:
        return len(self._scores.total)

    @property
    def scores(self) -> Scores:
        """What the kernels say of each row."""
        return self._scores

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """Shape (rows,); NaN for an invalid row."""
        totals = self._scores.total / NANO
        # Beyond 2^53 the sum is no double: divide it exactly and round once.
        for row in np.flatnonzero(np.abs(self._scores.total) > 1 << 53).tolist():
            totals[row] = int(self._scores.total[row]) / NANO
        totals[~self._scores.valid] = np.nan
        return totals

    @property
    def feasible(self) -> NDArray[np.bool_]:
        return self._scores.feasible

    @property
    def contested(self) -> NDArray[np.bool_]:
        return self._scores.contested

    @cached_property
    def decision(self) -> NDArray[np.object_]:
        """Shape (rows,): `infeasible`, `ask_user`, `accept` or `suggest_alternative`; None for an invalid row."""
        decisions: NDArray[np.object_] = _DECISIONS[self._decision_codes]
        return decisions

    @cached_property
    def _decision_codes(self) -> NDArray[np.int8]:
        scores, code = self._scores, _DECISION_CODES
        codes = np.full(len(self), code[Decision.SUGGEST_ALTERNATIVE], np.int8)
        np.copyto(codes, code[Decision.ACCEPT], where=scores.total >= 0)
        np.copyto(codes, code[Decision.ASK_USER], where=scores.contested)
        np.copyto(codes, code[Decision.INFEASIBLE], where=~scores.feasible)
        np.copyto(codes, len(code), where=~scores.valid)
        return codes

    @property
    def invalid(self) -> Mapping[int, Invalid]:
        """By row, why it has no score: the field or the rule, the reason and the data's value."""
        return self._scores.invalid

    def _ranked(self, row: int) -> Ranked:
        decision = self.decision[row]
        return Ranked(row, float(self.total[row]), bool(self.feasible[row]), decision, self.invalid.get(row))
