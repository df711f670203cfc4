"""Scores and details as Arrow columns.

In: the arrays of a result, and the details of its rows in chunks. Out: the `ResultColumns` that `tables.output` puts
beside the input's own. Nothing here looks at one row at a time, but for the few that are invalid.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.semantics.outcome import NANO, Decision, Invalid

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.kernels.run import Details
    from ucl.tables.output import ResultColumns

Bits = NDArray[np.bool_]


def result_columns(
    total: NDArray[np.float64],
    feasible: Bits,
    contested: Bits,
    decision: NDArray[np.int8],
    invalid: Mapping[int, Invalid],
    chunks: Iterable[Details],
    metadata: Mapping[str, str],
) -> ResultColumns:
    """All of one length, the chunks together too. Null where a row is invalid, which `invalid` has by its place.

    `decision` has the place of each row's among `Decision`.
    """
    from ucl.tables.output import ResultColumns

    gone = np.isnan(total)
    fired, violated, shadow, counted, added = _NameLists(), _NameLists(), _NameLists(), _NameLists(), []
    for part in chunks:
        counted.add(part.rules, part.counted)
        added.append(part.contributions[part.counted] / NANO)
        fired.add(part.rules, part.fired)
        violated.add(part.constraints, part.violated)
        shadow.add(part.shadows, part.shadow)
    scores = score_columns(total, feasible, contested, decision)
    return ResultColumns(
        scores["ucl_total"],
        scores["ucl_feasible"],
        scores["ucl_contested"],
        scores["ucl_decision"],
        fired.array(gone),
        violated.array(gone),
        shadow.array(gone),
        _whys(invalid, len(total)),
        _maps(counted.array(gone), np.concatenate([np.empty(0), *added])),
        metadata,
    )


def score_columns(
    total: NDArray[np.float64], feasible: Bits, contested: Bits, decision: NDArray[np.int8]
) -> dict[str, pa.Array]:
    """What the kernels alone say of a row, under the names of `ResultColumns`; null where it is invalid."""
    import pyarrow as pa

    gone = np.isnan(total)
    codes = pa.array(decision, mask=gone)
    decisions = pa.DictionaryArray.from_arrays(codes, pa.array([str(d) for d in Decision], pa.string()))
    return {
        "ucl_total": pa.array(total, mask=gone),
        "ucl_feasible": pa.array(feasible, mask=gone),
        "ucl_contested": pa.array(contested, mask=gone),
        "ucl_decision": decisions.cast(pa.string()),
    }


def _whys(invalid: Mapping[int, Invalid], rows: int) -> pa.Array:
    """Why each row is invalid, null for the many that are not."""
    import pyarrow as pa

    kind = pa.struct([("field", pa.string()), ("reason", pa.string()), ("value", pa.string())])
    if not invalid:
        return pa.nulls(rows, kind)
    places = np.full(rows, len(invalid), np.int64)
    places[list(invalid)] = np.arange(len(invalid))
    return pa.array([*map(_why, invalid.values()), None], kind).take(pa.array(places))


class _NameLists:
    """Gathers, chunk by chunk, for each row the names whose bits are set, in order."""

    def __init__(self) -> None:
        self._counts: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
        self._texts: list[pa.Array] = []

    def add(self, names: Sequence[str], bits: Bits) -> None:
        import pyarrow as pa

        self._counts.append(bits.sum(axis=1))
        self._texts.append(pa.array(names, pa.string()).take(pa.array(np.nonzero(bits)[1])))

    def array(self, gone: Bits) -> pa.Array:
        """One list a row, null where the row is `gone`."""
        import pyarrow as pa

        offsets = pa.array(np.cumsum(np.concatenate(self._counts)), pa.int64())
        values = pa.concat_arrays([pa.array([], pa.string()), *self._texts])
        return pa.LargeListArray.from_arrays(offsets, values, mask=pa.array(gone))


def _maps(names: pa.LargeListArray, values: NDArray[np.float64]) -> pa.MapArray:
    """For each row its names with a value each."""
    import pyarrow as pa

    offsets = pa.array(names.offsets.to_numpy(), pa.int32(), mask=np.append(~names.is_valid().to_numpy(False), False))
    return pa.MapArray.from_arrays(offsets, names.values, pa.array(values))


def _why(invalid: Invalid) -> dict[str, Any]:
    value = None if invalid.value is None else json.dumps(invalid.value, ensure_ascii=False, default=str)
    return {"field": invalid.field, "reason": str(invalid.reason), "value": value}
