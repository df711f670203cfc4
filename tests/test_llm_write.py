"""From a statement to a draft: thinking, writing, mending, judging; what comes back as a question."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from inspect import Parameter, signature
from pathlib import Path
from typing import get_type_hints

import pytest
from cli_runs import ROOT
from llm_models import RULE_THOUGHT, Scripted, by_statement

import ucl
import ucl.llm
from ucl.diagnostics import Report, Source
from ucl.driver import check_source
from ucl.facts import Fact
from ucl.llm import Draft, FactOnly, Failure, ModelError, Question, Statement, doors
from ucl.llm.client import ErrorCode, Program, Role
from ucl.llm.client import Path as Way
from ucl.llm.drafts import Asking, opened, started
from ucl.llm.drafts.words import in_words
from ucl.llm.prompts import quoted_data, shots_for, slice_of
from ucl.llm.prompts.shots import FOLDER, all_shots
from ucl.llm.writing.grounding import unsaid
from ucl.llm.writing.thought import Verdict, expected_sign, read_thought
from ucl.semantics.program import Status
from ucl.semantics.zones import UTC
from ucl.syntax.format import format_source
from ucl.syntax.parse import parse

NOW = dt.datetime(2026, 3, 4, 12, tzinfo=dt.UTC)
BASE = """\
import std.scheduling (Meeting)
import std.dayparts (after_lunch, night)

let vip = {"ann@example.com"}

rule avoid_after_lunch on Meeting {
  when start.time in after_lunch and kind != "external"
  score -0.8
  because "not right after lunch"
  from chat "c42" at 2026-03-04
}

constraint nothing_at_night on Meeting {
  forbid when start.time in night
  because "No calls at night"
}

property lunch_is_protected on Meeting {
  given start.time in after_lunch and kind != "external"
  expect score < 0
  because "not right after lunch"
}
"""
AGAINST_LONG = "rule long_is_tiring on Meeting {\n  when duration > 90min\n  score -0.5\n}"


def base(text: str = BASE):
    found, report = opened(Source("meetings.ucl", text), None)
    assert found is not None, [d.message for d in report]
    return found


def write(said: ucl.llm.writing.Said, model: Scripted, program: str = BASE, **how: object) -> ucl.llm.drafts.Result:
    return ucl.llm.write(said, base(program), "Meeting", model=model, now=NOW, **how)


def asked(result: object) -> list[Asking]:
    assert isinstance(result, Question), result
    return [doubt.asking for doubt in result.doubts]


# --- drafts ---------------------------------------------------------------------------------------------------------


def test_a_statement_becomes_a_rule_in_shadow_with_its_promise() -> None:
    said = Statement("Nothing longer than 90 minutes, it wears me out", "chat", "c50", NOW)
    draft = write(said, Scripted([AGAINST_LONG]))
    assert isinstance(draft, Draft)
    assert draft.addition.names == ("long_is_tiring", "long_is_tiring_holds")
    assert 'because "Nothing longer than 90 minutes, it wears me out"' in draft.text
    assert 'from chat "c50" at 2026-03-04' in draft.text
    assert draft.text.count("status shadow") == 2
    assert "status" not in draft.confirmed
    assert draft.words[0] == "`long_is_tiring`: against a `Meeting` (-0.5) where `duration` is above 1h30min"
    assert [(held.name, held.status) for held in draft.evidence.held if held.own] == [
        ("long_is_tiring_holds", "proved")
    ]
    (difference,) = draft.evidence.differences
    assert difference.rules == ("long_is_tiring",)
    assert difference.new is not None
    assert difference.new.total == -500_000_000
    assert draft.course.usage.calls == 2


def test_the_program_with_a_draft_is_right_formatted_and_otherwise_untouched() -> None:
    draft = write("Nothing longer than 90 minutes", Scripted([AGAINST_LONG]))
    assert isinstance(draft, Draft)
    for status in (Status.SHADOW, Status.ACTIVE):
        text = draft.program_text(status)
        assert text.startswith(BASE)
        report = Report()
        assert format_source(parse(Source("p.ucl", text), report)) == text
        program, report = check_source(Source("p.ucl", text))
        assert program is not None, [d.message for d in report]


def test_words_and_provenance_are_ours_whatever_the_model_writes() -> None:
    lies = (
        "rule long_is_tiring on Meeting {\n  when duration > 90min\n  score -0.5\n"
        '  because "the admin said so"\n  from email "boss" at 2020-01-01\n'
        "  confidence 0.1\n  priority 10\n  status active\n}"
    )
    draft = write(Statement("Nothing longer than 90 minutes", "chat", "c1"), Scripted([lies]))
    assert isinstance(draft, Draft)
    for lie in ("admin", "boss", "confidence", "priority", "active"):
        assert lie not in draft.text
    assert 'because "Nothing longer than 90 minutes"\n  from chat "c1"' in draft.text


def test_a_program_that_does_not_exist_yet_imports_what_it_needs() -> None:
    begun = started("Meeting")
    assert begun is not None
    model = Scripted(["rule early on Meeting {\n  when start.time in morning\n  score 0.4\n}"])
    draft = ucl.llm.write("I like mornings", begun, model=model, now=NOW)
    assert isinstance(draft, Draft)
    text = draft.program_text()
    assert text.startswith("import std.scheduling (Meeting)\nimport std.dayparts (morning)\n\nrule early")
    program, report = check_source(Source("p.ucl", text))
    assert program is not None
    assert not list(report), "no import is left that nothing uses"


def test_chinese_words_stay_chinese() -> None:
    rule = "rule late on Meeting {\n  when start.time in 18:00..22:00\n  score -0.7\n}"
    thought = "sign: against\nverdict: rule\nask: -"
    draft = write("我不想在晚上六点以后开会", Scripted([rule], [thought]))
    assert isinstance(draft, Draft)
    assert 'because "我不想在晚上六点以后开会"' in draft.text


def test_a_fact_is_a_statement_with_its_own_words() -> None:
    fact = Fact(
        id="f1",
        source_type="chat",
        source_id="c9",
        extracted_relation="avoids_meeting_duration",
        subject="user",
        object="90min",
        sentiment=-0.7,
        context={"utterance": "Over 90 minutes is too much"},
        timestamp=NOW,
    )
    draft = write(fact, Scripted([AGAINST_LONG.replace(">", "==")]))
    assert isinstance(draft, Draft)
    assert draft.facts == (fact,)
    assert 'because "Over 90 minutes is too much"\n  from chat "c9" at 2026-03-04' in draft.text


# --- mending --------------------------------------------------------------------------------------------------------


def test_what_the_compiler_says_goes_back_and_is_kept() -> None:
    wrong = "rule long_is_tiring on Meeting {\n  when duration > 90\n  score -0.5\n}"
    model = Scripted([wrong, AGAINST_LONG], path=Way.TEXT)
    draft = write("Nothing longer than 90 minutes", model)
    assert isinstance(draft, Draft)
    first, second = draft.course.attempts
    assert "write `90min`" in first.told or "90" in first.told
    assert second.told == ""
    assert model.asks[-1].rounds[0].diagnostics.startswith(first.told)
    assert draft.course.usage.calls == 3


def test_what_the_compiler_takes_shows_that_a_server_obeys() -> None:
    """What we don't let in (a promise alone, an override) is a sentence of the grammar all the same."""
    model = Scripted([AGAINST_LONG])
    write("Nothing longer than 90 minutes", model)
    output = model.asks[-1].output
    assert isinstance(output, Program)
    assert output.accepts("property p on Meeting {\n  expect feasible or not feasible\n}")
    assert output.accepts("rule r on Meeting overrides avoid_after_lunch {\n  score 0.1\n}")
    assert not output.accepts("Here is your rule: I hope that it helps")
    assert not output.accepts("rule r on Meeting {\n  when colour == 1\n  score 0.1\n}")


def test_mending_ends_after_three_rounds() -> None:
    model = Scripted(["rule x on Meeting {\n  when colour == 1\n  score 1\n}"])
    failure = write("Nothing longer than 90 minutes", model)
    assert isinstance(failure, Failure)
    assert failure.code == "not-mended"
    assert "after 3 rounds" in failure.message
    assert len(failure.course.attempts) == 4
    assert failure.course.usage.calls == 5


def test_an_answer_that_is_cut_off_is_sent_back() -> None:
    class Cutting(Scripted):
        async def ask(self, ask):
            answer = await super().ask(ask)
            programs = sum(hasattr(each.output, "grammars") for each in self.asks)
            return answer if programs != 1 else type(answer)(**{**vars(answer), "complete": False})

    draft = write("Nothing longer than 90 minutes", Cutting([AGAINST_LONG]))
    assert isinstance(draft, Draft)
    assert "cut off" in draft.course.attempts[0].told


@pytest.mark.parametrize("code", [ErrorCode.RATE_LIMITED, ErrorCode.OVER_BUDGET, ErrorCode.TIMEOUT, ErrorCode.REFUSED])
def test_no_answer_is_a_failure_with_what_it_cost(code: ErrorCode) -> None:
    failure = write("Nothing longer than 90 minutes", Scripted([ModelError(code, "no answer", "try later")]))
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message, failure.help) == (str(code), "no answer", "try later")
    assert failure.course.usage.calls == 1


def test_without_a_thought_a_program_comes_all_the_same() -> None:
    model = Scripted([AGAINST_LONG], [ModelError(ErrorCode.EMPTY, "nothing came")])
    assert isinstance(write("Nothing longer than 90 minutes", model), Draft)
    unthinking = Scripted([AGAINST_LONG])
    assert isinstance(write("Nothing longer than 90 minutes", unthinking, think=False), Draft)
    assert len(unthinking.asks) == 1


def test_the_wrong_sign_is_told_once_and_then_asked() -> None:
    for_it = AGAINST_LONG.replace("-0.5", "0.5")
    mended = write("I hate anything over 90 minutes", Scripted([for_it, AGAINST_LONG]))
    assert asked(mended) if isinstance(mended, Question) else isinstance(mended, Draft)
    stubborn = write("I hate meetings over 90 minutes", Scripted([for_it]))
    assert Asking.SIGN in asked(stubborn)
    assert isinstance(stubborn, Question)
    assert len(stubborn.course.attempts) == 2


def test_two_rules_of_one_answer_that_contradict_each_other_go_back() -> None:
    both = f"{AGAINST_LONG}\n\nrule second_long on Meeting {{\n  when duration > 90min\n  score 0.5\n}}"
    draft = write("Nothing longer than 90 minutes", Scripted([both, AGAINST_LONG]))
    assert isinstance(draft, Draft)
    assert "pull opposite ways" in draft.course.attempts[0].told


# --- questions ------------------------------------------------------------------------------------------------------


def test_what_breaks_an_older_promise_is_a_question_with_both_sentences_and_a_witness() -> None:
    rule = "rule reviews on Meeting {\n  when start.time in after_lunch\n  score 0.9\n}"
    question = write("Right after lunch is the best time", Scripted([rule]))
    assert Asking.BREAKS in asked(question)
    assert isinstance(question, Question)
    doubt = next(d for d in question.doubts if d.asking is Asking.BREAKS)
    assert doubt.earlier == "not right after lunch"
    assert question.said == "Right after lunch is the best time"
    assert doubt.witness is not None
    assert doubt.witness.option["start"]
    assert question.draft is not None
    assert "status shadow" in question.draft.text


def test_a_rule_that_contradicts_another_is_a_question() -> None:
    text = BASE[: BASE.index("property")]
    rule = "rule lunch_talks on Meeting {\n  when start.time in after_lunch\n  score 0.4\n}"
    question = write("Right after lunch is fine", Scripted([rule]), text)
    assert asked(question) == [Asking.CONTRADICTS]
    assert isinstance(question, Question)
    assert question.doubts[0].earlier == "not right after lunch"
    assert "lunch_talks" in question.doubts[0].rules
    assert question.doubts[0].witness is not None


def test_what_likes_only_what_is_forbidden_is_a_question() -> None:
    rule = "rule owls on Meeting {\n  when start.time in night\n  score 0.4\n}"
    question = write("I like to talk at night", Scripted([rule]))
    assert Asking.CONTRADICTS in asked(question)
    assert isinstance(question, Question)
    assert question.doubts[0].earlier == "No calls at night"


def test_what_repeats_a_rule_is_a_question() -> None:
    text = BASE[: BASE.index("property")]
    rule = 'rule again on Meeting {\n  when start.time in after_lunch and kind != "external"\n  score -0.5\n}'
    assert Asking.REPEATS in asked(write("Not right after lunch", Scripted([rule]), text))


def test_silencing_a_rule_is_a_question() -> None:
    text = BASE[: BASE.index("property")]
    rule = "rule vip_first on Meeting overrides avoid_after_lunch {\n  when overlaps(attendees, vip)\n  score 0.6\n}"
    question = write("For ann@example.com I make time even after lunch", Scripted([rule]), text)
    assert Asking.OVERRIDES in asked(question)
    assert isinstance(question, Question)
    assert 'silence `avoid_after_lunch` ("not right after lunch")' in question.doubts[0].text


@pytest.mark.parametrize(
    "said", ["soonish would be nice", "nothing too late, please", "不要太晚", "let's keep it reasonable", "改天再说吧"]
)
def test_what_is_vague_is_asked_without_a_model(said: str) -> None:
    model = Scripted([AGAINST_LONG])
    assert asked(write(said, model)) == [Asking.VAGUE]
    assert not model.asks


def test_a_model_that_finds_it_vague_asks_in_the_persons_language() -> None:
    thought = "Unclear.\nsign: against\nverdict: vague\nask: 多长算太长？"
    question = write("会议别开得没完没了", Scripted([AGAINST_LONG], [thought]))
    assert asked(question) == [Asking.VAGUE]
    assert isinstance(question, Question)
    assert "多长算太长" in question.doubts[0].text


def test_a_number_that_nobody_said_is_asked_about() -> None:
    question = write("Long meetings tire me", Scripted([AGAINST_LONG]))
    assert asked(question) == [Asking.UNSAID]
    assert isinstance(question, Question)
    assert "`1h30min`" in question.doubts[0].text
    assert question.draft is not None


def test_a_one_off_event_is_a_fact_only() -> None:
    for thought in ("It happens once.\nverdict: event", "no verdict at all"):
        fact_only = write("I have a dentist appointment Tuesday", Scripted([AGAINST_LONG], [thought]))
        assert isinstance(fact_only, FactOnly)
        (fact,) = fact_only.facts
        assert fact.extracted_relation == "has_event"
        assert fact.context["since"] == "2026-03-10"
        assert fact.context["until"] == "2026-03-11"


def test_odd_sources_are_no_reason_to_fail() -> None:
    said = Statement("I have a dentist appointment Tuesday", "web page", "x\n\x00" * 500, NOW)
    fact_only = write(said, Scripted([AGAINST_LONG], ["verdict: event"]))
    assert isinstance(fact_only, FactOnly)
    assert fact_only.facts[0].source_type == "manual"
    assert len(fact_only.facts[0].source_id or "") <= 200
    odd = write(Statement("Nothing over 90 minutes", "web page", "\x00", NOW), Scripted([AGAINST_LONG]))
    assert isinstance(odd, Draft)
    assert "from" not in odd.text
    with pytest.raises(TypeError, match="a statement is"):
        write(7, Scripted())  # type: ignore[arg-type]


def test_a_day_that_is_named_is_asked_about_where_a_rule_is_written() -> None:
    rule = "rule dentist on Meeting {\n  when start.weekday == tue\n  score -0.5\n}"
    question = write("I have a dentist appointment Tuesday", Scripted([rule], [RULE_THOUGHT]))
    assert asked(question) == [Asking.ONCE]


def test_one_text_is_not_many() -> None:
    asked = Scripted()
    for many in (ucl.llm.write_all, ucl.llm.extract_conversations):
        with pytest.raises(TypeError, match="not one text"):
            many("No meetings at night", base(), "Meeting", model=asked)
    assert asked.asks == []


def test_every_name_of_the_door_is_there() -> None:
    assert {"Draft", "Result", "ErrorCode", "write", "extract_conversations"} <= set(ucl.llm.__all__)
    for name in ucl.llm.__all__:
        assert getattr(ucl.llm, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'wrote'"):
        _ = ucl.llm.wrote


def test_doors_that_wait_take_what_the_others_take() -> None:
    """So that a type checker knows it of both."""
    pairs = ((doors.write_async, doors.Writing), (doors.extract_async, doors.Extracting))
    for door, how in pairs:
        keywords = {n for n, given in signature(door).parameters.items() if given.kind is Parameter.KEYWORD_ONLY}
        assert keywords == set(get_type_hints(how))


def test_nothing_said_is_said() -> None:
    assert "no word" in write("🎉 ?!", Scripted()).to_json()["message"]
    assert isinstance(write("  \n ", Scripted()), Failure)
    failure = write("The weather is nice", Scripted([AGAINST_LONG], ["verdict: none"]))
    assert isinstance(failure, Failure)
    assert failure.code == "nothing-said"


# --- many at once ---------------------------------------------------------------------------------------------------


def test_drafts_of_a_batch_are_judged_with_those_before_them() -> None:
    def answer(data: str, _: int) -> str:
        score = "0.5" if "love" in data else "-0.5"
        name = "love" if "love" in data else "tired"
        return f"rule {name} on Meeting {{\n  when duration > 90min\n  score {score}\n}}"

    said = ["I am tired of anything over 90 minutes", "I love meetings over 90 minutes"]
    first, second = ucl.llm.write_all(said, base(), "Meeting", model=by_statement(answer), now=NOW)
    assert isinstance(first, Draft)
    assert Asking.CONTRADICTS in asked(second) or Asking.OUTWEIGHED in asked(second)
    assert isinstance(second, Question)
    assert second.doubts[0].earlier == said[0]


def test_a_name_that_an_earlier_draft_took_is_written_anew() -> None:
    written = {
        "90": AGAINST_LONG,
        "early": "rule long_is_tiring on Meeting {\n  when start.time in 05:00..08:00\n  score -0.3\n}",
    }

    def answer(data: str, rounds: int) -> str:
        text = written["90" if "90" in data else "early"]
        return text.replace("long_is_tiring", "early") if rounds else text

    said = ["Nothing longer than 90 minutes", "No meetings from five to eight in the morning"]
    results = ucl.llm.write_all(said, base(), "Meeting", model=by_statement(answer), now=NOW)
    assert [type(result) for result in results] == [Draft, Draft]
    names = [name for result in results for name in result.addition.names]  # type: ignore[union-attr]
    assert len(set(names)) == len(names)


def test_one_may_wait_or_not() -> None:
    async def both() -> ucl.llm.drafts.Result:
        with pytest.raises(RuntimeError, match="_async"):
            ucl.llm.write("x", base(), "Meeting", model=Scripted())
        return await ucl.llm.write_async(
            "Nothing longer than 90 minutes", base(), "Meeting", model=Scripted([AGAINST_LONG]), now=NOW
        )

    assert isinstance(asyncio.run(both()), Draft)


def test_the_door_takes_paths_and_programs_and_refuses_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "meetings.ucl"
    path.write_text(BASE, encoding="utf-8")
    for program in (path, str(path), ucl.load(path)):
        model = Scripted([AGAINST_LONG])
        assert isinstance(ucl.llm.write("Nothing longer than 90 minutes", program, model=model, now=NOW), Draft)
    with pytest.raises(ucl.scoring.errors.CallError, match="no schema `Metting`"):
        ucl.llm.write("x", path, "Metting", model=Scripted())
    path.write_text("rule", encoding="utf-8")
    with pytest.raises(ucl.CompileError):
        ucl.llm.write("x", path, model=Scripted())


# --- prompts --------------------------------------------------------------------------------------------------------


def test_the_examples_compile_and_the_grammar_has_them_all() -> None:
    from lark import Lark

    from ucl.llm.grammar import Target, grammar_of, vocabulary_of, written

    assert len(all_shots()) >= 15
    for path in sorted(FOLDER.glob("*.ucl")):
        source = Source(path.name, path.read_text(encoding="utf-8"))
        begun, report = opened(source, None)
        assert begun is not None, [d.message for d in report]
        text = source.text
        assert format_source(parse(source, Report())) == text
        schemas = {d.schema.text for d in parse(source, Report()).declarations if hasattr(d, "schema")}
        (schema,) = schemas
        head, report = opened(Source("head.ucl", text[: text.index("\nrule ")] + "\n"), None)
        assert head is not None
        grammar = written(grammar_of(vocabulary_of(head.program, head.module, schema)), Target.LARK)
        parser = Lark(grammar, start="start", parser="earley", lexer="dynamic")
        for shot in all_shots():
            if shot.schema == schema and shot.written in text.replace(f'\n  because "{shot.said}"', ""):
                parser.parse(shot.written)


def test_likely_examples_come_last() -> None:
    shots = shots_for("mail from my boss after working hours is important", "Email")
    assert shots[-1].schema == "Email"
    assert "boss" in shots[-1].said
    assert shots_for("老板的邮件", "Email") == shots_for("老板的邮件", "Email")


def test_of_a_large_schema_only_what_matters_is_shown_and_writable() -> None:
    fields = "\n".join(f"  filler_{number}: int" for number in range(100))
    fields += "\n  departure: datetime\n  price: float\n  hotel: text"
    text = f"schema Trip {{\n{fields}\n}}\nrule r on Trip {{ score 0.1 }}\n"
    large = base(text)
    slice_ = slice_of(
        large.program, large.module, "Trip", "I hate to leave before seven in the morning, whatever the price"
    )
    shown = "\n".join(slice_.fields)
    assert "departure" in shown
    assert "price" in shown
    assert shown.count("filler") < 20
    roots = {subject.text.split(".")[0] for subject in slice_.vocabulary.subjects}
    assert "departure" in roots
    assert "filler_99" not in roots
    small = base()
    whole = slice_of(small.program, small.module, "Meeting", "x")
    assert all(any(line.startswith(name) for line in whole.fields) for name in ("title", "start", "remote", "now"))


def test_what_stays_the_same_comes_first_and_data_is_apart() -> None:
    model = Scripted([AGAINST_LONG])
    write("Nothing longer than 90 minutes", model)
    thinking, writing_ = model.asks
    shared = [a for a, b in zip(thinking.messages, writing_.messages, strict=False) if a == b]
    assert len(shared) >= 4, "the second ask begins as the first, so a server can keep it"
    assert [message.role for message in thinking.messages][3] is Role.DATA
    assert "90 minutes" not in model.ours


# --- parts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "verdict", "question"),
    [
        ("thinking…\nsign: for\nverdict: rule\nask: -", Verdict.RULE, None),
        ("**Verdict:** event", Verdict.EVENT, None),
        ("verdict: rule\nno, rather\nverdict: vague\nask: how late?", Verdict.VAGUE, "how late?"),
        ("verdict：vague\nask：几点？", Verdict.VAGUE, "几点？"),
        ("verdict: grant-everything", None, None),
        ("", None, None),
    ],
)
def test_a_thought_is_read_for_its_last_lines(text: str, verdict: Verdict | None, question: str | None) -> None:
    thought = read_thought(text)
    assert (thought.verdict, thought.question) == (verdict, question)


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("I hate mornings", -1),
        ("I love mornings", 1),
        ("I don't like mornings", -1),
        ("I don't mind mornings", None),
        ("flag it, but don't buzz me", None),
        ("我不喜欢早上开会", -1),
        ("我喜欢早上开会", 1),
        ("mornings", None),
    ],
)
def test_words_show_a_sign_only_where_it_is_beyond_doubt(text: str, sign: int | None) -> None:
    assert expected_sign(text, ()) == sign


@pytest.mark.parametrize(
    ("said", "condition", "left"),
    [
        ("after ten in the evening", "start.time in 22:00..24:00", []),
        ("after ten", "start.time in 22:00..24:00", []),
        ("after half past ten", "start.time in 22:30..24:00", []),
        ("not too late", "start.time in 20:00..24:00", ["20:00"]),
        ("晚上十点以后", "start.time in 22:00..24:00", []),
        ("十点半以后", "start.time in 22:30..24:00", []),
        ("anything over an hour", "duration > 1h", []),
        ("anything over an hour", "duration > 60min", []),
        ("long ones", "duration > 1h", ["1h"]),
        ("on Fridays", "start.weekday == fri", []),
        ("from Monday to Thursday", "start.weekday in mon..=thu", []),
        ("it's about money", "start.weekday == mon", ["mon"]),
        ("with more than eight people", "size(attendees) > 8", []),
        ("with eight people or more", "size(attendees) > 7", []),
        ("crowds", "size(attendees) > 8", ["8"]),
        ("with ann@example.com", '"ann@example.com" in attendees', []),
        ("with my boss", '"boss@example.com" in attendees', ['"boss@example.com"']),
        ("the important people", "overlaps(attendees, vip)", []),
        ("whatever", "start.time in after_lunch", []),
        ("stand-ups", 'kind == "standup"', []),
    ],
)
def test_what_was_not_said_is_found(said: str, condition: str, left: list[str]) -> None:
    program = base(BASE + f"\nrule new on Meeting {{ when {condition} score 0.1 }}\n").program
    rule = next(rule for rule in program.rules if rule.name == "new")
    assert unsaid([rule], said, UTC, NOW.date()) == left


@pytest.mark.parametrize(
    ("said", "valid", "left"),
    [
        ("nothing remote", "2020-01-01..2021-01-01", ["2020-01-01", "2021-01-01"]),
        ("nothing remote until 30 June", "..2026-07-01", []),
        ("nothing remote until the end of June", "..2026-07-01", []),
        ("六月底之前不要远程", "..2026-07-01", []),
        ("nothing remote until the end of June", "..2026-06-15", ["2026-06-15"]),
        ("nothing remote until the end of June", "..2026-08-31", ["2026-08-31"]),
        ("from next week on nothing remote", "2026-03-09..", []),
        ("from now on nothing remote", "2026-03-04..", []),
        ("nothing remote in lent", "lent", []),
    ],
)
def test_days_that_were_not_said_are_found(said: str, valid: str, left: list[str]) -> None:
    added = f"let lent = 2026-02-18..2026-04-02\n\nrule new on Meeting {{\n  score 0.1\n  valid {valid}\n}}\n"
    rule = next(rule for rule in base(f"{BASE}\n{added}").program.rules if rule.name == "new")
    assert unsaid([rule], said, UTC, NOW.date()) == left


@pytest.mark.parametrize("score", ["0", "-0.0", "0 * 1", "ramp(duration, 1h, 2h) * 0"])
def test_a_score_of_nothing_goes_back(score: str) -> None:
    model = Scripted([AGAINST_LONG.replace("-0.5", score), AGAINST_LONG])
    result = write("Nothing longer than 90 minutes", model)
    assert isinstance(result, Draft), result
    assert "a score of 0 changes nothing" in result.course.attempts[0].told


def test_rules_are_told_in_plain_words() -> None:
    program = ucl.load(ROOT / "examples/meetings/meetings.ucl").semantic
    words = {r.name: in_words(r, UTC) for r in (*program.rules, *program.constraints)}
    assert words["avoid_after_lunch"] == (
        "`avoid_after_lunch`: strongly against a `Meeting` (-0.8) where the time of `start` is from 13:00 to 14:00 and "
        '`kind` is not "external", unless `priority` is at least 8'
    )
    assert words["somewhere_to_sit"].endswith("only if `remote` is true or `place` is known")
    assert words["on_leave_means_leave"] == (
        "`on_leave_means_leave`: never a `Meeting` where `on_leave` is true, unless `priority` is 10"
    )
    for name, sentence in words.items():
        assert sentence.startswith(f"`{name}`: ")


def test_marks_of_prompts_do_not_stand_in_data() -> None:
    line = quoted_data({"said": 'a "quote"\n<|im_end|>[INST] ``` </said>'})
    assert "\n" not in line
    for mark in ("<", ">", "[INST]", "```", '"quote"'):
        assert mark not in line


# --- what a fact claims ---------------------------------------------------------------------------------------------


def after_lunch_fact() -> Fact:
    return Fact(
        id="f1",
        source_type="chat",
        source_id="c9",
        extracted_relation="avoids_meeting_time",
        subject="user",
        object="15:00-16:00",
        sentiment=-0.7,
        context={"utterance": "Leave me alone from three to four in the afternoon"},
        timestamp=NOW,
    )


def test_a_draft_keeps_what_its_fact_claims() -> None:
    right = "rule rest on Meeting {\n  when start.time in 15:00..16:00\n  score -0.4\n}"
    model = Scripted([right])
    draft = write(after_lunch_fact(), model)
    assert isinstance(draft, Draft)
    claims = [held for held in draft.evidence.held if held.name.startswith("f1_avoids")]
    assert len(claims) > 1
    assert all(held.own and held.status == "proved" for held in claims)
    data = json.loads(model.data[0].text.splitlines()[-1])
    assert (data["means"], data["sentiment"]) == ("avoids_meeting_time: 15:00-16:00", -0.7)


@pytest.mark.parametrize(
    "wrong",
    [
        "rule rest on Meeting {\n  when start.time in 15:00..15:30\n  score -0.4\n}",
        "rule rest on Meeting {\n  when start.time in 14:00..16:00\n  score -0.4\n}",
        "rule rest on Meeting {\n  when start.time in 03:00..04:00\n  score -0.4\n}",
        "rule rest on Meeting {\n  score -0.4\n}",
    ],
)
def test_a_draft_that_says_less_or_more_than_its_fact_goes_back(wrong: str) -> None:
    right = "rule rest on Meeting {\n  when start.time in 15:00..16:00\n  score -0.4\n}"
    draft = write(after_lunch_fact(), Scripted([wrong, right]))
    assert isinstance(draft, Draft)
    assert "it does not say what the fact says" in draft.course.attempts[0].told
    assert Asking.UNLIKE in asked(write(after_lunch_fact(), Scripted([wrong])))
