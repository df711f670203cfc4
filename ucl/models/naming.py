"""UCL's names as Python's: any letters on the one side, identifiers without keywords and clashes on the other."""

from __future__ import annotations

import json
import keyword
import unicodedata
from collections.abc import Iterable


class Names:
    """Gives each name of one Python namespace an identifier of its own, the same for the same order of asking."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)

    def take(self, name: str) -> str:
        """`class` becomes `class_`, a leading underscore goes, and a name that is taken gets one at its end."""
        candidate = identifier(name)
        while candidate in self._taken:
            candidate += "_"
        self._taken.add(candidate)
        return candidate


def identifier(name: str) -> str:
    """The nearest identifier that Python takes as it stands (it reads names in NFKC) and that is not private."""
    plain = unicodedata.normalize("NFKC", name).lstrip("_")
    if not plain.isidentifier():
        plain = "".join(c if f"a{c}".isidentifier() else f"u{ord(c):x}" for c in plain)
    if not plain.isidentifier():
        plain = f"x{plain}"
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def quoted(text: str) -> str:
    """A Python literal of the text, in double quotes."""
    return json.dumps(text, ensure_ascii=False)
