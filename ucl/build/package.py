"""Checked programs to Python packages on disk: what `uclc build` writes.

In: programs and a folder. Out: for module `a.b` the package `a/b` with its typed module, its program as data and
`py.typed`, and one manifest for all. The same programs give the same bytes; nothing in them tells of the machine.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ucl.build.code import module_text
from ucl.build.runtime import DATA_FILE
from ucl.build.store import encode
from ucl.diagnostics import Source
from ucl.models.naming import identifier
from ucl.semantics.program import Program

MANIFEST = "ucl-manifest.json"
_FILLER = '"""Holds packages that `uclc build` wrote."""\n'


@dataclass(frozen=True)
class BuiltModule:
    """What was written for one program: `package` is its folder below the output's, `hash` that of its data."""

    module: str
    package: str
    hash: str
    program: Program


def package_path(module: str) -> PurePosixPath:
    """`scheduling/meetings` for `scheduling.meetings`, each part an identifier of Python's."""
    return PurePosixPath(*map(identifier, module.split(".")))


def hidden_by(package: PurePosixPath) -> str | None:
    """What a Python program could no longer import beside this package: our own runtime, which the package itself
    needs, or a module of the standard library. None where there is nothing."""
    name = package.parts[0]
    if name == "ucl":
        return "UCL's own runtime"
    return f"Python's own `{name}`" if name in sys.stdlib_module_names else None


def write_packages(programs: Iterable[Program], folder: Path, compiler: str) -> list[BuiltModule]:
    """Writes a package for each program, and the manifest, which names the version `compiler`. Raises `OSError`."""
    built = [_write_package(program, folder) for program in programs]
    for module in built:
        _fill_parents(folder, PurePosixPath(module.package))
    manifest = {"format": "ucl-manifest", "version": 1, "compiler": compiler, "modules": [_entry(m) for m in built]}
    _write(folder / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
    return built


def _write_package(program: Program, folder: Path) -> BuiltModule:
    package = package_path(program.module)
    stored = encode(program, lambda source: shown_path(source, program))
    origin = shown_path(program.sources[0], program)
    _write(folder / package / DATA_FILE, stored.text)
    _write(folder / package / "__init__.py", module_text(program, stored.hash, origin))
    _write(folder / package / "py.typed", "")
    return BuiltModule(program.module, str(package), stored.hash, program)


def shown_path(source: Source, program: Program) -> str:
    """A source's path from the root of the modules; shipped modules keep their `<std.units>`."""
    if source.path.startswith("<"):
        return source.path
    own = Path(program.sources[0].path).resolve()
    depth = program.module.count(".")
    root = own.parents[depth] if list(own.parts[-depth - 1 : -1]) == program.module.split(".")[:-1] else own.parent
    path = Path(source.path).resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _fill_parents(folder: Path, package: PurePosixPath) -> None:
    for parent in list(package.parents)[:-1]:
        inside = folder / parent
        if not (inside / "__init__.py").exists():
            _write(inside / "__init__.py", _FILLER)
            _write(inside / "py.typed", "")


def _entry(built: BuiltModule) -> dict[str, Any]:
    program = built.program
    return {
        "module": built.module,
        "package": built.package,
        "hash": built.hash,
        "sources": [shown_path(source, program) for source in program.sources],
        "schemas": sorted(program.schemas),
        "rules": [rule.name for rule in program.rules],
        "constraints": [constraint.name for constraint in program.constraints],
        "actions": [action.name for action in program.actions],
        "alerts": [alert.name for alert in program.alerts],
        "queries": sorted(program.definitions),
    }


def _write(path: Path, text: str) -> None:
    """The whole file or none of it, so that a package in use is never half new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
