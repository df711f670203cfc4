"""Scores and details as Arrow columns.

In: the arrays of a result, and what is told of its rows, range after range. Out: the `ResultColumns` that
`tables.output` puts beside the input's own. Nothing here looks at one row at a time, but for the few that are invalid.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.semantics.outcome import NANO, Decision, Invalid

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.kernels.run import Lists, Told
    from ucl.tables.output import ResultColumns

Bits = NDArray[np.bool_]


def result_columns(
    total: NDArray[np.float64],
    feasible: Bits,
    contested: Bits,
    decision: NDArray[np.int8],
    invalid: Mapping[int, Invalid],
    told: Iterable[Told],
    metadata: Mapping[str, str],
    coded: bool = False,
) -> ResultColumns:
    """All of one length, the ranges together too. Null where a row is invalid, which `invalid` has by its place.

    `decision` has the place of each row's among `Decision`. Where `coded`, names are codes of a dictionary.
    """
    from ucl.tables.output import ResultColumns

    gone = np.isnan(total)
    ranges = list(told)
    scores = score_columns(total, feasible, contested, decision, coded)
    counted = _name_lists([part.counted for part in ranges], gone, coded)
    return ResultColumns(
        scores["ucl_total"],
        scores["ucl_feasible"],
        scores["ucl_contested"],
        scores["ucl_decision"],
        _name_lists([part.fired for part in ranges], gone, coded),
        _name_lists([part.violated for part in ranges], gone, coded),
        _name_lists([part.shadow for part in ranges], gone, coded),
        _whys(invalid, len(total)),
        _maps(counted, np.concatenate([part.amounts for part in ranges]) / NANO, gone),
        metadata,
    )


def score_columns(
    total: NDArray[np.float64], feasible: Bits, contested: Bits, decision: NDArray[np.int8], coded: bool = False
) -> dict[str, pa.Array]:
    """What the kernels alone say of a row, under the names of `ResultColumns`; null where it is invalid."""
    import pyarrow as pa

    gone = _mask(np.isnan(total))
    words = pa.array([str(d) for d in Decision], pa.string())
    decisions = pa.DictionaryArray.from_arrays(pa.array(decision, mask=gone), words)
    return {
        "ucl_total": pa.array(total, mask=gone),
        "ucl_feasible": pa.array(feasible, mask=gone),
        "ucl_contested": pa.array(contested, mask=gone),
        "ucl_decision": decisions if coded else decisions.dictionary_decode(),
    }


def _mask(gone: Bits) -> Bits | None:
    """None where nothing is gone, as nearly always: then there is nothing to copy."""
    return gone if gone.any() else None


def _whys(invalid: Mapping[int, Invalid], rows: int) -> pa.Array:
    """Why each row is invalid, null for the many that are not."""
    import pyarrow as pa

    kind = pa.struct([("field", pa.string()), ("reason", pa.string()), ("value", pa.string())])
    if not invalid:
        return pa.nulls(rows, kind)
    places = np.full(rows, len(invalid), np.int64)
    places[list(invalid)] = np.arange(len(invalid))
    return pa.array([*map(_why, invalid.values()), None], kind).take(pa.array(places))


def _name_lists(ranges: list[Lists], gone: Bits, coded: bool) -> pa.LargeListArray:
    """One list of names a row, null where the row is `gone`."""
    import pyarrow as pa

    numbers = np.concatenate([part.numbers for part in ranges])
    names = pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(ranges[0].names, pa.string()))
    mask = _mask(gone)
    return pa.LargeListArray.from_arrays(
        pa.array(_joined([part.ends for part in ranges])),
        names if coded else names.dictionary_decode(),
        mask=None if mask is None else pa.array(mask),
    )


def _joined(ranges: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Where lists end, counted from the first of all ranges."""
    if len(ranges) == 1:
        return ranges[0]
    before = np.cumsum([0, *(ends[-1] for ends in ranges)])
    return np.concatenate([ranges[0][:1], *(ends[1:] + first for ends, first in zip(ranges, before))])


def _maps(names: pa.LargeListArray, values: NDArray[np.float64], gone: Bits) -> pa.MapArray:
    """For each row its names with a value each."""
    import pyarrow as pa

    mask = None if _mask(gone) is None else np.append(gone, False)
    offsets = pa.array(names.offsets.to_numpy().astype(np.int32), mask=mask)
    return pa.MapArray.from_arrays(offsets, names.values, pa.array(values))


def _why(invalid: Invalid) -> dict[str, Any]:
    value = None if invalid.value is None else json.dumps(invalid.value, ensure_ascii=False, default=str)
    return {"field": invalid.field, "reason": str(invalid.reason), "value": value}
