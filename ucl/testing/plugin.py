"""pytest plugin: the promises of `.ucl` files as tests.

In: pytest's options. Out: `.ucl` files collected, where that is asked for: with `--ucl`, with `ucl = true` in the ini
file, or by naming a file. Every pytest run of an environment with UCL in it loads this module, so that it imports
nothing of ours before there is a file to collect, and collects nothing of its own accord: a folder may hold programs
that are wrong on purpose.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_SETTINGS = {
    "ucl_samples": ("how many options to try for each promise of a UCL program (default 1000)", "1000"),
    "ucl_seed": ("the same seed tries the same options (default 0)", "0"),
    "ucl_now": ("from when on the promises of UCL programs shall hold, in place of the clock's", ""),
    "ucl_facts": (
        "the name of a file of facts; where one stands beside a UCL program, what it states is tested too",
        "",
    ),
    "ucl_vocabulary": ("the name of a file beside a UCL program: which field a topic of its facts is about", ""),
}
_NUMBERS = ("ucl_samples", "ucl_seed")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ucl", "UCL programs")
    group.addoption("--ucl", action="store_true", default=False, help="collect the promises of .ucl files as tests")
    parser.addini("ucl", "collect the promises of .ucl files as tests", type="bool", default=False)
    for name, (about, default) in _SETTINGS.items():
        parser.addini(name, about, default=default)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ucl: a promise of a UCL program")
    for name in _NUMBERS:
        word = str(config.getini(name))
        if not (word.isascii() and word.isdigit()):
            raise pytest.UsageError(f"{name} = {word}: not a whole number")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".ucl":
        return None
    config = parent.config
    if not (config.getoption("--ucl") or config.getini("ucl") or parent.session.isinitpath(file_path)):
        return None
    from ucl.testing.collecting import ProgramFile

    return ProgramFile.from_parent(parent, path=file_path)
