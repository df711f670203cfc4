"""From text to tokens, by one regular expression.

In: a source's text and a place in it. Out: a stream of `(terminal, start, end)`, ending with `$END`; comments are set
aside. Terminals are called by their text where that is fixed (`rule`, `==`), and by their name in the grammar otherwise
(`NAME`, `TEXT`). What only looks like a token comes out under one of the names in `MISTAKES`, which no grammar knows:
`mending` and `mistakes` say what is wrong with it.

The grammar's own terminals say the same to decoders that can't look ahead; a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Token = tuple[str, int, int]
END = "$END"


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


RESERVED = frozenset(words("if then else not and or in true false for where by given mon tue wed thu fri sat sun"))
DECLARATION_WORDS = words(
    "module import timezone dimension schema context memory let def resolve "
    "rule constraint property prefer effect action alert"
)
CLAUSE_WORDS = words(
    "when unless score except forbid require do say severity given expect better worse "
    "because from confidence priority valid status"
)
_OTHER_WORDS = words("count any all on at many nothing overrides unit desc")

KEYWORDS = frozenset((*RESERVED, *DECLARATION_WORDS, *CLAUSE_WORDS, *_OTHER_WORDS))
_SIGNS: dict[str, str] = {sign: sign for sign in words("-> == != <= >= ?? + - * / < > = ( ) { } , . : ? |")}
_SIGNS |= {"..": "RANGE_OP", "..=": "RANGE_OP"}

MISTAKES = frozenset(
    words(
        "BAD_DATE BAD_TIME BAD_NUMBER BAD_EXPONENT BAD_POINT MONEY QUOTED OPEN_TEXT LONG_NAME BAD_SIGN BAD_CHARACTER"
    ),
)
LONGEST_NAME = 200

# Every repetition is possessive, so that no input makes the expression go back over what it has read.
_NUMBER = r"(?:0|[1-9][0-9]*+(?:_[0-9]++)*+)"
_FRACTION = r"(?:\.[0-9]++)"
_LETTERS = r"[^\W\d_]++"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2})?+"
# What of ASCII stands in words; outside ASCII all but white space, currencies and punctuation: `_word` looks closer.
IN_WORD = (
    r"[^\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f\xa2-\xa5\s\u2000-\u206f\u20a0-\u20cf"
    r"\u3000-\u3004\u3008-\u3020\uff00-\uff0f]"
)
# A date in another notation, which can be nothing else: arithmetic has no leading zeros, and a number but one point.
_OTHER_DATE = (
    r"[0-9]{4}/(?:0[0-9]/[0-9]{1,2}|[0-9]{1,2}/0[0-9])(?![0-9])|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}(?!\w)"
    r"|(?:0[0-9]/[0-9]{1,2}|[0-9]{1,2}/0[0-9])/[0-9]{4}(?!\w)"
)
_EXPONENT = rf"[0-9][0-9_]*+{_FRACTION}?+[eE][+-]?[0-9]\w*+"

# The commonest come first; of those that can begin alike, the one that says more.
_TOKEN = re.compile(
    rf"""\s*+(?:
      (?P<word>    (?!(?:context|memory)\s*+\.(?!\.)) [A-Za-z_][A-Za-z0-9_]*+ (?![^\x00-\x7f]) )
    | (?P<sign>    [(){{}},]
        | ===|!==|&&|\|\||<>|=>|=<|=~|:=|\*\*|//|/\*|\.\.\.
        | \.\.=|\.\.|==|!=|<=|>=|->|\?\?|[-+*/<>=.:?|] )
    | (?P<TEXT>    "[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+" )
    | (?=[0-9$€£¥]) (?:
          (?P<DATETIME> {_DAY}T{_CLOCK}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})?+ (?![\w:]|\.[0-9]) )
        | (?P<DATE>    {_DAY} (?!\w|:|-[0-9]) )
        | (?P<TIME>    {_CLOCK} (?![\w:]|\.[0-9]) )
        | (?P<BAD_DATE> [0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}(?![0-9])(?:T[\w:.]*+(?:[+-][0-9]++(?::[0-9]++)?+)?+)?+\w*+
            | {_OTHER_DATE} )
        | (?P<BAD_TIME> [0-9]++:[0-9][\w:]*+(?:\.[0-9]++)?+ )
        | (?P<BAD_EXPONENT> {_EXPONENT} )
        | (?P<MONEY>   [$€£¥]\ ?[0-9][0-9_]*+{_FRACTION}?+ | {_NUMBER}{_FRACTION}?+\ ?[$€£¥] )
        | (?P<BAD_POINT> {_NUMBER}\. (?![\w.]) )
        | (?P<INT>     {_NUMBER} (?![\w%]|\.[0-9]) )
        | (?P<FLOAT>   {_NUMBER}{_FRACTION} (?![\w%]|\.[0-9]) )
        | (?P<PERCENT> {_NUMBER}{_FRACTION}?+ % (?!\w) )
        | (?P<QUANTITY> {_NUMBER}{_FRACTION}?+{_LETTERS}(?:[0-9]++{_FRACTION}?+{_LETTERS})*+ (?!\w|\.[0-9]) )
        | (?P<BAD_NUMBER> [0-9]\w*+(?:\.[0-9]\w*+)*+%?+ )
      )
    | (?P<comment> \#[^\n]*+ )
    | (?P<QUOTED>  [“”„«][^“”»"\n]*+[”“»"] | [‘’][^‘’'\n]*+[’‘'] | '[^'\n]*+' )
    | (?P<QUALIFIER> (?:context|memory)\s*+\.(?!\.) )
    | (?P<run>     (?![0-9]){IN_WORD}++ )
    | (?P<OPEN_TEXT> "[^\n]*+ )
    | (?P<BAD_CHARACTER> . )
    | (?P<END>     \Z )
    )""",
    re.VERBOSE | re.DOTALL,
)
_FIXED = {**{word: word for word in KEYWORDS}, **_SIGNS}
_KINDS = {group: END if kind == "END" else kind for kind, group in _TOKEN.groupindex.items()}
_WORD, _SIGN = _TOKEN.groupindex["word"], _TOKEN.groupindex["sign"]


def tokens(text: str, position: int, comments: list[tuple[int, int]]) -> Iterator[Token]:
    """The tokens from `position` on; `comments` takes the places of the comments that are passed."""
    fixed, kinds = _FIXED, _KINDS
    while position >= 0:
        scan, position = _TOKEN.finditer(text, position), -1
        for match in scan:
            group = match.lastindex or 0
            start, end = match.span(group)
            if group <= _SIGN:
                terminal = fixed.get(match[group])
                if terminal is None:
                    terminal = "BAD_SIGN" if group == _SIGN else _name(start, end)
                yield terminal, start, end
                continue
            kind = kinds[group]
            if kind == "comment":
                comments.append((start, end))
            elif kind == "run":
                kind, stop = _word(text, start, end)
                yield kind, start, stop
                if stop < end:
                    position = stop
                    break
            else:
                yield kind, start, end
                if kind == END:
                    return


def _name(start: int, end: int) -> str:
    return "LONG_NAME" if end - start > LONGEST_NAME else "NAME"


def _word(text: str, start: int, end: int) -> tuple[str, int]:
    """What a run of word characters begins with: a word, or a character that stands in none; and where that ends."""
    run = text[start:end]
    if run in KEYWORDS:
        return run, end
    if not run.isidentifier():
        for length, character in enumerate(run):
            if not (run[:1] if length == 0 else "_" + character).isidentifier():
                end = start + max(length, 1)
                if length == 0:
                    return "BAD_CHARACTER", end
                break
    return _name(start, end), end
