"""The JSON schema of the form: plain unions, no defaults, all keys required, another first key for each variant.

In: nothing. Out: the schema, strict in OpenAI's sense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
SUMS = ("+", "-", "*", "/")
STATUSES = ("active", "shadow", "retired")


def _object(**keys: Any) -> dict[str, Any]:
    return {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _maybe(of: Any) -> dict[str, Any]:
    return {"anyOf": [of, {"type": "null"}]}


def _words(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def json_schema() -> dict[str, Any]:
    text, number, flag = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
    expression = {"$ref": "#/$defs/expression"}
    limits = {"from": _maybe(expression), "to": _maybe(expression), "inclusive": flag}
    meta = {
        "because": _maybe(text),
        "from": _list(_object(kind=text, id=text, at=_maybe(text))),
        "confidence": {"anyOf": [number, expression, {"type": "null"}]},
        "priority": {"anyOf": [number, expression, {"type": "null"}]},
        "valid": {"anyOf": [_object(**limits), expression, {"type": "null"}]},
        "status": _maybe(_words(STATUSES)),
    }
    head = {"on": text, "overrides": _list(text)}
    when, unless = _maybe(expression), _list(expression)
    exceptions = {"except": _list(_object(when=expression, score=expression))}
    limiting = {"forbid": _maybe(expression), "require": _maybe(expression), "when": when, "unless": unless}
    promise = {"given": when, "expect": _list(expression)}
    declarations = [
        _object(rule=text, **head, when=when, unless=unless, score=expression, **exceptions, **meta),
        _object(constraint=text, **head, **limiting, **meta),
        _object(property=text, on=text, **promise, **meta),
    ]
    return {
        **_object(declarations=_list({"anyOf": declarations})),
        "$defs": {"expression": {"anyOf": _expression_schemas(expression, _object(**limits))}},
    }


def _expression_schemas(expression: dict[str, Any], limits: dict[str, Any]) -> list[dict[str, Any]]:
    text = {"type": "string"}
    sides = {"left": expression, "right": expression}
    return [
        _object(name=text),
        _object(number={"type": "number"}),
        _object(text=text),
        _object(bool={"type": "boolean"}),
        _object(literal=text),
        _object(set=_list(expression)),
        _object(compare=_words(COMPARISONS), **sides),
        _object(test=expression, **{"in": {"anyOf": [limits, expression]}}, negated={"type": "boolean"}),
        _object(**{"and": _list(expression)}),
        _object(**{"or": _list(expression)}),
        _object(**{"not": expression}),
        _object(negate=expression),
        _object(**{"if": expression, "then": expression, "else": expression}),
        _object(part=text, of=expression),
        _object(call=text, arguments=_list(expression)),
        _object(
            gather=text,
            each=_maybe(expression),
            variable=text,
            source=expression,
            where=_maybe(expression),
            by=_list(_object(key=expression, descending={"type": "boolean"})),
            share=_maybe(expression),
        ),
        _object(arithmetic=_words(SUMS), **sides),
        _object(value=expression, default=expression),
    ]
