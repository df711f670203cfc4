"""Many people, each with rules of their own that may change at any moment, and each with options of their own.

In: a program for each person; a table of options, each somebody's. Out: a `CrowdResult`, equal to the bit to what each
person's program says of that person's rows. One pass goes from person to person (`kernels.crowd`), a microsecond or two
each; adding, changing or removing a program touches no other. Programs that mean the same stand once, about a kilobyte
for twenty rules. What a pass can't say (scores that vary by an expression, rules that compare options or look into a
memory, a context of one's own) is scored by the ordinary kernels, program by program.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping
from threading import RLock
from typing import TYPE_CHECKING, Any

from ucl.scoring import errors
from ucl.scoring.calls import Moment, checked_threads
from ucl.scoring.compiled import CompiledProgram
from ucl.scoring.many.owners import owned_rows
from ucl.scoring.many.passes import Around, Own, scored
from ucl.scoring.many.result import CrowdResult
from ucl.scoring.many.rules import Rules, Shelf
from ucl.scoring.results.making import threads_for
from ucl.semantics.outcome import CONTESTED_FROM
from ucl.tables.frames import to_table

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.scoring.results.result import Result


class Crowd(MutableMapping[Hashable, CompiledProgram]):
    """A program for each person, by whatever names people: `crowd["ann"] = program`.

    May be changed and asked from several threads; each `score` goes by the programs that are there when it starts.
    """

    def __init__(self, programs: Mapping[Any, CompiledProgram] | None = None, schema: str | None = None) -> None:
        """`schema` says what an option is, where programs have rules on several."""
        self._shelf = Shelf(schema)
        self._members: dict[Hashable, tuple[CompiledProgram, Rules]] = {}
        self._lock = RLock()
        if programs is not None and not isinstance(programs, Mapping):
            raise errors.wrong_argument("programs", "a mapping by owner", programs)
        for owner, program in (programs or {}).items():
            self[owner] = program

    def __repr__(self) -> str:
        return f"<ucl crowd of {len(self)} people>"

    # --- who has which program --------------------------------------------------------------------------------------

    def __setitem__(self, owner: Hashable, program: CompiledProgram) -> None:
        """Raises `CallError` where it isn't clear what the program's options are."""
        if not isinstance(program, CompiledProgram):
            raise errors.wrong_argument("program", "a program that `ucl.load` or `ucl.compile` gave", program)
        with self._lock:
            rules = self._shelf.take(program)
            before = self._members.get(owner)
            self._members[owner] = program, rules
            if before is not None:
                self._shelf.give_back(before[1])

    def __delitem__(self, owner: Hashable) -> None:
        with self._lock:
            self._shelf.give_back(self._members.pop(owner)[1])

    def __getitem__(self, owner: Hashable) -> CompiledProgram:
        return self._members[owner][0]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    # --- scoring ----------------------------------------------------------------------------------------------------

    def score(
        self,
        options: Any,
        owner: str | Iterable[Hashable],
        *,
        contexts: Mapping[Any, Any] | None = None,
        memories: Mapping[Any, Any] | None = None,
        weights: Mapping[Any, Mapping[str, float]] | None = None,
        now: Moment | None = None,
        timezone: str | None = None,
        contested_from: float = CONTESTED_FROM,
        threads: int | None = None,
        on_compile: Callable[[], None] | None = None,
    ) -> CrowdResult:
        """Scores each row of a table by the rules of its owner.

        `options` is any table that `CompiledProgram.score` takes; `owner` is its column that says whose an option is,
        or that for each row. `contexts`, `memories` and `weights` are by owner, for those who have some. Rows of one
        owner are compared with each other and with no others. Raises `CallError` and `TableError`: for a row whose
        owner has no program, too.
        """
        table = to_table(options)
        threads = checked_threads(threads) or threads_for(table.num_rows)
        owned = owned_rows(table, owner)
        # One moment for all, also where it is the clock's.
        around = Around(dt.datetime.now(dt.UTC) if now is None else now, timezone, contested_from)
        own = _own({"context": contexts, "memory": memories, "weights": weights})
        with self._lock:
            members = self._members_of(owned.owners)
            scores = scored(self._shelf, table, owned, members, around, own, threads, on_compile)

        def result_of(who: Hashable, rows: pa.Table) -> Result:
            program, rules = members[owned.places[who]]
            return program.score(rows, rules.schema.name, **around.arguments(own.get(who)), threads=1)

        return CrowdResult(scores, table, owned, result_of)

    def _members_of(self, owners: Iterable[Hashable]) -> list[tuple[CompiledProgram, Rules]]:
        known = self._members
        try:
            return list(map(known.__getitem__, owners))
        except KeyError as missing:
            raise errors.no_program_of(missing.args[0]) from None


def score_many(
    programs: Mapping[Any, CompiledProgram], options: Any, owner: str | Iterable[Hashable], **around: Any
) -> CrowdResult:
    """Scores each row of a table by the program of its owner, in one pass: `Crowd(programs).score(options, owner, …)`.

    A `Crowd` that is kept makes the next call cheaper: it lowers a program once.
    """
    crowd = programs if isinstance(programs, Crowd) else Crowd(programs)
    return crowd.score(options, owner, **around)


def _own(given: Mapping[str, Mapping[Any, Any] | None]) -> dict[Hashable, Own]:
    """What each person brings, of those who bring something."""
    own: dict[Hashable, dict[str, Any]] = {}
    for name, by_owner in given.items():
        if by_owner is not None and not isinstance(by_owner, Mapping):
            raise errors.wrong_argument(name, "a mapping by owner", by_owner)
        for owner, value in (by_owner or {}).items():
            own.setdefault(owner, {})[name] = value
    return dict(own)
