"""The codes of PMUs: their bit-fields, and those of them that the kernel's driver takes.

Every number in which the codes of PMUs differ stands here.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PERFEVTSEL", "Format", "format_of"]

Field = tuple[str, int, int]  # name, lowest bit, width

# Intel's event select register.
PERFEVTSEL: tuple[Field, ...] = (
    ("event", 0, 8), ("umask", 8, 8), ("usr", 16, 1), ("os", 17, 1), ("edge", 18, 1), ("pc", 19, 1),
    ("int", 20, 1), ("any", 21, 1), ("en", 22, 1), ("inv", 23, 1), ("cmask", 24, 8),
)
# The PMC of an IA-64 counter (csrc/base/processor.h), by the names that Linux's driver has for what it takes.
_IA64: tuple[Field, ...] = (
    ("plm", 0, 4), ("ev", 4, 1), ("oi", 5, 1), ("pm", 6, 1), ("ig1", 7, 1), ("event", 8, 8), ("umask", 16, 4),
    ("thres", 20, 3), ("ig2", 23, 1), ("ism", 24, 2),
)
_IA64_PMC = (*_IA64, ("ig3", 26, 38))
_MONTECITO_PMC = (*_IA64, ("all", 26, 1), ("mesi", 27, 4), ("ig3", 31, 33))


class Format(NamedTuple):
    """The meaning of the bits in the first code of a PMU.

    :ivar register: what the register is called
    :ivar width: its bits
    :ivar fields: of the code, from bit 0; empty: it is a number to the kernel
    :ivar user, kernel: bits that count in user and in kernel mode; 0: the code has none
    :ivar always: fields that ``perf stat -e`` is given even where they are 0
    :ivar terms: those that it is given where they are not 0
    :ivar edge, counter_mask: bits of which the first needs one of the second
    """

    register: str = ""
    width: int = 0
    fields: tuple[Field, ...] = ()
    user: int = 0
    kernel: int = 0
    always: tuple[Field, ...] = ()
    terms: tuple[Field, ...] = ()
    edge: int = 0
    counter_mask: int = 0

    def read(self, code: int) -> dict[str, int]:
        """Return the fields of a code by name."""
        return {name: code >> bit & ((1 << width) - 1) for name, bit, width in self.fields}

    def spelled(self, code: int, extra: int | None = None) -> str:
        """Write the code as ``perf`` takes it, without levels; extra is the value of the second register."""
        terms = [f"{name}={code >> bit & ((1 << width) - 1):#x}" for name, bit, width in self.always]
        for name, bit, width in self.terms:
            if value := code >> bit & ((1 << width) - 1):
                terms.append(name if width == 1 else f"{name}={value:#x}")
        if extra is not None:
            terms.append(f"offcore_rsp={extra:#x}")
        return f"cpu/{','.join(terms)}/"


def _named(fields: tuple[Field, ...], *names: str) -> tuple[Field, ...]:
    return tuple(field for field in fields if field[0] in names)


def _ia64(always: tuple[str, ...], terms: tuple[str, ...], fields: tuple[Field, ...] = _IA64_PMC) -> Format:
    return Format("PMC", 64, fields, 1 << 3, 1 << 0, _named(fields, *always), _named(fields, *terms))


_FORMATS = {
    "glm": Format("IA32_PERFEVTSEL", 32, PERFEVTSEL, 1 << 16, 1 << 17, _named(PERFEVTSEL, "event", "umask"),
                  _named(PERFEVTSEL, "edge", "inv", "cmask"), 1 << 18, 0xFF << 24),
    "gen_ia64": _ia64(("event",), ()),
    "ita": _ia64(("event", "umask"), ("thres",)),
    "ita2": _ia64(("event", "umask"), ("thres",)),
    "mont": _ia64(("event", "umask"), ("thres", "all", "mesi"), _MONTECITO_PMC),
}
_NUMBER = Format()


def format_of(pmu: str) -> Format:
    """Return the format of a PMU's codes; for an unknown PMU, a number without fields."""
    return _FORMATS.get(pmu, _NUMBER)
