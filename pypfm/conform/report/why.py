"""Reasons why a recorded call fails: what the Pythonic layer says of the same request."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pypfm import perf
from pypfm._c.convert import string
from pypfm.conform.vectors import PMU_IDS, environment, pmu_of
from pypfm.conform.worker.library import api_module
from pypfm.errors import Pfm3Error, Pfm4Error, PfmError
from pypfm.ia64.models import MODELS
from pypfm.ia64.pmu import pmu_of as ia64_pmu_of
from pypfm.ia64.request import AddressRange, Btb, Ear, Etb, EventRequest, IpEar, ItaniumBtb, OpcodeMatch, Ranges

if TYPE_CHECKING:
    from pypfm.conform.model import Vector
    from pypfm.perf.events import Os

__all__ = ["keywords", "pmu_for", "why"]

# Member and class of the trace buffer, by the tag of a model.
_BUFFERS: dict[str, tuple[str, type]] = {"ita2": ("btb", Btb), "mont": ("etb", Etb), "ita": ("btb", ItaniumBtb)}
_PARTS = {"counters", "irange", "drange", "pmc8", "pmc9", "opcm1", "opcm2", "iear", "dear", "btb", "etb", "ipear"}


def why(api: str, vector: Vector, code: int) -> str:
    """Return the reason for a return code: the part of the request at fault if that is known, else the code's meaning.

    :param api: pfm3, pfm3-manual or pfm4
    :param vector: the call
    :param code: its return code, negative
    """
    try:
        if vector["kind"] == "dispatch":
            pmu_for(vector).encode(**keywords(vector))
        elif vector["kind"] == "encode" and pmu_of(vector) in _pmus4():
            _pmus4()[pmu_of(vector)].encode(str(vector["event"]), plm=cast(int, vector["dfl_plm"]),
                                            os=cast("Os", vector["os"]), check="reference")
    except (Pfm3Error, Pfm4Error) as error:
        if error.code == code:  # else it is something that the Pythonic layer does not have, as struct sizes
            return str(error)
    except (PfmError, ValueError):
        pass
    _, lib = api_module(api)
    return string(lib.pfm_strerror(code))


_pmu3 = cache(ia64_pmu_of)


@cache
def _pmus4() -> dict[str, perf.Pmu]:
    return {name: perf.Pmu(name) for name in PMU_IDS if name != "perf_raw"}


def pmu_for(vector: Vector) -> Any:
    """Return the PMU of a request, detected or forced as the vector says: a `Pmu` of pypfm.ia64.pmu."""
    cpuid3 = environment(vector).get("LIBPFM_IA64_CPUID3")
    return _pmu3(str(vector["pmu"]), None if cpuid3 is None else int(cpuid3, 0))


# ---- a request as arguments of encode() ---------------------------------------------

def keywords(vector: Vector) -> dict[str, Any]:
    """Return the arguments of encode() for a vector of kind ``dispatch``.

    :raises ValueError: the Pythonic layer has nothing to say it with
    """
    pmu_model, given = MODELS[str(vector["pmu"])], vector.get("model_in")
    prefix = f"pfp_{pmu_model.tag}_"
    model: dict[str, Any] = {name.removeprefix(prefix): value for name, value in cast("Vector", given or {}).items()}
    flags = vector.get("pfp_flags", 0)
    if set(model) - _PARTS or flags not in (0, 1):
        raise ValueError(f"not expressible: {sorted(set(model) - _PARTS)}, pfp_flags {flags}")
    arguments: dict[str, Any] = {
        "events": _events(cast("list[dict[str, Any]]", vector["events"]), model.get("counters", [])),
        "plm": vector.get("dfl_plm", 0), "system_wide": bool(flags),
        "unavailable_pmcs": vector.get("unavail_pmcs", ()), "check": "reference",
    }
    if not pmu_model.has_structures:
        return arguments
    matchers = ("pmc8", "pmc9") if pmu_model.has_raw_matchers else ("opcm1", "opcm2")
    buffer, branches = _BUFFERS[pmu_model.tag]
    arguments |= {
        "model_input": given is not None, "model_output": bool(vector.get("model_out")),
        "code_ranges": _ranges(model.get("irange")), "data_ranges": _ranges(model.get("drange")),
        "iear": _part(Ear, model.get("iear")), "dear": _part(Ear, model.get("dear")),
        "opcode_match": tuple(_matcher(model.get(name)) for name in matchers),
        buffer: _part(branches, model.get(buffer)),
    }
    if pmu_model.ipear:
        arguments["ipear"] = _part(IpEar, model.get("ipear"))
    return arguments


def _events(rows: list[dict[str, Any]], counters: list[dict[str, Any]]) -> list[EventRequest]:
    own = counters + [{}] * (len(rows) - len(counters))
    return [EventRequest(row["event"], plm=row.get("plm", 0), unit_masks=row.get("unit_masks", ()),
                         threshold=counter.get("thres", 0), ism=counter.get("ism", 0), flags=counter.get("flags", 0))
            for row, counter in zip(rows, own, strict=False)]


def _number(value: int | str) -> int:
    return int(value, 0) if isinstance(value, str) else value


def _without_prefix(struct: dict[str, Any]) -> dict[str, int]:
    """Return {"ear_mode": 1, ...} as {"mode": 1, ...}."""
    return {name.partition("_")[2]: _number(value) for name, value in struct.items()}


def _ranges(struct: dict[str, Any] | None) -> Ranges | tuple[()]:
    if struct is None:
        return ()
    limits = tuple(AddressRange(_number(r.get("rr_start", 0)), _number(r.get("rr_end", 0)), _number(r.get("rr_plm", 0)))
                   for r in struct.get("rr_limits", []))
    return Ranges(limits, struct.get("rr_flags", 0), struct.get("rr_used", 0))


def _matcher(struct: dict[str, Any] | None) -> OpcodeMatch | None:
    if struct is None:
        return None
    fields = _without_prefix(struct)
    if "val" in fields:
        return OpcodeMatch(value=fields["val"], used=fields.get("used", 0))
    return OpcodeMatch(**{"m": 0, "i": 0, "f": 0, "b": 0, "used": 0, **fields})


def _part(cls: type, struct: dict[str, Any] | None) -> Any:
    """Convert a part of the model's input to an object of the Pythonic layer."""
    if struct is None:
        return None
    zero = {f.name: 0 for f in fields(cls)} if cls in (Btb, Etb, ItaniumBtb) else {"used": 0}
    return cls(**{**zero, **_without_prefix(struct)})
