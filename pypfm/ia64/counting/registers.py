"""Writing and reading the registers of a context."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from pypfm.ia64.counting.calls import call, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pypfm.ia64.counting.sets import EventSet, Member
    from pypfm.ia64.pmu import Pmu

__all__ = ["create", "info", "read", "write"]

T = TypeVar("T")
_LIMIT = 16384  # bytes that one call takes
_TOP = 1 << 64


def _chunks(items: Iterable[T], ctype: str) -> Iterator[list[T]]:
    """Split items into arrays, each of which fits into one call."""
    rest = iter(items)
    while chunk := list(islice(rest, _LIMIT // ffi.sizeof(ctype))):
        yield chunk


def create(pmu: Pmu, buffer_size: int, about: str, *, system_wide: bool) -> int:
    """Make a context of a PMU, whatever PMU is selected in libpfm.

    :param buffer_size: bytes of the sampling buffer; 0: none
    :param about: what the context is, for the messages
    :return: its descriptor
    """
    sampling = ffi.new("pfm_dfl_smpl_arg_t *", {"buf_size": buffer_size}) if buffer_size else ffi.NULL
    flags = lib.PFM_FL_SYSTEM_WIDE if system_wide else 0
    return call("pfm_create_context", about, pmu._type, flags, sampling, function="pypfm_perfmon2_create")


def _vector(numbers: Iterable[int]) -> list[int]:
    """Return a bit vector of registers."""
    words = [0] * lib.PFM_PMD_BV
    for number in numbers:
        words[number // 64] |= 1 << number % 64
    return words


def write(fd: int, sets: Sequence[EventSet], about: str, *, notify: bool, random_mask: int) -> None:
    """Make the sets and write their registers.

    :param notify: whether overflows are messages
    """
    _call_with(fd, "pfm_create_evtsets", "pfarg_setdesc_t", [_description(s) for s in sets], about)
    pmcs = [{"reg_num": number, "reg_set": s.number, "reg_value": value}
            for s in sets for number, value in s.pmcs.items()]
    _call_with(fd, "pfm_write_pmcs", "pfarg_pmc_t", pmcs, about)
    pmds = [_buffer(s, number) for s in sets for number in s.buffers]
    pmds += [_counter(s, member, notify=notify, random_mask=random_mask) for s in sets for member in s.members]
    _call_with(fd, "pfm_write_pmds", "pfarg_pmd_t", pmds, about)


def _call_with(fd: int, name: str, ctype: str, elements: list[dict[str, Any]], about: str) -> None:
    for chunk in _chunks(elements, ctype):
        call(name, about, fd, ffi.new(f"{ctype}[]", chunk), len(chunk))


def _description(one: EventSet) -> dict[str, Any]:
    how = one.switching
    flags = lib.PFM_SETFL_TIME_SWITCH if how.timeout else lib.PFM_SETFL_OVFL_SWITCH if how.overflows else 0
    return {"set_id": one.number, "set_flags": flags, "set_timeout": how.timeout}


def _buffer(one: EventSet, number: int) -> dict[str, Any]:
    return {"reg_num": number, "reg_set": one.number}


def _counter(one: EventSet, member: Member, *, notify: bool, random_mask: int) -> dict[str, Any]:
    found: dict[str, Any] = {"reg_num": member.counter, "reg_set": one.number}
    if member.period:
        start = _TOP - member.period
        found |= {"reg_value": start, "reg_long_reset": start, "reg_short_reset": start,
                  "reg_ovfl_switch_cnt": one.switching.overflows, "reg_random_mask": random_mask,
                  "reg_smpl_pmds": _vector(one.sampled(member)), "reg_reset_pmds": _vector(one.reset()),
                  "reg_flags": (lib.PFM_REGFL_OVFL_NOTIFY if notify else 0)
                  | (lib.PFM_REGFL_RANDOM if random_mask else 0)}
    return found


def read(fd: int, sets: Sequence[EventSet], about: str, elsewhere: str) -> dict[tuple[int, int], tuple[int, int]]:
    """Read value and last reset value of the data registers, by set and number.

    :param elsewhere: why another thread is refused
    """
    wanted = [(s.number, number) for s in sets for number in (*(m.counter for m in s.members), *s.buffers)]
    found = {}
    for chunk in _chunks(wanted, "pfarg_pmd_t"):
        pmds: Any = ffi.new("pfarg_pmd_t[]", [{"reg_num": number, "reg_set": of_set} for of_set, number in chunk])
        call("pfm_read_pmds", about, fd, pmds, len(chunk), elsewhere=elsewhere)
        for key, pmd in zip(chunk, pmds, strict=True):
            found[key] = int(pmd.reg_value), int(pmd.reg_last_reset_val)
    return found


def info(fd: int, sets: Sequence[EventSet], about: str) -> list[tuple[int, int]]:
    """Return how often each set became active, and for how many nanoseconds."""
    found = []
    for chunk in _chunks(sets, "pfarg_setinfo_t"):
        infos: Any = ffi.new("pfarg_setinfo_t[]", [{"set_id": one.number} for one in chunk])
        call("pfm_getinfo_evtsets", about, fd, infos, len(chunk))
        found += [(int(one.set_runs), int(one.set_act_duration)) for one in infos]
    return found
