"""Terminals for literals, and for ranges of them, as `fmt` writes them.

In: nothing, or the units that a literal can have. Out: regular forms that hold no literal and no range which the
checker would refuse: no 13:75, no 30 February, no int beyond 64 bits, no empty range. That one number is less than
another can't be said in general by a grammar, so a closed range holds only such pairs whose order their first digits
show; `20..=22` and `9..=17` do, `101..105` does not (`x >= 101 and x < 105` says that).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ucl.llm.grammar.forms import DIGIT, Chars, Form, chain, chars, choice, form, maybe, one_of, times
from ucl.semantics.types import Unit

_NONZERO = chars("1-9")
_ENDS = chain("..", maybe("="))
_MORE_WHOLE = 8
_LONGEST_TEXT = 1000

BOOL = choice("true", "false")
WEEKDAY = choice("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WEEKDAY_RANGE = chain(WEEKDAY, "..=", WEEKDAY)


def _whole(most_digits: int) -> Form:
    return choice("0", chain(_NONZERO, times(DIGIT, 0, most_digits - 1)))


def _grouped(groups: int) -> Form:
    """`1_000_000`"""
    return chain(_NONZERO, times(DIGIT, 0, 2), times(chain("_", times(DIGIT, 3)), 1, groups))


_FRACTION = chain(".", times(DIGIT, 1, 9))
_ONE = chain("1", maybe(".", times("0", 1, 9)))
_BELOW_ONE = chain("0", maybe(_FRACTION))
_PART_OF_ONE = chain("0.", times("0", 0, 5), _NONZERO, times(DIGIT, 0, 3))

INT = chain(maybe("-"), choice(_grouped(5), _whole(18)))
FLOAT = chain(maybe("-"), choice(_grouped(2), _whole(9)), maybe(_FRACTION), maybe("%"))
POSITIVE = choice(_PART_OF_ONE, chain(_NONZERO, times(DIGIT, 0, 8), maybe(_FRACTION)))
_PERCENT = chain(choice("100", chain(_NONZERO, maybe(DIGIT))), "%")
SCORE = choice(chain(maybe("-"), _PERCENT), _BELOW_ONE, _ONE, chain("-", choice(_PART_OF_ONE, _ONE)))
CONFIDENCE = choice(_PERCENT, _BELOW_ONE, _ONE)
PRIORITY = choice("10", chain(DIGIT, maybe(".", times(DIGIT, 1, 3))))


# --- ranges of numbers ----------------------------------------------------------------------------------------------


def _ascending(alike: int, longest: int, middle: Form) -> Form:
    """Pairs of whole numbers of which the second is seen to be greater: it has more digits, or as many, which may be
    `alike`, and a greater first one."""
    pairs: list[Form] = []
    for digits in range(1, longest):
        low = DIGIT if digits == 1 else chain(_NONZERO, times(DIGIT, digits - 1))
        pairs.append(chain(low, middle, _NONZERO, times(DIGIT, digits, longest - 1)))
    for digits in range(1, alike + 1):
        rest = times(DIGIT, digits - 1)
        firsts = range(0 if digits == 1 else 1, 9)
        pairs.append(chain(choice(*(chain(str(f), rest, middle, chars(f"{f + 1}-9")) for f in firsts)), rest))
    return choice(*pairs)


def _ascending_within_tens(middle: Form) -> Iterator[Form]:
    """`12..15`"""
    for tens in "123456789":
        pairs = (chain(str(low), middle, tens, chars(f"{low + 1}-9")) for low in range(9))
        yield chain(tens, choice(*pairs))


def _open(value: Form) -> tuple[Form, ...]:
    return chain(value, ".."), chain(_ENDS, value)


INT_RANGE = choice(
    _ascending(3, 6, _ENDS),
    *_ascending_within_tens(_ENDS),
    chain("-", _NONZERO, times(DIGIT, 0, _MORE_WHOLE), _ENDS, _whole(9)),
    *_open(INT),
)
FLOAT_RANGE = choice(
    chain(_ascending(2, 5, chain(maybe(_FRACTION), _ENDS)), maybe(_FRACTION)),
    *(
        chain(f"0.{first}", times(DIGIT, 0, 8), _ENDS, "0.", chars(f"{first + 1}-9"), times(DIGIT, 0, 8))
        for first in range(9)
    ),
    chain("-", _NONZERO, times(DIGIT, 0, _MORE_WHOLE), maybe(_FRACTION), _ENDS, _whole(9), maybe(_FRACTION)),
    *_open(FLOAT),
)


# --- quantities and durations ---------------------------------------------------------------------------------------

_DURATION_ORDER = ("w", "d", "h", "min", "s")


def _names(units: Iterable[Unit]) -> list[str]:
    return [unit.name for unit in units]


def quantity(units: Sequence[Unit]) -> Form:
    return chain(maybe("-"), _whole(9), maybe(".", times(DIGIT, 1, 6)), one_of(_names(units)))


def positive_quantity(units: Sequence[Unit]) -> Form:
    return chain(POSITIVE, one_of(_names(units)))


def quantity_range(units: Sequence[Unit]) -> Form:
    return choice(*_same_unit(_names(units), 3), *_open(quantity(units)))


def duration(units: Sequence[Unit]) -> Form:
    """`90min`, `1.5h`, and `1h30min` of units that follow each other; always whole microseconds."""
    return chain(maybe("-"), choice(*_two_units(units), _one_unit(units)))


def positive_duration(units: Sequence[Unit]) -> Form:
    return chain(_NONZERO, times(DIGIT, 0, 5), maybe(".", times(DIGIT, 1, 3)), one_of(_names(units)))


def duration_range(units: Sequence[Unit]) -> Form:
    usual = [name for name in ("min", "h", "d") if name in _names(units)]
    return choice(*_same_unit(usual, 2), *_minutes_to_hours(usual), *_open(duration(units)))


def whole_days(units: Sequence[Unit]) -> Form | None:
    """What can be added to a date."""
    names = [name for name in ("d", "w") if name in _names(units)]
    return chain(_NONZERO, times(DIGIT, 0, 3), one_of(names)) if names else None


def _one_unit(units: Sequence[Unit]) -> Form:
    return chain(_whole(6), maybe(".", times(DIGIT, 1, 3)), one_of(_names(units)))


def _two_units(units: Sequence[Unit]) -> Iterator[Form]:
    names = [name for name in _DURATION_ORDER if name in _names(units)]
    for first, second in pairwise(names):
        yield chain(_NONZERO, times(DIGIT, 0, 3), first, _NONZERO, times(DIGIT, 0, 2), second)


def _same_unit(units: Iterable[str], digits: int) -> Iterator[Form]:
    for unit in units:
        yield chain(_ascending(digits, digits + 1, chain(unit, _ENDS)), unit)


def _minutes_to_hours(units: Sequence[str]) -> Iterator[Form]:
    """`30min..1h`"""
    if "min" in units and "h" in units:
        yield chain(maybe(chars("1-5")), DIGIT, "min", _ENDS, _NONZERO, times(DIGIT, 0, 2), "h")


# --- days and times -------------------------------------------------------------------------------------------------

_LAST_TWO_OF_LEAP = choice(
    chain("0", chars("48")), chain(chars("2468"), chars("048")), chain(chars("13579"), chars("26"))
)
_CENTURY = choice("19", "20", "21")
_DAY_OF_28 = choice(chain("0", _NONZERO), chain("1", DIGIT), chain("2", chars("0-8")))
_DAY_OF_30 = choice(chain("0", _NONZERO), chain(chars("12"), DIGIT), "30")
_DAY_OF_31 = choice(chain("0", _NONZERO), chain(chars("12"), DIGIT), chain("3", chars("01")))

DATE = choice(
    chain(
        _CENTURY,
        times(DIGIT, 2),
        "-",
        choice(
            chain(choice(chain("0", chars("13578")), chain("1", chars("02"))), "-", _DAY_OF_31),
            chain(choice(chain("0", chars("469")), "11"), "-", _DAY_OF_30),
            chain("02-", _DAY_OF_28),
        ),
    ),
    chain(choice(chain(_CENTURY, _LAST_TWO_OF_LEAP), "2000"), "-02-29"),
)
_HOUR = choice(chain(chars("01"), DIGIT), chain("2", chars("0-3")))
_MINUTE = chain(chars("0-5"), DIGIT)
_CLOCK = chain(_HOUR, ":", _MINUTE)
# `fmt` leaves seconds out where there are none.
TIME = chain(_CLOCK, maybe(":", choice(chain("0", _NONZERO), chain(chars("1-5"), DIGIT))))
_OFFSET = choice("Z", chain(chars("+-"), choice(chain("0", _NONZERO), chain("1", chars("0-4"))), ":", _MINUTE))
DATETIME = chain(DATE, "T", TIME, maybe(_OFFSET))
# Of two days a grammar can't say which one is earlier, so ranges of days and instants have one end only.
FROM_ON = form("..")
UP_TO = choice("..=", "..")


def _digit_but(left_out: int, last: int) -> Form:
    """A digit up to `last`, but one."""
    return Chars(tuple((ord(str(digit)), ord(str(digit))) for digit in range(last + 1) if digit != left_out))


def _two_times() -> Iterator[Form]:
    """Two times of day that are not equal, since one of their digits is not. The first may be the later one: that range
    runs round midnight."""
    begins = chain(":", _MINUTE, "..")
    by_tens = (chain("0", DIGIT), chain("1", DIGIT), chain("2", chars("0-3")))
    for hour in by_tens:
        yield chain(hour, begins, choice(*(other for other in by_tens if other != hour)), ":", _MINUTE)
    for unit in range(10):
        hour = chain(chars("0-2" if unit < 4 else "01"), str(unit))
        other = choice(chain(chars("01"), _digit_but(unit, 9)), chain("2", _digit_but(unit, 3)))
        yield chain(hour, begins, other, ":", _MINUTE)
    for tens in range(6):
        yield chain(_HOUR, f":{tens}", DIGIT, "..", _HOUR, ":", _digit_but(tens, 5), DIGIT)
    for unit in range(10):
        yield chain(_HOUR, ":", chars("0-5"), f"{unit}..", _HOUR, ":", chars("0-5"), _digit_but(unit, 9))


TIME_RANGE = choice(
    *_two_times(),
    chain(_CLOCK, "..=", _CLOCK),
    chain(maybe(_CLOCK), "..24:00"),
    *_open(_CLOCK),
)


# --- texts ----------------------------------------------------------------------------------------------------------

_HEX = chars("0-9a-f")
_ESCAPE = chain(
    "\\",
    choice(
        chars('"\\bfnrt'),
        chain("u", choice(chain(chars("0-9a-ce-f"), times(_HEX, 3)), chain("d", chars("0-7"), times(_HEX, 2)))),
        chain("ud", chars("89ab"), times(_HEX, 2), "\\ud", chars("c-f"), times(_HEX, 2)),
    ),
)


# The very class that decoders know how to look up for a whole vocabulary at once: with another, a mask takes 10 ms.
_PLAIN = Chars(((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x7F)), negated=True)
TEXT = chain('"', times(choice(_PLAIN, _ESCAPE), 0, _LONGEST_TEXT), '"')


def closed(literals: Iterable[str]) -> Form:
    return choice(*map(form, literals))
