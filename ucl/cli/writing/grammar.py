"""The command about what a model may write: `grammar`."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

from ucl.cli.source import complain_about, unreadable

_TARGETS = ("lark", "llguidance", "openai", "xgrammar", "gbnf")
_HELP = """\
Prints a grammar of what may be added to a program: rules, constraints and properties on one schema that name only what
exists and compare only what has one type. Whatever a model writes under it parses and type-checks at the end of the
program, in the layout of `uclc fmt`.

  lark        Lark's own syntax, in the subset that its kin have in common
  llguidance  the same: for llguidance, vLLM and SGLang (`structured_outputs: {"grammar": …}`)
  openai      the same: `format: {"type": "grammar", "syntax": "lark", "definition": …}` of a custom tool
  xgrammar    EBNF, for XGrammar
  gbnf        for llama.cpp, without counted repetitions, which are slow there

In an answer of several declarations the names of those after the first begin with `second_`, `third_`, … ."""


def add_grammar(parser: ArgumentParser) -> None:
    parser.description = _HELP
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.add_argument("program", metavar="PROGRAM", type=Path, help="the program that is to be added to")
    parser.add_argument("--schema", metavar="S", help="what is spoken of, where the program has several schemas")
    parser.add_argument("--target", choices=_TARGETS, default="lark", help="who is to read it (default: lark)")


def grammar(program: Path, schema: str | None, target: str) -> int:
    """Prints the grammar; the status is 1, and nothing is printed, where the program has a mistake."""
    from ucl.driver import open_module
    from ucl.llm.grammar import Target, grammar_of, schema_of, vocabulary_of, written

    try:
        checked, report = open_module(program)
    except OSError as error:
        raise unreadable(program, error) from None
    if checked is None:
        complain_about(report)
        return 1
    name = schema_of(*checked, schema)
    print(written(grammar_of(vocabulary_of(*checked, name)), Target(target)), end="")
    return 0
