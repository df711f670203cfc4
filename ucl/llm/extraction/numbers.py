"""Numbers and parts of the day that a sentence says, in digits and in words.

In: a sentence, English or Chinese. Out: the set of numbers in it, and whether it names a part of the day. So what a
model writes can be held against what was said: a time that nobody said was made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ucl.syntax.reading.lexer import words

_ONES = {
    word: number
    for number, word in enumerate(
        words(
            """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
            seventeen eighteen nineteen"""
        )
    )
}
_TENS = {
    word: 10 * number for number, word in enumerate(words("twenty thirty forty fifty sixty seventy eighty ninety"), 2)
}
_OTHERS: dict[str, tuple[float, ...]] = {
    "a": (1,),
    "an": (1,),
    "single": (1,),
    "once": (1,),
    "twice": (2,),
    "couple": (2,),
    "dozen": (12,),
    "noon": (12,),
    "midday": (12,),
    "midnight": (0, 24),
    "half": (0.5, 30),
    "quarter": (0.25, 15),
    "hundred": (100,),
    "thousand": (1000,),
}
_HAN = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_HAN_SIZES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
_DIGITS = re.compile(r"\d[\d,_]*(?:\.\d+)?(?:\s?(?P<size>k|m|mb|kb|gb|thousand|million)\b)?", re.IGNORECASE | re.ASCII)
_SIZES = {"k": 10**3, "kb": 10**3, "thousand": 10**3, "m": 10**6, "mb": 10**6, "million": 10**6, "gb": 10**9}
_WORDS = re.compile(r"[a-z]+(?:-[a-z]+)?", re.IGNORECASE)
_HAN_NUMBER = re.compile(f"[{''.join(_HAN)}{''.join(_HAN_SIZES)}]+")
_DAYPARTS = re.compile(
    r"\b(?:mornings?|noon|middays?|lunch(?:es|time)?|afternoons?|evenings?|nights?|midnight|breakfast|dinner|supper|"
    r"working hours|office hours|business hours|(?:after|before|off|out of) (?:hours|work)|dawn|dusk|overnight)\b"
    r"|早上|早晨|上午|中午|午饭|午后|午休|下午|傍晚|晚上|晚饭|夜|凌晨|下班|上班|工作时间",
    re.IGNORECASE,
)


def names_part_of_day(text: str) -> bool:
    return _DAYPARTS.search(text) is not None


def said_numbers(text: str) -> frozenset[float]:
    """Every number that the text says; `half past ten` says 10 and 30, `9:30` says 9 and 30, 半 half and 30."""
    return frozenset(_numbers(text))


def read_number(word: str) -> float | None:
    """One number, however it is written."""
    found = [number for number in _numbers(word) if number >= 1]
    return max(found) if found else None


def _numbers(text: str) -> Iterator[float]:
    for match in _DIGITS.finditer(text):
        plain = match[0].removesuffix(match["size"] or "").strip().replace(",", "").replace("_", "")
        # What is longer than any number that a person says can't be meant as one.
        if len(plain) <= 30:
            value = float(plain)
            yield value
            if match["size"]:
                yield value * _SIZES[match["size"].casefold()]
    for word in _WORDS.findall(text):
        yield from _english(word.casefold())
    for match in _HAN_NUMBER.finditer(text):
        yield _chinese(match[0])
    if "半" in text:
        yield from (0.5, 30)
    if "刻" in text:
        yield 15


def _english(word: str) -> Iterator[float]:
    tens, dash, ones = word.partition("-")
    if dash and tens in _TENS and ones in _ONES:
        yield _TENS[tens] + _ONES[ones]
        return
    for part in (tens, ones):
        if part in _ONES:
            yield _ONES[part]
        elif part in _TENS:
            yield _TENS[part]
        yield from _OTHERS.get(part, ())


def _chinese(text: str) -> float:
    total, section = 0, 0
    for character in text[:20]:
        if character in _HAN:
            section = _HAN[character]
        else:
            total += (section or 1) * _HAN_SIZES[character]
            section = 0
    return float(total + section)
