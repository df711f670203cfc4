"""The operations of `semantics.operations` on arrays, step for step.

In: arrays of one block (int64, float64; a constant has no dimension). Out: a `Vector`, whose `over` says where the
result leaves its type and `missing` where a partial operation has none; None says nowhere. There the values are 0, so
that what is computed from them stays finite. A row whose arguments are absent holds some number that nobody looks at.

Both engines compute values with these; engines differ in how they make and combine masks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ucl.frozen import frozen
from ucl.semantics import calendar
from ucl.semantics.operations import HOUR, INT_MIN, MINUTE
from ucl.semantics.outcome import MAGNITUDE, NANO
from ucl.semantics.types import DAY, SECOND
from ucl.semantics.zones import Zone

Array = NDArray[Any]
Bits = NDArray[np.bool_]

# The doubles between which every whole double fits 64 bits: from the first on, below the second.
_LEAST, _BEYOND = -(2.0**63), 2.0**63


@frozen
class Vector:
    values: Array
    over: Bits | None = None
    missing: Bits | None = None


@frozen
class VectorOperation:
    """`run` takes arrays; `overflows` and `partial` say whether its result can have such rows at all."""

    run: Callable[..., Vector]
    overflows: bool = False
    partial: bool = False


def _limited(values: Array, over: Bits, missing: Bits | None = None) -> Vector:
    if not over.any():
        return Vector(values, None, missing)
    return Vector(np.where(over, values.dtype.type(0), values), over, missing)


def _finite(values: Array, missing: Bits | None = None) -> Vector:
    over = ~np.isfinite(values)
    return _limited(values, over if missing is None else over & ~missing, missing)


def _whole(values: Array, missing: Bits | None = None) -> Vector:
    """Whole doubles as int64."""
    over = ~((values >= _LEAST) & (values < _BEYOND))
    fits = np.where(over, 0.0, values).astype(np.int64)
    return _limited(fits, over if missing is None else over & ~missing, missing)


def _total(run: Callable[..., Array]) -> VectorOperation:
    return VectorOperation(lambda *arguments: Vector(run(*arguments)))


# --- integers -------------------------------------------------------------------------------------------------------


def _add_int(a: Array, b: Array) -> Vector:
    total = a + b
    return _limited(total, ((a ^ total) & (b ^ total)) < 0)


def _sub_int(a: Array, b: Array) -> Vector:
    difference = a - b
    return _limited(difference, ((a ^ b) & (a ^ difference)) < 0)


def _mul_int(a: Array, b: Array) -> Vector:
    """The product in doubles tells where 64 bits are surely enough; elsewhere a division tells."""
    product = a * b
    near_limit = np.abs(a.astype(np.float64) * b.astype(np.float64)) >= 2.0**62
    if not near_limit.any():
        return Vector(product)
    left, right = np.broadcast_arrays(a, b)
    x, y, p = left[near_limit], right[near_limit], product[near_limit]
    over = np.zeros(product.shape, np.bool_)
    over[near_limit] = (p // y != x) | (p % y != 0) | ((x == INT_MIN) & (y == -1)) | ((x == -1) & (y == INT_MIN))
    return _limited(product, over)


def _neg_int(a: Array) -> Vector:
    return _limited(-a, a == INT_MIN)


def _abs_int(a: Array) -> Vector:
    return _limited(np.abs(a), a == INT_MIN)


def _order(a: Array, b: Array) -> Array:
    """-1, 0 or 1 as the int is less than, equal to or greater than the double, exactly."""
    below, beyond = b < _LEAST, b >= _BEYOND
    whole = np.trunc(np.where(below | beyond, 0.0, b))
    integer = whole.astype(np.int64)
    order = (a > integer).astype(np.int64) - (a < integer)
    order = np.where(order == 0, (b < whole).astype(np.int64) - (b > whole), order)
    return np.where(below, 1, np.where(beyond, -1, order))


# --- doubles --------------------------------------------------------------------------------------------------------


def _div_float(a: Array, b: Array) -> Vector:
    missing = np.broadcast_to(b == 0, np.broadcast(a, b).shape)
    if not missing.any():
        return _finite(a / b)
    return _finite(np.where(missing, 0.0, a / np.where(b == 0, 1.0, b)), missing)


def _scale_duration(duration: Array, factor: Array) -> Vector:
    return _whole(np.rint(duration.astype(np.float64) * factor))


def _div_duration(duration: Array, divisor: Array) -> Vector:
    quotient = _div_float(duration.astype(np.float64), divisor)
    over = quotient.over
    whole = _whole(np.rint(quotient.values), quotient.missing)
    if over is None:
        return whole
    return Vector(whole.values, over if whole.over is None else over | whole.over, quotient.missing)


def _ratio_duration(a: Array, b: Array) -> Vector:
    return _div_float(a.astype(np.float64), b.astype(np.float64))


def _per(unit: int) -> VectorOperation:
    return _total(lambda duration: duration.astype(np.float64) / unit)


# --- days and instants ----------------------------------------------------------------------------------------------


def _day(days: Array) -> Vector:
    return _limited(days, (days < calendar.FIRST_DAY) | (days > calendar.LAST_DAY))


def _instant(sum_: Vector) -> Vector:
    """A sum that must be an instant; where 64 bits were left, it is none."""
    over = (sum_.values < calendar.FIRST_INSTANT) | (sum_.values > calendar.LAST_INSTANT)
    return _limited(sum_.values, over if sum_.over is None else over | sum_.over)


def _months(days: Array) -> Array:
    """Months since January 1970."""
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _first_day(months: Array) -> Array:
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def _year(days: Array) -> Array:
    year: Array = 1970 + _months(days) // 12
    return year


def _month(days: Array) -> Array:
    month: Array = _months(days) % 12 + 1
    return month


def _day_of_month(days: Array) -> Array:
    return days - _first_day(_months(days)) + 1


def _add_months(days: Array, months: Array) -> Vector:
    # A million months lie beyond the year 9999 from any date, and in 64 bits.
    here = _months(days)
    there = here + np.clip(months, -1_000_000, 1_000_000)
    start = _first_day(there)
    length = _first_day(there + 1) - start
    return _day(start + np.minimum(days - _first_day(here), length - 1))


def _weekday(days: Array) -> Array:
    return (days + 3) % 7


def _next_weekday(days: Array, weekday: Array) -> Vector:
    return _day(days + 1 + (weekday - _weekday(days) - 1) % 7)


# --- ramps ----------------------------------------------------------------------------------------------------------


def _either(*overs: Bits | None) -> Bits | None:
    some = [over for over in overs if over is not None]
    return np.logical_or.reduce(np.broadcast_arrays(*some)) if some else None


def _unit_interval(x: Array) -> Array:
    return np.where(x <= 0.0, 0.0, np.where(x >= 1.0, 1.0, x))


def _ramp(subtract: Callable[[Array, Array], Vector]) -> Callable[[Array, Array, Array], Vector]:
    def ramp(x: Array, start: Array, end: Array) -> Vector:
        step = start == end
        rise, run = subtract(x, start), subtract(end, start)
        width = np.where(run.values == 0, 1, run.values).astype(np.float64)
        slope = _unit_interval(rise.values.astype(np.float64) / width)
        values = np.where(step, np.where(x >= start, 1.0, 0.0), slope)
        over = _either(rise.over, run.over)
        return Vector(values) if over is None else _limited(values, over & ~step)

    return ramp


def _near(distance: Callable[[Array, Array], Vector]) -> Callable[[Array, Array, Array], Vector]:
    def near(x: Array, target: Array, tolerance: Array) -> Vector:
        point = tolerance <= 0
        apart = distance(x, target)
        share = apart.values.astype(np.float64) / np.where(point, 1, tolerance).astype(np.float64)
        values = np.where(point, np.where(x == target, 1.0, 0.0), _unit_interval(1.0 - share))
        return Vector(values) if apart.over is None else _limited(values, apart.over & ~point)

    return near


def _sub_float(a: Array, b: Array) -> Vector:
    return _finite(a - b)


def _distance_float(a: Array, b: Array) -> Vector:
    apart = _sub_float(a, b)
    return Vector(np.abs(apart.values), apart.over)


def _distance_int(a: Array, b: Array) -> Vector:
    apart = _sub_int(a, b)
    size = _abs_int(apart.values)
    return Vector(size.values, _either(apart.over, size.over))


def _distance_time(a: Array, b: Array) -> Vector:
    apart = np.abs(a - b)
    return Vector(np.minimum(apart, DAY - apart))


# --- the zone -------------------------------------------------------------------------------------------------------

# Up to so many changes of offset within a block are added up; beyond, each instant is searched for.
_FEW_CHANGES = 12


class ZoneTable:
    """A zone's history as arrays."""

    def __init__(self, zone: Zone) -> None:
        self.transitions = np.array(zone.transitions, np.int64)
        self.offsets = np.array(zone.offsets, np.int64)
        self.wall_ends = np.array(zone.wall_ends, np.int64)

    def local(self, instants: Array) -> Array:
        return instants + self._offsets(instants, self.transitions)

    def from_wall(self, walls: Array) -> Vector:
        return _instant(Vector(walls - self._offsets(walls, self.wall_ends)))

    def _offsets(self, moments: Array, ends: NDArray[np.int64]) -> Array:
        if not moments.size:
            return moments
        first, last = np.searchsorted(ends, (moments.min(), moments.max()), side="right").tolist()
        if last - first > _FEW_CHANGES:
            return self.offsets[np.searchsorted(ends, moments, side="right")]
        offsets = np.full(moments.shape, self.offsets[first])
        for change in range(first, last):
            offsets += (moments >= ends[change]) * (self.offsets[change + 1] - self.offsets[change])
        return offsets


@lru_cache(maxsize=64)
def zone_table(zone: Zone) -> ZoneTable:
    return ZoneTable(zone)


def _contribution(value: Array, weight: Array) -> Vector:
    """In units of 10^-9; `over` is beyond the magnitude that a contribution may have."""
    weighted = weight * value
    beyond = ~(np.abs(weighted) <= MAGNITUDE)
    return Vector(np.rint(np.where(beyond, 0.0, weighted) * NANO).astype(np.int64), beyond if beyond.any() else None)


OPERATIONS: Mapping[str, VectorOperation] = {
    "add_int": VectorOperation(_add_int, overflows=True),
    "sub_int": VectorOperation(_sub_int, overflows=True),
    "mul_int": VectorOperation(_mul_int, overflows=True),
    "neg_int": VectorOperation(_neg_int, overflows=True),
    "abs_int": VectorOperation(_abs_int, overflows=True),
    "add_float": VectorOperation(lambda a, b: _finite(a + b), overflows=True),
    "sub_float": VectorOperation(_sub_float, overflows=True),
    "mul_float": VectorOperation(lambda a, b: _finite(a * b), overflows=True),
    "div_float": VectorOperation(_div_float, overflows=True, partial=True),
    "neg_float": _total(lambda a: -a),
    "abs_float": _total(np.abs),
    "to_float": _total(lambda a: a.astype(np.float64)),
    "min": _total(np.minimum),
    "max": _total(np.maximum),
    "clamp": _total(lambda x, low, high: np.maximum(low, np.minimum(x, high))),
    "floor": VectorOperation(lambda x: _whole(np.floor(x)), overflows=True),
    "ceil": VectorOperation(lambda x: _whole(np.ceil(x)), overflows=True),
    "round": VectorOperation(lambda x: _whole(np.rint(x)), overflows=True),
    "scale_duration": VectorOperation(_scale_duration, overflows=True),
    "scale_duration_by": VectorOperation(lambda factor, duration: _scale_duration(duration, factor), overflows=True),
    "div_duration": VectorOperation(_div_duration, overflows=True, partial=True),
    "ratio_duration": VectorOperation(_ratio_duration, partial=True),
    "duration_days": _per(DAY),
    "duration_hours": _per(HOUR),
    "duration_minutes": _per(MINUTE),
    "duration_seconds": _per(SECOND),
    "add_instant": VectorOperation(lambda a, b: _instant(_add_int(a, b)), overflows=True),
    "sub_instant": VectorOperation(lambda a, b: _instant(_sub_int(a, b)), overflows=True),
    "add_days": VectorOperation(lambda date, duration: _day(date + duration // DAY), overflows=True),
    "sub_days": VectorOperation(lambda date, duration: _day(date - duration // DAY), overflows=True),
    "days_between": _total(lambda a, b: (a - b) * DAY),
    "next_weekday": VectorOperation(_next_weekday, overflows=True),
    "add_months": VectorOperation(_add_months, overflows=True),
    "ramp_float": VectorOperation(_ramp(_sub_float), overflows=True),
    "ramp_int": VectorOperation(_ramp(_sub_int), overflows=True),
    "near_float": VectorOperation(_near(_distance_float), overflows=True),
    "near_int": VectorOperation(_near(_distance_int), overflows=True),
    "near_time": _total(lambda *arguments: _near(_distance_time)(*arguments).values),
    "date_weekday": _total(_weekday),
    "date_year": _total(_year),
    "date_month": _total(_month),
    "date_day": _total(_day_of_month),
    "time_hour": _total(lambda time: time // HOUR),
    "time_minute": _total(lambda time: time // MINUTE % 60),
    # Not in the language: what lowering makes of local parts, `at`, and comparisons.
    "wall_day": _total(lambda wall: wall // DAY),
    "wall_time": _total(lambda wall: wall % DAY),
    "wall_of": _total(lambda date, time: date * DAY + time),
    "night_day": _total(lambda wall: (wall - 12 * HOUR) // DAY),
    "check_day": VectorOperation(_day, overflows=True),
    "less": _total(lambda a, b: a < b),
    "equal": _total(lambda a, b: a == b),
    "order": _total(_order),
    "contribution": VectorOperation(_contribution, overflows=True),
}
