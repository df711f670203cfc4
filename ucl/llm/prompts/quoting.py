"""What people, mails and pages say, as data that a prompt can hold.

In: any text. Out: `Cleaned`: the words as they were said, without characters that only machines obey; and data as JSON
on one line, in which nothing can end the quotation, and no mark that a chat template or a prompt of ours is made of
stands as it is. No word is changed; of a text that is too long the beginning is read, and that is said.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from ucl.frozen import frozen

LONGEST_STATEMENT = 4000
LONGEST_BECAUSE = 400
_LONGEST_ID = 200

# All that ends a line or a page, or parts records: without it two words would be one.
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1f\x85\u2028\u2029]")
# Joiners that emoji and some scripts need, though they are of the class of characters that can't be seen.
_JOINERS = frozenset("\u200c\u200d")
# Selectors beyond the first sixteen: no font has them, and they can hide a text of any length.
_HIDDEN = ((0xE0000, 0xE0FFF),)
# What templates of chats, mark-up and our own examples are made of: `<|im_start|>`, `</said>`, `[INST]`, a fence.
_MARKS = re.compile(r"<|>|\[(?=/?[A-Z])|`(?=``)|(?<=`)`")


@frozen
class Cleaned:
    """`text` is in NFC. `notes` say, one sentence each, what was taken out or left unread."""

    text: str
    notes: tuple[str, ...] = ()


def cleaned(text: str, most: int = LONGEST_STATEMENT, what: str = "the statement") -> Cleaned:
    """The text as it is read: at most so many code points, and none that can't be seen."""
    notes = []
    whole = len(text)
    # Composing makes a text shorter at most, and a prefix is enough of what is far too long.
    read = unicodedata.normalize("NFC", _LINE_ENDS.sub("\n", text[: 4 * most]))
    kept = "".join(character for character in read if _is_said(character))
    if len(kept) < len(read):
        count = len(read) - len(kept)
        hidden = "1 hidden character was" if count == 1 else f"{count:,} hidden characters were"
        notes.append(f"{hidden} left out of {what}")
    if len(kept) > most:
        kept = kept[:most]
        notes.append(f"{what} has {whole:,} characters, of which the first {most:,} were read")
    return Cleaned(kept.strip(), tuple(notes))


def _is_said(character: str) -> bool:
    if character in "\n\t" or character in _JOINERS:
        return True
    point = ord(character)
    if any(low <= point <= high for low, high in _HIDDEN):
        return False
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")


def quoted_data(value: Mapping[str, Any]) -> str:
    """An object as JSON on one line. Quotes and line ends are escaped by JSON itself, marks by their number."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _MARKS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text)


def identifier(text: str | None) -> str | None:
    """An id as facts and `from` clauses can hold it: on one line, and not too long; None where nothing is left."""
    return None if text is None else on_one_line(cleaned(text, _LONGEST_ID).text, _LONGEST_ID) or None


def on_one_line(text: str, most: int = LONGEST_BECAUSE) -> str:
    """The words with single spaces; of a longer text those that fit, and `…`."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    # Where words have spaces between them, none is cut in two.
    space = head.rfind(" ")
    return (head[:space] if space > most // 2 else head) + "…"
