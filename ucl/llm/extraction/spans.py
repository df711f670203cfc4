"""Where in an utterance a quotation stands: found by us, since a model may make its quotations up.

In: a quotation and a text. Out: the offsets of the words in the text; None where they are not in it. Case, spaces and
the shapes of quotes and dashes may differ, words may not.
"""

from __future__ import annotations

import unicodedata

_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": ".", "，": ",", "。": "."})
_SHORTEST = 2


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Start and end in code points, of the first place that says it."""
    wanted, _ = _plain(quote.strip().strip("\"'“”‘’ .…"))
    plain, places = _plain(text)
    if len(wanted) < _SHORTEST:
        return None
    start = plain.find(wanted)
    if start < 0:
        return None
    return places[start], places[start + len(wanted) - 1] + 1


def _plain(text: str) -> tuple[str, list[int]]:
    """In lower case, with single spaces; and for each character where it stood."""
    found: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        folded = unicodedata.normalize("NFC", character).casefold().translate(_SAME)
        if folded.isspace():
            folded = " "
            if not found or found[-1] == " ":
                continue
        for each in folded:
            found.append(each)
            places.append(place)
    return "".join(found), places
