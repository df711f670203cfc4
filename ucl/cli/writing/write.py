"""The command `write`: what somebody said, through a model, to a rule that a person sees before it is placed anywhere.

Nothing is written but at the end of one file, whole or not at all, and only where a person says yes at a terminal or
`--yes` was given. A question is only ever answered by a person.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ucl.cli import inputs
from ucl.cli.output import CommandError, complain, is_protected, print_json, remark, replace_file
from ucl.cli.source import complain_about, standard_input, unreadable
from ucl.render import printable

if TYPE_CHECKING:
    from ucl.llm.client import Budget, Prices, Settings
    from ucl.llm.drafts import Base, Draft, Failure, Result
    from ucl.semantics.program import Status

_LARGEST_STATEMENT = 1 << 20
_BUDGET = ("calls", "tokens", "money", "seconds")
# A model said what it said: nothing is wrong with the command or its files.
_OUTCOMES = frozenset(("not-mended", "nothing-said"))


def add_write(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("said", metavar="STATEMENT", help='what was said: "not after ten, please"; `-` for standard input')
    add("--schema", metavar="S", help="what it is about, where the program has several schemas; alone: one of `std`'s")
    add("--program", metavar="P.ucl", type=Path, help="the program that the rule is added to")
    add("-o", "--output", metavar="FILE", type=Path, help="write program and rule to FILE, in place of the program's")
    add("--yes", action="store_true", help="write without asking; what only a person can decide is not written")
    add("--status", choices=["shadow", "active"], default="shadow", help="shadow: watched until it is confirmed")
    add("--source", choices=["chat", "email", "manual"], default="manual", help="where it was said (manual)")
    add("--source-id", metavar="ID", help="the message's or the conversation's name there")
    add("--at", metavar="DT", help="when it was said, in place of now")
    add("--now", metavar="DT", help="from when on it shall hold, in place of the clock's")
    add("--model", metavar="M", help="the model to ask, in place of `UCL_MODEL`")
    add("--base-url", metavar="U", help="its server, in place of `UCL_BASE_URL`")
    add("--budget", metavar="K=V", action="append", type=_amount, help=f"spend at most: {', '.join(_BUDGET)}")
    add("--prices", metavar="IN,OUT", type=_prices, help="money for a million tokens in, out, and perhaps kept")
    add("--timeout", metavar="S", type=_seconds, default=60.0, help="seconds to wait for one answer (60)")
    add("--rounds", metavar="N", type=inputs.count, default=3, help="rounds of mending at most (3)")
    add("--no-thinking", action="store_true", help="write at once: cheaper, and less often right")
    add("--format", choices=["text", "json"], default="text", help="words, or one JSON object")
    add("--json", action="store_const", const="json", dest="format", help="the same as `--format json`")


@dataclass(frozen=True)
class _Target:
    """The file to write, None where nothing is to be written; `program` is what stands there now, if it is added to."""

    path: Path | None
    program: Path | None


def write(said: str, **given: Any) -> int:
    """Prints the draft and what it does, and places it where that is wanted; the status is 1 where nothing was placed
    that was to be."""
    asked = Namespace(**given)
    statement = _statement(said)
    base = _base(asked)
    if base is None:
        return 1
    target = _target(asked)
    result = _asked_model(statement, base, asked)
    return _Outcome(result, target, asked).told()


# --- what is given --------------------------------------------------------------------------------------------------


def _amount(word: str) -> tuple[str, Decimal]:
    key, _, value = word.partition("=")
    number = _decimal(value)
    if key not in _BUDGET or number is None:
        raise ArgumentTypeError(f"`{word}` is no budget; write `tokens=20000`, or one of {', '.join(_BUDGET)}")
    return key, number


def _prices(word: str) -> tuple[Decimal, ...]:
    numbers = tuple(_decimal(part) for part in word.split(","))
    found = tuple(number for number in numbers if number is not None)
    if len(found) < len(numbers) or len(found) not in (2, 3):
        raise ArgumentTypeError(f"`{word}` are no prices; write `0.25,2` or, with that of kept tokens, `0.25,2,0.025`")
    return found


def _seconds(word: str) -> float:
    number = _decimal(word)
    if number is None or not 0 < number <= 86_400:
        raise ArgumentTypeError(f"`{word}` is no number of seconds")
    return float(number)


def _decimal(word: str) -> Decimal | None:
    try:
        number = Decimal(word)
    except InvalidOperation:
        return None
    return number if number.is_finite() and 0 <= number < 10**12 else None


def _statement(said: str) -> str:
    if said != "-":
        return said
    data = standard_input(_LARGEST_STATEMENT + 1)
    if len(data) > _LARGEST_STATEMENT:
        raise CommandError("the statement on standard input has more than 1 MiB", "a few sentences are enough")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CommandError("the statement on standard input is not UTF-8") from None


def _base(asked: Namespace) -> Base | None:
    """The program to add to, or one that begins here; None for one with mistakes, which have been said."""
    from ucl.llm.doors import base_of, started_on

    if asked.program is None:
        if asked.schema is None:
            help = "`--program meetings.ucl`, or `--schema Meeting` to begin a program"
            raise CommandError("nothing says what the statement is about", help)
        return started_on(asked.schema)
    from ucl.diagnostics import CompileError, Report

    try:
        return base_of(asked.program)
    except OSError as error:
        raise unreadable(asked.program, error) from None
    except CompileError as error:
        complain_about(Report(list(error.diagnostics)))
        return None


def _target(asked: Namespace) -> _Target:
    path = asked.output or asked.program
    if path is not None and path.is_dir():
        raise CommandError(f"`{path}` is a folder", "name a file in it")
    if path is not None and not path.parent.is_dir():
        raise CommandError(f"there is no folder `{path.parent}`")
    target = _Target(path, asked.program)
    _complain_of_another(target)
    if path is not None and is_protected(path):
        raise CommandError(f"`{path}` is read-only", "make it writable, or write to a new file with `-o`")
    return target


def _complain_of_another(target: _Target) -> None:
    """A file that is not the program itself would be lost."""
    path, program = target.path, target.program
    if path is not None and path.is_file() and not (program is not None and path.samefile(program)):
        raise CommandError(f"`{path}` exists already", f"add to it with `--program {path}`")


# --- asking the model -----------------------------------------------------------------------------------------------


def _asked_model(said: str, base: Base, asked: Namespace) -> Result:
    """Wrong settings are wrong use; what goes wrong with the model later is a result."""
    from ucl.cli.progress import Progress
    from ucl.llm import doors
    from ucl.llm.client import ModelError
    from ucl.llm.writing import Statement

    zone = base.program.timezone
    at = _moment(asked.at, zone) if asked.at else None
    now = _moment(asked.now, zone) if asked.now else None
    source_id = asked.source_id or ("uclc write" if asked.source == "manual" else None)
    statement = Statement(said, asked.source, source_id, at or now or _moment(None, zone))
    schema = None if asked.schema is None else asked.schema.rpartition(".")[2] if base.start else asked.schema
    try:
        settings = _settings(asked)
        with Progress() as progress:
            progress.phase(f"asking {settings.model}")
            return doors.write(
                statement,
                base,
                schema,
                model=settings,
                now=now,
                rounds=asked.rounds,
                think=not asked.no_thinking,
            )
    except ModelError as error:
        raise CommandError(error.message, error.help) from None


def _settings(asked: Namespace) -> Settings:
    import os
    from dataclasses import replace

    from ucl.llm.client import settings_from

    settings = settings_from(os.environ, asked.model, asked.base_url)
    return replace(settings, timeout=asked.timeout, prices=_priced(asked.prices), budget=_budget(asked.budget))


def _priced(prices: tuple[Decimal, ...] | None) -> Prices | None:
    from ucl.llm.client import Prices

    return None if prices is None else Prices(*prices)


def _budget(amounts: list[tuple[str, Decimal]] | None) -> Budget:
    from ucl.llm.client import Budget

    limits: Mapping[str, Decimal] = dict(amounts or ())
    return Budget(
        calls=int(limits["calls"]) if "calls" in limits else None,
        tokens=int(limits["tokens"]) if "tokens" in limits else None,
        money=limits.get("money"),
        seconds=float(limits["seconds"]) if "seconds" in limits else None,
    )


def _moment(word: str | None, zone: str) -> Any:
    """A moment in UTC; without a word the clock's."""
    import datetime as dt
    import time

    from ucl.scoring.calls import find_zone, instant

    microseconds = time.time_ns() // 1000 if word is None else instant(word, find_zone(zone))
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=microseconds)


# --- telling and placing --------------------------------------------------------------------------------------------


class _Outcome:
    """What becomes of a result."""

    def __init__(self, result: Result, target: _Target, asked: Namespace) -> None:
        from ucl.llm.drafts import Draft, Question
        from ucl.semantics.program import Status

        self._result, self._target, self._asked = result, target, asked
        self._draft = result.draft if isinstance(result, Question) else result if isinstance(result, Draft) else None
        self._is_clear = isinstance(result, Draft)
        self._status: Status = Status(asked.status)

    def told(self) -> int:
        """Prints it, places it, and returns the status."""
        from ucl.llm.drafts import Failure

        written = False
        if self._asked.format == "text":
            self._print()
            written = self._place(may_ask=True)
        else:
            try:
                written = self._place(may_ask=False)
            finally:
                # What was asked for and paid is told, even where it can't be placed.
                print_json({**self._result.to_json(), "written": str(self._target.path) if written else None})
        if isinstance(self._result, Failure):
            return self._fail(self._result)
        return int(not written and (not self._is_clear or self._target.path is not None) and self._draft_matters)

    @property
    def _draft_matters(self) -> bool:
        """A fact is no draft, and nothing was to be placed."""
        from ucl.llm.drafts import FactOnly

        return not isinstance(self._result, FactOnly)

    def _fail(self, failure: Failure) -> int:
        complain(failure.message, failure.help)
        return 1 if failure.code in _OUTCOMES else 2

    def _print(self) -> None:
        from ucl.cli.writing.drafts import cost_line, result_lines
        from ucl.llm.drafts import Failure

        text = None if self._draft is None else self._draft.addition.text(self._status)
        for line in result_lines(self._result, text):
            print(line)
        course = self._result.course
        for note in course.notes:
            remark(f"note: {note}")
        sys.stdout.flush()
        # Where it failed without an answer, the error says whether a model was asked.
        if course.usage.calls or not isinstance(self._result, Failure):
            remark(cost_line(course.usage))

    def _place(self, may_ask: bool) -> bool:
        """Whether it was written."""
        path, draft = self._target.path, self._draft
        if path is None or draft is None:
            return False
        if self._asked.yes and self._is_clear:
            self._write(path, draft)
            return True
        if may_ask and _at_a_terminal():
            return self._answered_yes(path, draft)
        why = "a question is open" if not self._is_clear else "nobody was asked: there is no terminal"
        help = "answer it at a terminal, or say more" if not self._is_clear else "`--yes` writes without asking"
        complain(f"`{path}` was not written, since {why}", help)
        return False

    def _answered_yes(self, path: Path, draft: Draft) -> bool:
        what = "add it" if self._is_clear else "add it all the same"
        sys.stderr.write(f"{what} to `{printable(str(path))}`, {self._status}? [y/N] ")
        sys.stderr.flush()
        answer = sys.stdin.readline().strip().casefold()
        if answer not in ("y", "yes"):
            remark(f"`{path}` was not written")
            return False
        self._write(path, draft)
        return True

    def _write(self, path: Path, draft: Draft) -> None:
        addition = draft.addition.text(self._status)
        program = self._target.program
        _complain_of_another(self._target)
        text = draft.base.with_text(addition).text if program is None else _appended(program, draft.base, addition)
        replace_file(path, text)
        remark(f"wrote `{path}`")


def _at_a_terminal() -> bool:
    """Whether somebody reads the question and can answer it."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _appended(path: Path, base: Base, addition: str) -> str:
    """The file as it is to the last character, and the addition. What was judged is what is added to: a file that
    changed meanwhile is left alone."""
    from ucl.diagnostics import Source

    with path.open("r", encoding="utf-8", newline="") as file:
        before = file.read()
    if Source(str(path), before).text != base.source.text:
        raise CommandError(f"`{path}` was changed meanwhile, and is left as it is", "run the command again")
    line_end = "\r\n" if "\r\n" in before else "\n"
    kept = before.rstrip("\r\n")
    text = f"{kept}\n\n{addition}\n" if kept else f"{addition}\n"
    return kept + text[len(kept) :].replace("\n", line_end)
