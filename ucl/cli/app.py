"""The commands by name, and what becomes of every way in which one can end."""

from __future__ import annotations

import difflib
import os
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from ucl.cli.output import CommandError, complain, discard_output

WRONG_USE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

# Name on the command line to `module:function`; the order is that of the help.
COMMANDS: Mapping[str, str] = {
    "check": "ucl.cli.source:check",
    "fmt": "ucl.cli.source:fmt",
    "score": "ucl.cli.score:score",
    "explain": "ucl.cli.score:explain",
    "act": "ucl.cli.answer:act",
    "query": "ucl.cli.answer:query",
    "alerts": "ucl.cli.answer:alerts",
    "build": "ucl.cli.make:build",
    "warmup": "ucl.cli.make:warmup",
    "bench": "ucl.cli.make:bench",
}
_SETTINGS = {"help_option_names": ["-h", "--help"]}


class _Commands(TyperGroup):
    """Finds a command by importing it, so that each pays for its own imports only."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, _, function = COMMANDS[cmd_name].partition(":")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name, context_settings=_SETTINGS)(getattr(import_module(module), function))
        return typer.main.get_command(single)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; what goes wrong outside the program (files, pipes, the user's patience) ends here."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except CommandError as failure:
            complain(failure.message, failure.help)
            raise typer.Exit(WRONG_USE) from None
        except KeyboardInterrupt:
            discard_output()
            complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            discard_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            discard_output()
            complain(_file_trouble(error))
            raise typer.Exit(WRONG_USE) from None
        return result


app = typer.Typer(cls=_Commands, add_completion=False, rich_markup_mode=None, context_settings=_SETTINGS)


def _print_version(wanted: bool) -> None:
    if wanted:
        import ucl

        print(f"uclc {ucl.__version__}")
        raise typer.Exit


@app.callback(no_args_is_help=True)
def _uclc(
    version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True, callback=_print_version),
) -> None:
    """Check and run UCL programs. `uclc PROGRAM.ucl` alone checks the program."""


def run(arguments: list[str]) -> int:
    """Runs the command line and returns its exit status."""
    for stream in (sys.stdout, sys.stderr):
        # What can't be encoded (a lone surrogate from JSON) comes out as its escape, which JSON allows.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(encoding="utf-8", errors="backslashreplace")
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        if not (arguments[0].endswith(".ucl") or Path(arguments[0]).exists()):
            return _no_such_command(arguments[0])
        arguments = ["check", *arguments]
    try:
        app(args=arguments, prog_name="uclc")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except Exception as error:
        return _our_fault(error)
    return 0


def _no_such_command(word: str) -> int:
    close = difflib.get_close_matches(word, COMMANDS, n=1)
    complain(
        f"there is no command and no file `{word}`", f"did you mean `{close[0]}`?" if close else "see `uclc --help`"
    )
    return WRONG_USE


def _file_trouble(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"`{error.filename}`: {reason}" if error.filename else f"the output could not be written: {reason}"


def _our_fault(error: Exception) -> int:
    """A bug of ours: said in two lines that make a useful report; `UCL_TRACEBACK=1` shows all of it."""
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
