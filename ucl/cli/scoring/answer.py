"""Commands that ask a program about events and about the memory: `act`, `query`, `alerts`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from ucl.cli import inputs
from ucl.cli.output import complain, print_json, remark
from ucl.render import printable
from ucl.scoring.words import number


def add_act(parser: ArgumentParser) -> None:
    inputs.add_program(parser)
    inputs.add_table(parser)
    inputs.add_call(parser)
    _add_format(parser)


def act(program: Path, options: str | None, sql: str | None, schema: str | None, format: str, **call: Any) -> int:
    """Prints the table of effects; nothing is performed."""
    compiled = inputs.load_program(program)
    if compiled is None:
        return 1
    rows = compiled.act(inputs.read_options(options, sql), schema, **inputs.read_call(compiled, **call))
    for row in rows:
        if format == "json":
            print_json(row)
        elif "invalid" in row:
            print(f"row {row['row']}: invalid, {row['invalid']['field']} is {row['invalid']['reason']}")
        else:
            arguments = ", ".join(f"{name}: {' '.join(_shown(value).split())}" for name, value in row["args"].items())
            print(printable(f"row {row['row']}: {row['effect']}({arguments})  by {row['action']}"))
    if format == "text":
        remark(f"{len(rows)} {'line' if len(rows) == 1 else 'lines'}")
    return 0


def add_query(parser: ArgumentParser) -> None:
    inputs.add_program(parser)
    parser.add_argument("name", metavar="NAME", help="a definition of the program")
    about = "its arguments: `yes`, `30min`, `mon;tue`, or JSON"
    parser.add_argument("arguments", metavar="ARG", nargs="*", default=[], help=about)
    inputs.add_call(parser)
    _add_format(parser)


def query(program: Path, name: str, arguments: list[str], format: str, **call: Any) -> int:
    """Prints what a definition answers; the status is 1 where the answer leaves its type."""
    from ucl.scoring.calls import start_call
    from ucl.semantics.values import to_json

    compiled = inputs.load_program(program)
    if compiled is None:
        return 1
    definition = compiled.definition(name)
    around = start_call(compiled.semantic, **inputs.read_call(compiled, **call))
    answer = compiled.answer(name, inputs.read_words(definition, arguments), around)
    value = to_json(answer.value, definition.result, around.zone)
    if format == "json":
        print_json({"name": name, "value": value} | ({} if answer.error is None else {"error": answer.error}))
    elif answer.error is None:
        print(printable(_shown(value)))
    if answer.error is not None:
        complain(f"`{name}` has no answer: {answer.error} (overflow)")
    return int(answer.error is not None)


def add_alerts(parser: ArgumentParser) -> None:
    inputs.add_program(parser)
    inputs.add_call(parser)
    _add_format(parser)


def alerts(program: Path, format: str, **call: Any) -> int:
    """Prints each alert that the memory gives rise to; the status is 1 where one could not be evaluated, which must not
    be silent and is no alert either."""
    compiled = inputs.load_program(program)
    if compiled is None:
        return 1
    rows = compiled.alerts(**inputs.read_call(compiled, **call))
    failed = 0
    for row in rows:
        failed += "invalid" in row
        if format == "json":
            print_json(row)
        elif "invalid" in row:
            record = json.dumps(row["record"], ensure_ascii=False)
            complain(f"the alert `{row['alert']}` could not be evaluated ({row['invalid']['reason']}) for {record}")
        else:
            print(printable(f"{row['severity']}: {' '.join((row['say'] or '').split())}  [{row['alert']}]"))
    if format == "text":
        told = len(rows) - failed
        remark(f"{told} {'alert' if told == 1 else 'alerts'}" + (f", {failed} not evaluated" if failed else ""))
    return int(failed > 0)


def _add_format(parser: ArgumentParser) -> None:
    parser.add_argument("--format", choices=["text", "json"], default="text", help="words, or one JSON object a line")


def _shown(value: Any) -> str:
    """JSON for a person: texts without quotes, whole numbers without a point, words for what is absent."""
    if value is None:
        return "absent"
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    return json.dumps(value, ensure_ascii=False)
