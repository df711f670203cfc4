"""The commands by name, and what becomes of every way in which one can end."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from ucl.cli.output import CommandError, complain, discard_output

WRONG_USE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


@dataclass(frozen=True)
class Command:
    """A command's module has a function `add_NAME(parser)` that declares its arguments, and a function `NAME` that
    takes them by name and returns the exit status. `-` in a name is `_` there."""

    module: str
    help: str


# In the order of the help.
COMMANDS: Mapping[str, Command] = {
    "check": Command("ucl.cli.source", "check programs: syntax, names, types, and what the rules do to each other"),
    "fmt": Command("ucl.cli.source", "lay programs out in the one canonical way"),
    "score": Command("ucl.cli.scoring.score", "score the rows of a table"),
    "explain": Command("ucl.cli.scoring.score", "say why one row scores as it does"),
    "act": Command("ucl.cli.scoring.answer", "print the effects that a program's actions ask for"),
    "query": Command("ucl.cli.scoring.answer", "ask a definition of a program"),
    "alerts": Command("ucl.cli.scoring.answer", "print the alerts that a memory gives rise to"),
    "test": Command("ucl.cli.testing.test", "test what programs promise: proofs, samples, counterexamples"),
    "facts2tests": Command("ucl.cli.testing.facts2tests", "make tests of what a person said"),
    "diff": Command("ucl.cli.testing.diff", "say what an edit changed in meaning"),
    "build": Command("ucl.cli.make", "write typed Python packages"),
    "stubs": Command("ucl.cli.make", "write what type checkers know of imported programs"),
    "explain-code": Command("ucl.cli.about", "say what the code of a message means"),
    "grammar": Command("ucl.cli.writing.grammar", "print the grammar of what a model may add to a program"),
    "write": Command("ucl.cli.writing.write", "turn what somebody said into a rule, through a model"),
    "completion": Command("ucl.cli.completion", "print a script that completes commands in a shell"),
    "warmup": Command("ucl.cli.make", "compile the kernels now"),
    "bench": Command("ucl.cli.make", "measure this machine against other engines"),
}


def run(arguments: list[str]) -> int:
    """Runs the command line and returns its exit status; every way to end is met here."""
    if sys.stdout is None or sys.stderr is None:
        return WRONG_USE  # closed by the caller: there is nobody to tell
    for stream in (sys.stdout, sys.stderr):
        # What can't be encoded (a lone surrogate from JSON) comes out as its escape, which JSON allows.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = _dispatch(arguments)
        sys.stdout.flush()
    except CommandError as error:
        complain(error.message, error.help)
        return WRONG_USE
    except KeyboardInterrupt:
        discard_output()
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return BROKEN_PIPE
    except OSError as error:
        discard_output()
        complain(_file_trouble(error))
        return WRONG_USE
    except Exception as error:
        return _refused(error) or _our_fault(error)
    return status


def _dispatch(arguments: list[str]) -> int:
    match arguments:
        case []:
            print(_help(), file=sys.stderr)
            return WRONG_USE
        case ["-h" | "--help" | "help", *_]:
            print(_help())
            return 0
        case ["--version" | "-V", *_]:
            import ucl

            print(f"uclc {ucl.__version__}")
            return 0
        case [name, *rest] if name in COMMANDS:
            return _call(name, rest)
        case [path, *_] if path.endswith(".ucl") or Path(path).exists():
            return _call("check", arguments)
        case [word, *_]:
            import difflib  # slow to import, and seldom needed

            close = difflib.get_close_matches(word, COMMANDS, n=1)
            mend = f"did you mean `{close[0]}`?" if close else "see `uclc --help`"
            raise CommandError(f"there is no command and no file `{word}`", mend)
    return WRONG_USE


def _call(name: str, words: list[str]) -> int:
    module, function = import_module(COMMANDS[name].module), _function(name)
    parser = parser_of(name)
    try:
        parsed = parser.parse_intermixed_args(words)
    except SystemExit as end:  # only `--help` ends so
        return end.code if isinstance(end.code, int) else 0
    status: int = getattr(module, function)(**vars(parsed))
    return status


def parser_of(name: str) -> argparse.ArgumentParser:
    """What a command takes."""
    command = COMMANDS[name]
    parser = _Parser(prog=f"uclc {name}", description=command.help.capitalize() + ".", allow_abbrev=False)
    getattr(import_module(command.module), f"add_{_function(name)}")(parser)
    return parser


def _function(name: str) -> str:
    return name.replace("-", "_")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as every other message is said."""

    def _print_message(self, message: str, file: Any = None) -> None:
        """argparse's own says nothing of a disk that is full."""
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        raise CommandError(message, f"see `{self.prog} --help`")


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.help}" for name, command in COMMANDS.items()]
    head = "usage: uclc COMMAND …\n\nChecks and runs UCL programs. `uclc PROGRAM.ucl` alone checks the program.\n"
    return "\n".join([head, *lines, "\n`uclc COMMAND --help` says more; `uclc --version` prints the version."])


# --- what went wrong ------------------------------------------------------------------------------------------------


def _file_trouble(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"`{error.filename}`: {reason}" if error.filename else f"the output could not be written: {reason}"


def _refused(error: Exception) -> int | None:
    """The status for a call or a table that is wrong as a whole, which is said; None for any other exception."""
    from ucl.scoring.errors import CallError
    from ucl.tables.errors import TableError

    if not isinstance(error, CallError | TableError):
        return None
    discard_output()
    complain(error.message, error.help)
    return WRONG_USE


def _our_fault(error: Exception) -> int:
    """A bug of ours: said in two lines that make a useful report; `UCL_TRACEBACK=1` shows all of it."""
    import traceback

    discard_output()
    if isinstance(error, MemoryError):
        complain("not enough memory")
        return WRONG_USE
    if os.environ.get("UCL_TRACEBACK"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
    complain(
        f"uclc itself failed ({type(error).__name__} at {place}: {error})",
        "please report this with the command and its files; `UCL_TRACEBACK=1` shows more",
    )
    return WRONG_USE
