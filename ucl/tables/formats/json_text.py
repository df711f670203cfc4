"""The text of a JSON or JSON Lines file to an Arrow table.

In: the bytes: an array of objects, an object a line, or one object. Out: a table with a column for each key (`rows`).
Python's own parser reads it, since it keeps integers of any size and the difference between 1 and "1"; Arrow's JSON
reader guesses one type for a column and takes texts for dates.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ucl.tables import errors
from ucl.tables.formats.rows import table_from_rows

if TYPE_CHECKING:
    import pyarrow as pa

_BOM = b"\xef\xbb\xbf"
_KINDS = {dict: "an object", list: "an array", str: "a text", bool: "a boolean", type(None): "null"}


class _Refused(Exception):  # noqa: N818 - a signal, not an error
    """Something that JSON itself lets pass or Python adds to it, met while parsing."""


class _RepeatedKey(_Refused):
    pass


class _NotANumber(_Refused):
    pass


def read_json(data: bytes, name: str) -> pa.Table:
    """The table; no rows give a table without columns. `name` is the file's, for messages. Raises `TableError`."""
    if not data.removeprefix(_BOM).strip():
        raise errors.empty_json(name)
    return read_json_lines(data, name)


def read_json_lines(data: bytes, name: str) -> pa.Table:
    """The same, but no line at all is a table without rows."""
    text = _decoded(data.removeprefix(_BOM), name, 1)
    start = text.lstrip()[:1]
    rows = _array(text, name) if start == "[" else _lines(text, name)
    return table_from_rows(rows, name)


def json_rows(data: bytes, name: str, first_line: int) -> list[Mapping[str, Any]]:
    """The objects in a piece of JSON Lines that begins in `first_line`. Raises `TableError`."""
    return _lines(_decoded(data, name, first_line), name, first_line)


def starts_with_an_object(line: bytes) -> bool:
    """Whether a line is an object by itself, so that the file has one in each."""
    try:
        return type(_decode(line.decode("utf-8"))) is dict
    except (ValueError, RecursionError, _Refused):
        return False


def _decoded(data: bytes, name: str, first_line: int) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise errors.not_utf8(name, first_line + data.count(b"\n", 0, problem.start)) from problem
    if "\0" in text[:4096]:
        raise errors.not_text(name)
    return text


def _array(text: str, name: str) -> list[Mapping[str, Any]]:
    rows = _parsed(text, name, 1)
    for number, row in enumerate(rows):
        if type(row) is not dict:
            raise errors.not_an_object(name, f"element {number}", _kind(row))
    return list(rows)


def _lines(text: str, name: str, first_line: int = 1) -> list[Mapping[str, Any]]:
    """JSON's own line ends only: a text may hold others, such as U+2028."""
    lines = text.split("\n")
    rows: list[Mapping[str, Any]] = []
    for number, line in enumerate(lines, start=first_line):
        try:
            row = _decode(line)
        except (ValueError, RecursionError, _Refused):
            if not line.strip():
                continue
            whole = None if rows or first_line > 1 else _one_object(text)
            if whole is not None:
                return [whole]
            row = _parsed(line, name, number)
        if type(row) is not dict:
            raise errors.not_an_object(name, f"line {number}", _kind(row))
        rows.append(row)
    return rows


def _one_object(text: str) -> Mapping[str, Any] | None:
    """The whole text as one object over several lines."""
    try:
        whole = _decode(text)
    except (ValueError, RecursionError, _Refused):
        return None
    return whole if type(whole) is dict else None


def _parsed(text: str, name: str, line: int) -> Any:
    """The value that `text`, beginning in `line`, says; or the error that tells what is wrong with it."""
    try:
        return _decode(text)
    except _RepeatedKey as problem:
        raise errors.repeated_key(name, f"line {line}", str(problem)) from None
    except _NotANumber as problem:
        raise errors.bad_json(name, line, f"`{problem}` is no JSON number; write null") from None
    except json.JSONDecodeError as problem:
        what = problem.msg[:1].lower() + problem.msg[1:].removesuffix(" at")
        raise errors.bad_json(name, line + problem.lineno - 1, f"{what} at column {problem.colno}") from None
    except ValueError:
        raise errors.bad_json(name, line, "it has a number of more than 4,300 digits") from None
    except RecursionError:
        raise errors.bad_json(name, line, "it is nested too deep") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        count = Counter(key for key, _ in pairs)
        raise _RepeatedKey(count.most_common(1)[0][0])
    return made


def _refuse(constant: str) -> NoReturn:
    raise _NotANumber(constant)


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "a number")


_decode = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse).decode
