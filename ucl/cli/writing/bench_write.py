"""The command `bench write`: how well the configured model writes UCL, or that none is configured."""

from __future__ import annotations

import os
from argparse import _ArgumentGroup
from typing import TYPE_CHECKING

from ucl.cli import inputs
from ucl.cli.output import CommandError, print_json, remark

if TYPE_CHECKING:
    from ucl.bench.write import Written

_ROUNDS = 3


def add_bench_write(group: _ArgumentGroup) -> None:
    add = group.add_argument
    add("--model", metavar="M", help="the model to ask, in place of `UCL_MODEL`")
    add("--base-url", metavar="U", help="its server, in place of `UCL_BASE_URL`")
    add("--limit", type=inputs.count, metavar="N", help="ask for so many statements of each kind")
    add("--plumbing", action="store_true", help="ask no model, but a server of ours that writes at random: no score")
    add("--format", choices=["text", "json"], default="text", help="words, or one JSON object a line")


def bench_write(model: str | None, base_url: str | None, limit: int | None, plumbing: bool, format: str) -> int:
    """Prints what share of what the model wrote parses, type-checks and keeps what was said."""
    from ucl.llm.client import ModelError

    try:
        about, found = _plumbing(limit) if plumbing else _measured(model, base_url, limit)
    except ModelError as error:
        raise CommandError(f"{error.message}, so nothing was measured", error.help) from None
    if format == "json":
        print_json({"about": about})
        for each in found:
            print_json(each.to_json())
    else:
        from ucl.bench.write import lines_of

        print("\n".join(lines_of(found, about)))
    return 0


def _measured(model: str | None, base_url: str | None, limit: int | None) -> tuple[str, list[Written]]:
    from ucl.bench.write import measured
    from ucl.cli.writing.drafts import cost_line
    from ucl.llm.client import ModelError, settings_from, total

    try:
        settings = settings_from(os.environ, model, base_url)
    except ModelError as error:
        raise CommandError("no model is configured: nothing was measured", error.help) from None
    found = measured(settings, limit, _ROUNDS)
    remark(cost_line(total(each.usage for each in found)))
    where = f" at {settings.base_url}" if settings.base_url else ""
    return f"{settings.model}{where}, at most {_ROUNDS} rounds of mending", found


def _plumbing(limit: int | None) -> tuple[str, list[Written]]:
    """A server on this machine that writes any sentence of the grammar it is sent."""
    from ucl.bench.write import PLUMBING, measured
    from ucl.llm.client import Settings
    from ucl.llm.loopback import Loopback
    from ucl.llm.loopback.vocabulary import BYTES

    try:
        with Loopback(vocabulary=BYTES) as server:
            return PLUMBING, measured(Settings("none", base_url=server.url), limit, rounds=1)
    except ImportError:
        raise CommandError("the server that writes at random needs llguidance", "`pip install llguidance`") from None
