"""UCL's types as the text of Python annotations.

In: types, and the Python names of the models and row types of schemas. Out: annotations for a module that has
`datetime` as `_dt`, `typing` as `_t` and `ucl.build.runtime` as `_ucl`, so that a field may be called `date` and a
schema `Result`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from ucl.models.naming import quoted
from ucl.semantics import types as t
from ucl.semantics.program import Schema

_ANY_RECORD = "dict[str, _t.Any]"


@dataclass(frozen=True)
class Annotations:
    """`models` and `rows` have a Python name for every schema that the types can mention."""

    models: Mapping[Schema, str]
    rows: Mapping[Schema, str]

    def exact(self, type: t.Type) -> str:
        """Of a value that a model holds."""
        match type:
            case t.Bool() | t.Int() | t.Float():
                return str(type)
            case t.Quantity():
                return "float"
            case t.Text():
                return "str"
            case t.Closed(values):
                return f"_t.Literal[{', '.join(map(quoted, values))}]"
            case t.Weekday():
                return "_ucl.Weekday"
            case t.Date() | t.Time() | t.DateTime():
                return f"_dt.{type}"
            case t.Duration():
                return "_dt.timedelta"
            case t.Set(element):
                return f"frozenset[{'str' if element is None else self.exact(element)}]"
            case t.Record(schema):
                return self.models[schema]
            case t.List(t.Record(schema)):
                return f"_ucl.Records[{self.models[schema]}]"
            case t.Optional(inner):
                return f"{self.exact(inner)} | None"
            case t.Unknown():
                raise AssertionError("a checked program has no unknown types")
            case _:
                assert_never(type)

    def given(self, type: t.Type) -> str:
        """Of a value that a caller gives, who may also say it as JSON does."""
        match type:
            case t.Date() | t.Time() | t.DateTime():
                return f"{self.exact(type)} | str"
            case t.Duration():
                return "_dt.timedelta | float | str"
            case t.Set(element):
                return f"_t.Collection[{'str' if element is None else self.given(element)}]"
            case t.Record(schema):
                return f"{self.models[schema]} | {self.rows[schema]}"
            case t.List(t.Record(schema)):
                return f"_t.Sequence[{self.models[schema]} | {self.rows[schema]}]"
            case t.Optional(inner):
                return f"{self.given(inner)} | None"
            case _:
                return self.exact(type)

    def answered(self, type: t.Type) -> str:
        """Of what a definition answers: a record comes as a dict by field name."""
        match type:
            case t.Record():
                return _ANY_RECORD
            case t.Optional(t.Record()):
                return f"{_ANY_RECORD} | None"
            case t.List():
                return f"list[{_ANY_RECORD}]"
            case _:
                return self.exact(type)
