"""What people write from habit for names that the language has: functions, weekdays, names of the library not imported.

In: a name that means nothing where it stands. Out: what it was meant to be, or None. The forms that are mistakes of
syntax are in `syntax/foreign_errors`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ucl.resources import stdlib_modules, stdlib_source
from ucl.semantics.builtins import FUNCTIONS, SPECIAL_FORMS

NULLS = frozenset(("null", "NULL", "Null", "None", "none", "nil", "undefined"))

_WEEKDAYS = {
    "monday": "mon", "tuesday": "tue", "tues": "tue", "wednesday": "wed", "weds": "wed", "thursday": "thu",
    "thur": "thu", "thurs": "thu", "friday": "fri", "saturday": "sat", "sunday": "sun",
}  # fmt: skip

# By the name without capitals and underscores.
_FUNCTIONS = {
    "len": "length", "strlen": "length", "charlength": "length",
    "startwith": "starts_with", "hasprefix": "starts_with", "beginswith": "starts_with",
    "endwith": "ends_with", "hassuffix": "ends_with",
    "includes": "contains", "has": "contains", "indexof": "contains",
    "tolower": "lower", "lowercase": "lower", "lcase": "lower", "tolowercase": "lower",
    "matches": "like", "match": "like", "regex": "like", "glob": "like",
    "exists": "present", "ispresent": "present", "notnull": "present", "isnotnull": "present", "issome": "present",
    "hasvalue": "present", "isset": "present", "isdefined": "present", "notna": "present",
    "isnull": "absent", "isnone": "absent", "isabsent": "absent", "ismissing": "absent", "missing": "absent",
    "isna": "absent", "isempty": "absent", "isblank": "absent",
    "avg": "mean", "average": "mean", "total": "sum", "unique": "distinct",
    "intersects": "overlaps", "issubset": "subset", "cardinality": "size", "absolute": "abs", "fabs": "abs",
    "ceiling": "ceil", "addmonth": "add_months",
}  # fmt: skip
_FUNCTIONS |= {name.replace("_", ""): name for name in (*FUNCTIONS, *SPECIAL_FORMS)}


def function_meant(name: str) -> str | None:
    """`length` for `len`, `starts_with` for `startsWith`."""
    return _FUNCTIONS.get(name.lower().replace("_", ""))


def weekday_meant(name: str) -> str | None:
    """`mon` for `Monday` or `MON`."""
    lower = name.lower()
    return _WEEKDAYS.get(lower) or (lower if lower in _WEEKDAYS.values() else None)


def standard_import(name: str) -> str | None:
    """The import that brings a name of the library, such as `import std.dayparts (night)`, or `import std.dayparts`."""
    if f"std.{name}" in stdlib_modules():
        return f"import std.{name}"
    module = _standard_names().get(name)
    return None if module is None else f"import {module} ({name})"


@cache
def _standard_names() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for module in stdlib_modules():
        source = stdlib_source(module)
        for name in re.findall(r"^(?:let|def|schema|dimension) (\w+)", source[1] if source else "", re.MULTILINE):
            found.setdefault(name, module)
    return found
