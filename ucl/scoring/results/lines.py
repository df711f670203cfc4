"""Results as lines of JSON, by whole columns.

In: numbers of rows and what is said of them as `ResultColumns`. Out: the text of each row's object (INTERFACE §2), the
same that `row_json` makes of one outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ucl.scoring.words import invalid_json
from ucl.semantics.outcome import Outcome, as_score

if TYPE_CHECKING:
    import pyarrow as pa

    from ucl.tables.output import ResultColumns


def json_lines(rows: NDArray[np.int64], said: ResultColumns) -> list[str]:
    """One for each row. What is a list or an object is there of an invalid row too, and empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ucl.tables.formats.json_texts import map_texts, object_texts

    gone, invalid = said.total.is_null(), said.invalid
    why = [
        *map(_texts, (invalid.field("field"), invalid.field("reason"))),
        pc.fill_null(invalid.field("value"), "null"),
    ]
    texts = {
        "row": _texts(pa.array(rows)),
        "total": _doubles(pa.chunked_array([said.total])),
        "feasible": _texts(said.feasible),
        "contested": _texts(said.contested),
        "decision": _texts(said.decision),
        "fired": pc.if_else(gone, "[]", _texts(said.fired)),
        "violated": pc.if_else(gone, "[]", _texts(said.violated)),
        "shadow": pc.if_else(gone, "[]", _texts(said.shadow)),
        "invalid": pc.if_else(
            invalid.is_valid(), object_texts(["field", "reason", "value"], why, len(invalid)), "null"
        ),
        "contributions": pc.if_else(gone, "{}", map_texts(pa.chunked_array([said.contributions]), _doubles)),
    }
    lines: list[str] = object_texts(texts, texts.values(), len(rows)).to_pylist()
    return lines


def _texts(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    from ucl.tables.cells import Cells
    from ucl.tables.formats.json_texts import json_texts

    return json_texts(pa.chunked_array([array]), Cells.TYPED)


def _doubles(column: pa.ChunkedArray) -> pa.Array:
    """A score is a double, also where it is whole: `1.0`."""
    import pyarrow.compute as pc

    texts = _texts(column.combine_chunks())
    whole = pc.match_substring_regex(texts, "^-?[0-9]+$")
    return pc.if_else(whole, pc.binary_join_element_wise(texts, ".0", ""), texts)


def row_json(row: int, outcome: Outcome) -> dict[str, Any]:
    """The object of INTERFACE §2 that `score` prints."""
    return {
        "row": row,
        "total": None if outcome.total is None else as_score(outcome.total),
        "feasible": outcome.feasible,
        "contested": outcome.contested,
        "decision": None if outcome.decision is None else str(outcome.decision),
        "fired": list(outcome.fired),
        "violated": list(outcome.violated),
        "shadow": list(outcome.shadow),
        "invalid": None if outcome.invalid is None else invalid_json(outcome.invalid),
        "contributions": {name: as_score(nano) for name, nano in outcome.contributions.items()},
    }
