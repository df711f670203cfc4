"""Bars as an SVG drawing, readable without colours and without seeing it.

In: bars with a label, two ends and a caption. Out: an `Svg`. Every text is escaped; the drawing has a title and a
description, runs nothing and loads nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from ucl.widths import cut

RISES, FALLS, SUM, OUT = "#1b6ca8", "#b3452c", "#4a4a4a", "#9a9a9a"
_INK, _PAPER, _GRID = "#222222", "#ffffff", "#bbbbbb"
_ROW, _BAR, _TOP = 24, 16, 44
_LABELS, _BARS, _CAPTIONS = 280, 280, 190
_CELL = 7.0
_MARGIN = 8


@dataclass(frozen=True)
class Svg:
    """A drawing: notebooks show it, `str()` is its source, which stands alone as a file."""

    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.text


@dataclass(frozen=True)
class Bar:
    """From `start` to `end` on the common axis; `label` stands before it and `caption` behind it, in words."""

    label: str
    start: float
    end: float
    caption: str
    colour: str


def bars(title: str, description: str, rows: Sequence[Bar]) -> Svg:
    """A bar below another, on an axis that shows where 0 is."""
    width, height = _LABELS + _BARS + _CAPTIONS + 2 * _MARGIN, _TOP + _ROW * max(len(rows), 1) + _MARGIN
    name = f"ucl-{zlib.crc32(repr((title, description, rows)).encode('utf-8', 'replace')):08x}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="{name}-title {name}-desc" font-family="sans-serif" font-size="12">',
        f'<title id="{name}-title">{_text(title)}</title>',
        f'<desc id="{name}-desc">{_text(description)}</desc>',
        f'<rect width="{width}" height="{height}" fill="{_PAPER}"/>',
        f'<text x="{_MARGIN}" y="22" fill="{_INK}" font-weight="bold">{_text(cut(title, int(width / _CELL)))}</text>',
        *_drawn(rows, height),
        "</svg>",
    ]
    return Svg("\n".join(parts))


def _drawn(rows: Sequence[Bar], height: int) -> Iterator[str]:
    ends = [0.0, *(end for bar in rows for end in (bar.start, bar.end))]
    low, high = min(ends), max(ends)
    span = high - low or 1.0
    left = _MARGIN + _LABELS

    def x(value: float) -> float:
        return round(left + (value - low) / span * _BARS, 2)

    zero = x(0)
    yield f'<line x1="{zero}" x2="{zero}" y1="{_TOP - 8}" y2="{height - _MARGIN}" stroke="{_GRID}"/>'
    for place, bar in enumerate(rows):
        top = _TOP + place * _ROW
        base = top + _BAR - 4
        first, last = sorted((x(bar.start), x(bar.end)))
        length = max(round(last - first, 2), 1)
        label, caption = cut(bar.label, int(_LABELS / _CELL)), cut(bar.caption, int(_CAPTIONS / _CELL))
        yield f"<g><title>{_text(f'{bar.label}: {bar.caption}')}</title>"
        yield f'<text x="{left - 8}" y="{base}" text-anchor="end" fill="{_INK}">{_text(label)}</text>'
        yield f'<rect x="{first}" y="{top}" width="{length}" height="{_BAR}" fill="{bar.colour}"/>'
        yield f'<text x="{left + _BARS + 8}" y="{base}" fill="{_INK}">{_text(caption)}</text>'
        yield "</g>"


def _text(text: str) -> str:
    """Escaped, and without the characters that XML does not have."""
    return escape("".join(c if c.isprintable() else " " for c in text), quote=False)
