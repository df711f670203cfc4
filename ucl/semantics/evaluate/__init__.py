"""The meaning of a program, the definition that every faster way is held to.

In: a checked `Program`, values as `semantics.program` describes them, a `Call`. Out: outcomes of options, effects of
events, answers, alerts, and whether a property holds. An expression's own meaning is in `semantics.expressions`.
"""

from ucl.semantics.evaluate.events import Alerted, Answer, Effected, act, alerts, query, told, unevaluated
from ucl.semantics.evaluate.options import (
    Judgement,
    Ruleset,
    in_source_order,
    judge,
    outcome_of,
    score_option,
    score_options,
)
from ucl.semantics.evaluate.properties import property_holds, satisfies
from ucl.semantics.expressions import STEPS, Budget, Exhausted, Frame, evaluate
from ucl.semantics.operations import Overflow

__all__ = [
    "STEPS",
    "Alerted",
    "Answer",
    "Budget",
    "Effected",
    "Exhausted",
    "Frame",
    "Judgement",
    "Overflow",
    "Ruleset",
    "act",
    "alerts",
    "evaluate",
    "in_source_order",
    "judge",
    "outcome_of",
    "property_holds",
    "query",
    "satisfies",
    "score_option",
    "score_options",
    "told",
    "unevaluated",
]
