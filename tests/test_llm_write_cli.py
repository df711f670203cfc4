"""`uclc write`: what it shows, what it asks, what it writes, and that nothing half-written is ever left."""

from __future__ import annotations

import io
import json
import os
import pty
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_runs import ROOT, command, environment, run_here, run_process
from llm_models import RULE_THOUGHT, Scripted

from ucl.cli.output import replace_file
from ucl.llm import ModelError
from ucl.llm.client import ErrorCode, Settings
from ucl.llm.loopback import Fault, Kind, Loopback, Said, Wanted
from ucl.llm.loopback.vocabulary import BYTES

PROGRAM = """\
module meetings

import std.scheduling (Meeting)

rule long_is_tiring on Meeting {
  when duration > 2h
  score -0.5
  because "Two hours is too much"
}

property long_stays_tiring on Meeting {
  given duration > 2h
  expect score < 0
  because "Two hours is too much"
}
"""
LATE = "rule late on Meeting {\n  when start.time in 22:00..24:00\n  score -0.8\n}"
CLASHING = "rule marathons on Meeting {\n  when duration > 2h\n  score 0.9\n}"
SAID = "nothing after ten in the evening"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UCL_MODEL", "scripted")
    Path("meetings.ucl").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def model(monkeypatch: pytest.MonkeyPatch, *programs: str | ModelError, thought: str = RULE_THOUGHT) -> list[Settings]:
    """The settings that the scripted model is connected with."""
    asked: list[Settings] = []

    def connect(settings: Settings) -> Scripted:
        asked.append(settings)
        return Scripted(programs, [thought])

    monkeypatch.setattr("ucl.llm.doors.connect", connect)
    return asked


def answers(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Somebody at a terminal says this."""
    monkeypatch.setattr("ucl.cli.writing.write._at_a_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(line))


# --- drafts ---------------------------------------------------------------------------------------------------------


def test_a_draft_is_shown_with_its_words_its_effect_and_its_cost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--yes", "--source", "chat", "--source-id", "c7")
    assert ran.status == 0, ran.err
    for shown in (
        'because "nothing after ten in the evening"\n  from chat "c7"',
        "status shadow",
        "in plain words\n  `late`: strongly against a `Meeting` (-0.8)",
        "what it changes, once it is in force\n  Meeting: late\n    option ",
        "promises kept: long_stays_tiring (proved), late_holds (proved)",
    ):
        assert shown in ran.out
    assert "2 calls: 200 tokens in, 40 out; 0.02 in money" in ran.err
    written = Path("meetings.ucl").read_text(encoding="utf-8")
    assert written.startswith(PROGRAM)
    assert "rule late on Meeting" in written
    assert run_here("fmt", "--check", "meetings.ucl").status == 0
    assert run_here("check", "meetings.ucl").status == 0
    assert os.listdir() == ["meetings.ucl"]


def test_without_a_terminal_and_without_yes_nothing_is_touched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)
    ran = run_here("write", SAID, "--program", "meetings.ucl")
    assert ran.status == 1
    assert "rule late" in ran.out
    assert "`meetings.ucl` was not written, since nobody was asked" in ran.err
    assert "--yes" in ran.err
    assert Path("meetings.ucl").read_text(encoding="utf-8") == PROGRAM


@pytest.mark.parametrize(
    ("line", "written"), [("y\n", True), ("yes\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_at_a_terminal_it_asks(folder: Path, monkeypatch: pytest.MonkeyPatch, line: str, written: bool) -> None:
    model(monkeypatch, LATE)
    answers(monkeypatch, line)
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--status", "active")
    assert ran.status == int(not written)
    assert "add it to `meetings.ucl`, active? [y/N]" in ran.err
    text = Path("meetings.ucl").read_text(encoding="utf-8")
    assert ("rule late" in text) is written
    assert "status" not in text


def test_a_program_is_begun_on_a_standard_schema(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)
    for schema in ("Meeting", "std.scheduling.Meeting"):
        ran = run_here("write", SAID, "--schema", schema, "-o", "new.ucl", "--yes")
        assert ran.status == 0, ran.err
        text = Path("new.ucl").read_text(encoding="utf-8")
        assert text.startswith("import std.scheduling (Meeting)\n\nrule late")
        assert run_here("check", "new.ucl").status == 0
        again = run_here("write", SAID, "--schema", schema, "-o", "new.ucl", "--yes")
        assert again.status == 2
        assert "--program new.ucl" in again.err
        Path("new.ucl").unlink()


def test_without_a_file_the_rule_is_only_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)
    ran = run_here("write", SAID, "--schema", "Meeting")
    assert ran.status == 0
    assert "rule late" in ran.out
    assert os.listdir() == ["meetings.ucl"]


def test_program_and_rule_can_go_to_another_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)
    assert run_here("write", SAID, "--program", "meetings.ucl", "-o", "more.ucl", "--yes").status == 0
    assert Path("meetings.ucl").read_text(encoding="utf-8") == PROGRAM
    assert Path("more.ucl").read_text(encoding="utf-8").startswith(PROGRAM)


def test_line_ends_and_what_is_not_formatted_stay_as_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)
    odd = ("\ufeff" + PROGRAM.replace("  when", "      when") + "\n\n").replace("\n", "\r\n").encode()
    Path("meetings.ucl").write_bytes(odd)
    assert run_here("write", SAID, "--program", "meetings.ucl", "--yes").status == 0
    written = Path("meetings.ucl").read_bytes()
    assert written.startswith(odd.rstrip())
    assert written.count(b"\n") == written.count(b"\r\n")
    assert run_here("check", "meetings.ucl").status == 0


def test_a_file_that_changed_meanwhile_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Meddling(Scripted):
        async def ask(self, ask):
            Path("meetings.ucl").write_text("# mine\n", encoding="utf-8")
            return await super().ask(ask)

    monkeypatch.setattr("ucl.llm.doors.connect", lambda _: Meddling([LATE]))
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--yes")
    assert ran.status == 2
    assert "changed meanwhile" in ran.err
    assert Path("meetings.ucl").read_text(encoding="utf-8") == "# mine\n"


def test_a_file_that_cannot_be_written_is_said_and_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "meetings.ucl")

    monkeypatch.setattr(Path, "replace", full)
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--yes")
    assert ran.status == 2
    assert "no space left" in ran.err
    assert Path("meetings.ucl").read_text(encoding="utf-8") == PROGRAM
    assert os.listdir() == ["meetings.ucl"]


def test_json_is_one_object(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--json", "--yes")
    assert ran.status == 0
    (told,) = ran.lines
    assert told["result"] == "draft"
    assert told["written"] == "meetings.ucl"
    assert told["names"] == ["late", "late_holds"]
    assert told["differences"][0]["new"]["total"] == -0.8
    assert told["usage"] == {"calls": 2, "input": 200, "cached": 0, "output": 40, "money": "0.02"}
    unasked = run_here("write", SAID, "--schema", "Meeting", "--format", "json")
    assert (unasked.status, unasked.lines[0]["written"]) == (0, None)


def test_a_file_that_is_not_the_program_is_not_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = model(monkeypatch, LATE)
    Path("mine.txt").write_text("precious", encoding="utf-8")
    ran = run_here("write", SAID, "--program", "meetings.ucl", "-o", "mine.txt", "--yes")
    assert (ran.status, Path("mine.txt").read_text(encoding="utf-8")) == (2, "precious")
    assert "`mine.txt` exists already" in ran.err
    assert asked == []
    Path("link.ucl").symlink_to("meetings.ucl")
    assert run_here("write", SAID, "--program", "meetings.ucl", "-o", "link.ucl", "--yes").status == 0
    assert Path("link.ucl").is_symlink()
    assert "rule late" in Path("meetings.ucl").read_text(encoding="utf-8")


def test_a_file_that_came_meanwhile_is_not_lost_and_the_draft_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Meddling(Scripted):
        async def ask(self, ask):
            Path("new.ucl").write_text("# mine\n", encoding="utf-8")
            return await super().ask(ask)

    monkeypatch.setattr("ucl.llm.doors.connect", lambda _: Meddling([LATE]))
    ran = run_here("write", SAID, "--schema", "Meeting", "-o", "new.ucl", "--yes", "--json")
    assert ran.status == 2
    assert "`new.ucl` exists already" in ran.err
    assert Path("new.ucl").read_text(encoding="utf-8") == "# mine\n"
    assert (ran.lines[0]["result"], ran.lines[0]["written"]) == ("draft", None)


def test_a_read_only_file_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = model(monkeypatch, LATE)
    Path("meetings.ucl").chmod(0o444)
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--yes")
    assert ran.status == 2
    assert "`meetings.ucl` is read-only" in ran.err
    assert asked == []
    assert Path("meetings.ucl").read_text(encoding="utf-8") == PROGRAM
    with pytest.raises(PermissionError):
        replace_file(Path("meetings.ucl"), "")
    assert os.listdir() == ["meetings.ucl"]


# --- questions, facts, failures -------------------------------------------------------------------------------------


def test_a_question_shows_both_sentences_and_is_not_answered_by_yes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model(monkeypatch, CLASHING, thought="verdict: rule")
    ran = run_here("write", "Over 2 hours is when I think best", "--program", "meetings.ucl", "--yes")
    assert ran.status == 1
    assert "question[breaks]" in ran.out
    assert 'earlier  "Two hours is too much"' in ran.out
    assert 'now      "Over 2 hours is when I think best"' in ran.out
    assert "shown by " in ran.out
    assert "a question is open" in ran.err
    assert Path("meetings.ucl").read_text(encoding="utf-8") == PROGRAM
    answers(monkeypatch, "y\n")
    model(monkeypatch, CLASHING, thought="verdict: rule")
    ran = run_here("write", "Over 2 hours is when I think best", "--program", "meetings.ucl")
    assert ran.status == 0
    assert "add it all the same" in ran.err
    assert "rule marathons" in Path("meetings.ucl").read_text(encoding="utf-8")


def test_a_vague_statement_is_a_question_and_a_model_is_not_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model(monkeypatch)
    ran = run_here("write", "soonish", "--program", "meetings.ucl", "--yes")
    assert ran.status == 1
    assert "question[vague]" in ran.out
    assert "no model was asked" in ran.err


def test_a_one_off_event_is_a_fact(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, thought="verdict: event")
    words = ("write", "I have a dentist appointment Tuesday", "--program", "meetings.ucl", "--at", "2026-03-04")
    ran = run_here(*words, "--yes")
    assert ran.status == 0
    assert ran.out.startswith("a fact, and no rule: it happens once")
    assert '"since": "2026-03-10"' in ran.out
    assert run_here(*words, "--json").lines[0]["facts"][0]["extracted_relation"] == "has_event"
    assert Path("meetings.ucl").read_text(encoding="utf-8") == PROGRAM


def test_what_is_not_mended_is_an_error_with_what_was_sent_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, "import evil.module")
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--yes", "--rounds", "1")
    assert ran.status == 1
    assert "round 2 was sent back:" in ran.out
    assert "`import` can't be written here" in ran.out
    assert "after 1 round of mending" in ran.err
    assert Path("meetings.ucl").read_text(encoding="utf-8") == PROGRAM


def test_nothing_that_was_said_reaches_the_terminal_raw(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, "\x1b[2Jrule \u202e x \x07", thought="verdict: rule\nask: \x1b[31m")
    ran = run_here("write", f"{SAID} \x1b[31m\u202e\x07", "--program", "meetings.ucl")
    assert ran.status == 1
    for sign in ("\x1b", "\u202e", "\x07"):
        assert sign not in ran.out + ran.err


# --- wrong use ------------------------------------------------------------------------------------------------------


def test_without_a_model_it_says_what_to_set(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UCL_MODEL")
    ran = run_here("write", SAID, "--program", "meetings.ucl")
    assert ran.status == 2
    assert "no model is named" in ran.err
    assert "UCL_MODEL" in ran.err


def test_a_statement_of_any_length_is_read_or_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for said, status, words in (
        ("晚上十点以后不要开会。" * 30_000, 0, "of which the first 4,000 were read"),
        ("会" * 400_000, 2, "has more than 1 MiB"),
        ("a" * (1 << 20), 0, "of which the first 4,000 were read"),
        ("a" * (1 << 20) + "a", 2, "has more than 1 MiB"),
    ):
        model(monkeypatch, LATE)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(said.encode())))
        ran = run_here("write", "-", "--program", "meetings.ucl", "--json")
        assert (ran.status == 2) is (status == 2), ran.err
        assert words in ran.err + ran.out


def test_without_a_key_it_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "UCL_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--model", "m")
    assert ran.status == 2
    assert "key" in ran.err
    assert "Traceback" not in ran.err


def test_without_the_package_it_names_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--model", "m")
    assert ran.status == 2
    assert "ucl[llm]" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing says what the statement is about"),
        (("--schema", "Metting"), "there is no schema `Metting`"),
        (("--program", "meetings.ucl", "--schema", "Email"), "the program has no schema `Email`"),
        (("--program", "missing.ucl"), "there is no file `missing.ucl`"),
        (("--program", "."), "is a folder"),
        (("--program", "meetings.ucl", "-o", "no/where.ucl"), "there is no folder `no`"),
        (("--program", "meetings.ucl", "--budget", "much"), "`much` is no budget"),
        (("--program", "meetings.ucl", "--budget", "money=1"), "without prices"),
        (("--program", "meetings.ucl", "--prices", "1"), "are no prices"),
        (("--program", "meetings.ucl", "--timeout", "-1"), "is no number of seconds"),
        (("--program", "meetings.ucl", "--at", "soon"), "soon"),
    ],
)
def test_wrong_use_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str) -> None:
    model(monkeypatch, LATE)
    ran = run_here("write", SAID, *words)
    assert ran.status == 2, ran.err
    assert said in ran.err
    assert "uclc itself failed" not in ran.err


def test_of_several_schemas_one_is_to_be_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)
    schemas = "import std.scheduling (Meeting)\nimport std.mail (Email)\n"
    Path("both.ucl").write_text(schemas, encoding="utf-8")
    for words in (("write", SAID, "--program", "both.ucl"), ("grammar", "both.ucl")):
        ran = run_here(*words)
        assert (ran.status, ran.out) == (2, "")
        assert "several schemas" in ran.err
        assert "name one of `Meeting`, `Email` (`--schema`" in ran.err
        assert run_here(*words, "--schema", "Nope").status == 2
        assert run_here(*words, "--schema", "Meeting").out != ""
    Path("both.ucl").write_text(f"{schemas}\nrule r on Email {{\n  score 0.1\n}}\n", encoding="utf-8")
    assert " on Email" in run_here("grammar", "both.ucl").out


def test_a_program_with_mistakes_is_not_added_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model(monkeypatch, LATE)
    Path("meetings.ucl").write_text("rule", encoding="utf-8")
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--yes")
    assert ran.status == 1
    assert "error[syntax]" in ran.err


def test_budget_prices_and_server_reach_the_settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = model(monkeypatch, LATE)
    options = ("--budget", "tokens=20000", "--budget", "money=0.5", "--prices", "0.25,2", "--base-url", "http://x/v1")
    assert run_here("write", SAID, "--schema", "Meeting", *options, "--model", "m", "--timeout", "7").status == 0
    (settings,) = asked
    assert (settings.model, settings.base_url, settings.timeout) == ("m", "http://x/v1", 7.0)
    assert (settings.budget.tokens, str(settings.budget.money)) == (20_000, "0.5")
    assert settings.prices is not None


@pytest.mark.parametrize("code", [ErrorCode.OVER_BUDGET, ErrorCode.UNREACHABLE, ErrorCode.DENIED])
def test_a_model_that_gives_no_answer_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: ErrorCode
) -> None:
    model(monkeypatch, ModelError(code, "there is no answer", "see to it"))
    ran = run_here("write", SAID, "--program", "meetings.ucl", "--yes")
    assert ran.status == 2
    assert "error: there is no answer" in ran.err
    assert "no model was asked" not in ran.err, "one was, perhaps: it gave no answer"
    assert "see to it" in ran.err
    assert run_here("write", SAID, "--program", "meetings.ucl", "--json").lines[0]["code"] == str(code)


# --- a server -------------------------------------------------------------------------------------------------------


def says_late(wanted: Wanted) -> Said:
    programs = wanted.constraint is not None or "Nothing but the declarations" in wanted.messages[-1][1]
    return Said(LATE if programs else RULE_THOUGHT)


def test_a_process_asks_a_server_and_writes(folder: Path) -> None:
    with Loopback(says_late, vocabulary=BYTES) as server:
        env = environment(UCL_API_KEY="a-key-of-a-test", UCL_MODEL="any", UCL_BASE_URL=server.url)
        ran = run_process("write", SAID, "--program", "meetings.ucl", "--yes", env=env, stdin=subprocess.DEVNULL)
    assert ran.status == 0, ran.err
    assert "rule late" in Path("meetings.ucl").read_text(encoding="utf-8")
    assert any("tools" in received.body for received in server.received)


def test_a_terminal_is_asked_on(folder: Path) -> None:
    ours, theirs = pty.openpty()
    with Loopback(says_late, vocabulary=BYTES) as server:
        env = environment(UCL_API_KEY="a-key-of-a-test", UCL_MODEL="any", UCL_BASE_URL=server.url)
        words = command("write", SAID, "--program", "meetings.ucl")
        with subprocess.Popen(words, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=env) as process:
            os.write(ours, b"y\n")
            assert process.stdout is not None
            process.stdout.read()
            assert process.wait(60) == 0
    os.close(theirs)
    os.close(ours)
    assert "rule late" in Path("meetings.ucl").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "fault",
    [
        Kind.TRUNCATED,
        Kind.PROSE,
        Kind.IGNORED,
        Kind.EMPTY,
        Kind.WRONG_JSON,
        Kind.WRONG_TYPE,
        Kind.REFUSAL,
    ],
    ids=str,
)
def test_whatever_a_server_does_it_ends_and_leaves_no_half(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fault: Kind
) -> None:
    monkeypatch.setenv("UCL_API_KEY", "a-key-of-a-test")
    with Loopback(says_late, vocabulary=BYTES, faults=[Fault(Kind.NONE), *[Fault(fault)] * 40]) as server:
        ran = run_here("write", SAID, "--program", "meetings.ucl", "--yes", "--json", "--base-url", server.url)
    (told,) = ran.lines
    assert told["result"] in ("draft", "question", "failure")
    text = Path("meetings.ucl").read_text(encoding="utf-8")
    assert text.startswith(PROGRAM)
    assert ("rule late" in text) is (told["written"] is not None)
    assert os.listdir() == ["meetings.ucl"]
    assert "uclc itself failed" not in ran.err


def test_the_example_program_takes_a_rule(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "examples/meetings/meetings.ucl", "lena.ucl")
    model(
        monkeypatch, 'rule no_reviews on Meeting {\n  when kind == "review" and start.weekday == fri\n  score -0.4\n}'
    )
    ran = run_here("write", "No reviews on Fridays", "--program", "lena.ucl", "--yes", "--json")
    (told,) = ran.lines
    assert told["result"] in ("draft", "question"), json.dumps(told)[:500]


# --- the first page -------------------------------------------------------------------------------------------------


def test_the_first_page_shows_what_is_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")

    def block(mark: str, language: str) -> str:
        _, _, rest = page.partition(f"<!-- {mark} -->\n```{language}\n")
        return rest.partition("```")[0]

    Path("calls.ucl").write_text(block("check-program", "ucl"), encoding="utf-8")
    model(monkeypatch, "rule long_is_tiring on Meeting {\n  when duration > 90min\n  score -0.5\n}")
    (line,) = block("write-command", "console").splitlines()
    ran = run_here(*shlex.split(line.removeprefix("$ uclc ")), "--now", "2026-03-04")
    assert ran.out == block("write-output", "text")
