"""In which samples of a text or set each test holds, and which samples no test tells apart.

In: tests of one field, and sample values. Out: for each test the mask of the samples in which it holds; cells of
samples that are alike. A program of thousands of rules has thousands of tests and tens of thousands of samples: a test
that only asks for members or for equality is answered for all samples at once, from masks of the samples that have a
member or are a value, and samples are told apart as rows of bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

from ucl.frozen import frozen
from ucl.semantics import program as p
from ucl.semantics.program import Expr

Mask = int
_FEW = 20_000  # samples times tests that are told apart one by one


class Sampled:
    """The samples of one field, asked all at once."""

    def __init__(self, samples: Sequence[Any]) -> None:
        self.samples = samples
        self.all = (1 << len(samples)) - 1
        self._equal: dict[Any, Mask] = {}
        members: dict[Any, list[int]] = {}
        for place, sample in enumerate(samples):
            self._equal[sample] = self._equal.get(sample, 0) | 1 << place
            if isinstance(sample, frozenset):
                for member in sample:
                    members.setdefault(member, []).append(place)
        self._having = {member: _bits(places, len(samples)) for member, places in members.items()}

    def where(self, test: Expr, holds: Callable[[Any], bool]) -> Mask:
        """The samples of which a test of the field holds; `holds` says it of one."""
        known = self._known(test)
        return (
            known
            if known is not None
            else _bits((i for i, s in enumerate(self.samples) if holds(s)), len(self.samples))
        )

    def _known(self, test: Expr) -> Mask | None:
        match test:
            case p.InSet(value=p.Const(value=member), container=p.Variable()):
                return self._having.get(member, 0)
            case p.InSet(value=p.Variable(), container=p.Const(value=frozenset() as listed)):
                return reduce(or_, (self._equal.get(value, 0) for value in listed), 0)
            case (
                p.Compare(operator="==" | "!=" as operator, left=p.Variable(), right=p.Const(value=value))
                | p.Compare(operator="==" | "!=" as operator, left=p.Const(value=value), right=p.Variable())
            ):
                equal = self._equal.get(value, 0)
                return equal if operator == "==" else self.all & ~equal
            case (
                p.Apply(signature=signature, arguments=(p.Variable(), p.Const(value=frozenset() as named)))
                | p.Apply(signature=signature, arguments=(p.Const(value=frozenset() as named), p.Variable()))
            ) if signature.op == "overlaps":
                return reduce(or_, (self._having.get(member, 0) for member in named), 0)
            case p.Apply(signature=signature, arguments=(p.Const(value=frozenset() as named), p.Variable())) if (
                signature.op == "subset"
            ):
                return reduce(and_, (self._having.get(member, 0) for member in named), self.all)
            case _:
                return None


@frozen
class Cells:
    """Samples that are alike: for each cell its first sample's place, and for each test the mask of its cells."""

    first: list[int]
    masks: list[Mask]


def told_apart(count: int, tests: Sequence[Mask]) -> Cells:
    """The cells of so many samples, in the order of their first samples; `tests` are masks of samples."""
    return _one_by_one(count, tests) if count * len(tests) <= _FEW else _packed(count, tests)


def _one_by_one(count: int, tests: Sequence[Mask]) -> Cells:
    first: dict[Mask, int] = {}
    for place in range(count):
        row = sum(1 << number for number, test in enumerate(tests) if test >> place & 1)
        first.setdefault(row, place)
    masks = [sum(1 << cell for cell, row in enumerate(first) if row >> number & 1) for number in range(len(tests))]
    return Cells(list(first.values()), masks)


def _packed(count: int, tests: Sequence[Mask]) -> Cells:
    import numpy as np

    rows = np.zeros((count, -(-len(tests) // 8)), np.uint8)
    size = -(-count // 8)

    def column(test: Mask) -> Any:
        return np.unpackbits(np.frombuffer(test.to_bytes(size, "little"), np.uint8), count=count, bitorder="little")

    for number, test in enumerate(tests):
        rows[:, number // 8] |= column(test) << (number % 8)
    whole = rows.view([("", np.void, rows.shape[1])]).ravel()
    first = np.sort(np.unique(whole, return_index=True)[1])
    packed = (np.packbits(column(test)[first], bitorder="little").tobytes() for test in tests)
    return Cells(first.tolist(), [int.from_bytes(mask, "little") for mask in packed])


def _bits(places: Iterable[int], count: int) -> Mask:
    """As many single bits as there are, without a long number for each."""
    found = bytearray(-(-count // 8))
    for place in places:
        found[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(found, "little")
