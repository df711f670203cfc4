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

from ucl.semantics.outcome import Invalid

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.kernels.run import Details
    from ucl.tables.output import ResultColumns

Bits = NDArray[np.bool_]


def result_columns(
    total: NDArray[np.float64],
    feasible: Bits,
    contested: Bits,
    decision: NDArray[np.object_],
    invalid: Sequence[Invalid | None],
    chunks: Iterable[Details],
    metadata: Mapping[str, str],
) -> ResultColumns:
    """All of one length, the chunks together too. Null where a row is invalid; `invalid` is null elsewhere."""
    import pyarrow as pa

    from ucl.tables.output import ResultColumns

    gone = np.isnan(total)
    kind = pa.struct([("field", pa.string()), ("reason", pa.string()), ("value", pa.string())])
    told = list(chunks)
    return ResultColumns(
        pa.array(total, mask=gone),
        pa.array(feasible, mask=gone),
        pa.array(contested, mask=gone),
        pa.array(decision, pa.string()),
        _name_lists(gone, [(part.rules, part.fired) for part in told]),
        _name_lists(gone, [(part.constraints, part.violated) for part in told]),
        _name_lists(gone, [(part.shadows, part.shadow) for part in told]),
        pa.array([None if why is None else _why(why) for why in invalid], kind),
        metadata,
    )


def _name_lists(gone: Bits, parts: Sequence[tuple[Sequence[str], Bits]]) -> pa.Array:
    """For each row the names whose bits are set, in order."""
    import pyarrow as pa

    counts = [np.zeros(0, np.int64), *(bits.sum(axis=1) for _, bits in parts)]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int32)
    texts = [pa.array(names, pa.string()).take(pa.array(np.nonzero(bits)[1])) for names, bits in parts]
    values = pa.concat_arrays([pa.array([], pa.string()), *texts])
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=pa.array(gone))


def _why(invalid: Invalid) -> dict[str, Any]:
    value = None if invalid.value is None else json.dumps(invalid.value, ensure_ascii=False, default=str)
    return {"field": invalid.field, "reason": str(invalid.reason), "value": value}
