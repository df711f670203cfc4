"""Plots of a result: how one total comes about, and how the best rows compare.

In: a `Result` and a row, or how many rows. Out: an `Svg`, whose description says in words what the bars show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ucl.scoring.display.glance import cells, telling_columns
from ucl.scoring.display.svg import FALLS, OUT, RISES, SUM, Bar, Svg, bars
from ucl.scoring.words import DECISIONS, number, signed
from ucl.semantics.outcome import Decision, as_score

if TYPE_CHECKING:
    from ucl.scoring.results.ranking import Ranked
    from ucl.scoring.results.result import Result

# Beyond so many contributions the least are drawn as one bar.
_MOST_BARS = 24


def waterfall(result: Result, row: int) -> Svg:
    """What each rule adds to a row's total, from 0 on, in source order; the total comes last."""
    outcome = result.outcome(row)
    title, why = f"Row {row}{_said(result, row)}", result.why(outcome)
    if outcome.total is None or outcome.decision is None:
        return bars(f"{title}: no score", f"Row {row} can't be scored: {why}.", [])
    drawn, level = [], 0
    for name, nano in _gathered(outcome.contributions).items():
        start, level = level, level + nano
        drawn.append(Bar(name, as_score(start), as_score(level), signed(nano), RISES if nano > 0 else FALLS))
    total = number(as_score(outcome.total))
    drawn.append(Bar("total", 0.0, as_score(outcome.total), f"{total}, {DECISIONS[outcome.decision]}", SUM))
    parts = "; ".join(f"{bar.label} {bar.caption}" for bar in drawn[:-1]) or "no rule adds anything"
    return bars(title, f"{parts}; total {total}. Decision: {DECISIONS[outcome.decision]}, {why}.", drawn)


def _gathered(contributions: Mapping[str, int]) -> Mapping[str, int]:
    """In their order, the least of too many added up."""
    if len(contributions) <= _MOST_BARS:
        return contributions
    greatest = set(sorted(contributions, key=lambda name: -abs(contributions[name]))[: _MOST_BARS - 1])
    rest = [nano for name, nano in contributions.items() if name not in greatest]
    kept = {name: nano for name, nano in contributions.items() if name in greatest}
    return kept | {f"{len(rest)} more rules": sum(rest)}


def ranking_bars(result: Result, top: int) -> Svg:
    """The totals of the best rows, best first; an invalid row has none to draw."""
    places = [place for place in result.ranking(top) if place.decision is not None]
    title = f"The best {len(places)} of {len(result)} rows" if len(result) != 1 else "The only row"
    if not places:
        return bars("No row has a score", "There is nothing to rank.", [])
    drawn = [
        Bar(f"{place.row}{_said(result, place.row)}", 0.0, place.total, _caption(place), _colour(place))
        for place in places
    ]
    return bars(title, "; ".join(f"row {bar.label}: {bar.caption}" for bar in drawn) + ".", drawn)


def _caption(place: Ranked) -> str:
    assert place.decision is not None
    return f"{number(place.total)}, {DECISIONS[Decision(place.decision)]}"


def _colour(place: Ranked) -> str:
    if not place.feasible:
        return OUT
    return RISES if place.total >= 0 else FALLS


def _said(result: Result, row: int) -> str:
    """What a person knows the row by, behind its number."""
    columns = telling_columns(result.table, result.schema, result.group_by)
    (known,) = cells(result.table, columns, [row])
    said = ", ".join(cell for cell in known if cell)
    return f" · {said}" if said else ""
