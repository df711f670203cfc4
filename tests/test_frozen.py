"""Frozen records are dataclasses, whose methods are made when they are first needed."""

from __future__ import annotations

from dataclasses import field, fields, is_dataclass, replace

import pytest

from ucl.frozen import frozen


@frozen
class Point:
    x: int
    y: int = 0
    names: list[str] = field(default_factory=list, compare=False)
    shown: bool = field(default=True, kw_only=True)


@frozen
class Place(Point):
    """With a field more, after those of its parent that must be given by name or have a default."""

    z: int = 5


@frozen
class Sorted:
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        assert list(self.values) == sorted(self.values)


@frozen
class Nothing:
    pass


def test_it_is_built_by_position_name_and_default() -> None:
    assert [f.name for f in fields(Point)] == ["x", "y", "names", "shown"]
    point = Point(1, y=2, shown=False)
    assert (point.x, point.y, point.names, point.shown) == (1, 2, [], False)
    assert (Point(1).y, Point(1).shown) == (0, True)
    assert Point(1).names is not Point(1).names
    assert is_dataclass(point)
    assert not hasattr(point, "__dict__")


@pytest.mark.parametrize("given", [(), (1, 2, [], True), (1, 2, [], 3, 4)])
def test_arguments_that_do_not_fit_are_refused_the_first_time_and_later(given: tuple[object, ...]) -> None:
    @frozen
    class Fresh:
        x: int
        y: int = 0
        names: list[str] = field(default_factory=list)
        shown: bool = field(default=True, kw_only=True)

    for _ in range(2):
        with pytest.raises(TypeError):
            Fresh(*given)  # type: ignore[arg-type]
        Fresh(1)


def test_a_child_has_the_fields_of_its_parent() -> None:
    place = Place(1, 2)
    assert (place.x, place.y, place.z, place.shown) == (1, 2, 5, True)
    assert Point(1, 2) != place
    assert replace(place, z=6) == Place(1, 2, z=6)


def test_equality_hash_and_text_are_of_the_fields_that_compare() -> None:
    assert Point(1, 2, ["a"]) == Point(1, 2, ["b"])
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert Point(1, 2) != Point(2, 2)
    assert Nothing() == Nothing()
    assert repr(Point(1)).endswith("Point(x=1, y=0, names=[], shown=True)")


def test_what_a_class_does_after_building_is_done() -> None:
    assert Sorted((1, 2)).values == (1, 2)
    with pytest.raises(AssertionError):
        Sorted((2, 1))


def test_patterns_match_by_position() -> None:
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)
