"""The way to `grammar/` and `stdlib/`, in a checkout, an editable install and a wheel alike.

A wheel carries both folders inside the package (`ucl/_data`); a checkout has them beside it.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _folder(name: str) -> Path:
    shipped = _PACKAGE / "_data" / name
    return shipped if shipped.is_dir() else _PACKAGE.parent / name


def grammar_text() -> str:
    return (_folder("grammar") / "ucl.lark").read_text(encoding="utf-8")


def codes_text() -> str:
    """The page that says what the codes of messages mean."""
    return (_folder("grammar") / "CODES.md").read_text(encoding="utf-8")


def stdlib_source(module: str) -> tuple[str, str] | None:
    """Path to show and text of `std.<name>`, or None where there is no such module."""
    path = _folder("stdlib").joinpath(*module.split(".")[1:]).with_suffix(".ucl")
    if module not in stdlib_modules():
        return None
    return f"<{module}>", path.read_text(encoding="utf-8")


def stdlib_modules() -> tuple[str, ...]:
    return tuple(sorted(f"std.{p.stem}" for p in _folder("stdlib").glob("*.ucl")))
