"""Whether a sentence says too little, or something that happens only once: what the words alone show.

In: a sentence. Out: the words that leave a number open, where no number and no part of the day fills it; and whether a
sentence speaks of particular days without a word that makes it hold from then on.
"""

from __future__ import annotations

import datetime as dt
import re

from ucl.llm.extraction.dates import said_days
from ucl.llm.extraction.numbers import names_part_of_day, said_numbers

_OPEN = re.compile(
    r"\b(?:soonish|earlyish|latish|lateish|longish|shortish|cheapish|"
    r"(?:not|nothing|n't be|never) too (?:late|early|long|short|many|much|few|expensive|far|big|often|soon)|"
    r"sometimes?|some time|at some point|every now and then|now and again|a (?:bit|little|while)|"
    r"(?:a )?reasonabl[ey]|decent(?:ly)?|whenever|sooner or later|as (?:early|late|soon) as possible|asap)\b"
    r"|不要?太|别太|尽快|尽量|早点|晚点|早一点|晚一点|差不多|改天|有空|过一阵|适当|偶尔",
    re.IGNORECASE,
)
_SHORT = 80
_FROM_NOW_ON = re.compile(
    r"\b(?:always|never|usually|generally|normally|every|each|any|all|from now on|anymore|"
    r"prefer\w*|like|love|enjoy|hate|dislike|avoid|want|wanna|rather|best|better|works?|fine|okay|ok|good|favou?rite|"
    r"don't|do not|no|keep|only|unless|must|should|(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekdays|weekends)\b"
    r"|每|总是|一直|通常|一般|喜欢|讨厌|不想|不要|不喜欢|别|最好|只|必须|希望|想要|宁愿",
    re.IGNORECASE,
)


def open_words(text: str) -> str | None:
    """The words that leave open how much or when, where nothing else in the sentence says it; else None.

    In a long sentence they may be about anything: what is open in it is for a model to say.
    """
    if len(text) > _SHORT:
        return None
    if names_part_of_day(_OPEN.sub(" ", text)) or said_numbers(_OPEN.sub(" ", text)) - {1.0}:
        return None
    found = _OPEN.search(text)
    return None if found is None else found[0]


def happens_once(text: str, on: dt.date) -> bool:
    """Whether it names days, and has no word of what is wanted from now on."""
    return bool(said_days(text, on)) and _FROM_NOW_ON.search(text) is None
