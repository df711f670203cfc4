"""What can be wrong with a call as a whole: one documented function for each problem.

In: what was found. Out: a `CallError`, which a Python caller gets and the command line shows (status 2). What is wrong
with one row is said of that row, and with a table in `tables.errors`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ucl.semantics.evaluate import Exhausted
from ucl.semantics.values import Problem


class CallError(ValueError):
    """A call that can't start: `message` is one sentence, `help` what to do instead, where that is known."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message if help is None else f"{message} ({help})")
        self.message = message
        self.help = help


def bad_call(problem: Problem) -> CallError:
    """Context, memory or arguments that don't fit the program."""
    return CallError(problem.message, problem.help)


def wrong_argument(name: str, wants: str, given: object) -> CallError:
    """An argument of a kind that says nothing: `wants` is what the argument is."""
    return CallError(f"`{name}` is {wants}, not `{given!r:.60}`")


def unknown_zone(name: str) -> CallError:
    return CallError(f"`{name}` is not a time zone", 'name one of the tz database, such as `"Europe/Berlin"`')


def bad_now(text: str) -> CallError:
    return CallError(
        f"`{text}` is not a time", "write it as `2026-03-04T13:00`, with an offset or in the program's zone"
    )


def no_such_schema(name: str, known: Iterable[str]) -> CallError:
    return CallError(f"the program has no schema `{name}`", _choices(name, list(known)))


def which_schema(names: Iterable[str]) -> CallError:
    """Rules on several schemas, and the caller named none."""
    return CallError(
        f"the program has rules on {_listed(names)}",
        "say which of them the table holds: `schema`, on the command line `--schema`",
    )


def nothing_to_do(what: str) -> CallError:
    """A program without any rule, action or schema of the kind that the call is about."""
    return CallError(f"the program has no {what}")


def no_such_definition(name: str, known: Iterable[str]) -> CallError:
    return CallError(f"the program has no definition `{name}`", _choices(name, list(known)))


def no_such_column(name: str, known: Iterable[str], of_field: str | None) -> CallError:
    """`of_field` is the column of the field of this name, where there is one."""
    help = _choices(name, list(known)) if of_field is None else f"the field `{name}` is the column `{of_field}`"
    return CallError(f"the table has no column `{name}` to group by", help)


def not_comparable(column: str) -> CallError:
    """A column of lists or records."""
    return CallError(f"the column `{column}` can't split the table: its values are lists or records")


def needs_whole_table() -> CallError:
    """Batches of a program that compares each option with all others."""
    return CallError(
        "the program compares each row with the whole table, which comes in parts",
        "score the table as one with `score`, or take `lowest`, `highest`, `rank_of` and `mean_of` out of the program",
    )


def no_such_row(row: int, rows: int) -> CallError:
    return CallError(f"there is no row {row}", f"rows are 0 to {rows - 1}" if rows else "the table is empty")


def no_owner_column(name: str, known: Iterable[str]) -> CallError:
    """The column that should say whose each option is."""
    return CallError(f"the table has no column `{name}` that says whose an option is", _choices(name, list(known)))


def row_without_owner(row: int) -> CallError:
    return CallError(f"row {row} is nobody's", "say of each row whose it is, or leave it out")


def no_program_of(owner: object) -> CallError:
    """An option of somebody without rules: nothing is guessed."""
    return CallError(f"there is no program of `{owner!s:.60}`", "add one, or leave out the rows of those without")


def no_options_of(owner: object) -> CallError:
    return CallError(f"`{owner!s:.60}` has no options in the table")


def too_costly() -> CallError:
    """The bounded evaluator gave up: comprehensions in comprehensions over a large memory."""
    return CallError(
        "the program takes too many steps for this data", "give it less memory, or nest fewer comprehensions"
    )


@contextmanager
def bounded() -> Iterator[None]:
    """Turns the evaluator's signal into the error of the whole call."""
    try:
        yield
    except Exhausted:
        raise too_costly() from None


def _choices(name: str, known: list[str]) -> str | None:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"it has {_listed(known)}" if known else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
