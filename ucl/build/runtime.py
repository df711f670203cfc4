"""What a built package needs to run: its program read from the file beside it, and the types of its functions.

In: the package's own path and the hash of its program. Out: `Built`, which answers what the package's functions ask.
Nothing here parses or checks, so a package runs where neither parser nor solver is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from ucl.build.store import CorruptProgramError, decode
from ucl.models.records import Record, Records, Weekday
from ucl.models.surface import surface_of
from ucl.scoring import ActionRow, AlertRow, CompiledProgram, Result
from ucl.semantics.program import Schema

__all__ = [
    "ActionRow",
    "AlertRow",
    "Built",
    "CompiledProgram",
    "Record",
    "Records",
    "Result",
    "Schema",
    "Table",
    "Weekday",
]

DATA_FILE = "program.json"


class _ArrowTable(Protocol):
    """pandas, polars and pyarrow tables, DuckDB relations: whatever hands its data over as an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...


Table = _ArrowTable | Mapping[str, Iterable[Any]]
"""A table with named columns, or a dict of columns."""


class Built:
    """The program of one built package. Raises `CorruptProgramError` where its data is missing, damaged or foreign."""

    def __init__(self, module_file: str, expected_hash: str) -> None:
        path = Path(module_file).with_name(DATA_FILE)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise CorruptProgramError(f"`{path}` can't be read; build the package again") from None
        self.program = CompiledProgram(decode(text, expected_hash))

    @cached_property
    def schemas(self) -> list[Schema]:
        """In the order in which the module's text numbers them."""
        return [*surface_of(self.program.semantic).models]

    def score(self, options: Any, schema: str, **call: Any) -> Result:
        return self.program.score(options, schema, **call)

    async def score_async(self, options: Any, schema: str, **call: Any) -> Result:
        return await self.program.score_async(options, schema, **call)

    def act(self, options: Any, schema: str, **call: Any) -> list[ActionRow]:
        return self.program.act(options, schema, **call)

    def alerts(self, **call: Any) -> list[AlertRow]:
        return self.program.alerts(**call)

    def query(self, name: str, *arguments: Any, **call: Any) -> Any:
        return self.program.query(name, *arguments, **call)
