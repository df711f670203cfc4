"""Claims as the language has them: `property` blocks to stand below a program.

In: claims, with the names of the statements. Out: text in the layout of `fmt`. `because` holds the person's words,
`from` the source, `valid` the days.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from ucl.diagnostics import Report, Source
from ucl.facts.history import Belief
from ucl.facts.language import region_text
from ucl.facts.model import Fact
from ucl.facts.vocabulary import Vocabulary
from ucl.semantics.types import DAY
from ucl.semantics.values import iso
from ucl.semantics.zones import Zone
from ucl.syntax.format import format_source
from ucl.syntax.parse import parse
from ucl.testing.facts.claims import Claim, Expected


def property_text(
    claims: Sequence[Claim],
    names: Mapping[str, str],
    vocabulary: Vocabulary,
    zone: Zone,
    taken: Iterable[str] = (),
) -> str:
    """The properties, one below the other; no text for no claims. `names` are those of beliefs by their fact's id."""
    used = set(taken)
    blocks = []
    for claim in claims:
        name = _property_name(claim, names[claim.belief.fact.id], used)
        used.add(name)
        blocks.append(_block(name, claim, vocabulary.schema.name, zone, vocabulary.shared))
    report = Report()
    file = parse(Source("properties.ucl", "\n\n".join(blocks) + "\n"), report)
    assert not report.has_errors, [d.message for d in report]
    return format_source(file) if blocks else ""


def _property_name(claim: Claim, name: str, used: set[str]) -> str:
    axis = "_".join((*claim.axis.path, claim.axis.part)).strip("_") if claim.axis is not None else ""
    base = name if claim.kind == "inside" else "_".join(part for part in (name, claim.kind, axis) if part)
    made, number = base, 1
    while made in used:
        number += 1
        made = f"{base}_{number}"
    return made


def _block(name: str, claim: Claim, schema: str, zone: Zone, shared: frozenset[str]) -> str:
    lines = [f"property {name} on {schema} {{"]
    lines.append(f"  given {region_text(claim.region, claim.but, shared)}")
    lines += [
        f"  expect {expected_text(claim.expected)}",
        f"  because {json.dumps(told(claim.belief), ensure_ascii=False)}",
    ]
    lines += [f"  {source_text(fact, zone)}" for fact in claim.belief.facts[-1:]]
    if claim.first is not None or claim.end is not None:
        first, end = ("" if day is None else iso.write_date(day) for day in (claim.first, claim.end))
        lines.append(f"  valid {first}..{end}")
    return "\n".join([*lines, "}"])


def told(belief: Belief) -> str:
    """The person's own words; of a habit, how often it was seen."""
    if not belief.habit:
        return belief.fact.sentence
    seen = len({fact.observation for fact in belief.facts})
    return f"{belief.fact.sentence} (seen {seen} times)"


def source_text(fact: Fact, zone: Zone) -> str:
    """`from chat "c42" at 2026-03-04`, in the zone's local day."""
    day = "" if fact.instant is None else f" at {iso.write_date(zone.local(fact.instant) // DAY)}"
    return f"from {fact.source_type} {json.dumps(fact.source_id or fact.id, ensure_ascii=False)}{day}"


def expected_text(expected: Expected) -> str:
    """As an `expect` has it."""
    if expected.feasible is not None:
        return "feasible" if expected.feasible else "not feasible"
    parts = []
    if not math.isinf(expected.low):
        parts.append(f"score {'>=' if expected.low_in else '>'} {number_text(expected.low)}")
    if not math.isinf(expected.high):
        parts.append(f"score {'<=' if expected.high_in else '<'} {number_text(expected.high)}")
    return " and ".join(parts)


def number_text(value: float) -> str:
    text = f"{value:.9f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
