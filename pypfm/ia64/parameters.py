"""The parameters of `Pmu.encode`, each once: its type, its default, its description, and what it is in a `Request`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Literal, TypedDict, TypeVar, get_type_hints

from pypfm._c.pfm3 import lib
from pypfm.common.arguments import expect_flag, expect_int, expect_iterable, expect_type
from pypfm.errors import InvalidTypeError, Pfm3Error, nearest
from pypfm.ia64.c_call import MAX_RANGES
from pypfm.ia64.models import MODELS
from pypfm.ia64.request import AddressRange, Btb, Ear, Etb, IpEar, ItaniumBtb, OpcodeMatch, Ranges, address_range
from pypfm.levels import Plm, parse_plm

__all__ = ["Check", "RangeSettings", "Settings", "asked", "range_flags", "spelled_out"]

Check = Literal["manual", "reference"]
RangeLike = AddressRange | tuple[int, int] | tuple[int, int, "int | str"]
MatchLike = OpcodeMatch | int | None
F = TypeVar("F", bound=Callable[..., Any])


class Settings(TypedDict, total=False):
    """The parameters that every PMU takes, besides the events.

    :param plm: default privilege levels: a mask of `Plm`, or text (see `parse_plm`)
    :param system_wide: measure the whole system, not one thread
    :param unavailable_pmcs: PMCs that must not be used
    :param check: "manual" raises where a promise of the manual page would break; "reference"
        does as the C library does
    """

    plm: int | str
    system_wide: bool
    unavailable_pmcs: Iterable[int]
    check: Check


class RangeSettings(Settings, total=False):
    """The parameters of PMUs with ranges, opcode matchers and EARs.

    :param code_ranges: up to 4 (start, end) or (start, end, plm), end exclusive, multiples of 16
    :param data_ranges: up to 4, likewise, at any address
    :param opcode_match: the first matcher, or (first, second): an `OpcodeMatch` each, or a raw value where a matcher is
        one register (`Itanium`, `Itanium2`)
    :param iear: settings of the instruction EAR; without, an EAR event brings its own
    :param dear: settings of the data EAR; likewise
    :param model_input: whether C is given a model-specific input; None: if anything needs it
    :param model_output: whether C is given a model-specific output; None: if there are ranges
    """

    code_ranges: Ranges | Iterable[RangeLike]
    data_ranges: Ranges | Iterable[RangeLike]
    opcode_match: MatchLike | tuple[MatchLike, MatchLike]
    iear: Ear | None
    dear: Ear | None
    model_input: bool | None
    model_output: bool | None


_NOTHING: tuple[Any, ...] = ()  # Python has one
#: The defaults that are not None.
_DEFAULTS: dict[str, Any] = {"plm": Plm.PLM3, "system_wide": False, "unavailable_pmcs": _NOTHING, "check": "manual",
                             "code_ranges": _NOTHING, "data_ranges": _NOTHING}


def spelled_out(*kinds: type) -> Callable[[F], F]:
    """Show ``**settings`` one by one to those who ask a method for its signature or its text.

    :param kinds: the classes that declare them; the last one has all
    """
    described = "\n".join([*(inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[2] for kind in kinds),
                           ":raises Pfm3Error: the request cannot be encoded; the message says which part and why"])
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name), annotation=hint)
        for name, hint in get_type_hints(kinds[-1]).items()]

    def shown(method: F) -> F:
        own = inspect.signature(method)
        vars(method)["__signature__"] = own.replace(parameters=[*list(own.parameters.values())[:-1], *parameters])
        text = inspect.cleandoc(method.__doc__ or "")
        method.__doc__ = re.sub(":param settings: .*", lambda _: described, text)
        return method
    return shown


def _numbers(given: Iterable[int]) -> tuple[int, ...]:
    """Return the PMCs that must not be used; no more are read than there are."""
    taken = tuple(islice(expect_iterable(given, "unavailable_pmcs"), lib.PFMLIB_REG_MAX + 1))
    if len(taken) > lib.PFMLIB_REG_MAX:
        raise Pfm3Error(lib.PFMLIB_ERR_INVAL,
            f"too many unavailable PMCs; register numbers are 0 to {lib.PFMLIB_REG_MAX - 1}")
    return tuple([expect_int(number, "unavailable PMC") for number in taken])


def _ranges(given: Ranges | Iterable[RangeLike]) -> Ranges | None:
    """Return the ranges of a request; None if none were given."""
    if isinstance(given, Ranges):
        return given
    limits = tuple([address_range(limit) for limit in islice(expect_iterable(given, "address ranges"), MAX_RANGES + 1)])
    return Ranges._of(limits=limits, flags=0, used=1) if limits else None


def _matchers(given: MatchLike | tuple[MatchLike, MatchLike]) -> tuple[OpcodeMatch | None, OpcodeMatch | None]:
    both = given if isinstance(given, tuple) else (given, None)
    if len(both) != 2:
        raise InvalidTypeError(f"opcode_match: {len(both)} matchers; there are 2")
    return _matcher(both[0]), _matcher(both[1])


def _matcher(given: MatchLike) -> OpcodeMatch | None:
    if given is None or isinstance(given, OpcodeMatch):
        return given
    if not hasattr(given, "__index__"):
        expect_type(given, (OpcodeMatch, int), "opcode matcher")
    return OpcodeMatch(value=given)


def _flag(name: str) -> tuple[str, Callable[[Any], Any]]:
    return name, partial(expect_flag, what=name)


def _part(name: str, *types: type) -> tuple[str, Callable[[Any], Any]]:
    def read(given: object) -> object:
        expect_type(given, types, name)
        return given
    return name, read


#: Of each setting the field of the request, and what makes the field's value.
_FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "plm": ("plm", parse_plm), "system_wide": _flag("system_wide"),
    "unavailable_pmcs": ("unavailable_pmcs", _numbers), "code_ranges": ("code", _ranges),
    "data_ranges": ("data", _ranges), "opcode_match": ("opcode_match", _matchers),
    "model_input": _flag("model_input"), "model_output": _flag("model_output"),
    "iear": _part("iear", Ear), "dear": _part("dear", Ear),
    "branches": _part("branches", Btb, ItaniumBtb, Etb), "ipear": _part("ipear", IpEar),
}
_PLM = int(Plm.PLM3)
_NO_RANGES = Ranges(())


def asked(kind: type, settings: Mapping[str, Any], flags: int = 0, **parts: object) -> dict[str, Any]:
    """Return the parameters of `encode` by the names of `Request`, without those that have their default.

    :param kind: which settings there are
    :param flags: of the code ranges
    :param parts: the trace buffer and the IP-EAR
    :raises InvalidTypeError: there is no such setting
    """
    known = kind.__annotations__
    if unknown := settings.keys() - known.keys():
        raise InvalidTypeError(f"encode() has no parameter {min(unknown)!r}{nearest(min(unknown), known)}")
    found: dict[str, Any] = {"plm": _PLM}
    for name, given in (*settings.items(), *parts.items()):
        if given is not _DEFAULTS.get(name) and name != "check":
            field, read = _FIELDS[name]
            found[field] = read(given)
    if flags:
        ranges = found.get("code") or _NO_RANGES
        found["code"] = replace(ranges, flags=ranges.flags | flags)
    return found


def range_flags(pmu: str, **given: bool) -> int:
    """Return the flags of code ranges from the parameters that set them, by name."""
    known = MODELS[pmu].range_flags
    return sum(known[name] for name, on in given.items() if expect_flag(on, name))
