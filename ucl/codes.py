"""What the codes of messages mean: the sections of `grammar/CODES.md` as data.

In: that page, which ships with the compiler. Out: for each code its meaning and programs that have the mistake and that
don't. The page is the one source: the command line prints it, SARIF logs quote it, and tests run its programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ucl.diagnostics import Severity
from ucl.resources import codes_text

_SECTION = re.compile(
    r"^## (?P<code>[a-z-]+)\n\n\*(?P<severity>[a-z]+)\*: (?P<meaning>[^\n]+)\n(?P<rest>.*?)(?=^## |\Z)", re.M | re.S
)
_BLOCK = re.compile(r"^```ucl (?P<mark>[^\n]+)\n(?P<text>.*?)^```$", re.M | re.S)
_REPEATED = re.compile(r"⟨(.*?)⟩", re.S)


@dataclass(frozen=True)
class Example:
    """One file as the page shows it. What stands between `⟨` and `⟩` is meant `repeat` times."""

    name: str
    shown: str
    repeat: int

    @property
    def text(self) -> str:
        """The file as it is meant."""
        return _REPEATED.sub(lambda found: found[1] * self.repeat, self.shown)


@dataclass(frozen=True)
class Code:
    """`meaning` is one sentence, `advice` what to do, "" where the examples say it. Of several files in `bad` or `good`
    the first is the one to check, and imports the others."""

    code: str
    severity: Severity
    meaning: str
    advice: str
    bad: tuple[Example, ...]
    good: tuple[Example, ...]


@cache
def documented() -> Mapping[str, Code]:
    """Every code in the order of the page."""
    return {found["code"]: _code(found) for found in _SECTION.finditer(codes_text())}


def _code(section: re.Match[str]) -> Code:
    rest = section["rest"]
    advice = rest.partition("```")[0].strip()
    severity = Severity(section["severity"])
    return Code(section["code"], severity, section["meaning"], advice, _examples(rest, "bad"), _examples(rest, "good"))


def _examples(section: str, kind: str) -> tuple[Example, ...]:
    def found() -> Iterator[Example]:
        for block in _BLOCK.finditer(section):
            first, *words = block["mark"].split()
            if first == kind:
                repeat = next((int(w.removeprefix("repeat=")) for w in words if w.startswith("repeat=")), 1)
                yield Example(next((w for w in words if w.endswith(".ucl")), "program.ucl"), block["text"], repeat)

    return tuple(found())
