"""What is shipped works away from the checkout: the wheel, installed elsewhere, checks and scores an example."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's contents and nothing else of ours."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("ucl-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(folder / "site"), str(wheel)], check=True)
    return folder


def run(installed: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The installed command, in a folder from which no checkout can be seen."""
    code = "import sys, ucl; assert 'site' in ucl.__file__, ucl.__file__; from ucl.cli import main; sys.exit(main())"
    environment = {**os.environ, "PYTHONPATH": str(installed / "site"), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=installed, env=environment, capture_output=True, text=True, check=False)


def test_an_example_is_scored(installed: Path) -> None:
    for name in ("meetings.ucl", "meetings.csv"):
        shutil.copy(ROOT / "examples" / "meetings" / name, installed)
    checked = run(installed, "check", "--fast", "meetings.ucl")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    scored = run(installed, "score", "meetings.ucl", "meetings.csv", "--top", "1", "--format", "json")
    assert scored.returncode == 0, scored.stderr
    assert json.loads(scored.stdout)["decision"] == "accept"


def test_it_carries_what_the_compiler_reads_and_no_more(installed: Path) -> None:
    (wheel,) = installed.glob("ucl-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    data = {name for name in names if name.startswith("ucl/_data/")}
    assert {"ucl/_data/grammar/ucl.lark", "ucl/_data/stdlib/dayparts.ucl"} <= data
    assert {"ucl/py.typed", "ucl/syntax/reading/table.json"} <= set(names)
    assert not [name for name in names if name.startswith(("tests/", "examples/"))]
