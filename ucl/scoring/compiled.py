"""A program that is ready to run: what `ucl.load` returns and what a built package runs.

In: tables of any kind, context and memory as JSON or Python has them. Out: a `Result`; the effects of actions, the
answers of definitions, alerts. Errors of a whole call are `CallError` and `TableError`; a row that is wrong says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, Unpack

from ucl.models.surface import Surface, surface_of
from ucl.models.values import plain, to_python
from ucl.scoring import errors
from ucl.scoring.calls import (
    Moment,
    checked_threads,
    choose_schema,
    find_zone,
    instant,
    remember,
    scored_schemas,
    start_call,
)
from ucl.scoring.words import invalid_json
from ucl.semantics import evaluate
from ucl.semantics.outcome import CONTESTED_FROM, Call, Invalid
from ucl.semantics.program import Definition, Program, Schema
from ucl.semantics.values import Problem, ReadMemory, read_arguments, to_echo, to_json
from ucl.spans import span

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.diagnostics import Diagnostic
    from ucl.kernels.columns import Columns
    from ucl.kernels.planning import Planner
    from ucl.models.records import Record
    from ucl.scoring.results.result import ColumnsWanted, Result
    from ucl.scoring.single import Scorer
    from ucl.scoring.streaming.files import FileScores
    from ucl.tables.ingest import FewRows


# Up to so many records of the memory, starting NumPy takes longer than going over them.
_FEW_RECORDS = 2000


class ActionRow(TypedDict):
    """One effect that is asked for; or, of a row that can't be read, only `row` and `invalid`."""

    row: int
    action: NotRequired[str]
    effect: NotRequired[str]
    args: NotRequired[dict[str, Any]]
    invalid: NotRequired[dict[str, Any]]


class AlertRow(TypedDict):
    """One record for which an alert holds, as data that a memory may hold. Where the alert could not be evaluated,
    `invalid` says why, and `say` is None."""

    alert: str
    severity: str
    record: dict[str, Any]
    say: str | None
    invalid: NotRequired[dict[str, Any]]


class Around(TypedDict, total=False):
    """What holds around scoring, as the arguments of `score` say it."""

    context: Any
    memory: Any
    now: Moment | None
    timezone: str | None
    weights: Mapping[str, float] | None
    contested_from: float


class AroundTable(Around, total=False):
    """The same for one whole table."""

    group_by: str | None
    threads: int | None
    on_compile: Callable[[], None] | None


class CompiledProgram:
    """A checked program with the ways to run it. `semantic` is its typed tree, `schemas` are by name."""

    def __init__(self, program: Program, before: CompiledProgram | None = None) -> None:
        """`before` is the version that this one is an edit of: what they share is not planned again."""
        self.semantic = program
        self._before = before

    def __repr__(self) -> str:
        return f"<ucl program {self.module}: {len(self.semantic.rules)} rules>"

    @property
    def module(self) -> str:
        return self.semantic.module

    @property
    def timezone(self) -> str:
        """The zone in which local times are read unless a call says otherwise."""
        return self.semantic.timezone

    @property
    def schemas(self) -> Mapping[str, Schema]:
        return self.semantic.schemas

    @cached_property
    def _planner(self) -> Planner:
        """What turns the program into plans and keeps them; the same for all versions of an edited program."""
        from ucl.kernels.planning import Planner

        before, self._before = self._before, None
        return Planner() if before is None else before._planner

    @cached_property
    def surface(self) -> Surface:
        """The names under which Python sees what the program declares."""
        return surface_of(self.semantic)

    @cached_property
    def models(self) -> Mapping[str, type[Record]]:
        """A pydantic model for each schema, and `Context` and `Memory` where the program has them, by the names that
        they have in a built package. `score` takes what they hold, and so do `context` and `memory`."""
        from ucl.models.records import models_of

        made = models_of(self.surface.models)
        return {name: made[schema] for schema, name in self.surface.models.items()}

    def findings(self, *, now: Moment | None = None, list_tensions: bool = False) -> list[Diagnostic]:
        """What the rules say of each other (LANGUAGE §10), each claim shown by a witness that has been replayed.

        `now` is the day from which on rules are valid or not, the clock's by default. Trade-offs between rules about
        different fields are counted, and listed one by one where `list_tensions` asks for it.
        """
        from ucl.analysis.findings import analyse

        moment = time.time_ns() // 1000 if now is None else instant(now, find_zone(self.timezone))
        return analyse(self.semantic, moment, list_tensions)

    def remember(self, memory: Any, timezone: str | None = None) -> ReadMemory:
        """A memory read once: give it as `memory` to any number of calls, which then neither read it again nor look up
        again what rules asked of it. It does not change, whatever becomes of what it was read from.

        `timezone` overrides the program's, and must be that of the calls. Raises `CallError`.
        """
        return remember(self.semantic, memory, timezone)

    def score(
        self,
        table: Any,
        schema: str | None = None,
        *,
        context: Any = None,
        memory: Any = None,
        now: Moment | None = None,
        timezone: str | None = None,
        weights: Mapping[str, float] | None = None,
        contested_from: float = CONTESTED_FROM,
        group_by: str | None = None,
        threads: int | None = None,
        on_compile: Callable[[], None] | None = None,
    ) -> Result:
        """Scores each row of a table.

        `table` is a pandas, polars or pyarrow table, a dict of arrays, or a list of dicts or models. `schema` says what
        a row is, where the program has rules on several. `context` and `memory` are mappings by name, `now` an instant
        (the clock's by default), `timezone` overrides the program's, `weights` are recencies by rule, `group_by` names
        the column that splits the table into choice sets. Contributions of opposite signs contest where each has at
        least the magnitude `contested_from`. `on_compile` is called before kernels are compiled, which takes some
        seconds once for a machine. Raises `CallError` or `TableError`.
        """
        from ucl.scoring.results.making import score_planned

        program = self.semantic
        chosen = choose_schema(program, schema, scored_schemas(program), "rules")
        call = start_call(program, context, memory, now, timezone, weights, contested_from)
        with errors.bounded(), span("lowering"):
            plan = self._planner.plan(program, chosen, call)
        return score_planned(
            program, chosen, call, plan, _as_rows(table), group_by, checked_threads(threads), on_compile
        )

    def scorer(self, schema: str | None = None, **around: Unpack[Around]) -> Scorer:
        """For one option after another: `program.scorer().score({...})` answers in microseconds what `score` says of a
        table of one row. Everything around is fixed when the scorer is made, the moment too. Raises `CallError`."""
        from ucl.scoring.single import Scorer

        program = self.semantic
        chosen = choose_schema(program, schema, scored_schemas(program), "rules")
        call = start_call(program, **around)
        with errors.bounded():
            return Scorer(program, chosen, call, self._planner.plan(program, chosen, call))

    async def score_async(self, table: Any, schema: str | None = None, **around: Unpack[AroundTable]) -> Result:
        """As `score`, in a thread of its own, so that an event loop goes on: the kernels don't hold Python's lock.

        A task that is cancelled stops waiting; the thread ends when the table is scored.
        """
        from asyncio import to_thread

        return await to_thread(self.score, table, schema, **around)

    def score_batches(
        self, batches: Iterable[Any], schema: str | None = None, threads: int | None = None, **around: Unpack[Around]
    ) -> Iterator[pa.RecordBatch]:
        """Scores a table that comes in parts, and holds one of them at a time.

        Each part is a record batch or any table that `score` takes; out come record batches with the results' columns
        after their own, in the same order, rows counting anew in each. All are scored at one moment. A program whose
        rules look at the whole table (`lowest`, `rank_of`, …) is refused, since its answers would depend on how the
        table is cut. Raises `CallError` at once, `TableError` when the part that is wrong is reached.
        """
        from ucl.scoring.streaming.batches import score_batches

        program = self.semantic
        chosen = choose_schema(program, schema, scored_schemas(program), "rules")
        call = start_call(program, **around)
        if isinstance(batches, str | bytes) or not isinstance(batches, Iterable):
            raise errors.wrong_argument("batches", "an iterable of record batches or tables", batches)
        return score_batches(program, chosen, call, batches, checked_threads(threads))

    def score_file(
        self,
        path: str | PathLike[str],
        output: str | PathLike[str] | None = None,
        schema: str | None = None,
        *,
        top: int | None = None,
        columns: ColumnsWanted = "all",
        group_by: str | None = None,
        threads: int | None = None,
        on_rows: Callable[[int], None] = lambda rows: None,
        on_compile: Callable[[], None] | None = None,
        **around: Unpack[Around],
    ) -> FileScores:
        """Scores a table in a file, which may be larger than memory: parts are read, scored and written in turns.

        `path` and `output` are Parquet, Arrow, CSV or JSON Lines, told by their names. `output` gets the input's
        columns and the results, or what `columns` says (`Result.to_arrow`); it is there as a whole or not at all. With
        `top` the best rows alone are written, and are `best` in what is returned. With neither, rows are counted.
        `on_rows` hears of how many more rows are done.

        What is said is equal to the bit to what `score` says of the table read at once. A program whose rules look at
        the whole table (`lowest`, `rank_of`, …), and a JSON array, are read at once all the same; `held` in what is
        returned says so. Raises `CallError` and `TableError`.
        """
        from ucl.scoring.streaming.files import score_file

        program = self.semantic
        chosen = choose_schema(program, schema, scored_schemas(program), "rules")
        call = start_call(program, **around)
        limits = (group_by, checked_threads(threads), on_rows, on_compile)
        return score_file(program, chosen, call, path, output, top, columns, *limits)

    def act(
        self,
        events: Any,
        schema: str | None = None,
        *,
        context: Any = None,
        memory: Any = None,
        now: Moment | None = None,
        timezone: str | None = None,
    ) -> list[ActionRow]:
        """What the actions ask for: rows in order, actions in source order, values as JSON has them."""
        program = self.semantic
        if not program.actions:
            raise errors.nothing_to_do("actions")
        chosen = choose_schema(program, schema, dict.fromkeys(a.schema for a in program.actions), "actions")
        call = start_call(program, context, memory, now, timezone)
        return list(self._acted(_read(_as_table(events), chosen, call), chosen, call))

    def _acted(self, columns: Columns, schema: Schema, call: Call) -> Iterator[ActionRow]:
        from ucl.scoring.results.records import all_records

        with errors.bounded():
            outcomes = evaluate.act(self.semantic, schema, all_records(columns, schema), call)
        for row, effects in enumerate(outcomes):
            if isinstance(effects, Invalid):
                yield {"row": row, "invalid": invalid_json(effects)}
                continue
            for asked in effects:
                parameters = self.semantic.effects[asked.effect].parameters
                arguments = {p.name: to_json(asked.arguments[p.name], p.type, call.zone) for p in parameters}
                yield {"row": row, "action": asked.action, "effect": asked.effect, "args": arguments}

    def query(
        self,
        name: str,
        *arguments: Any,
        context: Any = None,
        memory: Any = None,
        now: Moment | None = None,
        timezone: str | None = None,
    ) -> Any:
        """What the definition `name` answers, as a Python value. Raises `OverflowError` where it leaves its type."""
        call = start_call(self.semantic, context, memory, now, timezone)
        answer = self.answer(name, arguments, call)
        if answer.error is not None:
            raise OverflowError(f"`{name}` has no answer: {answer.error}")
        return to_python(answer.value, self.definition(name).result, call.zone)

    def answer(self, name: str, arguments: Sequence[Any], call: Call) -> evaluate.Answer:
        """The answer as a program's value, in a call that has been started."""
        values = read_arguments(self.definition(name), [plain(a) for a in arguments], call.zone)
        if isinstance(values, Problem):
            raise errors.bad_call(values)
        with errors.bounded():
            if _is_large(call):
                from ucl.kernels import queries

                return queries.query(self.semantic, name, values, call)
            return evaluate.query(self.semantic, name, values, call)

    def definition(self, name: str) -> Definition:
        if not isinstance(name, str):
            raise errors.wrong_argument("name", "the name of a definition", name)
        if name not in self.semantic.definitions:
            raise errors.no_such_definition(name, self.semantic.definitions)
        return self.semantic.definitions[name]

    def alerts(
        self,
        memory: Any = None,
        *,
        context: Any = None,
        now: Moment | None = None,
        timezone: str | None = None,
    ) -> list[AlertRow]:
        """Each record of the memory for which an alert holds, alerts in source order, records as a memory has them."""
        call = start_call(self.semantic, context, memory, now, timezone)
        with errors.bounded():
            if _is_large(call):
                from ucl.kernels import queries

                found = queries.alerts(self.semantic, call)
            else:
                found = evaluate.alerts(self.semantic, call)
        fields = {alert.name: alert.record.schema.fields for alert in self.semantic.alerts}
        return [_alert_row(alerted, to_echo(alerted.record, fields[alerted.alert], call.zone)) for alerted in found]


def _is_large(call: Call) -> bool:
    """Whether columns of the memory are made sooner than its records are gone over one by one."""
    return sum(len(value) for value in call.memory.values() if isinstance(value, tuple)) > _FEW_RECORDS


def _alert_row(alerted: evaluate.Alerted, record: dict[str, Any]) -> AlertRow:
    row: AlertRow = {"alert": alerted.alert, "severity": alerted.severity, "record": record, "say": alerted.say}
    if alerted.invalid is not None:
        row["say"] = None
        row["invalid"] = invalid_json(alerted.invalid)
    return row


def _as_rows(data: Any) -> pa.Table | FewRows:
    from ucl.tables.ingest import FewRows

    return FewRows.of(data) or _as_table(data)


def _as_table(data: Any) -> pa.Table:
    from ucl.tables.frames import to_table

    return to_table(data)


def _read(table: pa.Table, schema: Schema, call: Call) -> Columns:
    from ucl.tables.ingest import ingest

    return ingest(table, schema, call.zone)
