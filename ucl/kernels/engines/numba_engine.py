"""Scores by compiled loops: the engine, and its kernel's way from and to the disk. This module imports numba.

In and out: as `engine.Engine` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import caching, serialize
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numpy.typing import NDArray

from ucl.kernels.engines import kernel_cache
from ucl.kernels.engines.blocks import driver, listing
from ucl.kernels.engines.blocks import opcodes as op
from ucl.kernels.engines.engine import Fill, Keep, Kept, Results
from ucl.kernels.engines.tape import Tape, address_of, room_address
from ucl.kernels.engines.writing import write, write_kept
from ucl.kernels.execution.masks import Ints, Words, words_for
from ucl.kernels.execution.schedules import Binding, Execution
from ucl.kernels.plan import Plan, Schedule
from ucl.semantics.outcome import MAGNITUDE, NANO
from ucl.semantics.types import DAY

# Rows that go through all steps together: their masks and values stay near the processor.
_BLOCK, _LEAST_BLOCK = 4096, 512
_MOST_MASK_BYTES = 1 << 23

KERNELS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "run": (numba.njit(nogil=True, boundscheck=False, error_model="numpy")(driver.run), (driver.SIGNATURE,)),
    "list": (numba.njit(nogil=True, boundscheck=False)(listing.list_masks), (listing.LISTS,)),
    "amounts": (numba.njit(nogil=True, boundscheck=False)(listing.amounts_of), (listing.AMOUNTS,)),
}
"""Each kernel's dispatcher and signatures, by name. Never `fastmath`: sums are whole numbers, comparisons exact."""


def _block_for(masks: int) -> int:
    """Fewer rows at once where a block's masks would fill the memory near the processor many times over."""
    block = _BLOCK
    while block > _LEAST_BLOCK and masks * block // 8 > _MOST_MASK_BYTES:
        block //= 2
    return block


class Compiled:
    """`Engine` by numba: a tape for each table, run over ranges of its rows."""

    name = "numba"
    rows_at_once = 1 << 16

    def start(self, plan: Plan, binding: Binding, results: Results, block_rows: int | None) -> Fill:
        rows = min(block_rows or _block_for(plan.scoring.rows), max(len(results.total), 1))
        tape = write(plan, binding, results, -(-min(rows, _BLOCK) // 64) * 64)
        foreign = _foreign_schedule(plan, tape)
        if foreign is not None:  # NumPy is not to meet what is out of bounds
            results.outside[0] = not all(each.hold() for each in binding.bounds)
        rooms: list[NDArray[Any]] = []  # those that no thread uses at the moment

        def fill(start: int, stop: int) -> None:
            room = rooms.pop() if rooms else tape.room()
            slots, kept = _with_foreign(tape, binding, foreign, start, stop)
            _run(tape, slots, binding, room, start, stop)
            del kept
            rooms.append(room)

        return fill

    def keep(self, plan: Plan, binding: Binding) -> Keep:
        def keep(start: int, stop: int) -> Kept:
            # The tape is written anew, since it names where things are kept: little, beside so many rows.
            kept = Kept(
                np.empty((len(plan.outcomes.told), words_for(stop - start)), np.uint64),
                np.empty((len(plan.varying), stop - start), np.int64),
            )
            block = min(_block_for(plan.detailed.rows), max(stop - start, 1))
            tape = write_kept(plan, binding, kept, -(-block // 64) * 64)
            slots, foreign = _with_foreign(tape, binding, _foreign_schedule(plan, tape), start, stop)
            _run(tape, _from_row(slots, start), binding, tape.room(), start, stop)
            del foreign
            return kept

        return keep

    def lists(self, masks: Words, rows: int) -> tuple[Ints, NDArray[np.int32]]:
        ends = np.empty(rows + 1, np.int64)
        numbers = np.empty(int(np.bitwise_count(masks).sum()), np.int32)
        KERNELS["list"][0](masks, rows, ends, numbers)
        return ends, numbers

    def amounts(self, ends: Ints, numbers: NDArray[np.int32], constants: Ints, places: Ints, values: Ints) -> Ints:
        added = np.empty(len(numbers), np.int64)
        KERNELS["amounts"][0](ends, numbers, constants, places, values, added)
        return added


def _run(
    tape: Tape, slots: NDArray[np.int64], binding: Binding, room: NDArray[np.int64], start: int, stop: int
) -> None:
    zone = binding.zone
    KERNELS["run"][0](
        tape.steps,
        slots,
        tape.constants,
        tape.constants.view(np.float64),
        zone.transitions,
        zone.offsets,
        room_address(room),
        tape.block,
        start,
        stop,
    )


def _from_row(slots: NDArray[np.int64], start: int) -> NDArray[np.int64]:
    """The slots, where what is written begins with this row instead of the table's first."""
    slots = slots.copy()
    results, kept = slots[:, 2] == op.RESULT, slots[:, 2] == op.KEPT
    slots[results, 0] -= start * slots[results, 1]
    slots[kept, 0] -= start // 64 * 8
    return slots


def _foreign_schedule(plan: Plan, tape: Tape) -> Schedule | None:
    from ucl.kernels.lowering.schedule import schedule

    return schedule(plan.graph, (), tape.foreign) if tape.foreign else None


def _with_foreign(
    tape: Tape, binding: Binding, foreign: Schedule | None, start: int, stop: int
) -> tuple[NDArray[np.int64], list[NDArray[Any]]]:
    """The tape's slots with the addresses of what NumPy computes for these rows, and the arrays that stand there."""
    if foreign is None:
        return tape.slots, []
    slots, kept = tape.slots.copy(), []
    execution = Execution(binding, foreign, start, stop)
    nowhere = np.zeros(stop - start, np.bool_)
    for value, asked in tape.foreign.items():
        vector = execution.vector(value)
        parts = {
            asked.value: vector.values,
            asked.holds: vector.values,
            asked.over: vector.over,
            asked.missing: vector.missing,
        }
        for slot, rows in parts.items():
            if slot < 0:
                continue
            column = np.ascontiguousarray(np.broadcast_to(nowhere if rows is None else rows, nowhere.shape))
            assert column.itemsize == slots[slot, 1]
            slots[slot, 0] = address_of(column) - start * column.itemsize
            kept.append(column)
    return slots, kept


# --- compiling ------------------------------------------------------------------------------------------------------


class _Cache(caching.NullCache):  # type: ignore[misc]
    """`kernel_cache`, as numba's dispatchers ask for it. A kernel depends on the processor, too."""

    def __init__(self, name: str, on_compile: Callable[[], None]) -> None:
        self._name = name
        self._on_compile = on_compile
        self.kept = True

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        # What kernels may call; the rest of what compiling needs takes ten times as long as loading them, and isn't.
        rtsys.initialize(target_context)
        reduced = kernel_cache.read(self._name, _depends_on(sig, target_context.codegen()))
        if reduced is not None:
            try:
                return CompileResult._rebuild(target_context, *reduced)
            except Exception:  # made by another world
                pass
        self._on_compile()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        self.kept &= kernel_cache.write(self._name, _depends_on(sig, data.codegen), serialize.dumps(data._reduce()))


def _depends_on(signature: Any, codegen: Any) -> str:
    constants = (MAGNITUDE, NANO, DAY)  # other modules' constants that kernels hold
    return f"{signature} {codegen.magic_tuple()} {llvmlite.__version__} {constants}"


Kernels = Mapping[str, tuple[Any, tuple[Any, ...]]]


def load_kernels(on_compile: Callable[[], None] | None = None) -> None:
    """Loads the engine's kernel from the cache, or compiles it; `on_compile` is called before that."""
    if load_all(KERNELS, on_compile):
        kernel_cache.mark_ready()


def load_all(kernels: Kernels, on_compile: Callable[[], None] | None = None) -> bool:
    """Loads kernels from the cache, or compiles them; `on_compile` is called before the first that is compiled.

    Whether the next process will find them all.
    """
    waiting = [] if on_compile is None else [on_compile]
    all_kept = True
    for name, (dispatcher, signatures) in kernels.items():
        cache = _Cache(name, lambda: waiting.pop()() if waiting else None)
        dispatcher._cache = cache
        for signature in signatures:
            dispatcher.compile(signature)
        dispatcher.disable_compile()
        all_kept &= cache.kept
    return all_kept
