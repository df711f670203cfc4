"""What `uclc build` writes: stored programs, typed modules that checkers take, models of schemas."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ROOT, environment, run_here
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import ucl
from ucl.build.package import package_path
from ucl.build.store import CorruptProgramError, decode, encode
from ucl.models.naming import Names, identifier
from ucl.scoring import CompiledProgram

# Uses most of the language, with names that Python does not like.
RICH = """\
module travel.class
import std.units (length)
import std.scheduling (Meeting)
timezone "America/New_York"
dimension effort { pt, task = 8pt }
# A "place" \\ to be.
schema Place { city: text  if_: text? }
schema Record {
  day: date = 2026-03-04
  time: time in 22:00..06:00 = 23:00
  start: datetime = 2026-03-04T13:00
  lasts: duration unit min = 1h30min
  rests: duration = 0.5s
  work: effort unit task = 2task
  far: length unit km = 1.5km
  kind: "a" | "b \\"c\\"" = "a"
  tags: set<text> = {"x", "y"}
  days: set<weekday> = {sat, sun}
  on_day: weekday = fri
  int: int in {1, 2, 3} = 1
  json: bool = false
  share: float in 0.0..=1.0 = 15%
  place: Place
  other: Place?
  _hidden: int? from "class"
}
context { mood: "calm" | "busy"  lambda: int = 1 }
memory visits: list<Place>
memory budget: float = 2.5
let noon = 2026-03-04T12:00
let soon = 2026-03-04
def score(p: text, class: int) -> int = count(v in visits where v.city == p) + class
def latest() -> Place? = last(v for v in visits)
def after_noon(at_: datetime) -> bool = at_ > noon
resolve Record by priority
effect many tag(label: text)
rule night on Record { when time in 22:00..06:00 and size(tags) > 0 or overlaps(tags, {"x"}) score 0.5 }
rule far_away on Record overrides night {
  when far > 2km and (day - soon).days >= 1.0 and present(other) and other.city != "rome"
  unless place.city == "oslo"
  score ramp(far, 1km, 5km) * -0.5
  except when mood == "busy" score near(time, 23:00, 1h)
  because "far" from chat "c1" at 2026-01-01 confidence 0.9 priority 2 valid 2020-01-01.. status active
}
rule cheap on Record { when lowest(far) and any(v in visits where v.city == place.city) score 0.1 }
constraint awake on Record { require lasts < 10h when start.time in 00:00..05:00 }
constraint short on Meeting { forbid when duration > 8h }
action note on Record { when far > 1km do tag("far"), tag("very") except when far > 3km do nothing }
alert been for v in visits { when v.city == "rome" say "{v.city} again" severity critical }
property fine on Record { given far < 1km expect score >= 0.0 }
"""
ROW = {"place": {"city": "bergen"}, "far": 3.5, "time": "23:30", "other": {"city": "oslo"}, "day": "2026-03-09"}


@pytest.fixture(scope="module")
def rich() -> CompiledProgram:
    return ucl.compile(RICH, "class")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sources below `src` and what was built from them below `out`."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "src" / "travel").mkdir(parents=True)
    (folder / "src" / "travel" / "class.ucl").write_text(RICH, encoding="utf-8")
    (folder / "src" / "plain.ucl").write_text(
        "schema S { n: int }\nrule a on S { when n > 1 score 1 }\n", encoding="utf-8"
    )
    ran = run_here("build", folder / "src", "-o", folder / "out")
    assert ran.status == 0, ran.err
    return folder


# --- stored programs ------------------------------------------------------------------------------------------------


def stored(program: CompiledProgram) -> str:
    return encode(program.semantic, lambda source: source.path).text


def test_a_program_comes_back_as_it_was(rich: CompiledProgram) -> None:
    again = CompiledProgram(decode(stored(rich)))
    assert stored(again) == stored(rich)
    call = {"context": {"mood": "busy"}, "memory": {"visits": [{"city": "bergen"}]}, "now": "2026-03-04T12:00"}
    told = [list(p.score([ROW, {}], "Record", **call).rows()) for p in (rich, again)]
    assert told[0] == told[1]
    assert told[0][0]["fired"] == ["far_away", "cheap"]
    explained = again.score([ROW], "Record", **call).explain(0)
    assert "far > 2km" in str(explained)
    assert again.alerts({"visits": [{"city": "rome"}]}, context={"mood": "calm"})[0]["say"] == "rome again"


def test_shared_parts_stay_shared(rich: CompiledProgram) -> None:
    again = decode(stored(rich))
    assert all(rule.schema is again.schemas["Record"] for rule in again.rules)


def test_a_long_chain_of_names_does_not_nest(rich: CompiledProgram) -> None:
    lets = "\n".join(f"let x{i} = at(2026-03-04, 12:00)" if i == 0 else f"let x{i} = x{i - 1} + 1d" for i in range(90))
    program = ucl.compile(f"{lets}\nschema S {{ d: datetime }}\nrule a on S {{ when d > x89 score 1 }}")
    assert decode(stored(program)).rules[0].name == "a"


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda text: "", "JSON"),
        (lambda text: "[]", "no compiled program"),
        (lambda text: "[" * 100_000, "JSON"),
        (lambda text: text[: len(text) // 2], "JSON"),
        (lambda text: text.replace('"version":2', '"version":3'), "version 3"),
        (lambda text: text.replace("far_away", "far_awry"), "damaged"),
        (lambda text: text.replace('"format":"ucl-program"', '"format":"other"'), "no compiled program"),
    ],
)
def test_damaged_or_foreign_data_is_refused(rich: CompiledProgram, harm: Any, said: str) -> None:
    with pytest.raises(CorruptProgramError, match=said):
        decode(harm(stored(rich)))


def test_data_of_another_program_is_refused(rich: CompiledProgram) -> None:
    with pytest.raises(CorruptProgramError, match="not the one"):
        decode(stored(rich), expected_hash="0" * 64)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_the_content_says_only_a_program_comes_out(rich: CompiledProgram, data: st.DataObject) -> None:
    """A well-formed file with a right hash and one value replaced is a program, or is refused; it never runs wild."""
    document = json.loads(stored(rich))
    places = list(_places(document["content"]))
    holder, key = places[data.draw(st.integers(0, len(places) - 1))]
    junk = st.sampled_from([None, 0, -1, 1.5, "x", [], ["tuple"], ["ref", 0], ["os.system", "true"], ["map", ["a", 1]]])
    holder[key] = data.draw(junk)
    from ucl.build.store import _canonical, _digest

    document["hash"] = _digest(_canonical(document["content"]))
    try:
        program = decode(json.dumps(document))
    except CorruptProgramError:
        return
    assert type(program) is type(rich.semantic)


def _places(value: Any) -> Any:
    keys = range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else []
    for key in keys:
        yield value, key
        yield from _places(value[key])


# --- packages -------------------------------------------------------------------------------------------------------


def test_the_layout_and_the_manifest(built: Path) -> None:
    out = built / "out"
    package = out / "travel" / "class_"
    assert {p.name for p in package.iterdir()} == {"__init__.py", "program.json", "py.typed"}
    assert (out / "travel" / "__init__.py").exists()
    manifest = json.loads((out / "ucl-manifest.json").read_text(encoding="utf-8"))
    entry = next(m for m in manifest["modules"] if m["module"] == "travel.class")
    assert entry["package"] == "travel/class_"
    assert entry["sources"] == ["travel/class.ucl", "<std.units>", "<std.scheduling>"]
    assert entry["rules"] == ["night", "far_away", "cheap"]
    assert json.loads((package / "program.json").read_text())["hash"] == entry["hash"]


def test_builds_are_the_same_everywhere(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(built / "src")
    assert run_here("build", "travel/class.ucl", "plain.ucl", "-o", tmp_path / "again").status == 0
    for path in (built / "out").rglob("*.*"):
        if path.is_file() and path.suffix in (".py", ".json") and path.name != "ucl-manifest.json":
            assert path.read_bytes() == (tmp_path / "again" / path.relative_to(built / "out")).read_bytes()
            assert str(built) not in path.read_text(encoding="utf-8")


def run_python(code: str, packages: Path) -> subprocess.CompletedProcess[str]:
    """Runs code in a process that finds what was built."""
    paths = environment(PYTHONPATH=f"{ROOT}:{packages}")
    return subprocess.run([sys.executable, "-c", code], env=paths, capture_output=True, text=True, check=False)


RUN = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("lark", "z3", "ucl.syntax", "ucl.driver", "ucl.semantics.check")):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocked())
from travel import class_ as travel
import plain

options = [travel.Record(place=travel.Place(city="bergen"), far=3.5)]
result = travel.score(options, context={"mood": "busy"}, schema="Record")
print(result.total.tolist())
print(travel.score_("rome", 2, memory={"visits": [{"city": "rome"}]}, context={"mood": "calm"}))
print(travel.after_noon("2026-03-04T13:00", context={"mood": "calm"}))
print(travel.alerts(memory={"visits": [travel.Place(city="rome")]}, context={"mood": "calm"})[0]["say"])
print([row["args"] for row in travel.act(options[:1], context={"mood": "calm"})])
print(plain.score({"n": [1, 2]}).total.tolist())
"""


def test_a_package_runs_without_parser_checker_and_solver(built: Path) -> None:
    done = run_python(RUN, built / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[0.5]", "3", "True", "rome again", "[]", "[0.0, 1.0]"]


def test_a_damaged_package_says_so(built: Path, tmp_path: Path) -> None:
    run_here("build", built / "src" / "plain.ucl", "-o", tmp_path)
    data = tmp_path / "plain" / "program.json"
    data.write_text(data.read_text().replace('"a"', '"b"', 1))
    done = run_python("import plain", tmp_path)
    assert "CorruptProgramError" in done.stderr
    assert "build it again" in done.stderr


CALLER = """
import datetime as dt

import plain
from travel import class_ as travel

meeting = travel.Meeting(start=dt.datetime(2026, 3, 4, 13))
result = travel.score([meeting], schema="Meeting", context={"mood": "calm"})
rows = travel.score([{"place": {"city": "oslo"}, "kind": "a"}], schema="Record", context={"mood": "calm"})
plain.score({"n": [1, 2]})
visits: int = travel.score_("rome", 3, context={"mood": "calm"}, memory={"visits": [{"city": "rome"}]})
total: float = float(result.total[0]) + float(rows.total[0])
around = travel.Context(mood="busy")
known = travel.Memory(visits=[travel.Place(city="rome")], budget=3.5)
travel.alerts(context=around, memory=known)
travel.program.score_batches([{"n": [1]}], "Record", context=around)


async def later() -> float:
    later = await travel.score_async([meeting], schema="Meeting", context=around, memory=known)
    return float(later.total[0])
"""
MISTAKES = {
    "a misspelt field of a model": 'travel.Meeting(strat=dt.datetime(2026, 3, 4, 13))',
    "a wrong type in a model": 'travel.Meeting(start=3)',
    "a value outside the list": 'travel.Meeting(start=dt.datetime(2026, 3, 4), kind="reviews")',
    "a misspelt column of a row": 'plain.score([{"m": 1}])',
    "a wrong type in a row": 'plain.score([{"n": "1"}])',
    "a context that is not given": 'travel.score([meeting], schema="Meeting")',
    "a misspelt context": 'travel.after_noon("2026-03-04T12:00", context={"mod": "calm"})',
    "a schema without rules": 'travel.score([meeting], schema="Place", context={"mood": "calm"})',
    "a wrong argument": 'travel.score_(3, 3, context={"mood": "calm"})',
    "a wrong type in a context's model": 'travel.Context(mood="sad")',
    "a misspelt field of a memory's model": 'travel.Memory(visit=[])',
    "a wrong type in a memory's model": 'travel.Memory(visits=[travel.Meeting(start=dt.datetime(2026, 3, 4))])',
    "a wrong result": 'answer: str = travel.after_noon("2026-03-04T12:00", context={"mood": "calm"})',
}  # fmt: skip


def test_type_checkers_take_the_package_and_reject_mistakes(built: Path, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(CALLER)
    bad = "\n".join(MISTAKES.values())
    (tmp_path / "bad.py").write_text(CALLER + bad + "\n")
    first = len(CALLER.splitlines()) + 1
    found = mypy(tmp_path, "good.py", "bad.py", built / "out", found_in=built / "out", cache=built / "cache")
    assert [error for error in found if error[0] != "bad.py" or error[1] < first] == []
    lines = {line for _, line, _ in found}
    assert [name for number, name in enumerate(MISTAKES, first) if number not in lines] == []


def mypy(folder: Path, *words: str | Path, found_in: Path, cache: Path) -> list[tuple[str, int, str]]:
    """File, line and message of each error that `mypy --strict` has, for code in `folder`."""
    options = ["--strict", "--no-error-summary", "--cache-dir", str(cache)]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *words], cwd=folder,
        env=environment(MYPYPATH=str(found_in), PYTHONPATH=str(ROOT)), capture_output=True, text=True, check=False,
    )  # fmt: skip
    parts = (line.split(":", 3) for line in done.stdout.splitlines() if ": error:" in line)
    found = [(file, int(line), message) for file, line, _, message in parts]
    assert found or done.returncode == 0, done.stdout + done.stderr
    return found


def test_a_stub_beside_a_program_tells_checkers_what_the_import_hook_gives(built: Path, tmp_path: Path) -> None:
    ran = run_here("stubs", built / "src")
    assert (ran.status, len(ran.out.splitlines())) == (0, 2), ran.err
    caller = "import ucl.importer\n" + CALLER
    # The hook imports a file by its own name, and `class` is none that Python's `import` can say.
    (tmp_path / "travel").mkdir()
    for suffix in (".ucl", ".pyi"):
        (tmp_path / "travel" / f"class_{suffix}").write_bytes(
            (built / "src" / "travel" / f"class{suffix}").read_bytes()
        )
        (tmp_path / f"plain{suffix}").write_bytes((built / "src" / f"plain{suffix}").read_bytes())
    (tmp_path / "good.py").write_text(caller)
    (tmp_path / "bad.py").write_text(caller + "\n".join(MISTAKES.values()) + "\n")
    first = len(caller.splitlines()) + 1
    found = mypy(tmp_path, "good.py", "bad.py", found_in=tmp_path, cache=built / "cache")
    assert [error for error in found if error[0] != "bad.py" or error[1] < first] == []
    lines = {line for _, line, _ in found}
    assert [name for number, name in enumerate(MISTAKES, first) if number not in lines] == []


def test_stubs_are_current_or_said_to_be_stale(tmp_path: Path) -> None:
    (tmp_path / "p.ucl").write_text("let x = 1\n")
    assert run_here("stubs", "--check", tmp_path).status == 1
    assert not (tmp_path / "p.pyi").exists()
    assert run_here("stubs", tmp_path / "p.ucl").out == f"wrote {tmp_path / 'p.pyi'}\n"
    assert run_here("stubs", "--check", tmp_path).status == 0
    assert run_here("stubs", tmp_path).out == ""
    (tmp_path / "p.ucl").write_text("let x = y\n")
    assert run_here("stubs", tmp_path).status == 1


def test_linters_take_the_package(built: Path) -> None:
    config = str(ROOT / "pyproject.toml")
    for words in (["check", "--isolated"], ["check", "--config", config]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--no-cache", str(built / "out")],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout


def test_two_programs_of_one_name_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.ucl").write_text("let x = 1\n")
    ran = run_here("build", tmp_path, "-o", tmp_path / "out")
    assert ran.status == 2
    assert "two programs" in ran.err


@pytest.mark.parametrize("module", ["ucl", "ucl.rules", "os.path", "email"])
def test_a_package_hides_no_module_that_python_needs(tmp_path: Path, module: str) -> None:
    path = tmp_path / "program.ucl"
    path.write_text(f"module {module}\nschema S {{ n: int }}\n")
    ran = run_here("build", path, "-o", tmp_path / "out")
    assert (ran.status, (tmp_path / "out").exists()) == (2, False)
    assert "hides" in ran.err
    path.write_text(f"module rules.{module}\nschema S {{ n: int }}\n")
    assert run_here("build", path, "-o", tmp_path / "out").status == 0


def test_a_program_with_mistakes_builds_nothing(tmp_path: Path) -> None:
    (tmp_path / "good.ucl").write_text("let x = 1\n")
    (tmp_path / "bad.ucl").write_text("let x = y\n")
    assert run_here("build", tmp_path, "-o", tmp_path / "out").status == 1
    assert not (tmp_path / "out").exists()


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"), [("class", "class_"), ("a", "a"), ("_x", "x"), ("名字", "名字"), ("_1", "x1"), ("ﬁ", "fi")]
)
def test_names_become_identifiers(name: str, expected: str) -> None:
    assert identifier(name) == expected


@given(st.lists(st.from_regex(r"[^\W\d]\w*", fullmatch=True), unique=True, max_size=8))
def test_names_never_clash(names: list[str]) -> None:
    space = Names({"score"})
    made = [space.take(name) for name in names]
    assert len({*made}) == len(made)
    assert all(name.isidentifier() and name != "score" for name in made)


def test_a_module_path_is_a_package_path() -> None:
    assert str(package_path("a.class.名")) == "a/class_/名"


# --- models ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(rich: CompiledProgram) -> Mapping[str, Any]:
    return rich.models


def test_a_model_has_the_defaults_of_its_schema(models: Mapping[str, Any]) -> None:
    record = models["Record"](place={"city": "oslo"})
    assert record.lasts == dt.timedelta(minutes=90)
    assert (record.work, record.far, record.share) == (2.0, 1.5, 0.15)
    assert (record.day, record.time, record.start) == (dt.date(2026, 3, 4), dt.time(23), dt.datetime(2026, 3, 4, 13))
    assert (record.kind, record.tags, record.days, record.on_day) == ("a", {"x", "y"}, {"sat", "sun"}, "fri")
    assert (record.int_, record.json_, record.other, record.hidden) == (1, False, None, None)


def test_a_model_goes_to_json_and_back(models: Mapping[str, Any]) -> None:
    record = models["Record"](place={"city": "oslo"}, lasts=45, rests="PT0.25S", days={"tue", "mon"}, **{"class": 3})
    text = record.model_dump_json()
    assert json.loads(text) == {
        "lasts": 45.0, "rests": "PT0.25S", "days": ["mon", "tue"], "place": {"city": "oslo"}, "class": 3,
    }  # fmt: skip
    assert models["Record"].model_validate_json(text) == record
    assert record.hidden == 3


def test_a_model_scores_as_its_row_does(rich: CompiledProgram, models: Mapping[str, Any]) -> None:
    record = models["Record"](**ROW, lasts=45, **{"class": 3})
    call: dict[str, Any] = {"context": {"mood": "busy"}, "now": "2026-03-04T12:00"}
    from_model = rich.score([record], "Record", **call)
    from_json = rich.score([json.loads(record.model_dump_json())], "Record", **call)
    assert list(from_model.rows()) == list(from_json.rows()) == list(rich.score([ROW], "Record", **call).rows())
    assert from_model.invalid == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"int": 4},
        {"int": 2**63},
        {"share": 1.5},
        {"share": float("nan")},
        {"time": "12:00"},
        {"kind": "c"},
        {"on_day": "Friday"},
        {"nothing": 1},
        {"place": {}},
        {"place": None},
    ],
)
def test_a_model_refuses_what_score_calls_invalid(models: Mapping[str, Any], wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        models["Record"](**{"place": {"city": "oslo"}, **wrong})


def test_context_and_memory_have_models_that_go_to_json_and_back(
    rich: CompiledProgram, models: Mapping[str, Any]
) -> None:
    assert list(models) == ["Meeting", "Place", "Record", "Context", "Memory"]
    around, known = models["Context"](mood="busy", **{"lambda": 2}), models["Memory"](visits=[{"city": "bergen"}])
    assert (around.lambda_, known.visits[0], known.budget) == (2, models["Place"](city="bergen"), 2.5)
    data = [json.loads(model.model_dump_json()) for model in (around, known)]
    assert data == [{"mood": "busy", "lambda": 2}, {"visits": [{"city": "bergen"}]}]
    assert models["Context"].model_validate(data[0]) == around
    assert models["Memory"].model_validate_json(json.dumps(data[1])) == known
    told = [
        list(rich.score([ROW], "Record", context=c, memory=m, now="2026-03-04T12:00").rows())
        for c, m in ((around, known), data)
    ]
    assert told[0] == told[1]
    assert "cheap" in told[0][0]["fired"]
    assert rich.alerts(models["Memory"](visits=[{"city": "rome"}]), context=around)[0]["say"] == "rome again"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Context", {"mood": "sad"}),
        ("Context", {}),
        ("Context", {"mod": "calm"}),
        ("Memory", {"visits": [{"cty": "rome"}]}),
        ("Memory", {"visits": "rome"}),
        ("Memory", {"budget": "much"}),
    ],
)
def test_models_of_context_and_memory_refuse_what_a_call_refuses(
    models: Mapping[str, Any], name: str, wrong: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        models[name](**wrong)


def test_a_schema_called_like_a_model_of_ours_gets_another_name() -> None:
    program = ucl.compile("schema Context { n: int }\nschema Memory { n: int }\ncontext { mood: int }\nmemory x: int?")
    assert list(program.models) == ["Context_", "Memory_", "Context", "Memory"]


def test_a_model_does_not_change(models: Mapping[str, Any]) -> None:
    record = models["Place"](city="oslo")
    with pytest.raises(ValidationError):
        record.city = "rome"
