"""Many people at once: what is said of each one's options is what the own program says of them alone, to the bit."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ucl
from ucl.kernels.crowd.passages import Writer
from ucl.kernels.crowd.run import load
from ucl.kernels.crowd.tables import Tables
from ucl.kernels.lower import lower
from ucl.scoring import CallError
from ucl.scoring.calls import start_call
from ucl.scoring.many.owners import owned_rows
from ucl.tables.frames import to_table

NOW = "2026-03-04T12:00"
HEADER = """\
timezone "Europe/Berlin"
context { limit: int = 5 }
schema Visit { n: int }
memory visits: list<Visit>
schema S {
  n: int in -100..=100  kind: "x" | "y" | "z" = "x"  who: text = ""  tags: set<text> = {}  at: datetime?
  cost: float = 1.5  vip: bool = false  lengths: set<int> = {}
}
"""
# What walks from person to person, and what does not.
SIMPLE = [
    "rule a on S { when n > 0 score 0.5 }",
    'rule b on S { when kind == "x" and n in -20..20 score -0.25 priority 2 }',
    'rule c on S { when overlaps(tags, {"a", "ä"}) unless vip score 0.3 }',
    'rule d on S { when not overlaps(tags, {"b"}) and who not in {"ann", "bo", "nobody"} score -0.4 }',
    "rule e on S { when present(at) and at.time in 22:00..06:00 score 0.7 }",
    "rule f on S { when present(at) and at.weekday in {sat, sun} and cost >= 2.25 score -0.35 confidence 0.5 }",
    "rule g on S overrides a { when n > 50 score -1 except when vip score 0.125 }",
    "rule h on S { when vip score 0.25 status shadow }",
    "constraint i on S { forbid when n < -50 }",
    'constraint j on S { require kind in {"x", "y"} when cost < 1.0 }',
    'rule k on S { when subset(tags, {"a", "b"}) score 0.0625 }',
    "rule l on S { when present(at) and at > 2026-06-01T00:00 score 0.2 }",
    "resolve S by priority",
]
OTHER = [
    "rule m on S { when n > 2 score 0.01 * n }",
    "rule o on S { when lowest(n) score 0.5 }",
    "rule p on S { when n > limit score 0.5 }",
    "rule q on S { when count(v in visits where v.n == n) > 0 score 0.5 }",
    "rule r on S { when vip score 1000 * n }",
    "rule s on S { when today == 2026-03-04 and n > 1 score 0.5 }",
    "rule t on S { when 3 in lengths score 0.5 }",
    'rule u on S { when like(who, "a%") score 0.5 }',
    "rule v on S { when n > 1 score 0.5 valid 2026-01-01..2026-06-01 }",
]


def program_of(chosen: list[str]) -> ucl.CompiledProgram:
    return _compiled("\n".join(chosen))


@cache
def _compiled(rules: str) -> ucl.CompiledProgram:
    return ucl.compile(HEADER + rules)


CELLS = {
    "n": st.one_of(st.integers(-101, 101), st.none()),
    "kind": st.sampled_from("xyz"),
    "who": st.sampled_from(["ann", "bo", "cyd", ""]),
    "tags": st.lists(st.sampled_from(["a", "b", "ä"]), max_size=3),
    "at": st.one_of(st.none(), st.sampled_from(["2026-03-07T23:30", "2026-06-06T05:00", "2026-10-25T02:30", "noon"])),
    "cost": st.sampled_from([0.5, 1.5, 2.25, 3.0]),
    "vip": st.booleans(),
    "lengths": st.lists(st.integers(1, 4), max_size=2),
}
PEOPLE = ["ann", "bo", "cyd", "dee"]


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_each_is_told_what_the_own_program_says(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([0, 1, 5, 40, 200]))
    rows = data.draw(st.lists(st.fixed_dictionaries(CELLS), min_size=min(size, 5), max_size=min(size, 12)))
    rows = [rows[row % len(rows)] for row in range(size)] if rows else []
    owners = [PEOPLE[place] for place in data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))]
    if data.draw(st.booleans()):
        owners.sort()
    pool = st.lists(st.sampled_from(SIMPLE + (OTHER if data.draw(st.booleans()) else [])), unique=True, max_size=5)
    programs = {}
    for person in PEOPLE:
        chosen = data.draw(pool)
        # Somebody has a rule at least, and what is overridden is there.
        programs[person] = program_of(list(dict.fromkeys([SIMPLE[0], *chosen])))
    around: dict[str, Any] = {
        "contexts": data.draw(st.sampled_from([None, {"ann": {"limit": -3}}])),
        "memories": data.draw(st.sampled_from([None, {"bo": {"visits": [{"n": 1}, {"n": 7}]}}])),
        "weights": data.draw(st.sampled_from([None, {"cyd": {}}])),
    }
    table = rows or {name: pa.array([], pa.string()) for name in ("n",)}
    result = ucl.score_many(programs, table, owners, now=NOW, **around)
    check(result, programs, rows, owners, around)


def check(result: Any, programs: Any, rows: list[Any], owners: list[str], around: dict[str, Any]) -> None:
    names = {"contexts": "context", "memories": "memory", "weights": "weights"}
    assert list(result.owners) == list(dict.fromkeys(owners))
    assert len(result) == len(rows)
    rankings = dict(result.rankings(3))
    for owner in result.owners:
        mine = [row for row, who in enumerate(owners) if who == owner]
        own = {names[name]: by[owner] for name, by in around.items() if by and owner in by}
        alone = programs[owner].score([rows[row] for row in mine], now=NOW, **own)
        assert result.rows_of(owner).tolist() == mine
        for name in ("total", "feasible", "contested", "valid"):
            there, expected = getattr(result.scores, name)[mine], getattr(alone.scores, name)
            np.testing.assert_array_equal(there, expected, name)
        assert {row: result.invalid[row] for row in mine if row in result.invalid} == {
            mine[row]: why for row, why in alone.invalid.items()
        }
        assert result.decision[mine].tolist() == alone.decision.tolist()
        assert [place.row for place in rankings[owner]] == [mine[place.row] for place in alone.ranking(3)]
        own_result = result.of(owner)
        assert list(own_result.outcomes()) == list(alone.outcomes())


def test_programs_come_change_and_go() -> None:
    generator = np.random.default_rng(5)
    pool = [program_of([rule for rule in SIMPLE[:6] if generator.random() < 0.6] or SIMPLE[:1]) for _ in range(12)]
    crowd = ucl.Crowd()
    rows = [{"n": int(n), "kind": "xyz"[n % 3], "vip": bool(n % 2)} for n in generator.integers(-100, 100, 300)]
    for step in range(60):
        person = f"person {generator.integers(0, 9)}"
        if person in crowd and generator.random() < 0.3:
            del crowd[person]
            assert person not in crowd
        else:
            crowd[person] = pool[generator.integers(0, len(pool))]
        if step % 5 == 0 and len(crowd):
            owners = [list(crowd)[row % len(crowd)] for row in range(len(rows))]
            check(crowd.score(rows, owners, now=NOW), crowd, rows, owners, {})
    assert repr(crowd) == f"<ucl crowd of {len(crowd)} people>"


def test_rules_that_mean_the_same_stand_once() -> None:
    text = "\n".join(SIMPLE[:5])
    first, again = ucl.compile(HEADER + text), ucl.compile(HEADER + "# another file\n" + text, "other")
    crowd = ucl.Crowd({"ann": first, "bo": again, "cyd": first, "dee": program_of(SIMPLE[:4])})
    assert len([rules for rules in crowd._shelf.rules if rules is not None]) == 2
    del crowd["ann"], crowd["cyd"], crowd["bo"]
    assert len([rules for rules in crowd._shelf.rules if rules is not None]) == 1
    assert len(crowd._shelf._by_program) == 1


def test_what_a_program_took_is_used_again() -> None:
    program = program_of(SIMPLE[:8])
    call = start_call(program.semantic, now=NOW)
    plan = lower(program.semantic, program.schemas["S"], call)
    tables = Tables()
    writer = Writer(tables, plan.graph)
    assert writer.add(plan.outcomes) == 0
    for _ in range(500):
        number = writer.add(plan.outcomes)
        assert number == 1
        tables.remove(number)
    code, _ = tables.passages
    assert len(code) < 1 << 14
    assert writer.add(plan.outcomes) == 1
    code, starts = tables.passages
    assert code[starts[0] :][:50].tolist() == code[starts[1] :][:50].tolist()


def test_only_what_changed_is_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    from ucl.scoring.many.rules import Shelf

    lowered = []
    usual = Shelf._lower

    def counted(shelf: Any, rules: Any, *around: Any) -> None:
        lowered.append(rules)
        usual(shelf, rules, *around)

    monkeypatch.setattr(Shelf, "_lower", counted)
    crowd = ucl.Crowd({number: program_of(SIMPLE[: number + 1]) for number in range(6)})
    rows, owners = [{"n": 1}] * 6, range(6)
    crowd.score(rows, owners, now=NOW)
    assert len(lowered) == 6
    crowd.score(rows, owners, now="2027-01-01")
    assert len(lowered) == 6
    crowd[3] = program_of(SIMPLE[2:4])
    crowd.score(rows, owners, now=NOW)
    assert len(lowered) == 7
    crowd[4] = program_of([OTHER[5]])
    crowd.score(rows, owners, now=NOW)
    crowd.score(rows, owners, now="2027-01-01")
    assert len(lowered) == 9
    crowd.score(rows, owners, now=NOW, timezone="Asia/Tokyo")
    assert len(lowered) == 15


def test_people_may_read_their_options_in_different_ways() -> None:
    plain = ucl.compile("schema S { n: int }\nrule a on S { when n > 1 score 0.5 }")
    renamed = ucl.compile('schema S { n: int from "m" }\nrule a on S { when n > 1 score 0.25 }')
    table = pa.table({"n": [1, 2, 3, 4], "m": [9, 0, 0, 9], "owner": ["p", "r", "p", "r"]})
    result = ucl.score_many({"p": plain, "r": renamed}, table, "owner", now=NOW)
    assert result.total.tolist() == [0.0, 0.0, 0.5, 0.25]
    assert result.to_arrow()["ucl_total"].to_pylist() == result.total.tolist()
    assert repr(result) == "<ucl result of 2 people: 4 rows>"


def test_without_compiled_loops_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from ucl.scoring.many import passes

    programs = {"ann": program_of(SIMPLE[:4]), "bo": program_of(SIMPLE[2:8] + SIMPLE[:1])}
    rows = [{"n": n, "kind": "xyz"[n % 3]} for n in range(-100, 100)]
    owners = ["ann", "bo"] * 100
    first = ucl.score_many(programs, rows, owners, now=NOW)
    monkeypatch.setattr(passes, "load", lambda on_compile: False)
    second = ucl.score_many(programs, rows, owners, now=NOW)
    assert first.total.tolist() == second.total.tolist()
    assert first.decision.tolist() == second.decision.tolist()


def test_threads_change_nothing() -> None:
    assert load()
    programs = {number: program_of([SIMPLE[number], SIMPLE[5], SIMPLE[8]]) for number in range(4)}
    crowd = ucl.Crowd({number: programs[number % 4] for number in range(400)})
    size = 8000
    table = pa.table({"n": np.arange(size) % 201 - 100, "owner": np.arange(size) // 20})
    one, two = (crowd.score(table, "owner", now=NOW, threads=threads) for threads in (1, 2))
    assert one.total.tolist() == two.total.tolist()
    assert one.feasible.tolist() == two.feasible.tolist()


def test_what_is_wrong_is_said() -> None:
    crowd = ucl.Crowd({"ann": program_of(SIMPLE[:1])})
    rows = [{"n": 1, "who": "ann"}, {"n": 2, "who": "bo"}]
    with pytest.raises(CallError, match="no program of `bo`"):
        crowd.score(rows, "who")
    with pytest.raises(CallError, match="no column `whose`"):
        crowd.score(rows, "whose")
    with pytest.raises(CallError, match="each of 2 rows"):
        crowd.score(rows, ["ann"])
    with pytest.raises(CallError, match="row 1 is nobody's"):
        crowd.score(rows, ["ann", None])
    with pytest.raises(CallError, match="`context`"):
        crowd.score(rows[:1], "who", contexts=7)  # type: ignore[arg-type]
    with pytest.raises(CallError, match="has no options"):
        crowd.score(rows[:1], "who").of("bo")
    with pytest.raises(CallError, match="`program`"):
        crowd["bo"] = "rule"  # type: ignore[assignment]
    with pytest.raises(KeyError):
        del crowd["bo"]
    with pytest.raises(CallError, match="`top`"):
        list(crowd.score(rows[:1], "who").rankings("x"))  # type: ignore[arg-type]


def test_owners_of_any_kind() -> None:
    table = pa.table({"n": [1, 2, 3], "owner": pa.array([7, 9, 7])})
    owned = owned_rows(table, "owner")
    assert (list(owned.owners), owned.of_row.tolist()) == ([7, 9], [0, 1, 0])
    codes = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array(["a", "b"]))
    owned = owned_rows(table.set_column(1, "owner", codes), "owner")
    assert [owned.owners[place] for place in owned.of_row] == ["b", "a", "b"]


def test_owners_are_told_apart_as_keys_are() -> None:
    table = pa.table({"n": [1, 2, 3]})
    for owners in (
        ["a", 1, "a"],
        [b"x", b"y", b"x"],
        [(1, 2), (3,), (1, 2)],
        [2**70, 1, True],
        np.array([1, "b", 1], object),
    ):
        owned = owned_rows(table, owners)
        assert [owned.owners[place] for place in owned.of_row] == list(owners)
        assert len(owned.owners) == 2 or owners[1] == owners[2]
    owned = owned_rows(table, pa.array([0.0, 1.5, -0.0]))
    assert (owned.owners, owned.of_row.tolist()) == ([0.0, 1.5], [0, 1, 0])
    rows = to_table([{"n": 1, "owner": "a"}, {"n": 2, "owner": 1}])
    assert owned_rows(rows, "owner").owners == ["a", 1]
    for unhashable in ([["a"], ["b"], ["a"]], pa.array([["a"], ["b"], ["a"]]), pa.array([{"k": 1}] * 3)):
        with pytest.raises(CallError, match="key of a dict"):
            owned_rows(table, unhashable)
    with pytest.raises(CallError, match="`programs`"):
        ucl.Crowd([program_of(SIMPLE[:1])])  # type: ignore[arg-type]


def test_a_dictionary_of_owners_may_say_too_much() -> None:
    """The same twice, null, and people who have no rows."""
    words = pa.array(["nobody", "b", "a", None, "b"])
    table = pa.table({"n": [1, 2, 3], "owner": pa.DictionaryArray.from_arrays(pa.array([2, 1, 4]), words)})
    crowd = ucl.Crowd({"a": program_of(SIMPLE[:1]), "b": program_of(SIMPLE[:2])})
    scored = crowd.score(table, "owner", now=NOW)
    assert scored.owners == ["a", "b"]
    assert scored.rows_of("b").tolist() == [1, 2]
    assert scored.of("b").total.tolist() == scored.total[1:].tolist()
    for place in (3, None):
        column = pa.DictionaryArray.from_arrays(pa.array([2, 1, place]), words)
        with pytest.raises(CallError, match="row 2 is nobody's"):
            crowd.score(table.set_column(1, "owner", column), "owner")


def test_whoever_brings_a_context_needs_no_other() -> None:
    program = ucl.compile("context { limit: int }\nschema S { n: int }\nrule a on S { when n > limit score 0.5 }")
    crowd = ucl.Crowd({"ann": program, "bo": program})
    table = pa.table({"n": [4, 4], "owner": ["ann", "bo"]})
    contexts = {"ann": {"limit": 3}, "bo": {"limit": 5}}
    scored = crowd.score(table, "owner", contexts=contexts)
    assert scored.total.tolist() == [0.5, 0.0]
    assert [scored.of(who).total.tolist() for who in contexts] == [[0.5], [0.0]]
    with pytest.raises(CallError, match="`limit`"):
        crowd.score(table, "owner", contexts={"ann": {"limit": 3}})


@pytest.mark.parametrize("around", ["context", "memory"])
def test_each_program_has_defaults_of_its_own(around: str) -> None:
    """The same rules may go by another limit."""
    opening, closing = ("{ ", " }") if around == "context" else ("", "")
    texts = {
        limit: f"{around} {opening}limit: int = {limit}{closing}\nschema S {{ n: int }}\n"
        "rule a on S { when n > limit score 0.5 }"
        for limit in (1, 2)
    }
    crowd = ucl.Crowd({limit: ucl.compile(text) for limit, text in texts.items()})
    assert crowd.score([{"n": 2}, {"n": 2}], [1, 2]).total.tolist() == [0.5, 0.0]


def test_a_crowd_may_be_changed_while_it_is_asked() -> None:
    crowd = ucl.Crowd({number: program_of(SIMPLE[:3]) for number in range(3)})
    table = pa.table({"n": [1] * 300, "owner": np.arange(300) % 3})
    failed = []

    def ask() -> None:
        try:
            for _ in range(20):
                assert set(crowd.score(table, "owner", now=NOW).total.tolist()) <= {0.0, 0.5}
        except BaseException as problem:
            failed.append(problem)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for step in range(40):
        crowd[step % 3] = program_of(SIMPLE[:1])
    for thread in threads:
        thread.join()
    assert not failed


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_best_of_each_set_is_a_sort_cut_short(data: st.DataObject) -> None:
    from ucl.kernels.run import Scores
    from ucl.scoring.results.ranking import best_of_sets

    size, top = data.draw(st.integers(0, 300)), data.draw(st.integers(0, 4))
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    valid = generator.random(size) < 0.9
    feasible = (generator.random(size) < 0.7) & valid
    total = np.where(valid, generator.integers(-5, 6, size), 0)
    sets = generator.integers(0, 3, size)
    scores = Scores(total, feasible, np.zeros(size, np.bool_), valid, {})
    rows, starts = best_of_sets(scores, sets, top)
    for number in range(int(sets.max(initial=-1)) + 1):
        expected = sorted(np.flatnonzero(sets == number), key=lambda r: (not valid[r], not feasible[r], -total[r], r))
        assert rows[starts[number] : starts[number + 1]].tolist() == [int(row) for row in expected[:top]]
