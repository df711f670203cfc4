"""Commands that make things for later: `build`, `warmup`; and `bench`, which measures."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ucl.cli.output import CommandError, remark
from ucl.cli.source import complain_about, program_files, unreadable


def add_build(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a program, or a folder of programs")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="where the packages go")


def build(paths: list[Path], output: Path) -> int:
    """Writes an importable, typed Python package for each program, and a manifest."""
    import ucl
    from ucl.build.package import package_path, write_packages
    from ucl.driver import check_path
    from ucl.semantics.program import Program

    programs: dict[str, Program] = {}
    broken = False
    for path in program_files(paths):
        try:
            program, report = check_path(path)
        except OSError as error:
            raise unreadable(path, error) from None
        if program is None:
            complain_about(report)
            broken = True
            continue
        place = str(package_path(program.module))
        if place in programs:
            raise CommandError(f"two programs would become the package `{place}`; the second is `{path}`")
        programs[place] = program
    if broken:
        return 1
    for written in write_packages(programs.values(), output, ucl.__version__):
        print(f"built {written.module} in {output / written.package}")
    return 0


def add_warmup(parser: ArgumentParser) -> None:
    """It takes no arguments."""


def warmup() -> int:
    """Compiles the kernels, so that the first large table does not wait for them."""
    from ucl.kernels.engines.choice import warm_up

    try:
        warm_up(lambda: remark("compiling the kernels, once for this machine"))
    except ImportError:
        raise CommandError("numba is not installed", "small tables are scored without it") from None
    remark("the kernels are ready")
    return 0


def add_bench(parser: ArgumentParser) -> None:
    parser.add_argument("arguments", metavar="ARG", nargs=REMAINDER, help="the benchmark's own")


def bench(arguments: list[str]) -> int:
    """Runs the benchmark, where it is installed."""
    if find_spec("ucl.bench") is None:
        raise CommandError("the benchmark is not part of this installation")
    return import_module("ucl.bench").main(arguments) or 0
