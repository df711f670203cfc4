"""Makes `.ucl` files importable: after `import ucl.importer`, `import rules.meetings` finds `rules/meetings.ucl`.

In: a module's name, looked up beside Python's own modules, which come first. Out: a module with a pydantic model for
each schema, `score`, `act`, `alerts` and a function for each definition, and the `CompiledProgram` as `program`.
A program with mistakes raises `CompileError` where it is imported.
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
from typing import Any


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
        from ucl.build.models import models_of, needed_schemas
        from ucl.build.naming import Names
        from ucl.scoring.doors import load

        program = load(self._file)
        names = Names()
        members: dict[str, Any] = {
            name: getattr(program, name) for name in ("score", "act", "alerts") if names.take(name)
        }
        members[names.take("program")] = program
        for schema, model in models_of(needed_schemas(program.semantic)).items():
            members[names.take(schema.name)] = model
        for name, definition in program.semantic.definitions.items():
            members[names.take(name)] = _query(partial(program.query, name), definition.doc)
        vars(module).update(members)


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
