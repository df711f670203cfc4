"""`uclc score`, `explain`, `act`, `query` and `alerts`: what they print and where."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_runs import folder, run_here

__all__ = ["folder"]

NOW = ("--now", "2026-03-04T12:00")


def test_json_has_every_documented_key(folder: Path) -> None:
    ran = run_here("score", "meetings.ucl", "rows.jsonl", "--format", "json", *NOW)
    assert ran.status == 0
    first, second, third, fourth = ran.lines
    assert first == {
        "row": 0, "total": -0.72, "feasible": True, "contested": False, "decision": "suggest_alternative",
        "fired": ["avoid_after_lunch"], "violated": [], "shadow": [], "invalid": None,
        "contributions": {"avoid_after_lunch": -0.72},
    }  # fmt: skip
    assert (second["total"], second["fired"]) == (0.6, ["vip_is_fine"])
    assert (third["decision"], third["violated"], third["shadow"]) == ("infeasible", ["nothing_late"], ["maybe"])
    assert fourth["invalid"] == {"field": "start", "reason": "unreadable", "value": "lunch"}
    assert [fourth[key] for key in ("total", "feasible", "contested", "decision")] == [None] * 4


def test_the_summary_says_what_a_reader_should_know(folder: Path) -> None:
    (folder / "rows.jsonl").write_text('{"start": "2026-11-01T01:30"}\n{"start": "2026-03-08T02:30"}\n{}\n')
    ran = run_here("score", "meetings.ucl", "rows.jsonl", *NOW)
    assert "3 rows; 1 row is invalid; 1 local time happened twice" in ran.err
    assert "1 local time did not happen" in ran.err
    assert "now 2026-03-04T12:00:00-05:00, zone America/New_York" in ran.err


def test_strict_fails_where_a_row_is_invalid(folder: Path) -> None:
    assert run_here("score", "meetings.ucl", "rows.jsonl", "--strict").status == 1
    (folder / "rows.jsonl").write_text('{"start": "2026-11-01T12:30"}\n')
    assert run_here("score", "meetings.ucl", "rows.jsonl", "--strict").status == 0


def test_top_gives_the_start_of_the_ranking(folder: Path) -> None:
    ran = run_here("score", "meetings.ucl", "rows.jsonl", "--top", "2", "--format", "json")
    assert [line["row"] for line in ran.lines] == [1, 0]
    everyone = run_here("score", "meetings.ucl", "rows.jsonl", "--top", "9", "--format", "json").lines
    assert [(line["row"], line["invalid"] is not None) for line in everyone] == [
        (1, False), (0, False), (2, False), (3, True),
    ]  # fmt: skip


def test_the_table_for_reading_shows_rules_and_reasons(folder: Path) -> None:
    plain = run_here("score", "meetings.ucl", "rows.jsonl").out
    assert plain.splitlines()[0].split() == ["row", "start", "total", "decision", "fired"]
    assert plain.splitlines()[1].split()[:3] == ["0", "2026-03-04T13:00", "-0.72"]
    assert "-0.72  suggest alternative" in plain
    assert "invalid: start unreadable" in plain
    told = run_here("score", "meetings.ucl", "rows.jsonl", "--explain").out
    assert '-0.72 avoid_after_lunch: "not right after lunch"' in told
    assert 'violated nothing_late: "no calls at night"' in told


def test_the_table_for_reading_says_what_a_row_is(folder: Path) -> None:
    rows = [{"id": "m7", "title": "Walk " * 20, "start": "2026-03-04T09:00", "room": "R\x1b[2J"}]
    (folder / "rows.jsonl").write_text(json.dumps(rows[0]) + "\n")
    heads, line = run_here("score", "meetings.ucl", "rows.jsonl").out.splitlines()
    assert heads.split() == ["row", "id", "title", "start", "total", "decision", "fired"]
    assert line.strip().split("  ")[1:4] == ["m7", "Walk Walk Walk Walk Walk Wa…", "2026-03-04T09:00"]
    grouped = run_here("score", "meetings.ucl", "rows.jsonl", "--group-by", "room").out
    assert grouped.split()[:4] == ["row", "room", "id", "start"]
    assert "\x1b" not in grouped


def test_a_long_table_shows_its_best(folder: Path) -> None:
    rows = "".join(json.dumps({"start": f"2026-03-04T{10 + i % 5}:00"}) + "\n" for i in range(100))
    (folder / "rows.jsonl").write_text(rows)
    out = run_here("score", "meetings.ucl", "rows.jsonl").out
    assert "… and 60 more" in out
    assert len(out.splitlines()) == 42


@pytest.mark.parametrize(("name", "read"), [("out.parquet", pq.read_table), ("out.arrow", None)])
def test_columns_are_appended_to_the_input(folder: Path, name: str, read: object) -> None:
    assert run_here("score", "meetings.ucl", "rows.jsonl", "-o", name, *NOW).status == 0
    table = pq.read_table(name) if read is pq.read_table else pa.ipc.open_file(name).read_all()
    assert table.column_names[:1] == ["start"]
    assert table["ucl_total"].to_pylist() == [-0.72, 0.6, 0.0, None]
    assert table["ucl_fired"].to_pylist() == [["avoid_after_lunch"], ["vip_is_fine"], [], None]
    assert table["ucl_contributions"].to_pylist() == [[("avoid_after_lunch", -0.72)], [("vip_is_fine", 0.6)], [], None]
    assert table["ucl_decision"].to_pylist()[2:] == ["infeasible", None]
    assert table["ucl_invalid"].to_pylist()[3] == {"field": "start", "reason": "unreadable", "value": '"lunch"'}
    assert table.schema.metadata[b"ucl_timezone"] == b"America/New_York"


def test_csv_and_json_files(folder: Path) -> None:
    run_here("score", "meetings.ucl", "rows.jsonl", "-o", "out.csv")
    assert (folder / "out.csv").read_text().splitlines()[0].startswith("start,")
    run_here("score", "meetings.ucl", "rows.jsonl", "-o", "out.jsonl")
    lines = (folder / "out.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["total"] == -0.72


@pytest.mark.parametrize("name", ["out.feather", "OUT.ARROW", "out.ipc"])
def test_every_ending_of_arrow_is_arrow(folder: Path, name: str) -> None:
    assert run_here("score", "meetings.ucl", "rows.jsonl", "-o", name).status == 0
    assert pa.ipc.open_file(name).read_all().num_rows == 4


@pytest.mark.parametrize("name", ["out", "out.txt"])
def test_a_name_without_a_format_gets_words(folder: Path, name: str) -> None:
    assert run_here("score", "meetings.ucl", "rows.jsonl", "-o", name).status == 0
    assert (folder / name).read_text().startswith("row  start")


@pytest.mark.parametrize("name", ["out.xlsx", "out.csv.gz", "out.json.zst", "out.2026-03-04", ""])
def test_an_ending_that_is_no_format_is_refused(folder: Path, name: str) -> None:
    ran = run_here("score", "meetings.ucl", "rows.jsonl", "-o", name)
    assert (ran.status, ran.out) == (2, "")
    assert "= help: " in ran.err
    assert not name or not (folder / name).exists()
    if Path(name).suffix in (".gz", ".zst"):
        assert run_here("score", "meetings.ucl", "rows.jsonl", "-o", name, "--format", "csv").status == 2
    elif name:
        assert run_here("score", "meetings.ucl", "rows.jsonl", "-o", name, "--format", "csv").status == 0


def test_a_dash_is_standard_output(folder: Path) -> None:
    for format in ("table", "json"):
        to_dash = run_here("score", "meetings.ucl", "rows.jsonl", "-o", "-", "--format", format)
        assert to_dash.out == run_here("score", "meetings.ucl", "rows.jsonl", "--format", format).out
    assert not (folder / "-").exists()


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_reasons_are_not_left_out_silently(folder: Path, format: str) -> None:
    ran = run_here("score", "meetings.ucl", "rows.jsonl", "--explain", "--format", format)
    assert (ran.status, ran.out) == (2, "")
    assert "`--explain`" in ran.err


def test_words_on_several_lines_are_told_on_one(folder: Path) -> None:
    (folder / "p.ucl").write_text('schema S { n: int }\nrule a on S { score 1 because "one\\ntwo" }\n')
    (folder / "rows.jsonl").write_text('{"n": 1}\n')
    assert '+1 a: "one two"\n' in run_here("score", "p.ucl", "rows.jsonl", "--explain").out


def test_a_context_comes_from_a_file_and_from_set(folder: Path) -> None:
    schemas = 'context { mood: "calm" | "busy"  n: int = 0 }\nschema S { x: int }\n'
    (folder / "p.ucl").write_text(schemas + 'rule a on S { when mood == "busy" score n }\n')
    (folder / "rows.jsonl").write_text('{"x": 1}\n')
    (folder / "context.json").write_text('{"mood": "busy", "n": 1}')
    ran = run_here("score", "p.ucl", "rows.jsonl", "--context", "context.json", "--set", "n=3", "--format", "json")
    assert ran.lines[0]["total"] == 3.0
    assert run_here("score", "p.ucl", "rows.jsonl", "--set", "mood=calm", "--format", "json").lines[0]["total"] == 0.0


@pytest.mark.parametrize(("word", "total"), [("101", 1.0), ('"101"', 1.0), ("102", 0.0), ("null", 0.5)])
def test_set_takes_a_number_for_text_where_the_field_is_text(folder: Path, word: str, total: float) -> None:
    (folder / "p.ucl").write_text(
        'context { room: text? }\nschema S { x: int }\nrule a on S { when (room ?? "") == "101" score 1 }\n'
        "rule b on S { when absent(room) score 0.5 }\n"
    )
    (folder / "rows.jsonl").write_text('{"x": 1}\n')
    ran = run_here("score", "p.ucl", "rows.jsonl", "--set", f"room={word}", "--format", "json")
    assert ran.lines[0]["total"] == total


WORDS = """\
context {
  dog: bool = false  lasts: duration unit min = 1min  rests: duration = 1min  tags: set<text> = {}
  days: set<weekday> = {}  some: set<int> = {}  n: int = 0  f: float = 0.0  day: date?  at_: time?
  on_day: weekday = mon
}
schema S { x: int }
rule dog on S { when dog score 1 }
rule lasts on S { when lasts == 1h30min score 1 }
rule rests on S { when rests == 1h30min score 1 }
rule tags on S { when subset({"a b", "c"}, tags) and size(tags) == 2 score 1 }
rule days on S { when subset({mon, tue}, days) score 1 }
rule some on S { when subset({1, 2}, some) score 1 }
def has(it: bool) -> bool = it
def longer(length: duration) -> duration = length + 1h
def many(words: set<text>) -> int = size(words)
"""


@pytest.mark.parametrize(
    "pair",
    [
        "dog=yes", "dog=YES", "dog=1", "dog=true", "lasts=90", "lasts=90min", "lasts=1h30min", "lasts=PT90M",
        "rests=1.5h", "rests=PT1H30M", "tags=a b;c", "tags=c; a b;", 'tags=["c", "a b"]', "days=mon;tue",
        'days=["tue","mon"]', "some=1;2", "some=[2, 1]",
    ],
)  # fmt: skip
def test_a_word_says_a_value_as_a_cell_does(folder: Path, pair: str) -> None:
    (folder / "p.ucl").write_text(WORDS)
    (folder / "rows.jsonl").write_text('{"x": 1}\n')
    ran = run_here("score", "p.ucl", "rows.jsonl", "--set", pair, "--format", "json")
    assert ran.status == 0, ran.err
    assert ran.lines[0]["fired"] == [pair.partition("=")[0]]


@pytest.mark.parametrize(
    ("pair", "form"),
    [
        ("dog=maybe", "`true` or `false`"), ("lasts=long", "the number of `min`"), ("rests=90", "`PT90M`"),
        ("n=many", "`3`"), ("f=x", "`0.5`"), ("day=today", "`2026-03-04`"), ("at_=noon", "`13:00`"),
        ("on_day=monday", "`mon`"), ("some=a;b", "`;`"),
    ],
)  # fmt: skip
def test_a_word_that_says_no_value_is_told_the_form(folder: Path, pair: str, form: str) -> None:
    (folder / "p.ucl").write_text(WORDS)
    ran = run_here("score", "p.ucl", "rows.jsonl", "--set", pair)
    assert (ran.status, ran.out) == (2, "")
    assert form in ran.err.partition("= help: ")[2]


def test_arguments_of_a_query_are_words_too(folder: Path) -> None:
    (folder / "p.ucl").write_text(WORDS)
    asked = {"has": ("no", "false\n"), "longer": ("30min", "PT90M\n"), "many": ("a;b", "2\n")}
    for name, (word, answer) in asked.items():
        assert run_here("query", "p.ucl", name, word).out == answer
    assert "`90min`" in run_here("query", "p.ucl", "longer", "x").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing.csv"], "`missing.csv`"),
        (["stray.csv"], "stray quote"),
        (["unknown.csv"], "`start`"),
        (["half.parquet"], "not a whole Parquet file"),
        (["."], "folder"),
        ([], "name one table"),
        (["rows.jsonl", "--timezone", "Mars/Base"], "`Mars/Base`"),
        (["rows.jsonl", "--now", "yesterday"], "`yesterday`"),
        (["rows.jsonl", "--schema", "Meting"], "did you mean `Meeting`"),
        (["rows.jsonl", "--group-by", "strat"], "did you mean `start`"),
        (["rows.jsonl", "--set", "mood"], "no value"),
        (["rows.jsonl", "--set", "mood=calm"], "`mood`"),
        (["rows.jsonl", "--context", "rows.jsonl"], "not JSON"),
        (["rows.jsonl", "--memory", "list.json"], "no JSON object"),
        (["rows.jsonl", "--memory", "twice.json"], "twice"),
        (["rows.jsonl", "--memory", "deep.json"], "deep"),
        (["rows.jsonl", "--top", "-1"], "--top"),
        (["rows.jsonl", "--format", "xml"], "xml"),
    ],
)
def test_wrong_input_gets_a_message_and_prints_nothing(folder: Path, words: list[str], said: str) -> None:
    (folder / "stray.csv").write_text('start,title\n2026-03-04T13:00,a "b\n')
    (folder / "unknown.csv").write_text("begin\n2026-03-04T13:00\n")
    (folder / "list.json").write_text("[]")
    (folder / "twice.json").write_text('{"a": 1, "a": 2}')
    (folder / "deep.json").write_text("[" * 100_000)
    pq.write_table(pa.table({"start": ["2026-03-04T13:00"] * 1000}), "whole.parquet")
    (folder / "half.parquet").write_bytes((folder / "whole.parquet").read_bytes()[:400])
    ran = run_here("score", "meetings.ucl", *words)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
    assert "uclc itself failed" not in ran.err


@pytest.mark.parametrize("signal", [RuntimeError("Query interrupted"), duckdb.InterruptException("INTERRUPT Error")])
def test_an_interrupted_query_is_an_interrupt(folder: Path, monkeypatch: pytest.MonkeyPatch, signal: Exception) -> None:
    """DuckDB takes the signal itself, and says so in words of its own."""

    def interrupted(database: str) -> None:
        raise signal

    monkeypatch.setattr(duckdb, "connect", interrupted)
    ran = run_here("score", "meetings.ucl", "--sql", "select 1 as start")
    assert (ran.status, ran.out, ran.err) == (130, "", "error: interrupted\n")


def test_a_program_with_mistakes_is_not_run(folder: Path) -> None:
    (folder / "wrong.ucl").write_text("rule a on S { score 1 }")
    ran = run_here("score", "wrong.ucl", "rows.jsonl")
    assert (ran.status, ran.out) == (1, "")
    assert "unknown-name" in ran.err


def test_a_program_without_rules_says_so(folder: Path) -> None:
    (folder / "ruleless.ucl").write_text("let early = ..09:00")
    assert "no rules" in run_here("score", "ruleless.ucl", "rows.jsonl").err


# --- explain --------------------------------------------------------------------------------------------------------


def test_explain_tells_what_each_rule_looked_at(folder: Path) -> None:
    told = run_here("explain", "meetings.ucl", "rows.jsonl", "--row", "0").out
    assert "row 0: total -0.72, suggest an alternative" in told
    assert "`avoid_after_lunch` fires and adds -0.72" in told
    assert '"not right after lunch"' in told
    assert "yes  when start.time in 13:00..14:00   (start.time = 13:00)" in told
    assert "no   unless priority >= 8   (priority = 5)" in told
    assert "score -0.8, times confidence 0.9" in told
    silenced = run_here("explain", "meetings.ucl", "rows.jsonl", "--row", "1").out
    assert "`avoid_after_lunch` applies, but is silenced by `vip_is_fine`" in silenced
    violated = run_here("explain", "meetings.ucl", "rows.jsonl", "--row", "2").out
    assert "`nothing_late` is violated" in violated
    assert "`maybe` is in shadow: it would fire, and changes nothing" in violated


PARTS = """\
schema S { n: int  m: int? }
resolve S by priority
rule up on S { when n > 1 score 0.5 priority 2 }
rule down on S { when n > 2 score -0.5 }
rule lost on S { when n > 3 score 0.25 }
rule wins on S overrides lost { when n > 3 score -0.75 priority 2 }
rule watched on S { when n > 1 score 1 status shadow }
rule later on S { when n > 1 score 1 valid 2999-01-01.. }
rule other on S { when n > 1 and present(m) unless n > 0 score 1 }
rule spared on S { when n > 1 unless n > 2 score 1 }
constraint few on S { forbid when n > 4 }
constraint kept on S { require n > 0 }
"""


def parts(told: str) -> dict[str, list[str]]:
    """By heading, the names of what stands below it."""
    found: dict[str, list[str]] = {}
    for line in told.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            found[line] = heading = []
        elif line.startswith("  `"):
            heading.append(line.split("`")[1])
    return found


def test_explain_tells_what_counts_first_and_both_sides_apart(folder: Path) -> None:
    (folder / "p.ucl").write_text(PARTS)
    (folder / "rows.jsonl").write_text('{"n": 5}\n{"n": 3}\n')
    told = run_here("explain", "p.ucl", "rows.jsonl", "--row", "0").out
    assert parts(told) == {
        "Forbids it:": ["few"],
        "Speaks for it:": ["up"],
        "Speaks against it:": ["down", "wins"],
        "Applies, and changes nothing:": ["lost", "watched"],
        "Plays no part:": ["later", "other", "spared", "kept"],
    }
    assert list(parts(told)) == [line for line in told.splitlines() if line in parts(told)]
    dropped = run_here("explain", "p.ucl", "rows.jsonl", "--row", "1").out
    assert parts(dropped)["Applies, and changes nothing:"] == ["down", "watched"]
    assert "rules of a higher priority pull the other way" in dropped


def test_explain_is_brief_about_what_plays_no_part(folder: Path) -> None:
    (folder / "p.ucl").write_text(PARTS)
    (folder / "rows.jsonl").write_text('{"n": 3}\n')
    brief = run_here("explain", "p.ucl", "rows.jsonl", "--row", "0").out.splitlines()
    assert "  `later` is silent: it is not valid today" in brief
    assert "  `other` does not apply: `present(m)` does not hold (m = absent)" in brief
    assert "  `spared` does not apply: `n > 2` holds (n = 3)" in brief
    assert "  `kept` is kept" in brief
    full = run_here("explain", "p.ucl", "rows.jsonl", "--row", "0", "--all").out
    assert "  `spared` does not apply\n    yes  when n > 1   (n = 3)\n    yes  unless n > 2   (n = 3)\n" in full


def test_a_question_names_both_sides(folder: Path) -> None:
    (folder / "p.ucl").write_text(PARTS.replace("resolve S by priority\n", ""))
    (folder / "rows.jsonl").write_text('{"n": 4}\n')
    told = run_here("explain", "p.ucl", "rows.jsonl", "--row", "0").out
    assert "ask the user, because `up` speaks for it, but `down` and `wins` speak against it" in told


def test_explain_as_json_and_of_an_invalid_row(folder: Path) -> None:
    told = json.loads(run_here("explain", "meetings.ucl", "rows.jsonl", "--row", "0", "--format", "json").out)
    assert told["rules"][0]["tests"][0] == {
        "clause": "when", "text": "start.time in 13:00..14:00", "holds": True, "needed": True,
        "reads": {"start.time": "13:00:00"},
    }  # fmt: skip
    assert (
        "can't be scored: the field `start` can't be read"
        in run_here("explain", "meetings.ucl", "rows.jsonl", "--row", "3").out
    )
    assert run_here("explain", "meetings.ucl", "rows.jsonl", "--row", "9").status == 2


# --- act, query, alerts ---------------------------------------------------------------------------------------------

MAIL = """\
schema Email { sender: text  arrived: datetime }
schema Trip { place: text  cost: int }
memory trips: list<Trip>
effect many tag(label: text, at_: datetime)
action known on Email { when sender == "ann" do tag("vip", arrived + 1h) }
def spent(place: text, least: int) -> int = sum(t.cost for t in trips where t.place == place and t.cost >= least)
def more(n: int) -> int = n + 1
alert dear for t in trips { when t.cost > 100 say "{t.place} cost {t.cost}" severity warning }
"""


@pytest.fixture
def mail(folder: Path) -> Path:
    (folder / "mail.ucl").write_text(MAIL)
    at = "2026-03-04T09:00"
    rows = [{"sender": "ann", "arrived": at}, {"sender": "bo", "arrived": at}, {"sender": "x"}]
    (folder / "mails.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "memory.json").write_text('{"trips": [{"place": "oslo", "cost": 90}, {"place": "oslo", "cost": 190}]}')
    return folder


def test_act_prints_effects_and_invalid_rows(mail: Path) -> None:
    ran = run_here("act", "mail.ucl", "mails.jsonl", "--format", "json")
    effect = {"label": "vip", "at_": "2026-03-04T10:00:00+00:00"}
    assert ran.lines == [
        {"row": 0, "action": "known", "effect": "tag", "args": effect},
        {"row": 2, "invalid": {"field": "arrived", "reason": "absent", "value": None}},
    ]
    assert "row 0: tag(label: vip" in run_here("act", "mail.ucl", "mails.jsonl").out


def test_query_takes_arguments_around_its_options(mail: Path) -> None:
    ran = run_here("query", "mail.ucl", "spent", "oslo", "--memory", "memory.json", "100", "--format", "json")
    assert ran.lines == [{"name": "spent", "value": 190}]
    assert run_here("query", "mail.ucl", "spent", "oslo", "-1", "--memory", "memory.json").out == "280\n"
    assert "takes 2 arguments" in run_here("query", "mail.ucl", "spent", "oslo").err
    assert "did you mean `spent`" in run_here("query", "mail.ucl", "spend").err


def test_a_query_that_overflows_has_no_value(mail: Path) -> None:
    ran = run_here("query", "mail.ucl", "more", "9223372036854775807", "--format", "json")
    assert (ran.status, ran.lines[0]["value"]) == (1, None)
    assert ran.lines[0]["error"]
    told = run_here("query", "mail.ucl", "more", "9223372036854775807")
    assert (told.status, told.out) == (1, "")
    assert "overflow" in told.err


def test_a_query_says_what_it_needs(mail: Path) -> None:
    assert "required: NAME\n" in run_here("query", "mail.ucl").err


def test_events_of_a_program_without_actions(folder: Path) -> None:
    ran = run_here("act", "meetings.ucl", "rows.jsonl")
    assert (ran.status, "the program has no actions" in ran.err) == (2, True)


def test_an_alert_that_can_not_be_evaluated_is_no_alert(mail: Path) -> None:
    (mail / "memory.json").write_text('{"trips": [{"place": "oslo", "cost": 9223372036854775807}]}')
    (mail / "mail.ucl").write_text(MAIL.replace("t.cost > 100", "t.cost + 1 > 100"))
    ran = run_here("alerts", "mail.ucl", "--memory", "memory.json")
    assert (ran.status, ran.out) == (1, "")
    assert "`dear` could not be evaluated (overflow)" in ran.err
    assert "0 alerts, 1 not evaluated" in ran.err
    (row,) = run_here("alerts", "mail.ucl", "--memory", "memory.json", "--format", "json").lines
    assert (row["say"], row["invalid"]["reason"]) == (None, "overflow")


def test_an_alert_shows_numbers_as_scores_are_shown(mail: Path) -> None:
    schema = "schema Trip { place: text  cost: float }\nmemory trips: list<Trip>\n"
    (mail / "mail.ucl").write_text(schema + MAIL.splitlines(keepends=True)[-1])
    assert run_here("alerts", "mail.ucl", "--memory", "memory.json").out == "warning: oslo cost 190  [dear]\n"


def test_an_alert_without_words_has_some(mail: Path) -> None:
    for because, said in (('because "too\\ndear"', "too dear"), ("", "dear")):
        (mail / "mail.ucl").write_text(MAIL.replace('say "{t.place} cost {t.cost}"', because))
        assert run_here("alerts", "mail.ucl", "--memory", "memory.json").out == f"warning: {said}  [dear]\n"


def test_alerts_are_said(mail: Path) -> None:
    ran = run_here("alerts", "mail.ucl", "--memory", "memory.json", "--format", "json")
    record = {"place": "oslo", "cost": 190}
    assert ran.lines == [{"alert": "dear", "severity": "warning", "record": record, "say": "oslo cost 190"}]
    assert run_here("alerts", "mail.ucl", "--memory", "memory.json").out == "warning: oslo cost 190  [dear]\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"mood": "half', "is not JSON in line 1: unterminated string starting at column 10"),
        (f'{{"mood": {"1" * 100_000}}}', "is not JSON: it has a number of more than 4,300 digits"),
        (f'{{"mood": {"[" * 500}{"]" * 500}}}', "the context's `mood` can't be read from `[[["),
        (f'{{"mood": {"[" * 9999}', "is not JSON: it is nested too deep"),
        (r'{"mood": "\ud800"}', "the context's `mood` can't be read from"),
        ('{"mood": "a", "mood": "b"}', "is not JSON: it gives `mood` twice in one object"),
        ('{"mood": NaN}', "is not JSON: NaN is not a value of JSON"),
    ],
    ids=["half", "digits", "deep", "too-deep", "surrogate", "twice", "nan"],
)
def test_a_context_that_is_wrong_is_one_error(tmp_path: Path, text: str, said: str) -> None:
    program, context = tmp_path / "p.ucl", tmp_path / "context.json"
    program.write_text('context { mood: text = "x" }\ndef n() -> text = mood\n')
    context.write_text(text)
    ran = run_here("query", str(program), "n", "--context", str(context))
    assert ran.status == 2
    assert said in ran.err
    assert "failed" not in ran.err
