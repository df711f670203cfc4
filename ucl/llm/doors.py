"""The Python door to a model: from what was said to facts, and to drafts of UCL.

In: words, a program, a schema's name, and a model: `Settings`, the name of one, or whatever can be asked; without one
what `UCL_MODEL` and `UCL_BASE_URL` name. Out: an `Extraction`, a `Result`. `extract` and `write` may not be called from
a running event loop; `extract_async` and `write_async` may.

Raised: `CompileError` for a program with mistakes, `CallError` for a schema that it does not have, `ModelError` where
there is no model, or `extract` gets no answer. `write` raises nothing for what a model does: that is a `Failure`.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
from collections.abc import Coroutine, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from ucl.diagnostics import CompileError, Report
from ucl.driver import open_source
from ucl.llm.client import Model, ModelError, Settings, connect, settings_from
from ucl.llm.drafts.base import Base, opened, standard_schemas, started
from ucl.llm.drafts.results import Result
from ucl.llm.extraction import Extraction, extract_all
from ucl.llm.extraction import Said as Heard
from ucl.llm.grammar import schema_names, schema_of
from ucl.llm.writing import ROUNDS, Manner, Said, drafts_of, read_statement, statement_of
from ucl.scoring.calls import find_zone
from ucl.scoring.compiled import CompiledProgram
from ucl.scoring.errors import CallError

T = TypeVar("T")
Program = str | PathLike[str] | CompiledProgram | Base
"""The path of a program, one that was loaded or compiled, or one that was opened before."""
Asked = Model | Settings | str | None

_MEETING_TOPICS = ("meeting_time", "meeting_day", "meeting_duration", "meeting_with_person")


async def write_async(
    said: Said,
    program: Program,
    schema: str | None = None,
    *,
    model: Asked = None,
    now: dt.datetime | None = None,
    rounds: int = ROUNDS,
    think: bool = True,
) -> Result:
    """A statement (a text, a `Statement`, a `Fact`, or what `extract` found) as a draft of UCL on a schema of the
    program. `now` is the clock's by default; mending takes `rounds` at most."""
    return (await write_all_async([said], program, schema, model=model, now=now, rounds=rounds, think=think))[0]


async def write_all_async(
    said: Sequence[Said],
    program: Program,
    schema: str | None = None,
    *,
    model: Asked = None,
    now: dt.datetime | None = None,
    rounds: int = ROUNDS,
    think: bool = True,
) -> list[Result]:
    """A result for each statement; each is judged with the drafts of those before it in force."""
    _not_one_text(said)
    base = base_of(program)
    name = schema_of(base.program, base.module, schema)
    zone, moment = find_zone(base.program.timezone), _moment(now)
    reads = [read_statement(statement_of(each), zone, moment) for each in said]
    manner = Manner(now=int(moment.timestamp() * 1_000_000), rounds=rounds, think=think)
    async with _Connected(model) as connected:
        return await drafts_of(base, name, reads, connected, manner)


async def extract_async(
    said: Heard,
    program: Program | None = None,
    schema: str | None = None,
    *,
    model: Asked = None,
    now: dt.datetime | None = None,
    timezone: str | None = None,
    source_type: str = "chat",
) -> Extraction:
    """The facts in a sentence or a conversation. Its zone is `timezone`, else the program's, else UTC; topics are the
    fields of the schema."""
    found = await extract_all_async(
        [said], program, schema, model=model, now=now, timezone=timezone, source_type=source_type
    )
    if isinstance(found[0], ModelError):
        raise found[0]
    return found[0]


async def extract_all_async(
    conversations: Sequence[Heard],
    program: Program | None = None,
    schema: str | None = None,
    *,
    model: Asked = None,
    now: dt.datetime | None = None,
    timezone: str | None = None,
    source_type: str = "chat",
) -> list[Extraction | ModelError]:
    """The facts of each conversation, all asked at once; where one gets no answer, its error in its place."""
    _not_one_text(conversations)
    base = None if program is None else base_of(program)
    zone = find_zone(timezone or ("UTC" if base is None else base.program.timezone))
    topics = _MEETING_TOPICS if base is None else topics_of(base, schema)
    async with _Connected(model) as connected:
        return await extract_all(conversations, connected, topics, _moment(now), zone, source_type)


class Writing(TypedDict, total=False):
    """How to write, as `write_async` says."""

    model: Asked
    now: dt.datetime | None
    rounds: int
    think: bool


class Extracting(TypedDict, total=False):
    """How to extract, as `extract_async` says."""

    model: Asked
    now: dt.datetime | None
    timezone: str | None
    source_type: str


def write(said: Said, program: Program, schema: str | None = None, **how: Unpack[Writing]) -> Result:
    """A statement as a draft of UCL, as `write_async`; waits for it."""
    return _waited(write_async(said, program, schema, **how))


def write_all(
    said: Sequence[Said], program: Program, schema: str | None = None, **how: Unpack[Writing]
) -> list[Result]:
    """A result for each statement, as `write_all_async`; waits for them."""
    return _waited(write_all_async(said, program, schema, **how))


def extract(
    said: Heard, program: Program | None = None, schema: str | None = None, **how: Unpack[Extracting]
) -> Extraction:
    """The facts in a sentence or a conversation, as `extract_async`; waits for them."""
    return _waited(extract_async(said, program, schema, **how))


def extract_conversations(
    conversations: Sequence[Heard],
    program: Program | None = None,
    schema: str | None = None,
    **how: Unpack[Extracting],
) -> list[Extraction | ModelError]:
    """The facts of each conversation, as `extract_all_async`; waits for them."""
    return _waited(extract_all_async(conversations, program, schema, **how))


def _waited(asked: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asked)
    asked.close()
    raise RuntimeError("an event loop is running: use the function whose name ends with `_async`")


# --- what the doors are given ---------------------------------------------------------------------------------------


def base_of(program: Program) -> Base:
    """The program, opened to be added to. Raises `CompileError`, and `OSError` for a file that can't be opened."""
    match program:
        case Base():
            return program
        case CompiledProgram():
            source = program.semantic.sources[0]
            folder = Path(source.path).parent
            base, report = opened(source, folder if Path(source.path).is_file() else None)
        case _:
            report = Report()
            path = Path(program)
            text = open_source(path, report)
            base, report = (None, report) if text is None else opened(text, path.parent)
    if base is None:
        raise CompileError(report)
    return base


def started_on(schema: str) -> Base:
    """A program that does not exist yet, on a schema of the standard library."""
    base = started(schema)
    if base is None:
        listed = ", ".join(f"`{name}`" for name in standard_schemas())
        raise CallError(f"there is no schema `{schema}`", f"name a program that has it, or one of {listed}")
    return base


def topics_of(base: Base, schema: str | None) -> tuple[str, ...]:
    """What relations may be about: the fields of the schema; for meetings the usual topics."""
    name = schema_of(base.program, base.module, schema)
    fields = tuple(field.name for field in schema_names(base.module)[name].fields)
    return (*_MEETING_TOPICS, *fields) if name.rpartition(".")[2] == "Meeting" else fields


def _not_one_text(many: object) -> None:
    """A text is a sequence of letters, each of which would be asked about."""
    if isinstance(many, str):
        raise TypeError("a list of statements or conversations is expected, not one text")


def _moment(now: dt.datetime | None) -> dt.datetime:
    if now is None:
        return dt.datetime.now(dt.UTC)
    return now.replace(tzinfo=dt.UTC) if now.tzinfo is None else now


class _Connected:
    """A model, ready to ask. What is connected here is closed here."""

    def __init__(self, asked: Asked) -> None:
        match asked:
            case None | str():
                self._model, self._is_own = connect(settings_from(os.environ, asked)), True
            case Settings():
                self._model, self._is_own = connect(asked), True
            case _:
                self._model, self._is_own = asked, False

    async def __aenter__(self) -> Model:
        return self._model

    async def __aexit__(self, *_: object) -> None:
        if self._is_own:
            await self._model.close()
