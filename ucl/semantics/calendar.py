"""The proleptic Gregorian calendar in whole numbers: days since 1970-01-01, microseconds since 1970-01-01T00:00Z.

In: numbers. Out: numbers. The conversions work in every year, since a local date may lie a day outside the years 1 to
9999 that values are held to; who makes a value checks it. The algorithm is Howard Hinnant's `days_from_civil`.
"""

from __future__ import annotations

from ucl.semantics.types import DAY

FIRST_DAY = -719_162  # 0001-01-01
LAST_DAY = 2_932_896  # 9999-12-31
FIRST_INSTANT = FIRST_DAY * DAY
LAST_INSTANT = (LAST_DAY + 1) * DAY - 1

_ERA_DAYS = 146_097  # 400 years
_ERA_SHIFT = 719_468  # days from 0000-03-01 to 1970-01-01
_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01. The year begins in March here, so that the leap day is its last."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * _ERA_DAYS + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - _ERA_SHIFT


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month (1 to 12) and day (1 to 31)."""
    era, day_of_era = divmod(days + _ERA_SHIFT, _ERA_DAYS)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    year = era * 400 + year_of_era + (month <= 2)
    return year, month, day_of_year - (153 * shifted_month + 2) // 5 + 1


def weekday_of_days(days: int) -> int:
    """0 is Monday; 1970-01-01 was a Thursday."""
    return (days + 3) % 7


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    return 29 if month == 2 and is_leap(year) else _MONTH_LENGTHS[month - 1]


def months_later(days: int, months: int) -> int:
    """The same day of the month so many months on; a day past the month's end becomes its last day."""
    year, month, day = civil_from_days(days)
    year, month0 = divmod(year * 12 + month - 1 + months, 12)
    return days_from_civil(year, month0 + 1, min(day, days_in_month(year, month0 + 1)))
