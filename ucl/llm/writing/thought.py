"""What a model thought of a statement, and what the words themselves show: is it a rule, and for or against.

In: the thought, which is prose that ends in lines such as `verdict: rule`; the statement. Out: a `Thought`; the sign
that a rule must have, where that is beyond doubt. A model may have been talked into anything, so a thought only ever
leads to less: to a question, or to a fact without a rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from ucl.facts import Fact
from ucl.frozen import frozen
from ucl.llm.prompts import cleaned, on_one_line

_LINE = re.compile(r"^\W*(?P<key>sign|verdict|ask)\W*[:：]\s*(?P<value>.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_LONGEST_QUESTION = 300


class Verdict(StrEnum):
    RULE = "rule"
    EVENT = "event"
    VAGUE = "vague"
    NONE = "none"


@frozen
class Thought:
    """`verdict` and `question` are None where the prose does not say them."""

    text: str
    verdict: Verdict | None
    question: str | None


def read_thought(text: str) -> Thought:
    """The last line of each kind counts."""
    said = {found["key"].lower(): found["value"] for found in _LINE.finditer(text)}
    word = re.sub(r"[^a-z]", "", said.get("verdict", "").lower().split("|")[0])
    verdict = Verdict(word) if word in [*Verdict] else None
    question = on_one_line(cleaned(said.get("ask", "")).text, _LONGEST_QUESTION)
    return Thought(text, verdict, question if any(c.isalpha() for c in question) else None)


# --- for or against -------------------------------------------------------------------------------------------------

_AGAINST = re.compile(
    r"\b(?:don't|do not|never|avoid|hate|dislike|can't stand|no more|not want|rather not|no)\b"
    r"|不喜欢|不想|不要|别|讨厌|避免|不愿",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"\b(?:prefer|like|love|enjoy|favou?rite|best|always|happy to|glad)\b|喜欢|最好|爱|希望|愿意", re.IGNORECASE
)
# Where a sentence has two sides, or takes back what it denies, its words do not say its sign.
_MIXED = re.compile(
    r"\b(?:but|unless|except|however|although|though|without|mind|problem|unlike|than|instead|only|not only|flag|"
    r"anything|until|if)\b|但|除|不过|只|比|才|介意|如果",
    re.IGNORECASE,
)


def expected_sign(text: str, facts: Sequence[Fact]) -> int | None:
    """1 or -1 where a rule can only be for or against; None where the words leave it open."""
    feelings = {(fact.feeling > 0) - (fact.feeling < 0) for fact in facts if fact.topic is not None}
    if feelings == {1} or feelings == {-1}:
        return feelings.pop()
    if _MIXED.search(text) is not None:
        return None
    against = _AGAINST.search(text) is not None
    # `don't like` is against, whatever it says of liking.
    return -1 if against else 1 if _FOR.search(text) is not None else None
