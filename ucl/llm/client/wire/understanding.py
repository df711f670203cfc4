"""What of a reply was asked for, and what its form shows of the server.

In: a `Reply`, the way that was taken, the output that was asked for. Out: `Understood`. A grammar that was obeyed
leaves a text that compiles, alone; a schema that was obeyed leaves JSON, alone. Where prose stands around it, or
something else in its place, the server ignored what it was sent, whatever it says.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, assert_never

from ucl.frozen import frozen
from ucl.llm.client.capabilities import Verdict
from ucl.llm.client.contract import Output, Path, Program, Prose, Structured
from ucl.llm.client.wire.replies import Reply
from ucl.llm.client.wire.requests import Held
from ucl.llm.json_form import Misfit, ucl_of

if TYPE_CHECKING:
    from pydantic import BaseModel

_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_MOST_PROBLEMS = 5


@frozen
class Understood:
    """`verdict` is what the form shows, None where it shows nothing (an answer that was cut off). `problem` says what
    keeps the answer from being used, to be told to the model. `is_right`: it compiles, or is the value."""

    text: str
    path: Path
    verdict: Verdict | None
    is_right: bool
    value: BaseModel | None = None
    problem: str | None = None
    raw: str = ""
    call: str | None = None


def understand(reply: Reply, held: Held, output: Output) -> Understood:
    match output:
        case Prose():
            return Understood(reply.content, Path.TEXT, Verdict.WORKS, True, raw=reply.content)
        case Structured(model):
            return _structured(reply, held, model)
        case Program():
            return _program(reply, held, output)
    assert_never(output)


# --- programs -------------------------------------------------------------------------------------------------------


def _program(reply: Reply, held: Held, output: Program) -> Understood:
    match held:
        case Held.TOOL if reply.tool is not None:
            return _under_grammar(reply, reply.tool, output, reply.call)
        case Held.TOOL:
            return _beside(reply, output)
        case Held.STRUCTURED_OUTPUTS | Held.GRAMMAR:
            found = _under_grammar(reply, reply.content, output, None)
            return found if found.verdict is not Verdict.IGNORED else _beside(reply, output)
        case Held.SCHEMA:
            return _form(reply)
        case Held.NOTHING:
            text = _block(reply.content) or reply.tool or ""
            return Understood(text, Path.TEXT, Verdict.WORKS, not reply.cut_off, raw=reply.content)
    assert_never(held)


def _under_grammar(reply: Reply, text: str, output: Program, call: str | None) -> Understood:
    if reply.cut_off:
        return Understood(text, Path.GRAMMAR, None, False, raw=text, call=call)
    if output.accepts(text):
        return Understood(text, Path.GRAMMAR, Verdict.WORKS, True, raw=text, call=call)
    return Understood(text, Path.TEXT, Verdict.IGNORED, False, raw=text, call=call)


def _beside(reply: Reply, output: Program) -> Understood:
    """Prose, perhaps with a program in it."""
    text = _block(reply.content)
    is_right = not reply.cut_off and output.accepts(text)
    return Understood(text, Path.TEXT, None if reply.cut_off else Verdict.IGNORED, is_right, raw=reply.content)


def _form(reply: Reply) -> Understood:
    """The JSON form of declarations."""
    form, is_alone = _json(reply.content)
    if form is _NO_JSON:
        verdict = None if reply.cut_off else Verdict.IGNORED
        return Understood("", Path.JSON, verdict, False, problem="the answer is no JSON", raw=reply.content)
    written = ucl_of(form)
    if isinstance(written, Misfit):
        problem = f"the JSON is not of the form: at `{written.place}`, {written.message}"
        verdict = Verdict.IGNORED if written.is_shape or not is_alone else Verdict.WORKS
        return Understood("", Path.JSON, verdict, False, problem=problem, raw=reply.content)
    path, verdict = (Path.JSON, Verdict.WORKS) if is_alone else (Path.TEXT, Verdict.IGNORED)
    return Understood(written, path, verdict, True, raw=reply.content)


def _block(content: str) -> str:
    """What stands in fences, of several all; without any the whole."""
    blocks = _FENCED.findall(content)
    return "\n\n".join(block.strip("\n") for block in blocks) + "\n" if blocks else content.strip()


# --- values ---------------------------------------------------------------------------------------------------------

_NO_JSON = object()


def _structured(reply: Reply, held: Held, model: type[BaseModel]) -> Understood:
    from pydantic import ValidationError

    read, is_alone = _json(reply.content)
    path = held.path if is_alone else Path.TEXT
    was_held = Verdict.WORKS if is_alone else Verdict.IGNORED
    verdict = Verdict.WORKS if held is Held.NOTHING else was_held
    if read is _NO_JSON:
        verdict_then = None if reply.cut_off else Verdict.IGNORED
        return Understood("", path, verdict_then, False, problem="the answer is no JSON", raw=reply.content)
    text = json.dumps(read, ensure_ascii=False)
    try:
        value = model.model_validate_json(text)
    except ValidationError as error:
        wrong = "; ".join(
            f"at `{'.'.join(map(str, e['loc']))}`: {e['msg']}"
            for e in error.errors(include_url=False, include_input=False, include_context=False)[:_MOST_PROBLEMS]
        )
        return Understood(
            text, path, verdict, False, problem=f"the JSON is not of the form: {wrong}", raw=reply.content
        )
    return Understood(text, path, verdict, True, value, raw=reply.content)


def _json(content: str) -> tuple[object, bool]:
    """JSON that stands alone, else what stands in the only fences; `_NO_JSON` where there is none."""
    for text, is_alone in ((content, True), (_block(content), False)):
        try:
            return json.loads(text), is_alone
        except (ValueError, RecursionError):
            continue
    return _NO_JSON, False
