"""What commands read: programs, tables, context and memory files, `--set` pairs; unreadable is a `CommandError`."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucl.cli.output import CommandError
from ucl.cli.source import checked_program, standard_input, unreadable
from ucl.cli.words import value_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.scoring import CompiledProgram
    from ucl.semantics.program import Definition, Program

# Files of a call are read whole; one beyond this is a mistake, or worse.
_LARGEST_JSON = 1 << 30


# --- what commands share on their lines -----------------------------------------------------------------------------


def add_program(parser: ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", type=Path, help="the program, a `.ucl` file")


def add_table(parser: ArgumentParser) -> None:
    about = "a CSV, JSON, JSON Lines, Parquet or Arrow file; `-` for standard input"
    parser.add_argument("options", metavar="OPTIONS", nargs="?", help=about)
    parser.add_argument("--sql", metavar="QUERY", help="score the rows of a DuckDB query in place of a file")
    parser.add_argument("--schema", metavar="S", help="what a row is, where the program has rules on several schemas")


def add_call(parser: ArgumentParser) -> None:
    """The options that `read_call` takes."""
    add = parser.add_argument
    add("--context", metavar="FILE", type=Path, help="a JSON object with the context")
    add("--set", metavar="K=V", action="append", dest="sets", help="set one field of the context; may be repeated")
    add("--memory", metavar="FILE", type=Path, help="a JSON object with the memory")
    add("--now", metavar="DT", help="the moment of the call, in place of the clock's")
    add("--timezone", metavar="Z", help="the zone of the call, in place of the program's")


def count(word: str) -> int:
    """An argument that is a whole number from 0 up."""
    if not (word.isascii() and word.isdigit()):
        raise ArgumentTypeError(f"`{word}` is not a whole number")
    return int(word)


def positive_count(word: str) -> int:
    """An argument that is a whole number from 1 up."""
    if count(word) == 0:
        raise ArgumentTypeError(f"`{word}` is less than 1")
    return int(word)


# --- reading --------------------------------------------------------------------------------------------------------


def load_program(path: Path) -> CompiledProgram | None:
    """The program, ready to run; None for one with mistakes, which have been said (status 1)."""
    from ucl.scoring import CompiledProgram

    program = checked_program(path)
    return None if program is None else CompiledProgram(program)


def since(program: Program, now: str | None) -> int:
    """The instant in microseconds that `--now` names in the program's zone; the clock's where it is not given."""
    from ucl.scoring.calls import find_zone, instant

    return time.time_ns() // 1000 if now is None else instant(now, find_zone(program.timezone))


@dataclass(frozen=True)
class Options:
    """The table to score. `path` is a plain file, and `name` what it is called in messages; or there is a `query`."""

    path: str | None
    name: str
    query: str

    @property
    def is_large(self) -> bool:
        """Whether it is a file that is better read in parts."""
        from ucl.tables.streams import is_large

        return self.path is not None and is_large(self.path)

    def table(self) -> pa.Table:
        from ucl.tables.files import read_sql, read_table

        return read_sql(self.query) if self.path is None else read_table(self.path, name=self.name)


@contextmanager
def opened_options(path: str | None, sql: str | None) -> Iterator[Options]:
    """The table that a file or a query names, and not both. Standard input is put on the disk where it is large."""
    if (path is None) == (sql is None):
        raise CommandError("name one table to score", 'a file, `-`, or `--sql "select …"`')
    if path != "-":
        yield Options(path, path or "", sql or "")
        return
    from ucl.tables.streams import spooled

    with spooled(path) as plain:
        yield Options(plain, "standard input", "")


def read_options(path: str | None, sql: str | None) -> pa.Table:
    """The table as a whole."""
    with opened_options(path, sql) as options:
        return options.table()


def read_call(
    program: CompiledProgram,
    context: Path | None,
    sets: Sequence[str] | None,
    memory: Path | None,
    now: str | None,
    timezone: str | None,
) -> dict[str, Any]:
    """The keyword arguments that say what holds around a call of the program."""
    from ucl.semantics.values import nfc

    fields = {field.column: field for field in program.semantic.context}
    known = {nfc(name): value for name, value in (_object(context) if context is not None else {}).items()}
    for pair in sets or ():
        spelled, equals, word = pair.partition("=")
        if not equals:
            raise CommandError(f"`--set {pair}` has no value", "write `--set name=value`")
        name = nfc(spelled)
        field = fields.get(name)
        known[name] = word if field is None else value_of(word, field.type, field.unit, f"`{name}`", _parse)
    remembered = None if memory is None else _object(memory)
    return {"context": known, "memory": remembered, "now": now, "timezone": timezone}


def read_words(definition: Definition, words: Sequence[str]) -> list[Any]:
    """The arguments of a definition, of which there may be too many or too few."""
    named = zip(words, definition.parameters)
    read = [
        value_of(word, p.type, None, f"the argument `{p.name}` of `{definition.name}`", _parse) for word, p in named
    ]
    return [*read, *words[len(read) :]]


def _object(path: Path) -> Mapping[str, Any]:
    try:
        if str(path) == "-":
            data = standard_input(_LARGEST_JSON)
        else:
            with path.open("rb") as file:
                data = file.read(_LARGEST_JSON)
        value = _parse(data.decode("utf-8-sig"))
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise CommandError(f"`{path}` is not UTF-8") from None
    except json.JSONDecodeError as error:
        what = error.msg.lower().removesuffix(" at")
        raise CommandError(f"`{path}` is not JSON in line {error.lineno}: {what} at column {error.colno}") from None
    except ValueError as error:
        raise CommandError(f"`{path}` is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise CommandError(f"`{path}` holds no JSON object", 'write a key for each name: {"name": value}')
    return value


def _parse(text: str) -> Any:
    """JSON as the standard has it: no key twice, no NaN."""
    try:
        return json.loads(text, object_pairs_hook=_unrepeated, parse_constant=_refuse)
    except (json.JSONDecodeError, _Refused):
        raise
    except RecursionError:
        raise _Refused("it is nested too deep") from None
    except ValueError:
        raise _Refused("it has a number of more than 4,300 digits") from None


class _Refused(ValueError):  # noqa: N818 - a signal, not an error
    """Something that JSON itself lets pass, or that Python can't hold."""


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"it gives `{repeated}` twice in one object")
    return found


def _refuse(word: str) -> Any:
    raise _Refused(f"{word} is not a value of JSON")
