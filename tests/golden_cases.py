"""Golden programs for scoring: one text file a case, in sections, each opened by a line `--- name`.

`program.ucl` is the program, other `.ucl` sections are modules beside it, `rows.jsonl` the options, `context.json` and
`memory.json` the call, `arguments` what else stands on the command line, `expect.jsonl` what must come out: a line for
each row, with every key that matters; `expect.status` the exit status where it is not 0.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden" / "score"


@dataclass(frozen=True)
class Case:
    name: str
    sections: dict[str, str]

    @property
    def arguments(self) -> list[str]:
        return shlex.split(self.sections.get("arguments", ""))

    def argument(self, flag: str) -> str | None:
        """The value after `flag` on the command line."""
        words = self.arguments
        return words[words.index(flag) + 1] if flag in words else None

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.sections["rows.jsonl"].splitlines() if line.strip()]

    @property
    def expected(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.sections.get("expect.jsonl", "").splitlines() if line.strip()]

    @property
    def status(self) -> int:
        return int(self.sections.get("expect.status", "0"))

    def json(self, name: str) -> dict[str, Any]:
        """The context or memory of the call, `{}` where the case has none."""
        parsed: dict[str, Any] = json.loads(self.sections.get(name, "{}"))
        return parsed

    def write(self, folder: Path) -> None:
        """Lays the sections out as files, as a user would have them."""
        for name, text in self.sections.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def read_case(path: Path) -> Case:
    sections: dict[str, str] = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("--- "):
            name = line[4:].strip()
            sections[name] = ""
        else:
            sections[name] += line
    return Case(path.stem, sections)


def cases() -> list[Case]:
    return [read_case(path) for path in sorted(FOLDER.glob("*.txt"))]
