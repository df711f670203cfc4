"""What a property says of one option: LANGUAGE §11.

In: a property, an option, a call. Out: whether it holds there, or None where it says nothing of that option.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ucl.semantics.evaluate.options import Judgement, Ruleset, applies, frames, judge, outcome_of
from ucl.semantics.expressions import STEPS, Facts, Frame, bounded, evaluate
from ucl.semantics.operations import Overflow
from ucl.semantics.outcome import Call, as_score
from ucl.semantics.program import Constraint, Expr, Program, Property, Rule, Schema, Value


def property_holds(
    program: Program, prop: Property, option: Mapping[str, Any], call: Call, steps: int = STEPS
) -> bool | None:
    """None where `given` does not hold, the option is invalid, or a value that the property needs overflows.

    Whether the day is one on which the rules that it names are valid is for the caller to see to.
    """
    rules = Ruleset.of(program, prop.schema, call.today)
    (frame,) = frames([option], call, None, steps)
    try:
        with bounded():
            if prop.given is not None and not evaluate(prop.given, frame):
                return None
            judgement = judge(rules, frame)
            if judgement.failed:
                return None
            inner = _with_facts(program, prop.schema, rules, judgement, frame)
            return all(evaluate(expected, inner) for expected in prop.expect)
    except Overflow:
        return None


def satisfies(expr: Expr, option: Mapping[str, Any], call: Call, steps: int = STEPS) -> bool:
    """Whether a condition (a property's `given`, a prefer's `better` or `worse`) holds; an overflow is no."""
    (frame,) = frames([option], call, None, steps)
    try:
        with bounded():
            return bool(evaluate(expr, frame))
    except Overflow:
        return False


def _with_facts(program: Program, schema: Schema, rules: Ruleset, judgement: Judgement, frame: Frame) -> Frame:
    on_schema: list[Rule | Constraint] = [*program.rules_on(schema), *program.constraints_on(schema)]
    declared = {declaration.name: declaration for declaration in on_schema}

    def fact(kind: str, name: str) -> Value:
        match kind:
            case "fires":
                return name in judgement.fired
            case "applies":
                return applies(declared[name], frame)
            case "contribution":
                dropped = name in judgement.dropped
                return 0.0 if dropped else as_score(judgement.contributions.get(name, 0))
            case _:
                raise AssertionError(kind)

    facts = Facts(outcome_of(rules, judgement, frame.call), fact)
    return Frame(frame.call, frame.budget, frame.option, frame.choices, facts)
