"""`uclc check` and the paths that lead to it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_runs import folder, run_here

__all__ = ["folder"]

WRONG = 'schema S { n: int }\nrule a on S { when n == "x" score 1 }\n'
WARNED = "schema S { n: int }\nimport std.units (length)\nrule a on S { when n > 1 score 1 }\n"


def test_a_right_program_gives_status_0(folder: Path) -> None:
    ran = run_here("check", "--fast", "meetings.ucl")
    assert (ran.status, ran.out) == (0, "")
    assert "no problems in 1 file" in ran.err


def test_a_wrong_program_gives_status_1_and_shows_the_place(folder: Path) -> None:
    (folder / "wrong.ucl").write_text(WRONG, encoding="utf-8")
    ran = run_here("check", "--fast", "wrong.ucl")
    assert ran.status == 1
    assert "error[type-mismatch]" in ran.out
    assert " --> wrong.ucl:2:" in ran.out
    assert "^" in ran.out


def test_a_path_alone_is_checked(folder: Path) -> None:
    assert run_here("meetings.ucl", "--fast").status == 0


def test_warnings_count_only_under_strict(folder: Path) -> None:
    (folder / "warned.ucl").write_text(WARNED, encoding="utf-8")
    assert run_here("check", "--fast", "warned.ucl").status == 0
    strict = run_here("check", "--fast", "--strict", "warned.ucl")
    assert strict.status == 1
    assert "warning[unused]" in strict.out


def test_links_out_of_a_folder_are_not_followed(folder: Path) -> None:
    """A folder from elsewhere shows nothing of what stands beside it."""
    (folder / "private.txt").write_text("my secret words\n", encoding="utf-8")
    inside = folder / "inside"
    inside.mkdir()
    (inside / "fine.ucl").write_text("schema S { n: int }\n", encoding="utf-8")
    (inside / "same.ucl").symlink_to("fine.ucl")
    (inside / "out.ucl").symlink_to(folder / "private.txt")
    ran = run_here("check", "--fast", inside)
    assert (ran.status, "secret" in ran.out + ran.err) == (0, False)
    assert "in 2 files" in ran.err


def test_a_folder_is_searched_and_hidden_folders_are_not(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "wrong.ucl").write_text(WRONG, encoding="utf-8")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "wrong.ucl").write_text(WRONG, encoding="utf-8")
    ran = run_here("check", "--fast", "--format", "json", folder)
    found = json.loads(ran.out)["diagnostics"]
    assert [Path(d["file"]).relative_to(folder).as_posix() for d in found] == ["inner/wrong.ucl"]


def test_an_error_in_a_module_that_two_files_import_is_said_once(folder: Path) -> None:
    (folder / "shared.ucl").write_text("let x: int = 1.5\n", encoding="utf-8")
    for name in ("a", "b"):
        (folder / f"{name}.ucl").write_text(f"import shared (x)\nlet {name} = x\n", encoding="utf-8")
    found = json.loads(run_here("check", "--fast", "--format", "json", "a.ucl", "b.ucl").out)["diagnostics"]
    assert [d["file"] for d in found if d["severity"] == "error"] == ["shared.ucl"]


def test_rules_are_held_against_each_other_unless_it_should_be_fast(folder: Path) -> None:
    (folder / "never.ucl").write_text("schema S { n: int }\nrule a on S { when n > 5 and n < 3 score 1 }\n")
    ran = run_here("check", "never.ucl")
    assert ran.status == 1
    assert "error[never-applies]" in ran.out
    assert run_here("check", "--fast", "never.ucl").status == 0


def test_every_format_says_the_same(folder: Path) -> None:
    (folder / "wrong.ucl").write_text(WRONG, encoding="utf-8")
    sarif = json.loads(run_here("check", "--fast", "--format", "sarif", "wrong.ucl").out)
    (result,) = sarif["runs"][0]["results"]
    assert result["ruleId"] == "type-mismatch"
    github = run_here("check", "--fast", "--format", "github", "wrong.ucl").out
    assert github.startswith("::error file=wrong.ucl,line=2,")


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (b"", 1, "declares nothing"),
        (bytes(range(128, 256)) * 20, 1, "not UTF-8"),
        (b"let x = 1\0", 1, "zero bytes"),
        (b"let x = 1\n# " + b"a" * (4 * 1024 * 1024), 1, "4 MiB"),
        (
            b"schema S { n: int }\nrule a on S { when " + b"(" * 800 + b"n > 1" + b")" * 800 + b" score 1 }",
            1,
            "too-deep",
        ),
        (b'timezone "Mars/Base"\nlet x = 1', 1, "Mars/Base"),
    ],
    ids=["empty", "binary", "zero", "4MiB", "nested", "zone"],
)
def test_bad_files_get_a_message(folder: Path, content: bytes, status: int, said: str) -> None:
    (folder / "bad.ucl").write_bytes(content)
    ran = run_here("check", "--fast", "bad.ucl")
    assert ran.status == status
    assert said in ran.out + ran.err
    assert "uclc itself failed" not in ran.err


def test_a_file_that_is_not_there_gives_status_2(folder: Path) -> None:
    ran = run_here("check", "--fast", "missing.ucl", "meetings.ucl")
    assert ran.status == 2
    assert "`missing.ucl`" in ran.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="a superuser may read everything")
def test_an_import_that_may_not_be_read_is_named(folder: Path) -> None:
    (folder / "shared.ucl").write_text("let x = 1\n", encoding="utf-8")
    (folder / "shared.ucl").chmod(0)
    (folder / "p.ucl").write_text("import shared (x)\nlet y = x\n", encoding="utf-8")
    ran = run_here("check", "--fast", "p.ucl")
    assert ran.status == 2
    assert "`shared.ucl`: permission denied" in ran.err


def test_a_folder_without_programs_gives_status_2(folder: Path) -> None:
    (folder / "none").mkdir()
    assert run_here("check", "--fast", "none").status == 2


@pytest.mark.parametrize("words", [["chekc", "x.txt"], ["check"], ["check", "--nonsense", "meetings.ucl"], []])
def test_wrong_use_gives_status_2(folder: Path, words: list[str]) -> None:
    ran = run_here(*words)
    assert ran.status == 2
    assert ran.out == ""


def test_a_slip_in_a_command_is_recognised(folder: Path) -> None:
    assert "`check`" in run_here("chekc", "x").err


# --- where modules are looked up ------------------------------------------------------------------------------------


def test_the_root_is_the_folder_that_the_module_path_starts_from(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "shared.ucl").write_text("let x = 1\n", encoding="utf-8")
    program = "module a.b.c\nimport shared (x)\nlet y = x\n"
    (folder / "a" / "b" / "c.ucl").write_text(program, encoding="utf-8")
    assert run_here("check", "--fast", "a/b/c.ucl").status == 0
    (folder / "a" / "c.ucl").write_text(program, encoding="utf-8")
    assert "unknown-import" in run_here("check", "--fast", "a/c.ucl").out


def test_messages_show_imported_files_as_the_user_would_name_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a").mkdir()
    (folder / "shared.ucl").write_text("let x: int = 1.5\n", encoding="utf-8")
    (folder / "a" / "b.ucl").write_text("module a.b\nimport shared (x)\nlet y = x\n", encoding="utf-8")
    assert " --> shared.ucl:1:" in run_here("check", "--fast", "a/b.ucl").out
    assert f" --> {folder}/shared.ucl:1:" in run_here("check", "--fast", folder / "a" / "b.ucl").out
    monkeypatch.chdir(folder / "a")
    assert " --> ../shared.ucl:1:" in run_here("check", "--fast", "b.ucl").out


def test_a_module_is_never_read_from_outside_the_root(folder: Path) -> None:
    inside = folder / "inside"
    inside.mkdir()
    (folder / "secret.ucl").write_text("let x = 1\n", encoding="utf-8")
    (inside / "secret.ucl").symlink_to(folder / "secret.ucl")
    (inside / "p.ucl").write_text("import secret (x)\nlet y = x\n", encoding="utf-8")
    assert "unknown-import" in run_here("check", "--fast", "inside/p.ucl").out
    (inside / "secret.ucl").unlink()
    (inside / "secret.ucl").write_text("let x = 1\n", encoding="utf-8")
    assert run_here("check", "--fast", "inside/p.ucl").status == 0
