"""A pydantic model for each schema: Python values with types on the one side, rows as data has them on the other.

In: a `Schema`. Out: a subclass of `Record`. Fields have Python's names and types; what a model dumps has the names of
the data's columns, so that `score` reads it, and is read back to an equal model. A model refuses what `score` would
refuse: values outside a field's domain, ints beyond 64 bits, numbers that are not finite.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, TypeVar, assert_never

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    SerializationInfo,
    create_model,
    model_serializer,
    model_validator,
)

from ucl.models.naming import Names, quoted
from ucl.models.values import EPOCH, to_python
from ucl.semantics import types as t
from ucl.semantics.outcome import Invalid, Reason
from ucl.semantics.program import Const, Field, LocalInstant, MemoryField, RangeDomain, Schema
from ucl.semantics.values import iso
from ucl.semantics.values.read import read_field
from ucl.semantics.zones import Zone

_T = TypeVar("_T")
Records = Annotated[Sequence[_T], AfterValidator(tuple)]
"""Of the memory: any sequence is taken, and kept as one that does not change."""

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Record(BaseModel):
    """What all models of schemas share: frozen, without unknown fields; a field is set by its name or its column."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False)

    __ucl_schema__: ClassVar[Schema]

    @model_validator(mode="before")
    @classmethod
    def _by_attribute(cls, data: Any) -> Any:
        """Columns and UCL's own names become Python's; numbers of a unit of time become durations."""
        if not isinstance(data, Mapping):
            return data
        attributes = attribute_names(cls.__ucl_schema__)
        fields = {key: f for f in cls.__ucl_schema__.fields for key in (f.column, f.name, attributes[f.name])}
        given = {}
        for key, value in data.items():
            field = fields.get(key)
            given[key if field is None else attributes[field.name]] = value if field is None else _in_unit(value, field)
        return given

    @model_validator(mode="after")
    def _in_domain(self) -> Record:
        for field, attribute in attribute_names(self.__ucl_schema__).items():
            declared = self.__ucl_schema__.field(field)
            value = getattr(self, attribute)
            if declared is not None and value is not None and (problem := _problem(value, declared)):
                raise ValueError(f"`{field}` {problem}")
        return self

    @model_serializer(mode="wrap")
    def _as_row(self, handler: Any, info: SerializationInfo) -> dict[str, Any]:
        """By column, and without what was not given, which the program fills in.

        JSON has sets in ascending order and durations as numbers of the field's unit.
        """
        dumped = handler(self)
        row = {}
        for field in self.__ucl_schema__.fields:
            attribute = attribute_names(self.__ucl_schema__)[field.name]
            if attribute in self.model_fields_set:
                value = getattr(self, attribute)
                in_json = info.mode == "json"
                row[field.column] = _json(value, dumped[attribute], field) if in_json else dumped[attribute]
        return row

    def __ucl_row__(self) -> dict[str, Any]:
        """As `model_dump(by_alias=True)`, and several times as fast where fields hold what is dumped."""
        columns = _columns_held(type(self))
        if columns is None:
            return self.model_dump(by_alias=True)
        held, given = self.__dict__, self.__pydantic_fields_set__
        return {column: held[attribute] for attribute, column in columns if attribute in given}


@lru_cache(maxsize=1024)
def _columns_held(model: type[Record]) -> Sequence[tuple[str, str]] | None:
    """Each attribute with its column; None where a field is a record, and for a caller's own class, which may dump
    otherwise."""
    if "__ucl_schema__" not in vars(model):
        return None
    schema = model.__ucl_schema__
    if any(isinstance(t.present(field.type), t.Record | t.List) for field in schema.fields):
        return None
    attributes = attribute_names(schema)
    return [(attributes[field.name], field.column) for field in schema.fields]


def _json(value: Any, dumped: Any, field: Field) -> Any:
    match value:
        case frozenset():
            return sorted(dumped)
        case dt.timedelta():
            microseconds = value // dt.timedelta(microseconds=1)
            return iso.write_duration(microseconds) if field.unit is None else float(microseconds / field.unit.factor)
        case _:
            return dumped


def _in_unit(value: Any, field: Field) -> Any:
    """A plain number for a duration is in the field's unit."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or field.unit is None or not isinstance(t.present(field.type), t.Duration):
        return value
    return dt.timedelta(microseconds=round(Fraction(value) * field.unit.factor))


_UTC = Zone("UTC", (), (0,), ())
_WHY = {
    Reason.DOMAIN: "is outside its domain",
    Reason.UNREADABLE: "is outside the range of its type",
    Reason.OVERFLOW: "is outside the range of its type",
    Reason.ABSENT: "must be given",
}


def _problem(value: Any, field: Field) -> str | None:
    """Why `score` would call the value invalid; None where it would not, or where that depends on the call's zone."""
    if isinstance(value, Record) or isinstance(field.type, t.List):
        return None
    if isinstance(field.domain, RangeDomain) and isinstance(field.domain.low or field.domain.high, LocalInstant):
        return None
    found = read_field(value, field, _UTC, (field.name,))
    return _WHY[found.reason] if isinstance(found, Invalid) else None


# --- what a schema's fields are to Python ---------------------------------------------------------------------------

# Names that annotations in the body of a class use, and those that a model has already.
_UNUSABLE = frozenset({"bool", "int", "float", "str", "frozenset", *dir(Record)})


@lru_cache(maxsize=1024)
def attribute_names(schema: Schema) -> Mapping[str, str]:
    """For each field, in order, the Python attribute that holds it."""
    names = Names(_UNUSABLE)
    return {field.name: names.take(field.name) for field in schema.fields}


def may_lack(field: Field | MemoryField) -> bool:
    """Whether a caller may leave it out."""
    return field.default is not None or isinstance(field.type, t.Optional | t.List)


def default_value(field: Field) -> Any:
    """What Python shows for a field that is not given; None where that depends on the call's zone."""
    if isinstance(field.type, t.List):
        return ()
    match field.default:
        case Const(value=value) if value is not None:
            if field.unit is not None and isinstance(t.present(field.type), t.Quantity):
                assert isinstance(value, float | int)
                return float(Fraction(value) / field.unit.factor)
            return to_python(value, t.present(field.type), None)
        case LocalInstant(local=local):
            return EPOCH.replace(tzinfo=None) + dt.timedelta(microseconds=local)
        case _:
            return None


def default_text(field: Field) -> str | None:
    """The default as Python source behind `_dt`; None for a field that must be given."""
    if not may_lack(field):
        return None
    return _literal(default_value(field))


def _literal(value: Any) -> str:
    match value:
        case dt.datetime() | dt.date() | dt.time():
            return repr(value).replace("datetime.", "_dt.", 1).replace("=datetime.", "=_dt.")
        case dt.timedelta():
            minutes, rest = divmod(value, dt.timedelta(minutes=1))
            return (
                f"_dt.timedelta(minutes={minutes})" if not rest else f"_dt.timedelta(seconds={value.total_seconds()!r})"
            )
        case frozenset():
            inner = ", ".join(_literal(v) for v in sorted(value))
            return f"frozenset({{{inner}}})" if value else "frozenset()"
        case str():
            return quoted(value)
        case _:
            return repr(value)


# --- models made at run time ----------------------------------------------------------------------------------------


def models_of(schemas: Iterable[Schema]) -> dict[Schema, type[Record]]:
    """A model for each schema of a list in which each stands after those that its fields hold."""
    made: dict[Schema, type[Record]] = {}
    for schema in schemas:
        attributes = attribute_names(schema)
        fields: dict[str, Any] = {}
        for field in schema.fields:
            default = default_value(field) if may_lack(field) else ...
            annotation = _annotation(field.type, made)
            fields[attributes[field.name]] = (annotation | None if default is None else annotation, default)
        base = type("Record", (Record,), {"__ucl_schema__": schema, "__module__": __name__})
        made[schema] = create_model(schema.name, __base__=base, __doc__=schema.doc, **fields)
        made[schema].__ucl_schema__ = schema
    return made


def _annotation(type: t.Type, models: Mapping[Schema, Any]) -> Any:
    match type:
        case t.Bool():
            return bool
        case t.Int():
            return int
        case t.Float() | t.Quantity():
            return float
        case t.Text():
            return str
        case t.Closed(values):
            return Literal[values]
        case t.Weekday():
            return Weekday
        case t.Date():
            return dt.date
        case t.Time():
            return dt.time
        case t.DateTime():
            return dt.datetime
        case t.Duration():
            return dt.timedelta
        case t.Set(element):
            return frozenset[str if element is None else _annotation(element, models)]  # type: ignore[misc]
        case t.Record(schema):
            return models[schema]
        case t.Optional(inner):
            return _annotation(inner, models) | None
        case t.List(t.Record(schema)):
            return Records[models[schema]]  # type: ignore[valid-type]
        case t.Unknown():
            raise AssertionError("a checked program has no unknown types")
        case _:
            assert_never(type)
