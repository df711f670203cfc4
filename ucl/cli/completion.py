"""The command `completion`: a script that completes the command line in bash, zsh or fish.

In: the parsers of all commands. Out: text to source. The script is static, so a press of the tab key starts nothing of
ours; it says what this version knows.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from ucl.diagnostics import SEVERITIES

_FILES = frozenset({"FILE", "PATH", "DIR", "OPTIONS", "EVENTS", "PROGRAM", "FACTS"})
# Words that an argument takes without being held to them.
_KNOWN_WORDS: Mapping[str, Sequence[str]] = {"CODE": tuple(SEVERITIES)}


class Kind(Enum):
    """What stands behind an option or as an argument."""

    NOTHING = auto()
    FILE = auto()
    FREE = auto()


Takes = Kind | tuple[str, ...]


@dataclass(frozen=True)
class Option:
    flags: tuple[str, ...]
    help: str
    takes: Takes


@dataclass(frozen=True)
class Known:
    """One command: its options, and what its arguments may be (words, or files)."""

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    files: bool


def add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=[*_SHELLS], help="bash, zsh or fish")


def completion(shell: str) -> int:
    """Prints the script; `source <(uclc completion bash)` turns it on."""
    from ucl.cli.app import COMMANDS, parser_of

    known = [_known(name, command.help, parser_of(name)) for name, command in COMMANDS.items()]
    print("\n".join(_SHELLS[shell](known)))
    return 0


def _known(name: str, help: str, parser: argparse.ArgumentParser) -> Known:
    options, words, files = [], list[str](), False
    for action in parser._actions:
        takes = _takes(action)
        if action.option_strings:
            options.append(Option(tuple(action.option_strings), action.help or "", takes))
        elif isinstance(takes, tuple):
            words += takes
        else:
            files = files or takes is Kind.FILE
    return Known(name, help, tuple(options), tuple(words), files)


def _takes(action: argparse.Action) -> Takes:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if action.choices is not None:
        return tuple(map(str, action.choices))
    if action.nargs == 0:
        return Kind.NOTHING
    if metavar in _KNOWN_WORDS:
        return tuple(_KNOWN_WORDS[metavar])
    return Kind.FILE if metavar in _FILES or action.type is Path else Kind.FREE


# --- bash -----------------------------------------------------------------------------------------------------------

_BASH = """\
# Completion of uclc in bash: source it, or put it into ~/.local/share/bash-completion/completions/uclc.
_uclc() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" IFS=$'\\n'
    local words="" files=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words={commands}; files=yes
    else
        case "${{COMP_WORDS[1]}}:$before" in
{values}
            *) case "${{COMP_WORDS[1]}}:$word" in
{options}
{arguments}
            esac ;;
        esac
    fi
    COMPREPLY=( $(compgen -W "$words" -- "$word") )
    if [ -n "$files" ]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY+=( $(compgen -f -- "$word") )
    fi
}}
complete -F _uclc uclc"""


def _bash(known: Sequence[Known]) -> Iterator[str]:
    def words(chosen: Sequence[str]) -> str:
        return "$'" + "\\n".join(chosen) + "'"

    values, options, arguments = [], [], []
    for command in known:
        for option in command.options:
            if option.takes is not Kind.NOTHING:
                labels = "|".join(f"{command.name}:{flag}" for flag in option.flags)
                given = words(option.takes) if isinstance(option.takes, tuple) else "''"
                files = "; files=yes" if option.takes is Kind.FILE else ""
                values.append(f"            {labels}) words={given}{files} ;;")
        flags = [flag for option in command.options for flag in option.flags]
        options.append(f"                {command.name}:-*) words={words(flags)} ;;")
        files = "; files=yes" if command.files else ""
        arguments.append(f"                {command.name}:*) words={words(command.words)}{files} ;;")
    yield _BASH.format(
        commands=words([command.name for command in known]),
        values="\n".join(values),
        options="\n".join(options),
        arguments="\n".join(arguments),
    )


# --- zsh ------------------------------------------------------------------------------------------------------------


def _zsh(known: Sequence[Known]) -> Iterator[str]:
    yield "#compdef uclc"
    yield "# Completion of uclc in zsh: source it, or put it into a folder of $fpath as _uclc."
    yield "_uclc() {"
    yield "    local -a commands"
    yield "    commands=("
    yield from (f"        {_quoted(f'{command.name}:{_plain(command.help)}')}" for command in known)
    yield "    )"
    yield "    if (( CURRENT == 2 )); then"
    yield "        _describe command commands"
    yield "        _files"
    yield "        return"
    yield "    fi"
    yield "    shift words"
    yield "    (( CURRENT -= 1 ))"
    yield "    case $words[1] in"
    for command in known:
        said = [_zsh_option(flag, option) for option in command.options for flag in option.flags]
        if command.words or command.files:
            said.append(f"*:word:({' '.join(command.words)})" if command.words else "*:file:_files")
        yield f"        {command.name})"
        yield " \\\n                ".join(["            _arguments", *map(_quoted, said)])
        yield "            ;;"
    yield "    esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = "_uclc" ]; then _uclc "$@"; else compdef _uclc uclc; fi'


def _zsh_option(flag: str, option: Option) -> str:
    text = f"{flag}[{_plain(option.help)}]"
    match option.takes:
        case tuple() as words:
            return f"{text}:word:({' '.join(words)})"
        case Kind.FILE:
            return f"{text}:file:_files"
        case Kind.FREE:
            return f"{text}:value: "
        case _:
            return text


def _plain(text: str) -> str:
    """Without the characters that part a specification of zsh's."""
    return text.translate(str.maketrans("[]:`\\", "(),'/"))


# --- fish -----------------------------------------------------------------------------------------------------------


def _fish(known: Sequence[Known]) -> Iterator[str]:
    yield "# Completion of uclc in fish: source it, or put it into ~/.config/fish/completions/uclc.fish."
    for command in known:
        yield f"complete -c uclc -n __fish_use_subcommand -a {command.name} -d {_quoted(command.help)}"
    for command in known:
        start = f"complete -c uclc -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            flags = " ".join(f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in option.flags)
            yield f"{start} {flags}{_fish_takes(option.takes)} -d {_quoted(option.help)}"
        if command.words:
            yield f"{start} -f -a {_quoted(' '.join(command.words))}"
        elif not command.files:
            yield f"{start} -f"


def _fish_takes(takes: Takes) -> str:
    match takes:
        case tuple() as words:
            return f" -x -a {_quoted(' '.join(words))}"
        case Kind.FILE:
            return " -r -F"
        case Kind.FREE:
            return " -x"
        case _:
            return ""


def _quoted(text: str) -> str:
    """For zsh and bash; for fish too, which reads single quotes in the same way but for a quote inside them."""
    return shlex.quote(text.replace("'", "’"))


_SHELLS: Mapping[str, Callable[[Sequence[Known]], Iterator[str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
