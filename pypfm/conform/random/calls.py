"""Random calls of the other functions of libpfm 3: lookups, names, codes, masks, numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypfm.conform.random.source import mixed_case, mutated

if TYPE_CHECKING:
    from collections.abc import Callable

    from pypfm.conform.model import Json, Vector
    from pypfm.conform.random.source import Source
    from pypfm.ia64 import Event, Pmu

__all__ = ["Calls"]

_ODD_INDICES = (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
# Some are the code of an event when they are cut to an int.
_ODD_NUMBERS = ("0", "08", "0x", "12x", "0x7fffffff", "2147483648", "4294967304", "0x100000012", "18446744073709551616",
                "-1", "+1")
_MASKS = ("I", "S", "E", "M")
_ODD_MASKS = ("", "X", "MM", "0", "1", "3", "4", "5", "07", "0x2", "0xff", "-1", "M ", "18446744073709551615", "IS")
_SIZES = (0, 1, 2, 3, 8, 16, 32, 64, 128, 256)
_MASK_SIZES = (0, 1, 2, 3, *_SIZES)  # most unit masks are one letter
# Functions with many rules: their turn comes twice.
_OFTEN = ("pfm_find_event", "pfm_find_event_mask", "pfm_find_full_event", "pfm_get_event_mask_name",
          "pfm_get_full_event_name")
_STATELESS = ("pfm_strerror", "pfm_get_version", "pfm_get_pmu_name_bytype")


class Calls:
    """Calls on one PMU; each function in turn."""

    def __init__(self, pmu: Pmu, rng: Source) -> None:
        self.pmu, self.rng = pmu, rng
        self.masked = [e for e in pmu.events if e.unit_masks]
        self.functions: dict[str, Callable[[], list[Json]]] = {
            "pfm_find_event": lambda: [self.event_text()],
            "pfm_find_event_byname": lambda: [self.event_text()],
            "pfm_find_event_bycode": lambda: [self.code()],
            "pfm_find_event_bycode_next": self.code_next,
            "pfm_find_event_mask": lambda: [self.masked_index(), self.mask_text()],
            "pfm_find_full_event": lambda: [self.full_text()],
            "pfm_get_event_name": self.event_name,
            "pfm_get_event_mask_name": lambda: [self.masked_index(), self.mask(), self.rng.choice(_MASK_SIZES)],
            "pfm_get_full_event_name": self.full_name,
            "pfm_get_event_code": lambda: [self.index()],
            "pfm_get_event_code_counter": lambda: [self.index(), self.counter()],
            "pfm_get_event_mask_code": lambda: [self.masked_index(), self.mask()],
            "pfm_get_num_event_masks": lambda: [self.masked_index()],
            "pfm_get_event_counters": lambda: [self.index()],
            "pfm_get_event_description": lambda: [self.index()],
            "pfm_get_event_mask_description": lambda: [self.masked_index(), self.mask()],
            "pfm_is_pmu_supported": lambda: [self.rng.randrange(-1, 8)],
            "pfm_get_pmu_name": lambda: [self.size(len(self.pmu.model_name))],
            "pfm_get_pmu_name_bytype": lambda: [self.rng.randrange(-1, 8), self.size(len(self.pmu.model_name))],
            "pfm_strerror": lambda: [self.rng.randrange(-30, 3)],
            **dict.fromkeys((
                "pfm_get_impl_pmcs", "pfm_get_impl_pmds", "pfm_get_impl_counters", "pfm_get_num_events",
                "pfm_get_num_pmcs", "pfm_get_num_pmds", "pfm_get_num_counters", "pfm_get_hw_counter_width",
                "pfm_get_max_event_name_len", "pfm_get_version", "pfm_get_pmu_type", "pfm_get_cycle_event",
                "pfm_get_inst_retired_event"), list),
        }

    def vector(self, n: int) -> Vector:
        """Return the n-th call: of the function whose turn it is; a few come before pfm_initialize()."""
        # Functions without arguments have one answer: they come in every tenth round.
        tenth = n // len(self.functions) % 10 == 0
        names = [name for name, make in self.functions.items() if make is not list or tenth] + [*_OFTEN]
        name = names[n % len(names)]
        before = self.rng.chance(0.3 if name in _STATELESS else 0.03)
        return {"pmu": None if before else self.pmu.name, "call": name, "args": self.functions[name]()}

    # ---- arguments ----

    def an_event(self) -> Event:
        return self.rng.choice(self.masked if self.masked and self.rng.chance(0.3) else self.pmu.events)

    def index(self) -> int:
        """Return an event index, sometimes beyond the table."""
        if self.rng.chance(0.1):
            return self.rng.choice([len(self.pmu), len(self.pmu) + 1, *_ODD_INDICES])
        return self.rng.randrange(len(self.pmu))

    def masked_index(self) -> int:
        """Return an event index, often of an event with unit masks."""
        return self.rng.choice(self.masked).index if self.masked and self.rng.chance(0.75) else self.index()

    def mask(self) -> int:
        return self.rng.randrange(4) if self.rng.chance(0.8) else self.rng.choice([4, 5, 47, 48, *_ODD_INDICES])

    def code(self) -> int:
        """Return an event code, mostly one that exists."""
        if self.rng.chance(0.7):
            return self.an_event().code
        return self.rng.choice([-1, 0, 255, 256, self.rng.randrange(300)])

    def code_next(self) -> list[Json]:
        """Return a code, and the index after which it is looked for; often that of an event with the code."""
        event = self.an_event()
        return [event.code, event.index] if self.rng.chance(0.5) else [self.code(), self.index()]

    def counter(self) -> int:
        """Return the number of a counter, sometimes of a register next to the counters."""
        first, last = self.pmu.counters[0], self.pmu.counters[-1]
        near = [0xFFFFFFFF, first - 1, first, last, last + 1]
        return self.rng.choice(near) if self.rng.chance(0.6) else self.rng.randrange(last + 3)

    def size(self, length: int) -> int:
        """Return the size of a buffer for a text: enough, just enough, or too little."""
        if self.rng.chance(0.25):
            return self.rng.choice(_SIZES)
        return max(0, length + self.rng.randint(-1, 3))

    def event_text(self) -> str:
        """Return a name, perhaps with something after it, or a number."""
        event, choice = self.an_event(), self.rng.random()
        if choice < 0.1:
            return self.rng.choice([hex(event.code), str(event.code), f"0{event.code:o}"])
        if choice < 0.25:
            return self.rng.choice(_ODD_NUMBERS)
        name = mixed_case(self.rng, event.name)
        if choice < 0.33:
            return name[:self.rng.randrange(len(name) + 1)]
        if choice < 0.45:
            return name + self.rng.choice([":", ":M", ":M:", "::", "X", " "])
        return self.ascii(mutated(self.rng, name)) if choice < 0.55 else name

    @staticmethod
    def ascii(text: str) -> str:
        """Remove characters that Python would encode in more than one way."""
        return text.encode("ascii", "ignore").decode()

    def mask_text(self) -> str:
        return mixed_case(self.rng, self.rng.choice(_MASKS)) if self.rng.chance(0.6) else self.rng.choice(_ODD_MASKS)

    def full_text(self) -> str:
        """Return NAME:MASK:MASK, often a valid one."""
        event = self.rng.choice(self.masked) if self.masked and self.rng.chance(0.7) else self.an_event()
        count = self.rng.randint(1, 5) if event.unit_masks else self.rng.choice([0, 0, 1])
        masks = [self.rng.choice(_ODD_MASKS) if self.rng.chance(0.2) else self.rng.choice(_MASKS) for _ in range(count)]
        text = ":".join([mixed_case(self.rng, event.name), *masks])
        return self.ascii(mutated(self.rng, text)) if self.rng.chance(0.1) else text

    def event_name(self) -> list[Json]:
        index = self.index()
        length = len(self.pmu.events[index].name) if index < len(self.pmu) else 10
        return [index, self.size(length)]

    def full_name(self) -> list[Json]:
        index = self.masked_index()
        event = self.pmu.events[index] if index < len(self.pmu) else None
        right = event is not None and event.unit_masks and self.rng.chance(0.9)
        count = self.rng.randint(1, 4) if right else self.rng.choice([0, 0, 1])
        masks: list[Json] = [self.rng.randrange(4) if self.rng.chance(0.95) else self.mask() for _ in range(count)]
        return [index, masks, self.size((len(event.name) if event else 0) + 2 * count)]
