"""Modules: what imports bring, what takes part, and what is said of imports that are wrong."""

from __future__ import annotations

import re
from pathlib import Path

from checking import check_files, check_text
from hypothesis import given, settings
from hypothesis import strategies as st

from ucl.resources import stdlib_modules
from ucl.semantics.check.modules import STANDARD_MODULES
from ucl.semantics.program import Resolution

SCHEMA = "schema S { n: int }\n"


def test_the_file_names_a_module_that_does_not_name_itself(tmp_path: Path) -> None:
    assert check_text("let a = 1", "some/where/prefs.ucl").right.module == "prefs"
    assert check_text("module a.b\nlet a = 1", "prefs.ucl").right.module == "a.b"


def test_names_by_list_and_by_module(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        prefs__shared="module prefs.shared\nlet quiet = 22:00..06:00\nschema Place { km: float }\n"
        "def near(x: float) -> bool = x <= 2",
        prefs__base="let limit = 3\nschema Deep { n: int }\nlet summer = 2026-06-01..2026-09-01\neffect ring()",
        main="import prefs.shared (quiet, near, Place)\nimport prefs.base\n"
        "schema S { t: time  place: Place  n: int  deep: base.Deep }\n"
        "rule a on S { when t in quiet and near(place.km) and n > base.limit score 0.5 valid base.summer }\n"
        "rule b on base.Deep { when n > 3 score 0.5 }\n"
        "action c on S { do base.ring() }",
    )
    program = result.right
    assert program.rules[0].meta.valid.first is not None
    assert set(program.schemas) == {"S", "Place", "Deep"}
    assert list(program.effects) == ["ring"]
    assert [Path(source.path).name for source in program.sources] == ["main.ucl", "shared.ucl", "base.ucl"]


def test_an_import_brings_what_the_module_declares_itself(tmp_path: Path) -> None:
    result = check_files(
        tmp_path, inner="let a = 1", outer="import inner (a)\nlet b = a", main="import outer (a, b)\nlet c = b"
    )
    assert result.only.code == "unknown-import"
    assert result.only.help == "it comes from `inner`: import it from there"


def test_unknown_imports_say_what_was_meant(tmp_path: Path) -> None:
    found = check_files(tmp_path, prefs="let limit = 1", main="import pref (limit)\nlet a = limit").only
    assert (found.code, found.span.line) == ("unknown-import", 1)
    assert "pref.ucl" in (found.help or "")
    found = check_files(tmp_path, prefs="let limit = 1", main="import prefs (limits)\nlet a = limits").only
    assert (found.code, found.help) == ("unknown-import", "did you mean `limit`?")
    found = check_text("import std.daypart").only
    assert found.help == "did you mean `std.dayparts`?"
    assert check_text("import std.nothing_such\nlet a = nothing_such.b").found == [("unknown-import", 1)]


def test_the_known_standard_modules_are_those_that_ship() -> None:
    assert set(STANDARD_MODULES) == set(stdlib_modules())


def test_import_cycles(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        a="import b (y)\nlet x = y",
        b="import c (z)\nlet y = z",
        c="import a (x)\nlet z = x",
        main="import a (x)\nlet w = x",
    )
    assert result.only.code == "import-cycle"
    assert result.only.message == "imports run in a circle: `a` imports `b` imports `c` imports `a`"
    assert Path(result.only.span.source.path).name == "c.ucl"
    assert check_files(tmp_path, main="import main (x)\nlet x = 1").errors == [("import-cycle", 1)]
    assert check_files(tmp_path, main="let x = 1\nimport main (x)\nlet y = x").errors == [("import-cycle", 2)]


def test_what_is_imported_from_where_it_is_not_declared_is_said_once(tmp_path: Path) -> None:
    lib = "import std.units (length)\nschema S { far: length unit m }"
    uses = "rule r on S { when far > 3km or 1m > 2m score 1 }"
    found = check_files(tmp_path, lib=lib, main=f"import lib (S, length)\n{uses}").only
    assert (found.code, found.help) == ("unknown-import", "it comes from `std.units`: import it from there")
    found = check_files(tmp_path, lib=lib, main=f"import lib (S)\nimport std.units (m, km)\n{uses}").report.sorted()[0]
    assert found.help == "write `import std.units (length)`"
    for broken in ("import std.units (lenght)", "import std.unitz", "dimension length { m, km = 1000 }"):
        found = check_files(tmp_path, lib=lib, main=f"import lib (S)\n{broken}\n{uses}").only
        assert found.span.line == 2


def test_a_long_module_path_is_cut() -> None:
    found = check_text("import " + ".".join(["abc"] * 3000)).only
    assert found.code == "unknown-import"
    assert len(found.message + (found.help or "")) < 200


def test_a_long_chain_of_imports_needs_no_stack(tmp_path: Path) -> None:
    files = {f"m{i}": f"import m{i + 1} (a{i + 1})\nlet a{i} = a{i + 1}" for i in range(400)}
    result = check_files(tmp_path, **files, m400="let a400 = 1", main="import m0 (a0)\nlet b = a0")
    assert result.found == []


def test_mistakes_are_reported_in_the_file_where_they_are_and_once(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        wrong="let a = nowhere\nlet b = = 1\nschema S { n: strin }\nrule r on S { when n > zz score 1 }\nlet fine = 1",
        left="import wrong (a, b)\nlet l = a",
        right="import wrong\nlet r = wrong.a + wrong.b",
        main="import left (l)\nimport right (r)\nimport wrong (a, b, S, fine)\nlet m = l + r + a + b + fine\n"
        "schema T { inner: S }",
    )
    assert {Path(d.span.source.path).name for d in result.report} == {"wrong.ucl"}
    assert sorted(result.errors) == [("syntax", 2), ("unknown-name", 1), ("unknown-name", 3), ("unknown-name", 4)]


def test_duplicates_over_imports(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        a="let x = 1",
        b="let x = 2",
        deep__a="let y = 3",
        main="import a (x)\nimport b (x)\nimport deep.a\nimport a\nlet x = 4\nlet z = x + a.y",
    )
    assert result.errors == [("duplicate-name", 2), ("duplicate-name", 4), ("duplicate-name", 5)]
    assert [note.span.line for d in result.report for note in d.notes] == [1, 3, 1]


def test_unused_imports(tmp_path: Path) -> None:
    assert check_text(
        "import std.dayparts (lunch, night)\nschema S { t: time }\nrule r on S { when t in night score 1 }"
    ).found == [("unused", 1)]
    assert check_text("import std.dayparts\nlet a = 1").found == [("unused", 1)]
    assert check_text("import std.units (length, mass)\nlet a = 3km").found == [("unused", 1)]
    assert check_text("import std.units\nlet a = 3km").found == []
    assert check_text("import std.money\nlet a = 3").found == [("unused", 1)]
    assert check_files(tmp_path, a="memory m: int", main="import a (m)\nlet b = 1").found == [("unused", 1)]
    assert check_files(tmp_path, a="memory m: int", main="import a (m)\ndef f() -> int = m").found == []


def test_bodies_take_part_where_the_list_names_them(tmp_path: Path) -> None:
    shared = (
        SCHEMA
        + "rule second on S { score 0.5 }\nrule first on S overrides second, left_out { score 0.5 }\n"
        + "rule left_out on S { score 0.5 }\nconstraint c on S { forbid when n > 3 }\n"
        + "effect e()\naction act on S { do e() }\nmemory rows: list<S>\nalert al for p in rows { when p.n > 3 }\n"
        + "property holds on S { expect fires(first) }"
    )
    main = (
        "rule own on S overrides first { score 0.5 }\n"
        "import shared (first, second, S, c, act, al, holds)\n"
        "property mine on S { expect applies(second) and applies(c) }"
    )
    program = check_files(tmp_path, shared=shared, main=main).right
    assert [(rule.name, rule.overrides) for rule in program.rules] == [
        ("second", ()),
        ("first", ("second",)),
        ("own", ("first",)),
    ]
    assert [x.name for x in (*program.constraints, *program.actions, *program.alerts, *program.properties)] == [
        "c",
        "act",
        "al",
        "holds",
        "mine",
    ]
    assert [memory.name for memory in program.memory] == ["rows"]
    assert list(program.effects) == ["e"]
    nothing = check_files(tmp_path, shared=shared, main="import shared\nmemory rows: list<shared.S>").right
    assert nothing.rules == ()
    assert nothing.constraints == ()


def test_an_imported_property_brings_no_rules(tmp_path: Path) -> None:
    shared = SCHEMA + "rule r on S { score 0.5 }\nproperty p on S { expect fires(r) }"
    result = check_files(tmp_path, shared=shared, main="import shared (p)\nlet a = 1")
    assert (result.only.code, result.only.help) == ("unknown-import", "import `r` from `shared` too")
    assert check_files(tmp_path, shared=shared, main="import shared (p, r)\nlet a = 1").found == []


def test_a_schema_comes_with_the_rules_that_are_on_it(tmp_path: Path) -> None:
    shared = SCHEMA + "resolve S by priority\nrule r on S { score 0.5 }"
    program = check_files(tmp_path, shared=shared, main="import shared (r)").right
    assert program.rules[0].schema is program.schemas["S"]
    assert program.resolutions == {"S": Resolution.PRIORITY}
    program = check_files(tmp_path, shared=shared, main="import shared (r, S)\nresolve S by weighted").right
    assert program.resolutions == {"S": Resolution.WEIGHTED}


def test_needs_of_the_context_come_with_rules_and_defs(tmp_path: Path) -> None:
    deep = 'context { mood: text }\nmemory limit: int = 3\ndef calm() -> bool = mood == "calm"'
    middle = 'import deep (calm)\ncontext { place: text = "home" }\ndef fine() -> bool = calm()\n' + SCHEMA
    middle += 'rule r on S { when n > 3 and place == "home" score 0.5 }'
    by_rule = check_files(tmp_path, deep=deep, middle=middle, main="import middle (r)").right
    assert {field.name for field in by_rule.context} == {"place", "mood"}
    assert [memory.name for memory in by_rule.memory] == ["limit"]
    by_def = check_files(
        tmp_path, deep=deep, middle=middle, main="import middle\ndef f() -> bool = middle.fine()"
    ).right
    assert {field.name for field in by_def.context} == {"place", "mood"}
    by_schema = check_files(
        tmp_path, deep=deep, middle=middle, main="import middle (S)\nrule q on S { score 0.5 }"
    ).right
    assert by_schema.context == ()
    assert by_schema.memory == ()


def test_needs_that_clash(tmp_path: Path) -> None:
    shared = 'context { mood: text }\ndef calm() -> bool = mood == "calm"'
    main = "import shared (calm)\ncontext { mood: int }\ndef f() -> bool = calm() and mood > 3"
    result = check_files(tmp_path, shared=shared, main=main)
    assert result.errors == [("duplicate-name", 1)]
    assert [Path(note.span.source.path).name for note in result.only.notes] == ["shared.ucl", "main.ucl"]
    alike = main.replace("mood: int", "mood: text").replace("mood > 3", 'mood != "x"')
    assert len(check_files(tmp_path, shared=shared, main=alike).right.context) == 1


def test_an_imported_memory_can_be_watched_and_read(tmp_path: Path) -> None:
    shared = SCHEMA + "memory rows: list<S>"
    main = "import shared (rows)\nalert a for p in rows { when count(q in rows) > 3 }"
    assert [memory.name for memory in check_files(tmp_path, shared=shared, main=main).right.memory] == ["rows"]
    main = "import shared\nalert a for p in shared.rows { when p.n > 3 }"
    assert [memory.name for memory in check_files(tmp_path, shared=shared, main=main).right.memory] == ["rows"]


def test_units_come_with_their_dimension(tmp_path: Path) -> None:
    text = "import std.units (length)\nschema S { far: length }\nrule r on S { when far > 3km and far < 5mi score 0.5 }"
    assert check_text(text).found == []
    assert check_text(text.replace("(length)", "").replace("far: length", "far: units.length")).found == []
    assert [code for code, _ in check_text(text.replace("5mi", "5kg")).errors] == ["unknown-name"]
    both = check_files(
        tmp_path,
        other="dimension heat { k, km = 2k }",
        main="import other (heat)\nimport std.units (length)\nlet a: heat = 1km\nlet b: length = 1km\nlet c = 1km",
    )
    assert both.errors == [("ambiguous-name", 5)]


def test_a_type_of_a_module_is_written_with_its_last_name() -> None:
    found = check_text("import std.units\nschema S { far: std.units.length }").only
    assert (found.code, found.help) == ("unknown-name", "write `units.length`")


def test_rules_override_imported_rules_but_only_of_their_kind(tmp_path: Path) -> None:
    shared = f"""{SCHEMA}
        schema T {{ n: int }}
        rule r on S {{ score 0.5 }}
        rule t on T {{ score 0.5 }}
        constraint c on S {{ forbid when n > 3 }}
    """
    main = """import shared (r, c, S, t)
        rule a on S overrides r { score 0.5 }
        rule b on S overrides c { score 0.5 }
        rule d on S overrides t { score 0.5 }
    """
    assert check_files(tmp_path, shared=shared, main=main).errors == [("bad-override", 3), ("bad-override", 4)]


def test_the_zone_is_that_of_the_program(tmp_path: Path) -> None:
    program = check_files(tmp_path, a='timezone "Asia/Shanghai"\nlet x = 1', main="import a (x)\nlet y = x").right
    assert program.timezone == "UTC"
    assert check_text('timezone "Asia/Shanghai"').right.timezone == "Asia/Shanghai"
    assert check_text('timezone "../etc/passwd"').errors == [("unknown-name", 1)]


BAD = Path(__file__).parent / "golden" / "bad"
WORDS = re.findall(
    r'"[^"\n]*"|[\w.]+|[^\w\s]', "\n".join(p.read_text(encoding="utf-8") for p in sorted(BAD.glob("declarations*.ucl")))
)


@given(st.integers(0, len(WORDS) - 1), st.lists(st.tuples(st.integers(0, 60), st.sampled_from(WORDS)), max_size=6))
@settings(deadline=None)
def test_any_text_is_checked_without_an_exception(start: int, changes: list[tuple[int, str]]) -> None:
    words = WORDS[start : start + 60]
    for place, word in changes:
        words[place : place + 1] = [word]
    check_text(" ".join(words))
