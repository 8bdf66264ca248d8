"""What the executed instructions did, beside what callgrind counts: each instruction's effect times its count."""

from __future__ import annotations

from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from pypfm.perfex.backends.valgrind.instructions import Instruction, Objects
from pypfm.perfex.profile import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pypfm.perfex.backends.valgrind.profile import Part
    from pypfm.perfex.backends.valgrind.records import Layout

__all__ = ["COUNTERS", "extend", "of"]

#: What is counted here, by our names: floating-point operations; prefetches; loads of instructions that store to the
#: same address, which callgrind counts as stores only; those that an R10000 does not issue; conditional branches.
COUNTERS = ("Flops", "Pf", "Drm", "Idle", "Bcb")


def of(counts: Mapping[str, int], instruction: Instruction | None) -> list[int]:
    """The counts of an instruction, in the order of `COUNTERS`.

    :param counts: callgrind's
    :param instruction: None: not known; it is taken for one that is issued, and as callgrind counts it
    """
    times, conditions = counts.get("Ir", 0), counts.get("Bc", 0)
    if instruction is None:
        return [0, 0, 0, 0, conditions]
    # A LOCK instruction has its load counted: valgrind takes it for a load, and a store that may fail.
    loads = counts.get("Dw", 0) * instruction.loads // instruction.stores if instruction.modifies else 0
    return [times * (instruction.flops or 0), times * instruction.prefetch, max(0, loads - counts.get("Dr", 0)),
            times * (not instruction.issued), conditions if instruction.branch == "conditional" else 0]


def extend(part: Part, objects: Objects, layout: Layout) -> tuple[int, int]:
    """Add the counters to a part, its places and its totals.

    :param layout: of the process: callgrind knows no object of code that is not in a section .text or .plt
    :return: how many executions were of instructions of which nothing is known, or not their operations; and how many
        of masked moves
    """
    sums, unread, masked = [0] * len(COUNTERS), 0, 0
    for place, counts in part.code.items():
        known = dict(zip(part.names, counts, strict=True))
        path = place.function.object
        instruction = layout.find(place.address) if path == UNKNOWN else objects.at(Path(path), place.address)
        more = of(known, instruction)
        if instruction is None or instruction.flops is None:
            unread += known.get("Ir", 0)
        elif instruction.masked:
            masked += known.get("Ir", 0)
        counts.extend(more)
        sums = [*map(add, sums, more)]
    part.names += COUNTERS
    part.totals |= dict(zip(COUNTERS, sums, strict=True))
    return unread, masked
