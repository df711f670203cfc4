"""The machine, which takes many steps of the table at once, against one that takes them one by one."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from golden_files import good_programs

from ucl.diagnostics import Report, Source, Span
from ucl.syntax.parse import parse
from ucl.syntax.reading.declarations import Builder
from ucl.syntax.reading.lexer import tokens
from ucl.syntax.reading.table import Effect, Reduction, load


def step_by_step(source: Source) -> Any:
    """The declarations of a program without a mistake, by the textbook's algorithm."""
    table, comments = load(), list[tuple[int, int]]()
    builder = Builder(Report(), comments)
    states, values, begins = [table.initial], list[Any](), list[int]()
    last_end = 0
    for terminal, start, end in tokens(source.text, 0, comments):
        while (action := table.actions[states[-1]].get(terminal)) is not None and action < 0:
            reduction = table.reductions[-1 - action]
            size = reduction.size
            begin = begins[-size] if size else last_end
            taken = [values.pop() for _ in range(size)][::-1]
            del states[len(states) - size :], begins[len(begins) - size :]
            values.append(made_of(reduction, taken, builder, Span(source, begin, last_end)))
            begins.append(begin)
            states.append(table.gotos[states[-1]][reduction.target])
        if action is None:
            break
        states.append(action)
        values.append(source.text[start:end])
        begins.append(start)
        last_end = end
    assert states[-1] == table.accepting
    (declarations,) = values
    return declarations


def made_of(reduction: Reduction, taken: list[Any], builder: Builder, span: Span) -> Any:
    picked: list[Any] = []
    for pick in reduction.picks:
        if pick >= 0:
            picked.append(taken[pick])
        else:
            picked += [None] if pick == -1 else taken[-2 - pick]
    if reduction.effect is Effect.PASS:
        return picked[0]
    if reduction.effect is Effect.GATHER:
        return picked
    # A keyword that is all of a production is a name, or an operator.
    return getattr(builder, reduction.name)(span, *(picked or (taken if reduction.size == 1 else [])))


def whole(node: Any) -> Any:
    """A tree with all that its equality leaves out: spans, and texts as written."""
    if isinstance(node, Span):
        return node.start, node.end
    if is_dataclass(node):
        return type(node), [whole(getattr(node, f.name)) for f in fields(node)]
    return [whole(part) for part in node] if isinstance(node, list | tuple) else node


@pytest.mark.parametrize("path", good_programs(), ids=lambda path: path.stem)
def test_golden_programs_get_the_same_tree(path: Path) -> None:
    source = Source(path.name, path.read_text(encoding="utf-8"))
    assert whole(list(parse(source, Report()).declarations)) == whole(list(step_by_step(source)))
