"""Makes `.ucl` files importable: after `import ucl.importer`, `import rules.meetings` finds `rules/meetings.ucl`.

In: a module's name, looked up beside Python's own modules, which come first. Out: a module with what a built
package has: a pydantic model for each schema, for context and memory, `score`, `act`, `alerts`, a function for each
definition, and the `CompiledProgram` as `program`. A program with mistakes raises `CompileError` where it is imported.
Type checkers know such a module from the stub that `uclc stubs` writes beside the program.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ucl.scoring import CompiledProgram


class _Finder(MetaPathFinder):
    """Finds `name.ucl` in the folders in which Python would look for `name.py`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name = fullname.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            file = Path(folder, f"{name}.ucl")
            if file.is_file():
                return spec_from_file_location(fullname, file, loader=_ProgramLoader(file))
        return None


class _ProgramLoader(Loader):
    def __init__(self, file: Path) -> None:
        self._file = file

    def exec_module(self, module: ModuleType) -> None:
        from ucl.scoring.doors import load

        vars(module).update(_members(load(self._file)))


def _members(program: CompiledProgram) -> dict[str, Any]:
    """What the module of a built package has, by name."""
    from ucl.scoring.calls import scored_schemas

    surface, declared = program.surface, program.semantic
    members: dict[str, Any] = {"program": program, **program.models}
    if scored_schemas(declared):
        members |= {"score": program.score, "score_async": program.score_async}
    if declared.actions:
        members["act"] = program.act
    if declared.alerts:
        members["alerts"] = program.alerts
    for schema, name in surface.rows.items():
        members[name] = _row_type(name, [field.column for field in schema.fields])
    for name, definition in surface.queries.items():
        members[name] = _query(partial(program.query, definition.name), definition.doc)
    return members


def _row_type(name: str, columns: Sequence[str]) -> Any:
    """So that what a stub has can be named at run time too."""
    make: Any = TypedDict
    return make(name, dict.fromkeys(columns, Any), total=False)


def _query(answer: Callable[..., Any], doc: str | None) -> Callable[..., Any]:
    def query(*arguments: Any, **call: Any) -> Any:
        return answer(*arguments, **call)

    query.__doc__ = doc
    return query


def install() -> None:
    """Lets Python find programs; doing so twice is doing so once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


install()
