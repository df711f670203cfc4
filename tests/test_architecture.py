"""Holds the arrows of the house: imports go one way, each big dependency has one owner, start-up stays cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "ucl"

# From front to back; a room may import itself and the rooms above it.
ROOMS = [
    "ucl.frozen",
    "ucl.widths",
    "ucl.spans",
    "ucl.diagnostics",
    "ucl.resources",
    "ucl.codes",
    "ucl.render",
    "ucl.syntax",
    "ucl.semantics",
    "ucl.kernels",
    "ucl.tables",
    "ucl.analysis",
    "ucl.driver",
    "ucl.editing",
    "ucl.facts",
    "ucl.models",
    "ucl.scoring",
    "ucl.build",
    "ucl.importer",
    "ucl.testing",
    "ucl.llm",
    "ucl.bench",
    "ucl.reference",
    "ucl.cli",
]
OWNERS = {
    "lark": "ucl.syntax",
    "numba": "ucl.kernels",
    "llvmlite": "ucl.kernels",
    "z3": "ucl.analysis",
    "hypothesis": "ucl.testing",
    "duckdb": "ucl.tables",
    "openai": "ucl.llm.client",
    "httpx2": "ucl.llm.client",
    "llguidance": "ucl.llm.loopback",
    "bpe_openai": "ucl.llm.loopback",
}
# The benchmark measures these against us, so it may name any of them.
EXEMPT = "ucl.bench"


def modules() -> list[tuple[str, ast.Module]]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append((name, ast.parse(path.read_text(encoding="utf-8"))))
    return found


def imports(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def room(module: str) -> int | None:
    return next((i for i, prefix in enumerate(ROOMS) if module == prefix or module.startswith(prefix + ".")), None)


@pytest.mark.parametrize(("name", "tree"), modules(), ids=lambda value: value if isinstance(value, str) else "")
def test_imports_go_one_way(name: str, tree: ast.Module) -> None:
    here = room(name)
    if here is None:
        assert name == "ucl", f"{name} stands in no room; give it one"
        return
    for imported in imports(tree):
        there = room(imported)
        assert there is None or there <= here, f"{name} imports {imported}, which stands behind it"


@pytest.mark.parametrize(("name", "tree"), modules(), ids=lambda value: value if isinstance(value, str) else "")
def test_each_big_dependency_has_one_owner(name: str, tree: ast.Module) -> None:
    if name.startswith(EXEMPT):
        return
    for imported in imports(tree):
        owner = OWNERS.get(imported.split(".")[0])
        assert owner is None or name.startswith(owner), f"{name} imports {imported}; that is for {owner}"


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


HEAVY = {"numba", "pyarrow", "numpy", "pandas", "polars", "duckdb", "pydantic", "lark", "openai"}


def test_importing_ucl_is_cheap() -> None:
    assert not loaded_after("import ucl") & HEAVY


def test_checking_a_program_loads_nothing_heavy() -> None:
    statement = "import ucl.driver, ucl.diagnostics as d\nucl.driver.check_source(d.Source('p.ucl', 'let x = 1'))"
    assert loaded_after(statement) & (HEAVY - {"lark"}) == set()
