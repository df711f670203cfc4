"""Sentences with what they become in UCL, to be shown to a model: a small set, of which the likest are picked.

In: a sentence, and the schema it is about. Out: `Shot`s. The set is the programs in `shown/`: the words are a rule's
`because`, what is written is the rule. A test checks that they compile, and that the typed sub-grammar has them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ucl.diagnostics import Report, Source
from ucl.frozen import frozen
from ucl.llm.declarations import rewritten
from ucl.llm.prompts.relevance import Topic, topic_of
from ucl.syntax import ast
from ucl.syntax.parse import parse

MOST_SHOTS = 4
FOLDER = Path(__file__).parent / "shown"


@frozen
class Shot:
    said: str
    written: str
    schema: str
    topic: Topic


def shots_for(said: str, schema: str, most: int = MOST_SHOTS) -> list[Shot]:
    """The likest to a sentence, the likest last, where a model sees it best; the same ones on every run.

    Those on the same schema are likest: their names exist. Then those with the same hints and words.
    """
    topic, last = topic_of(said), schema.rpartition(".")[2]

    def likeness(shot: Shot) -> int:
        cues = len(set(topic.cues) & set(shot.topic.cues))
        return 3 * cues + 2 * len(topic.words & shot.topic.words) + 2 * (shot.schema == last)

    best = sorted(all_shots(), key=likeness, reverse=True)[:most]
    return best[::-1]


@cache
def all_shots() -> tuple[Shot, ...]:
    return tuple(shot for path in sorted(FOLDER.glob("*.ucl")) for shot in _shots(path))


def _shots(path: Path) -> Iterator[Shot]:
    report = Report()
    file = parse(Source(path.name, path.read_text(encoding="utf-8")), report)
    assert not report.has_errors, path
    for node in file.declarations:
        if isinstance(node, ast.Rule | ast.Constraint) and node.meta.because is not None:
            said = node.meta.because.value
            yield Shot(said, rewritten(file, node, without=("because",)), node.schema.text, topic_of(said))
