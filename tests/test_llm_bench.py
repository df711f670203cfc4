"""`uclc bench write`: what is counted, and that nothing is scored that no model wrote."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from cli_runs import ROOT, run_here
from llm_models import RULE_THOUGHT, Scripted

import ucl
from ucl.bench import write as bench
from ucl.diagnostics import Source
from ucl.llm import ModelError
from ucl.llm.client import ErrorCode, Path
from ucl.llm.drafts import opened
from ucl.llm.loopback import Loopback, Said, Wanted
from ucl.llm.loopback.vocabulary import BYTES
from ucl.testing.verdicts import verdicts

SHORT = "rule short on Reply {\n  when sentences > 3\n  score -0.5\n}"
LUNCH = "rule lunch on Meeting {\n  when start.time in 12:00..13:00\n  score 0.4\n}"


def ran(model: Scripted, limit: int = 4) -> bench.Written:
    work = bench.works(limit)[0]
    return asyncio.run(bench.written(work, model, rounds=1))


def test_the_statements_are_as_they_were_said() -> None:
    preferences, facts = bench.works()
    assert len(preferences.statements) == 20
    assert all("prefer" in statement.text for statement in preferences.statements)
    assert "MIT License" in (ROOT / "ucl/bench/said/LICENSE").read_text(encoding="utf-8")
    assert preferences.base.program.rules == ()
    assert facts.base.program.rules == ()
    assert all(statement.facts[0].utterance for statement in facts.statements)
    assert len(facts.statements) > 20


def test_what_is_right_is_counted_by_path() -> None:
    for path in Path:
        found = ran(Scripted([SHORT], path=path))
        (count,) = found.counts.values()
        assert list(found.counts) == [str(path)]
        assert (count.statements, count.parses, count.type_checks) == (4, 4, 4)
        assert sum(count.ends.values()) == 4


def test_what_was_said_is_kept_where_the_better_reply_scores_higher() -> None:
    (work,) = [work for work in bench.works() if work.name == "preferences"]
    three = next(s for s in work.statements if "three sentences" in s.text)
    one = replace(work, statements=(three,))
    for score, kept in (("-0.5", 1), ("0.5", 0)):
        found = asyncio.run(bench.written(one, Scripted([SHORT.replace("-0.5", score)]), rounds=1))
        assert found.counts["grammar"].keeps == kept
    unlike = asyncio.run(bench.written(one, Scripted(["rule r on Reply {\n  score 0.5\n}"]), rounds=1))
    assert unlike.counts["grammar"].keeps == 0
    forbidden = "constraint short on Reply {\n  forbid when sentences > 3\n}"
    assert asyncio.run(bench.written(one, Scripted([forbidden]), rounds=1)).counts["grammar"].keeps == 1


def test_every_pair_is_of_the_schema() -> None:
    (work,) = [work for work in bench.works() if work.name == "preferences"]
    program = ucl.compile(work.base.source.text + "rule r on Reply { score 0.1 }")
    for better, worse in work.pairs.values():
        assert better != worse
        assert program.score([better, worse], schema="Reply").invalid == {}


def test_what_is_wrong_is_counted_as_wrong() -> None:
    found = ran(Scripted(["this is no program"], path=Path.TEXT))
    count = found.counts["text"]
    assert (count.parses, count.type_checks, count.keeps, count.ends["failure"]) == (0, 0, 0, 4)
    untyped = ran(Scripted(["rule r on Reply {\n  when colour == 1\n  score 1\n}"], path=Path.TEXT)).counts["text"]
    assert (untyped.parses, untyped.type_checks) == (4, 0)


def test_what_nobody_wrote_is_no_share() -> None:
    found = ran(Scripted([SHORT], ["verdict: event"]))
    assert list(found.counts) == [bench.NOTHING_WRITTEN]
    told = "\n".join(bench.lines_of([found], "about"))
    assert "4 facts" in told
    assert "4/4" not in told


def test_what_a_model_does_not_answer_is_a_failure() -> None:
    found = ran(Scripted([ModelError(ErrorCode.TIMEOUT, "too slow")], [RULE_THOUGHT]))
    assert found.counts[bench.NOTHING_WRITTEN].ends["failure"] == 4


def test_without_a_model_there_is_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("UCL_MODEL", "OPENAI_API_KEY", "UCL_API_KEY", "UCL_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    told = run_here("bench", "write")
    assert told.status == 2
    assert told.out == ""
    assert "no model is configured: nothing was measured" in told.err


def test_a_server_is_asked_and_its_answers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UCL_API_KEY", "a-key-of-a-test")

    def script(wanted: Wanted) -> Said:
        if wanted.constraint is None:
            return Said(RULE_THOUGHT)
        return Said(LUNCH if "schema Meeting" in wanted.prompt else SHORT)

    with Loopback(script, vocabulary=BYTES) as server:
        told = run_here("bench", "write", "--model", "m", "--base-url", server.url, "--limit", "1")
    assert told.status == 0, told.err
    assert told.out.startswith(f"m at {server.url}, at most 3 rounds of mending\n\npreferences: 1 statements\n")
    assert "calls: " in told.err


@pytest.mark.slow
def test_plumbing_is_called_plumbing() -> None:
    told = run_here("bench", "write", "--plumbing", "--limit", "2", "--format", "json")
    assert told.status == 0, told.err
    first, *rest = told.lines
    assert first == {"about": bench.PLUMBING}
    assert [each["work"] for each in rest] == ["preferences", "example facts"]
    for each in rest:
        for path, count in each["paths"].items():
            if path == "grammar":
                assert count["parses"] == count["type_checks"] == count["statements"]
    assert json.dumps(rest)


def test_a_condition_of_too_many_cells_is_sampled_all_the_same() -> None:
    """Every value of every field is likely where the cells of a promise's condition can't be counted."""
    work = bench.works(1)[0]
    fields = [f.name for f in work.base.program.schemas["Reply"].fields if str(f.type) == "bool"]
    either = " or ".join(["sentences > 3", "approaches > 2", 'tone == "blunt"', *fields])
    both = " or ".join(["sentences > 9", "approaches > 7", 'tone == "friendly"', *reversed(fields)])
    text = (
        f"rule r on Reply {{\n  when ({either}) and ({both})\n  score 0.1\n}}\n\n"
        f"property p on Reply {{\n  given ({either}) and ({both})\n  expect contribution(r) > 0\n}}"
    )
    base, report = opened(Source("p.ucl", work.base.source.text + text), None)
    assert base is not None, [d.message for d in report]
    (verdict,) = verdicts(base.program, 0, samples=20)
    assert not verdict.fails
