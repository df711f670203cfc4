"""Which names of a program a sentence may be about, in any language that its words or these cues know.

In: a text. Out: its `Topic`: the words in it, and the kinds of value and of field that they hint at; a topic says how
much a name, a type and a documentation have to do with it. Nothing is left out by this alone: what scores nothing comes
last, so a hint that is missing costs room and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ucl.frozen import frozen
from ucl.semantics import types as t
from ucl.semantics.types import Type

_WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
_CASES = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HAN = re.compile(r"[㐀-鿿]")
_CLOCK = re.compile(r"\d\s*(?::\d\d|[ap]\.?m\b|o'clock|h\b|点|时)", re.IGNORECASE)


def words(listed: str) -> tuple[str, ...]:
    return tuple(listed.split())


@frozen
class Cue:
    """Words that hint at values of some types, or at fields with some word in their name."""

    words: tuple[str, ...]
    types: tuple[type, ...]
    names: tuple[str, ...] = ()


_TIMES = (t.Time, t.DateTime)
_DAYS = (t.Weekday, t.Date, t.DateTime)
_TEXTS = (t.Text, t.Set)
_NUMBERS = (t.Int, t.Float, t.Quantity)

CUES = (
    Cue(
        words(
            """morning noon afternoon evening night lunch breakfast dinner early late hour hours after before until
            midnight 早上 上午 中午 下午 晚上 夜 午饭 早饭 晚饭 下班 上班 点 早 晚"""
        ),
        _TIMES,
        words("start time arrived depart departure arrival end open"),
    ),
    Cue(
        words(
            """monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun weekend weekends
            weekday weekdays workday day days holiday 周 星期 礼拜 周末 工作日 天"""
        ),
        _DAYS,
        words("start day date weekday"),
    ),
    Cue(
        words("long short longer shorter minutes minute hour hours min quick length lasting 分钟 小时 长 短 久"),
        (t.Duration,),
        words("duration length stay travel"),
    ),
    Cue(
        words(
            """with who boss manager colleague team from by people person guests invite crowd crowded lecture anyone
            老板 同事 经理 谁 人 和 跟 来自 客户"""
        ),
        _TEXTS,
        words("attendees organizer sender recipients from to by author customer host guest people person who"),
    ),
    Cue(
        words(
            """cheap expensive price cost pay money budget dollar euro dear free afford spend fare
            便宜 贵 价格 钱 预算 元 块"""
        ),
        _NUMBERS,
        words("price cost fare fee rate budget amount pricerange"),
    ),
    Cue(
        words(
            """where place room office home park near centre center town area city remote online video dial
            地方 办公室 家 附近 远程 线上"""
        ),
        _TEXTS,
        words("place area room city location remote online address origin destination"),
    ),
    Cue(
        words("important urgent priority unless matter flag critical 重要 紧急 优先"),
        (t.Int, t.Set),
        words("priority labels importance urgency"),
    ),
)
# Said too often to say anything.
_COMMON = frozenset(
    words(
        """a an the i me my mine you your we our it its is are be am was were to of in on at for and or if not no don't
        do does did have has had that this these those with without as so but by from than then when where which who
        will would should could can may might just really very please 的 了 我 你 是 在 不 要 想 有 和 就 都 也"""
    )
)


@frozen
class Topic:
    """`words` in their plainest form; `cues` are those of which a word was said."""

    words: frozenset[str]
    cues: tuple[Cue, ...]

    def words_shared(self, texts: Iterable[str]) -> int:
        """How many of its words the texts have."""
        return len(self.words & frozenset(word for text in texts for word in plain_words(text)))

    def hints(self, name: str, type: Type) -> int:
        """How many cues speak of the type, or of such a name."""
        kind, parts = t.present(type), set(plain_words(name))
        return sum(isinstance(kind, cue.types) + 2 * (not parts.isdisjoint(map(_stem, cue.names))) for cue in self.cues)


def topic_of(text: str) -> Topic:
    said, folded = frozenset(plain_words(text)), text.casefold()
    cues = [cue for cue in CUES if any(_is_said(word, said, folded) for word in cue.words)]
    if _CLOCK.search(text) and CUES[0] not in cues:
        cues.append(CUES[0])
    return Topic(said - _COMMON, tuple(cues))


def _is_said(cue: str, said: frozenset[str], text: str) -> bool:
    return cue in text if _HAN.match(cue) else _stem(cue) in said


def plain_words(text: str) -> list[str]:
    """Words in lower case without their endings, names taken apart; of Chinese each character and each pair."""
    found: list[str] = []
    for word in _WORD.findall(_CASES.sub(" ", text.replace("_", " "))):
        if _HAN.search(word):
            found += [*word, *(word[i : i + 2] for i in range(len(word) - 1))]
        else:
            found.append(_stem(word.casefold()))
    return found


def _stem(word: str) -> str:
    """So that `meetings` is `meeting`: an ending is taken off where enough is left."""
    for ending in ("ings", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
