"""What is asked of a model: our instructions, the part of a program that matters, likely examples, and the data.

    quoting        what people say, cleaned and quoted so that it stays data
    relevance      which names a sentence may be about
    slices         the part of a program that matters to it
    shots          the examples that are likest to it, from the programs in `shown/`
    instructions   the messages of an ask

In: a program and a statement. Out: messages. Nothing here asks anybody.
"""

from __future__ import annotations

from ucl.llm.prompts.instructions import extracting, thinking, writing
from ucl.llm.prompts.quoting import Cleaned, cleaned, identifier, on_one_line, quoted_data
from ucl.llm.prompts.shots import Shot, shots_for
from ucl.llm.prompts.slices import Slice, slice_of

__all__ = [
    "Cleaned",
    "Shot",
    "Slice",
    "cleaned",
    "extracting",
    "identifier",
    "on_one_line",
    "quoted_data",
    "shots_for",
    "slice_of",
    "thinking",
    "writing",
]
