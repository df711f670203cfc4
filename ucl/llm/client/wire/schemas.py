"""The JSON schema of a pydantic model, in the subset that servers hold a model to.

In: a model. Out: a schema, and whether it is strict in OpenAI's sense: every key required, no other key allowed. A
model with a free mapping in it can't be; then the schema is a hint, and pydantic decides alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

_LEFT_OUT = frozenset(("title", "default", "examples", "discriminator", "minLength", "maxLength"))


def schema_of(model: type[BaseModel]) -> tuple[dict[str, Any], bool]:
    strict = [True]
    schema = _plain(model.model_json_schema(), strict)
    assert isinstance(schema, dict)
    return schema, strict[0]


def _plain(part: Any, strict: list[bool]) -> Any:
    """A part of a schema; takes note where it can't be strict. The depth is that of our own models."""
    if isinstance(part, list):
        return [_plain(item, strict) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return {"$ref": part["$ref"]}
    kept = {"anyOf" if key == "oneOf" else key: value for key, value in part.items() if key not in _LEFT_OUT}
    for key in ("properties", "$defs"):
        if key in part:
            kept[key] = {name: _plain(inner, strict) for name, inner in part[key].items()}
    for key in ("items", "anyOf", "allOf", "prefixItems"):
        if key in kept:
            kept[key] = _plain(kept[key], strict)
    if part.get("type") == "object":
        if "properties" in part and part.get("additionalProperties", False) is False:
            kept |= {"required": list(part["properties"]), "additionalProperties": False}
        else:
            strict[0] = False
    return kept
