"""Answers and alerts of a large memory, from columns of it: what `evaluate.query` and `evaluate.alerts` say.

In: a program and a call. Out: the definition's own answers and alerts. Which records an alert concerns is found for all
of them at once; what is said of those is evaluated. What no column gives is left to `evaluate` altogether.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ucl.kernels.lowering.expressions import Lowering
from ucl.kernels.lowering.forms import Fixed, Form, Truth, Unlowered, fixed
from ucl.kernels.memory.conditions import of_item
from ucl.kernels.memory.items import Items
from ucl.kernels.memory.survey import Survey
from ucl.kernels.plan import FALSE, TRUE
from ucl.semantics import evaluate
from ucl.semantics import types as t
from ucl.semantics.evaluate import Alerted, Answer, Budget, Frame, told, unevaluated
from ucl.semantics.outcome import Call
from ucl.semantics.program import Alert, Program, Schema, Status, Value

Bits = NDArray[np.bool_]


def query(program: Program, name: str, arguments: Sequence[Value], call: Call) -> Answer:
    """As `evaluate.query`. Raises `Exhausted` where it does, or later."""
    definition = program.definitions[name]
    names: Mapping[str, Form] = {
        parameter.name: fixed(value, parameter.type)
        for parameter, value in zip(definition.parameters, arguments, strict=True)
    }
    nothing = Schema("", "", (), None, definition.span)
    form: Form | None
    try:
        form = Lowering(nothing, call).form(definition.body, names)
    except Unlowered:
        form = None
    match form:
        case Fixed(value, over) if over == FALSE:
            return Answer(name, value)
        case Truth(holds, there, over) if over == FALSE and there == TRUE and holds in (TRUE, FALSE):
            return Answer(name, holds == TRUE)
        case _:  # an overflow, too, is for the definition to tell
            return evaluate.query(program, name, arguments, call)


def alerts(program: Program, call: Call) -> list[Alerted]:
    """As `evaluate.alerts`."""
    budget = Budget()
    found: list[Alerted] = []
    for alert in program.alerts:
        if alert.meta.status is not Status.ACTIVE or not alert.meta.valid.holds(call.today):
            continue
        records = call.memory[alert.memory]
        assert isinstance(records, Sequence)
        holds, over = _concerned(alert, Items(records, t.List(alert.record), alert.span), call)
        for place in np.flatnonzero(holds | over).tolist():
            record = records[place]
            assert isinstance(record, Mapping)
            frame = Frame(call, budget, variables={alert.variable: record})
            found.append(unevaluated(alert, record) if over[place] else told(alert, record, frame))
    return found


def _concerned(alert: Alert, items: Items, call: Call) -> tuple[Bits, Bits]:
    """The records for which an alert holds, and those for which that overflows."""
    when = () if alert.when is None else (alert.when,)
    conditions = [of_item(expr, alert.variable, items.root) for expr in (*when, *alert.unless)]
    survey = Survey(Lowering(items.schema, call), items, conditions)
    holds, over = np.ones(len(items.records), np.bool_), np.zeros(len(items.records), np.bool_)
    for number in range(len(conditions)):
        here, unknown = survey.mask(number)
        over |= holds & unknown
        holds &= here if number < len(when) else ~here & ~unknown
    return holds, over
