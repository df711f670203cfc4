"""Zones against Python's own `zoneinfo`, and what wall clocks that happen twice or never mean."""

from __future__ import annotations

import random
import zoneinfo
from bisect import bisect_right
from datetime import UTC, datetime, timedelta

import pytest

from ucl.semantics.calendar import (
    FIRST_DAY,
    LAST_DAY,
    civil_from_days,
    days_from_civil,
    days_in_month,
    months_later,
    weekday_of_days,
)
from ucl.semantics.types import DAY, SECOND
from ucl.semantics.tzif import parse_rule
from ucl.semantics.zones import Zone

HOUR = 3600 * SECOND
EPOCH, EPOCH_UTC = datetime(1970, 1, 1), datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

# The machine's own links are no zones of the database.
NAMES = sorted(zoneinfo.available_timezones() - {"localtime", "Factory"})


def instant(*civil: int) -> int:
    return (datetime(*civil) - EPOCH) // MICROSECOND  # type: ignore[arg-type]


def zone(name: str) -> Zone:
    found = Zone.load(name)
    assert found is not None
    return found


FROM, TO = instant(1900, 1, 1) // SECOND, instant(2200, 1, 1) // SECOND


def moments(of: Zone) -> list[int]:
    """Seconds in 1900 to 2200: around some changes of the offset, and anywhere."""
    chance = random.Random(of.name)
    around = [
        t // SECOND + second for t in of.transitions if FROM < t // SECOND < TO for second in (-3600, -1, 0, 1, 3600)
    ]
    anywhere = [chance.randrange(FROM, TO) for _ in range(8)]
    return chance.sample(around, min(24, len(around))) + anywhere


@pytest.mark.parametrize("first_letters", ["A", "BCDE", "FGHIJKLMNOPQRSTUVWXYZ"])
def test_every_zone_agrees_with_zoneinfo(first_letters: str) -> None:
    names = [name for name in NAMES if name[0] in first_letters]
    assert names
    for name in names:
        ours, theirs = zone(name), zoneinfo.ZoneInfo(name)
        for second in moments(ours):
            aware = (EPOCH_UTC + timedelta(seconds=second)).astimezone(theirs)
            offset = aware.utcoffset()
            assert offset is not None
            assert ours.offset(second * SECOND) == offset // MICROSECOND, (name, aware)
            wall = EPOCH + timedelta(seconds=second)
            earlier = wall.replace(tzinfo=theirs, fold=0).astimezone(UTC)
            assert ours.instant(second * SECOND).instant == (earlier - EPOCH_UTC) // MICROSECOND, (name, wall)


def test_far_years_agree_with_zoneinfo() -> None:
    chance = random.Random(9999)
    for name in ("America/New_York", "Europe/Dublin", "Australia/Lord_Howe", "Asia/Gaza", "America/Nuuk", "Asia/Tokyo"):
        ours, theirs = zone(name), zoneinfo.ZoneInfo(name)
        for _ in range(200):
            second = chance.randrange(instant(2200, 1, 1) // SECOND, instant(9999, 12, 30) // SECOND)
            offset = (EPOCH_UTC + timedelta(seconds=second)).astimezone(theirs).utcoffset()
            assert offset is not None
            assert ours.offset(second * SECOND) == offset // MICROSECOND, (name, second)


def test_arrays_are_what_kernels_search() -> None:
    berlin = zone("Europe/Berlin")
    assert len(berlin.offsets) == len(berlin.transitions) + 1
    assert len(berlin.wall_ends) == len(berlin.transitions)
    assert list(berlin.transitions) == sorted(set(berlin.transitions))
    assert list(berlin.wall_ends) == sorted(berlin.wall_ends)
    assert all(a != b for a, b in zip(berlin.offsets, berlin.offsets[1:], strict=False))
    when = instant(2026, 7, 1)
    assert berlin.offsets[bisect_right(berlin.transitions, when)] == 2 * HOUR


def test_a_wall_clock_that_happens_twice_is_the_first() -> None:
    new_york = zone("America/New_York")
    assert new_york.instant(instant(2026, 11, 1, 1, 30)) == (instant(2026, 11, 1, 5, 30), "fold")
    assert new_york.instant(instant(2026, 11, 1, 1, 0)).kind == "fold"
    assert new_york.instant(instant(2026, 11, 1, 2, 0)) == (instant(2026, 11, 1, 7), "exact")
    assert new_york.instant(instant(2026, 11, 1, 1, 0) - 1).kind == "exact"


def test_a_wall_clock_that_is_skipped_moves_forward_by_the_gap() -> None:
    new_york = zone("America/New_York")
    moved, kind = new_york.instant(instant(2026, 3, 8, 2, 30))
    assert (moved, kind) == (instant(2026, 3, 8, 7, 30), "gap")
    assert new_york.local(moved) == instant(2026, 3, 8, 3, 30)
    assert new_york.instant(instant(2026, 3, 8, 3, 0)).kind == "exact"
    assert new_york.instant(instant(2026, 3, 8, 2, 0) - 1).kind == "exact"
    lord_howe = zone("Australia/Lord_Howe")
    moved, kind = lord_howe.instant(instant(2026, 10, 4, 2, 10))
    assert kind == "gap"
    assert lord_howe.local(moved) == instant(2026, 10, 4, 2, 40)


def test_a_day_that_samoa_left_out() -> None:
    apia = zone("Pacific/Apia")
    moved, kind = apia.instant(instant(2011, 12, 30, 12))
    assert kind == "gap"
    assert apia.local(moved) == instant(2011, 12, 31, 12)


@pytest.mark.parametrize(
    "name",
    [
        "", "America", "America/", "a//b", "Mars/Olympus", "x" * 200,
        "../etc/passwd", "/etc/passwd", "America/../America/New_York", "America/New_York\0", "Ａmerica/New_York",
        "right/UTC", "posix/UTC", "localtime", "tzdata.zi", "zone.tab",
    ],
)  # fmt: skip
def test_only_names_of_the_database_are_zones(name: str) -> None:
    assert Zone.load(name) is None


def test_a_zone_is_loaded_once_and_compares_by_name() -> None:
    assert zone("Asia/Shanghai") is zone("Asia/Shanghai")
    assert zone("Asia/Shanghai") != zone("Asia/Tokyo")
    assert zone("UTC").offset(0) == 0


def test_posix_rules() -> None:
    rule = parse_rule("EST5EDT,M3.2.0,M11.1.0")
    assert (rule.standard, rule.daylight) == (-5 * HOUR, -4 * HOUR)
    assert rule.start(2026) == instant(2026, 3, 8, 2)
    assert rule.end(2026) == instant(2026, 11, 1, 2)
    late = parse_rule("EET-2EEST,M3.4.4/50,M10.4.4/50")  # fifty hours after a Thursday's midnight: Saturday 02:00
    assert late.start(2026) == instant(2026, 3, 28, 2)
    before = parse_rule("<-02>2<-01>,M3.5.0/-1,M10.5.0/0")  # Sunday's 00:00 less an hour
    assert before.start(2026) == instant(2026, 3, 28, 23)
    numbered = parse_rule("AAA3BBB,J60/0,300/12:30")
    assert numbered.start(2024) == instant(2024, 3, 1)
    assert numbered.start(2026) == instant(2026, 3, 1)
    assert numbered.end(2026) == instant(2026, 10, 28, 12, 30)
    assert parse_rule("<+0530>-5:30").standard == 5 * HOUR + HOUR // 2
    for wrong in ("", "EST", "EST5EDT", "EST5EDT,M3.6.0,M11.1.0", "EST5EDT,M3.2.0"):
        with pytest.raises(ValueError, match="POSIX"):
            parse_rule(wrong)


def test_the_calendar_agrees_with_datetime() -> None:
    chance = random.Random(1)
    days = [chance.randrange(FIRST_DAY, LAST_DAY + 1) for _ in range(2000)] + [FIRST_DAY, LAST_DAY, 0, -1, 11_016]
    for day in days:
        date = EPOCH + timedelta(days=day)
        assert civil_from_days(day) == (date.year, date.month, date.day)
        assert days_from_civil(date.year, date.month, date.day) == day
        assert weekday_of_days(day) == date.weekday()


def test_months_keep_to_the_end_of_the_month() -> None:
    def later(civil: tuple[int, int, int], months: int) -> tuple[int, int, int]:
        return civil_from_days(months_later(days_from_civil(*civil), months))

    assert later((2026, 1, 31), 1) == (2026, 2, 28)
    assert later((2024, 1, 31), 1) == (2024, 2, 29)
    assert later((2026, 3, 31), -1) == (2026, 2, 28)
    assert later((2026, 11, 15), 14) == (2028, 1, 15)
    assert later((2026, 1, 15), -1) == (2025, 12, 15)
    assert [days_in_month(year, 2) for year in (1900, 2000, 2024, 2026)] == [28, 29, 29, 28]
    assert DAY == 24 * HOUR


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "EST5EDT"])
def test_a_zone_that_exists_can_be_loaded(name: str) -> None:
    assert Zone.exists(name)
    assert Zone.load(name) is not None


@pytest.mark.parametrize("name", ["", "Europe", "Europe/Nowhere", "../etc/passwd", "localtime", "x" * 500, "posix/UTC"])
def test_what_is_no_zone_does_not_exist(name: str) -> None:
    assert not Zone.exists(name)
    assert Zone.load(name) is None
