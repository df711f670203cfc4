"""What can be wrong with a table as a whole: one documented function for each problem.

In: what was found. Out: a `TableError`, which the doors show as one message with its help before anything is scored
(the command line ends with status 2). What is wrong with a single row is an `InvalidCell`, never an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ucl.semantics.suggest import nearest
from ucl.semantics.values import nfc

_MOST_LISTED = 20


class TableError(Exception):
    """A table that can't be read, scored or written; `help` says what to do instead, where that is known."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


# --- opening a file -------------------------------------------------------------------------------------------------


def unreadable_file(path: str, problem: OSError) -> TableError:
    """The file is not there, is a folder, may not be read, or the disk failed."""
    match problem:
        case FileNotFoundError():
            return TableError(f"there is no file `{path}`")
        case IsADirectoryError():
            return TableError(f"`{path}` is a folder", "name one file in it")
        case PermissionError():
            return TableError(f"`{path}` may not be read", "check the file's permissions")
    return TableError(f"`{path}` can't be read: {(problem.strerror or 'the system gave no reason').lower()}")


def unknown_format(name: str, known: Iterable[str]) -> TableError:
    """A format was asked for that is none of ours."""
    return TableError(f"`{name}` is not a format of tables", f"one of {', '.join(known)}")


def not_text(path: str) -> TableError:
    """Neither Parquet nor Arrow by its first bytes, and not text."""
    return TableError(f"`{path}` is binary, and neither Parquet nor Arrow", "save it as CSV, JSON, Parquet or Arrow")


def not_utf8(path: str, line: int) -> TableError:
    return TableError(f"`{path}` is not UTF-8 in line {line}", "save it in the encoding UTF-8")


def damaged(path: str, kind: str) -> TableError:
    """A Parquet, Arrow or compressed file that was cut off or overwritten."""
    return TableError(f"`{path}` is not a whole {kind} file", "it may have been cut off: write or fetch it again")


def not_of_kind(path: str, kind: str) -> TableError:
    """A file of another kind under a name that ends as this kind's do."""
    return TableError(f"`{path}` is no {kind} file", "give it the ending of what it holds")


def unread_compression(path: str, kind: str) -> TableError:
    """A spreadsheet is a zip archive too."""
    return TableError(f"`{path}` is compressed as {kind}, which is not read", "unpack it, or use gzip, zstd or bzip2")


def unpacks_to_too_much(path: str, most: int) -> TableError:
    return TableError(f"`{path}` unpacks to more than {most >> 20} MiB", "unpack it first, where its source is trusted")


def utf_16(path: str) -> TableError:
    return TableError(f"`{path}` is UTF-16", "save it in the encoding UTF-8")


def not_installed(package: str, extra: str) -> TableError:
    return TableError(f"`{package}` is not installed", f"pip install 'ucl[{extra}]'")


def bad_query(problem: str) -> TableError:
    """DuckDB refused the query; `problem` is the first line of what it says."""
    return TableError(f"the query fails: {problem}")


def not_a_select(kind: str) -> TableError:
    return TableError(f"the query is not one `select`: {kind}", "write one statement that gives rows")


# --- the text of CSV and JSON ---------------------------------------------------------------------------------------


def no_header(path: str) -> TableError:
    return TableError(f"`{path}` is empty", "its first line should name the columns")


def stray_quote(path: str, line: int) -> TableError:
    """A quote inside an unquoted cell, after a closed one, or one that nothing closes."""
    return TableError(
        f'`{path}` has a stray quote `"` in line {line}', 'quote the whole cell and double the quotes in it: "5"" pipe"'
    )


def ragged_row(path: str, line: int, expected: int, found: int) -> TableError:
    return TableError(
        f"`{path}` has {_count(found, 'cell')} in line {line}, where its header has {_count(expected, 'column')}",
        "quote a cell that holds the separator",
    )


def bad_csv(path: str, problem: str) -> TableError:
    return TableError(f"`{path}` can't be read as CSV: {problem}")


def empty_json(path: str) -> TableError:
    """JSON has at least one value; JSON Lines may have no line."""
    return TableError(f"`{path}` is empty, and no JSON", "write `[]` for a table without rows")


def bad_json(path: str, line: int, problem: str) -> TableError:
    return TableError(f"`{path}` is not JSON in line {line}: {problem}")


def not_an_object(path: str, place: str, kind: str) -> TableError:
    """A row that is no object; `place` says which, `kind` what it is."""
    return TableError(f"`{path}` has {kind} for a row in {place}", 'write an object for each row: {"name": value}')


def repeated_key(path: str, place: str, key: str) -> TableError:
    return TableError(f"`{path}` gives `{key}` twice for one object in {place}", "keep one of the two")


def bad_key(path: str, key: str) -> TableError:
    return TableError(f"`{path}` has a key that is no text: {key!a}")


def too_many_columns(path: str, columns: int) -> TableError:
    """Rows that share no keys would need rows times keys in memory."""
    return TableError(f"`{path}` has {columns} different keys in its rows", "give the rows the same keys")


# --- columns --------------------------------------------------------------------------------------------------------


def duplicate_columns(names: Sequence[str]) -> TableError:
    return TableError(f"the table has more than one column {_listed(names)}", "rename all but one of them")


def refuse_duplicates(names: Iterable[str]) -> None:
    """Raises `duplicate_columns` where names are not distinct as programs spell them, in NFC."""
    names = list(map(nfc, names))
    if len(set(names)) < len(names):
        raise duplicate_columns([name for name, count in Counter(names).items() if count > 1])


def too_deep(name: str) -> TableError:
    """A column whose type nests deeper than any schema."""
    return TableError(f"the column `{name}` is nested too deep", "leave it out")


def missing_columns(wanted: Sequence[str], there: Sequence[str]) -> TableError:
    """Required fields without a column. `wanted` and `there` are the data's names for columns."""
    word = "column" if len(wanted) == 1 else "columns"
    message = f"the table has no {word} {_listed(wanted)}; it has {_listed(there) if there else 'none'}"
    near = [found for name in wanted if (found := nearest(name, there))]
    help = f"did you mean {_listed(near)}?" if near else 'a field names a column of another name with `from "…"`'
    return TableError(message, help)


def mistyped_column(column: str, holds: str, field: str, wants: str) -> TableError:
    """A column none of whose cells could ever be the field's value."""
    return TableError(f"the column `{column}` holds {holds}, and the field `{field}` is {wants}")


def uneven_columns(name: str, rows: int, expected: int) -> TableError:
    return TableError(f"the column `{name}` has {_count(rows, 'value')}, and the others {expected}")


def not_a_table(kind: str) -> TableError:
    return TableError(
        f"{kind} is not a table",
        "give a pandas, polars or pyarrow table, a dict of arrays, or a list of dicts or models",
    )


def unusable_column(name: str, problem: str) -> TableError:
    """A column of a data frame whose values Arrow can't hold."""
    return TableError(f"the column `{name}` can't be read: {problem}")


def name_taken(names: Sequence[str]) -> TableError:
    """The results' columns would have names that the input uses."""
    return TableError(f"the table already has {_listed(names)}", "rename these columns: the results are named so")


def no_room(name: str, least: int, free: int, why: str) -> TableError:
    """A table that must be held as a whole, and can't be."""
    return TableError(
        f"`{name}` takes {_gigabytes(least)} of memory or more as a whole, of which {_gigabytes(free)} are free: {why}",
        "score a part of the rows, or leave out the rules that compare rows",
    )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


# --- writing --------------------------------------------------------------------------------------------------------


def unwritable(path: str, problem: OSError) -> TableError:
    """Nothing was written, or not all of it; a file that stood there before is as it was."""
    return TableError(f"`{path}` can't be written: {(problem.strerror or 'the system gave no reason').lower()}")


def unwritable_type(format: str, problem: str) -> TableError:
    """A column of the input whose type the format has no place for."""
    return TableError(f"the table can't be written as {format}: {problem}", "write it as JSON")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_LISTED])
    return shown if len(names) <= _MOST_LISTED else f"{shown} and {len(names) - _MOST_LISTED} more"
