"""How wide text is where every character has a cell of its own, and text cut to fit."""

from __future__ import annotations

import unicodedata


def text_width(text: str) -> int:
    """Terminal cells: wide characters of East Asian scripts take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, width: int) -> str:
    """The text on one line, in at most `width` cells; what is cut off is an ellipsis."""
    line = " ".join(text[: 8 * width].split())
    if text_width(line) <= width:
        return line
    kept, used = [], 0
    for character in line:
        used += text_width(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"
