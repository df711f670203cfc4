"""A result as the HTML that notebooks show.

In: a `Result`. Out: one table of its first rows. All text of the data is escaped; there are no scripts and no links.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from ucl.scoring.display.glance import cells
from ucl.scoring.words import number

if TYPE_CHECKING:
    from ucl.scoring.results.result import Result

_MOST_ROWS = 20
_MOST_COLUMNS = 5
_WIDEST = 40
_NUMBER = ' style="text-align: right"'
_WORDS = ' style="text-align: left"'


def html_of(result: Result) -> str:
    """The first rows in their order: the input's first columns, total, decision, and what fired or forbids."""
    return "\n".join(_lines(result))


def _lines(result: Result) -> Iterator[str]:
    shown = range(min(len(result), _MOST_ROWS))
    columns = result.table.column_names[:_MOST_COLUMNS]
    yield "<table>"
    yield f"<caption{_WORDS}>{escape(result.summary())}</caption>"
    heads = ["row", *columns, "total", "decision", "fired"]
    named = "".join(f'<th scope="col"{_WORDS}>{escape(head)}</th>' for head in heads)
    yield f"<thead><tr>{named}</tr></thead>"
    yield "<tbody>"
    given = cells(result.table, columns, shown, _WIDEST)
    for row, data in zip(result.rows(shown), given, strict=True):
        yield "<tr>" + "".join(_cells(row, data)) + "</tr>"
    yield "</tbody>"
    yield "</table>"
    hidden = len(result) - len(shown)
    more = [f"{hidden} more {'row' if hidden == 1 else 'rows'}"] if hidden else []
    unseen = result.table.num_columns - len(columns)
    more += [f"{unseen} more {'column' if unseen == 1 else 'columns'}"] if unseen else []
    if more:
        yield f"<p>… and {' and '.join(more)}</p>"


def _cells(row: dict[str, Any], data: list[str]) -> Iterator[str]:
    yield f'<th scope="row"{_NUMBER}>{row["row"]}</th>'
    yield from (f"<td{_WORDS}>{escape(cell)}</td>" for cell in data)
    invalid = row["invalid"]
    if invalid is not None:
        why = f"invalid: {invalid['field']} {invalid['reason']}"
        yield f'<td></td><td{_WORDS} colspan="2">{escape(why)}</td>'
        return
    names = [*row["fired"], *(f"violates {name}" for name in row["violated"])]
    yield f"<td{_NUMBER}>{escape(number(row['total']))}</td>"
    yield f"<td{_WORDS}>{escape(row['decision'].replace('_', ' '))}</td><td{_WORDS}>{escape(', '.join(names))}</td>"
