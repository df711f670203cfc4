"""Commands that make things for later: `build`, `stubs`, `warmup`; and `bench`, which measures."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from ucl.cli import inputs
from ucl.cli.output import COMPILING, CommandError, remark, replace_file
from ucl.cli.source import checked_program, complain_about_findings, program_files
from ucl.cli.writing.bench_write import add_bench_write, bench_write

if TYPE_CHECKING:
    from ucl.semantics.program import Program


def add_build(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a program, or a folder of programs")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="where the packages go")


def build(paths: list[Path], output: Path) -> int:
    """Writes an importable, typed Python package for each program, and a manifest.

    Nothing where a program has an error, be it one that only the analysis finds.
    """
    import ucl
    from ucl.build.package import write_packages

    checked = _all_checked(paths)
    if checked is None or any(list(map(complain_about_findings, checked.values()))):
        return 1
    programs: dict[str, Program] = {}
    for path, program in checked.items():
        place = str(package_of(program, path))
        if place in programs:
            raise CommandError(f"two programs would become the package `{place}`; the second is `{path}`")
        programs[place] = program
    for written in write_packages(programs.values(), output, ucl.__version__):
        print(f"built {written.module} in {output / written.package}")
    return 0


def package_of(program: Program, path: Path) -> PurePath:
    """Where the package of a program goes; refused where it would hide another one."""
    from ucl.build.package import hidden_by, package_path

    package = package_path(program.module)
    hidden = hidden_by(package)
    if hidden is not None:
        raise CommandError(
            f"`{path}` would become the package `{package}`, which hides {hidden}",
            f"give it a name below one of your own: `module rules.{program.module}`",
        )
    return package


def _all_checked(paths: list[Path]) -> dict[Path, Program] | None:
    """The programs by path; None where one has mistakes, after those of all have been said."""
    checked = {path: checked_program(path) for path in program_files(paths)}
    programs = {path: program for path, program in checked.items() if program is not None}
    return programs if len(programs) == len(checked) else None


def add_stubs(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="a program, or a folder of programs")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; end with status 1 if a stub is not current"
    )


def stubs(paths: list[Path], check: bool) -> int:
    """Writes `name.pyi` beside each `name.ucl`: what type checkers know of programs that the import hook imports."""
    from ucl.build.code import stub_text

    programs = _all_checked(paths)
    if programs is None:
        return 1
    stale = 0
    for path, program in programs.items():
        place = path.with_suffix(".pyi")
        text = stub_text(program, path.name)
        if place.exists() and place.read_bytes() == text.encode():
            continue
        stale += 1
        if not check:
            replace_file(place, text)
        print(f"{'would write' if check else 'wrote'} {place}")
    return int(check and stale > 0)


def add_warmup(parser: ArgumentParser) -> None:
    """It takes no arguments."""


def warmup() -> int:
    """Compiles the kernels, so that the first large table does not wait for them."""
    from ucl.kernels.crowd.run import load
    from ucl.kernels.engines import kernel_cache
    from ucl.kernels.engines.choice import warm_up

    try:
        warm_up(lambda: remark(COMPILING))
        load(lambda: remark("compiling the kernels for many people, once for this machine"))
    except ImportError:
        raise CommandError("numba is not installed", "small tables are scored without it") from None
    if not kernel_cache.is_ready():
        raise CommandError(
            f"the kernels could not be kept in `{kernel_cache.cache_folder()}`: every process will compile them",
            "let `UCL_CACHE_DIR` name a folder in which only you can write, on a disk with room",
        )
    remark("the kernels are ready")
    return 0


def add_bench(parser: ArgumentParser) -> None:
    add = parser.add_argument
    works = "arrow, prepared, new, option, memory, people, file, analysis, process"
    add("works", nargs="*", metavar="WORK", help=f"{works} (all); or `write`: how a model writes rules")
    add("--rows", type=inputs.positive_count, default=1_000_000, metavar="N", help="rows of the tables (1,000,000)")
    add("--rules", type=inputs.positive_count, default=1000, metavar="N", help="rules of the new program (1,000)")
    add("--repeats", type=inputs.positive_count, default=7, metavar="N", help="runs of each (7)")
    add(
        "--threads",
        type=inputs.positive_count,
        default=2,
        metavar="N",
        help="threads of the lines that use several (2)",
    )
    add("--megabytes", type=inputs.positive_count, default=200, metavar="N", help="how large the Parquet file is (200)")
    add("--picture", type=Path, metavar="FILE", help="draw how the engines compare, as SVG")
    add_bench_write(parser.add_argument_group("write"))


def bench(
    works: list[str],
    rows: int,
    rules: int,
    repeats: int,
    threads: int,
    megabytes: int,
    picture: Path | None,
    **writing: Any,
) -> int:
    """Measures this machine against the engines that are installed beside it, each on one thread."""
    if works == ["write"]:
        return bench_write(**writing)
    # Its threads are counted when it is first imported.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    from ucl.bench import WORKS, Size, measure

    unknown = next((work for work in works if work not in WORKS), None)
    if unknown is not None:
        raise CommandError(f"there is no work `{unknown}` to measure", f"choose from {', '.join(WORKS)}")
    if picture is not None and not picture.resolve().parent.is_dir():  # said before minutes of measuring
        raise CommandError(f"there is no folder `{picture.parent}` for the picture")
    found = measure(works or WORKS, Size(rows, rules, repeats, threads, megabytes))
    if picture is not None:
        from ucl.bench.comparison import picture as drawn

        replace_file(picture, str(drawn(found)))
        print(f"wrote {picture}")
    return 0
