"""Golden programs: right ones in `golden/good`, and wrong ones with what is to be said about them.

A file of wrong programs holds chunks, split by lines `---`, each a program of its own. What must be reported stands at
the end of the line where it does: two blanks, `### code: part of the message`, perhaps ` => part of the help`, perhaps
another `###`. Such notes are taken out before the program is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ucl.diagnostics import Diagnostic

GOLDEN = Path(__file__).parent / "golden"
_NOTE = re.compile(r"\s*### (?P<code>[a-z-]+): (?P<message>.*?)(?: => (?P<help>.*?))?(?=\s*###|$)")


@dataclass(frozen=True)
class Expectation:
    line: int
    code: str
    message: str
    help: str | None

    def fits(self, found: Diagnostic) -> bool:
        helped = self.help is None or self.help in (found.help or "")
        return (found.span.line, found.code) == (self.line, self.code) and self.message in found.message and helped


@dataclass(frozen=True)
class Chunk:
    """`name` is the file's, with the line where the chunk begins in it."""

    name: str
    text: str
    expected: tuple[Expectation, ...]

    def differences(self, diagnostics: Iterable[Diagnostic]) -> list[str]:
        """What is missing and what was not asked for, in words; empty where all is as it should be."""
        unasked = list(diagnostics)
        missing = []
        for wanted in self.expected:
            found = next((d for d in unasked if wanted.fits(d)), None)
            if found is None:
                missing.append(f"missing on line {wanted.line}: {wanted.code}: {wanted.message} => {wanted.help}")
            else:
                unasked.remove(found)
        return missing + [f"not asked for on line {d.span.line}: {d.code}: {d.message} => {d.help}" for d in unasked]


def good_programs() -> list[Path]:
    return sorted((GOLDEN / "good").glob("*.ucl"))


def chunks(folder: str, pattern: str = "*.ucl") -> list[Chunk]:
    """The chunks of all files of a folder of `golden`."""
    return [chunk for path in sorted((GOLDEN / folder).glob(pattern)) for chunk in _split(path)]


def _split(path: Path) -> list[Chunk]:
    found, begin = [], 1
    for part in path.read_text(encoding="utf-8").split("---\n"):
        lines = part.splitlines(keepends=True)
        expected = [
            Expectation(number, note["code"], note["message"], note["help"])
            for number, line in enumerate(lines, 1)
            for note in _NOTE.finditer(line.rstrip("\n"))
        ]
        text = "".join(re.sub(r"\s*### [a-z-]+: .*", "", line) for line in lines)
        found.append(Chunk(f"{path.stem}:{begin}", text, tuple(expected)))
        begin += len(lines) + 1
    return found
