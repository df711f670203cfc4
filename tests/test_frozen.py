"""Frozen records are dataclasses, whose methods are made when they are first needed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from inspect import signature
from threading import Barrier
from typing import Any

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


def test_a_signature_is_that_of_a_dataclass_before_and_after_the_first_node() -> None:
    @frozen
    class Fresh:
        x: int
        names: list[str] = field(default_factory=list)
        y: int = 0
        shown: bool = field(default=True, kw_only=True)

    @dataclass
    class Standard:
        x: int
        names: list[str] = field(default_factory=list)
        y: int = 0
        shown: bool = field(default=True, kw_only=True)

    wanted = signature(Standard)
    for _ in range(2):
        found = signature(Fresh)
        for name, parameter in wanted.parameters.items():
            assert (found.parameters[name].kind, found.parameters[name].annotation) == (
                parameter.kind,
                parameter.annotation,
            )
        assert list(found.parameters) == list(wanted.parameters)
        assert found.return_annotation == wanted.return_annotation
        assert found.parameters["y"].default == 0
        Fresh(1)


def test_a_child_that_is_no_record_of_its_own_builds_its_parent() -> None:
    @frozen
    class Fresh:
        x: int

    class Child(Fresh):
        def __init__(self) -> None:
            super().__init__(7)

    class Heir(Fresh):
        pass

    assert (Child().x, Heir(8).x, Fresh(x=9).x) == (7, 8, 9)
    assert Heir(8) == Heir(8) != Fresh(8)


def test_threads_that_build_and_compare_the_first_nodes_find_them_equal() -> None:
    for _ in range(20):

        @frozen
        class Fresh:
            x: int
            y: tuple[int, ...] = ()

        barrier = Barrier(4)

        def build(number: int, made: Any = Fresh, together: Barrier = barrier) -> Any:
            together.wait()
            node = made(1, y=(2,))
            hash(node)
            return node

        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(build, range(4)))) == 1


@pytest.mark.parametrize("again", [copy, deepcopy, lambda node: pickle.loads(pickle.dumps(node))])
def test_a_copy_is_equal(again: Callable[[Place], Place]) -> None:
    node = Place(1, 2, ["a"], shown=False)
    assert again(node) == node
    assert asdict(again(node)) == asdict(node)


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
