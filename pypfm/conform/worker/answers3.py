"""The calls of libpfm 3 that vectors describe, made on a library.

Works for both layouts of the structures: everything about them is asked of the extension module's ffi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pypfm._c.loading import MissingFunctionError
from pypfm.conform.vectors import TAGS
from pypfm.conform.worker.library import Given, Guarded, Lasting, bytes_of, text_at

if TYPE_CHECKING:
    from _cffi_backend import FFI

    from pypfm._c.loading import Functions
    from pypfm.conform.model import Json, Vector

__all__ = ["Library3"]

_UNSIGNED_INT = 1 << 32
_SHORTEST_DESCRIPTION = 8  # characters
_NAME_ROOM = 256  # bytes for the name of an event or a unit mask
# Calls that would change what later calls return.
_STATEFUL = ("pfm_force_pmu", "pfm_initialize", "pfm_set_options", "pfm_start", "pfm_stop")


class Library3:
    """A libpfm 3 under test.

    :param ffi: of pypfm._c.pfm3 or pypfm._c.pfm3_manual
    :param functions: of the library
    :param lasting: notes the strings that have to stay
    :param descriptions: return descriptions as they are, not just whether there is one
    """

    def __init__(self, ffi: FFI, functions: Functions, lasting: Lasting, descriptions: bool = False) -> None:
        self._ffi, self._functions, self._descriptions = cast(Any, ffi), functions, descriptions
        self._lasting = lasting
        self._memory: dict[str, Given] = {}

    def answer(self, vector: Vector) -> Json:
        """Make the call of a vector.

        :return: what came back, in the form of ``expect``
        :raises MissingFunctionError: the library does not export the function
        """
        self._ffi.errno = 0  # what one call leaves there, another one may look at
        kind = vector["kind"]
        if "long" in vector:
            self._functions.pfm_force_pmu(getattr(self._functions.lib, f"PFMLIB_{str(vector['pmu']).upper()}_PMU"))
        if kind == "dispatch":
            return self._dispatch(vector)
        if kind in ("call", "start"):
            if kind == "call" and vector["call"] in _STATEFUL:
                raise ValueError(f"{vector['call']}() would change what later calls answer")
            return self._call(str(vector["call"]), cast("list[Any]", vector["args"]))
        return self._query(str(vector["pmu"]), cast(int, vector["index"]))

    # ---- pfm_dispatch_events() ----

    def _dispatch(self, vector: Vector) -> Json:
        ffi, tag = self._ffi, TAGS.get(str(vector["pmu"]))  # of the generic PMU none: it has no structures
        request = self._request(cast("dict[str, Any]", vector))
        if isinstance(request, dict):
            return cast("Json", request)
        given = vector.get("model_in")
        model_in = None if given is None else self._given(f"pfmlib_{tag}_input_param_t", _numbers(given))
        out = Guarded(ffi, ffi.typeof("pfmlib_output_param_t"))
        # The caller has to zero this one: ranges are added to those that are there.
        model = Guarded(ffi, ffi.typeof(f"pfmlib_{tag}_output_param_t"), fill=0) if vector.get("model_out") else None
        ret = self._functions.pfm_dispatch_events(
            request.pointer, model_in.pointer if model_in else ffi.NULL,
            out.pointer, model.pointer if model else ffi.NULL)
        got: dict[str, Json] = {"ret": ret}
        if ret == 0:
            got["pmcs"] = _registers(out.pointer.pfp_pmcs, out.pointer.pfp_pmc_count)
            got["pmds"] = _registers(out.pointer.pfp_pmds, out.pointer.pfp_pmd_count, with_value=False)
            for name, count in (("pmcs", out.pointer.pfp_pmc_count), ("pmds", out.pointer.pfp_pmd_count)):
                array = getattr(out.pointer, f"pfp_{name}")
                rest = ffi.buffer(array)[count * ffi.sizeof(ffi.typeof(array).item):]
                if rest != bytes(len(rest)):
                    got[f"{name} beyond the count"] = "written"
            if model:
                got["drange"] = _ranges(getattr(model.pointer, f"pfp_{tag}_drange"))
                got["irange"] = _ranges(getattr(model.pointer, f"pfp_{tag}_irange"))
                if tag != "ita":  # has no fine mode
                    got["fine"] = getattr(self._functions, f"pfm_{tag}_irange_is_fine")(out.pointer, model.pointer)
        if out.overrun or (model and model.overrun):
            got["overrun"] = True
        if request.changed or (model_in and model_in.changed):
            got["input changed"] = True
        return got

    def _request(self, vector: dict[str, Any]) -> Any:
        """Return the generic input of a call; if an event cannot be found, a dict, which is the answer."""
        rows = []
        for event in vector["events"]:
            index = self._ffi.new("unsigned int *")
            if ret := self._functions.pfm_find_event(bytes_of(event["event"]), index):
                return {"ret": ret, "at": f"pfm_find_event {event['event']}"}
            masks = event.get("unit_masks", [])
            rows.append({"event": index[0], "plm": event.get("plm", 0), "unit_masks": masks, "num_masks": len(masks)})
        ctype, width = "pfmlib_input_param_t", 8 * self._ffi.sizeof("pfmlib_regmask_bits_t")
        unavailable = [0] * (8 * self._ffi.sizeof("pfmlib_regmask_t") // width)
        for n in vector.get("unavail_pmcs", []):
            unavailable[n // width] |= 1 << (n % width)
        return self._given(ctype, {
            "pfp_event_count": len(rows), "pfp_dfl_plm": vector.get("dfl_plm", 0),
            "pfp_flags": vector.get("pfp_flags", 0), "pfp_events": rows, "pfp_unavail_pmcs": {"bits": unavailable}},
            self._ffi.offsetof(ctype, "pfp_events") + len(rows) * self._ffi.sizeof("pfmlib_event_t"))

    def _given(self, ctype: str, values: Any, used: int | None = None) -> Given:
        """Make a structure for the library to read, as `Given.fill` takes it."""
        if ctype not in self._memory:
            self._memory[ctype] = Given(self._ffi, ctype)
        given = self._memory[ctype]
        given.fill(values, used)
        return given

    # ---- the other functions ----

    def _call(self, name: str, args: list[Any]) -> Json:
        """Call a function whose last parameter, if it is a pointer, is its output."""
        signature = self._functions.signature(name)
        kinds = list(signature.args)
        if name == "pfm_get_full_event_name":  # index, unit masks, size
            index, masks, size = args
            event = self._given("pfmlib_event_t", {"event": index, "unit_masks": masks, "num_masks": len(masks)})
            got = cast("dict[str, Json]", self._name(name, size, event.pointer))
            return got | {"input changed": True} if event.changed else got
        if len(kinds) > 1 and kinds[-2].cname == "char *" and kinds[-1].kind == "primitive":
            *given, size = self._arguments([*kinds[:-2], kinds[-1]], args)
            return self._name(name, size, *given)
        if kinds and kinds[-1].kind == "pointer":
            return self._output(name, kinds[-1].item, *self._arguments(kinds[:-1], args))
        result = getattr(self._functions, name)(*self._arguments(kinds, args))
        self._lasting.note(name, "return", result)
        return {"value": text_at(self._ffi, result)} if signature.result.kind == "pointer" else {"ret": result}

    def _arguments(self, kinds: list[Any], args: list[Any]) -> list[Any]:
        """Convert values as C passes them: a number is cut to the parameter's type."""
        if len(kinds) != len(args):
            raise TypeError(f"{len(args)} arguments instead of {len(kinds)}")
        return [bytes_of(arg) if isinstance(arg, str) else int(self._ffi.cast(kind, arg))
                for kind, arg in zip(kinds, args, strict=True)]

    def _name(self, name: str, size: int, *args: Any) -> Json:
        """Call a function that writes a string into a buffer."""
        buffer = Guarded(self._ffi, self._ffi.typeof("char"), size=max(size, 0))
        ret = getattr(self._functions, name)(*args, buffer.pointer, size)
        got: dict[str, Json] = {"ret": ret}
        if ret == 0:
            got["value"] = self._ffi.string(buffer.pointer, max(size, 0)).decode("latin-1") if size > 0 else ""
        if buffer.overrun:
            got["overrun"] = True
        return got

    def _output(self, name: str, ctype: Any, *args: Any) -> Json:
        """Call a function that writes through its last pointer."""
        cell = Guarded(self._ffi, ctype)
        ret = getattr(self._functions, name)(*args, cell.pointer)
        got: dict[str, Json] = {"ret": ret}
        if ret == 0:
            got |= self._written(ctype, cell.pointer)
        if cell.overrun:
            got["overrun"] = True
        return got

    def _written(self, ctype: Any, pointer: Any) -> dict[str, Json]:
        if ctype.cname == "pfmlib_regmask_t":
            return {"bits": [hex(word) for word in pointer.bits]}
        if ctype.cname == "pfmlib_event_t":
            masks = list(pointer.unit_masks)
            return {"event": pointer.event, "unit_masks": cast("Json", masks[:pointer.num_masks])}
        if ctype.cname == "char *":
            said = self._description(pointer[0])
            self._functions.lib.free(pointer[0])  # as its caller does
            return {"value": said}
        return {"value": int(pointer[0])}

    def _description(self, pointer: Any) -> Json:
        text = text_at(self._ffi, pointer)
        return text if self._descriptions else text is not None and len(text) >= _SHORTEST_DESCRIPTION

    # ---- every query about one event ----

    def _query(self, pmu: str, index: int) -> Json:
        """Return the answers by function; those that the library does not export are left out."""
        got: dict[str, Json] = {}
        for name in ("pfm_get_event_name", "pfm_get_event_code", "pfm_get_event_counters",
                     "pfm_get_event_description"):
            got[name] = self._plain(name, *((index, _NAME_ROOM) if name == "pfm_get_event_name" else (index,)))
        if isinstance(got["pfm_get_event_code"], int):
            got["pfm_get_event_code"] = hex(got["pfm_get_event_code"])
        got["unit_masks"] = self._masks(index)
        for name in self._functions.names(f"pfm_{TAGS[pmu]}_") if pmu in TAGS else ():
            parameters = self._functions.signature(name).args
            if [p.cname for p in parameters[:1]] == ["unsigned int"]:  # not pfm_*_irange_is_fine()
                value = self._plain(name, index)
                got[name] = int(bool(value["ret"])) if isinstance(value, dict) and len(parameters) == 1 else value
        return {name: value for name, value in got.items() if value is not None}

    def _plain(self, name: str, *args: Any) -> Json:
        """Return the one value that a query returns; the return code if it fails, None if there is no such function."""
        try:
            got = cast("dict[str, Json]", self._call(name, list(args)))
        except MissingFunctionError:
            return None
        if "bits" in got:
            return cast("list[str]", got["bits"])[0]
        return got["value"] if "value" in got and "overrun" not in got else got

    def _masks(self, index: int) -> Json:
        """Return the unit masks of an event as the catalogue has them: NAME=CODE ..."""
        count = self._plain("pfm_get_num_event_masks", index)
        if not isinstance(count, int):
            return count
        return " ".join(f"{self._plain('pfm_get_event_mask_name', index, n, _NAME_ROOM)}="
                        f"{self._plain('pfm_get_event_mask_code', index, n)}" for n in range(min(count, _NAME_ROOM)))


def _numbers(value: Any) -> Any:
    """Convert a structure for cffi: hexadecimal strings to ints, negative enums as C has them."""
    if isinstance(value, dict):
        return {key: _numbers(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_numbers(v) for v in value]
    number = int(value, 0) if isinstance(value, str) else value
    return number % _UNSIGNED_INT if number < 0 else number


def _registers(array: Any, count: int, with_value: bool = True) -> Json:
    """Return registers as [number, address, second address, value]; no more than there is room for."""
    rows: list[Json] = []
    for n in range(min(count, len(array))):
        r = array[n]
        row: list[Json] = [r.reg_num, r.reg_addr, r.reg_alt_addr]
        rows.append([*row, hex(r.reg_value)] if with_value else row)
    return rows if count <= len(array) else f"{count} of {len(array)}"


def _ranges(rr: Any) -> Json:
    return {"rr_nbr_used": rr.rr_nbr_used,
            "rr_infos": [[hex(i.rr_soff), hex(i.rr_eoff)] for i in rr.rr_infos],
            "rr_br": _registers(rr.rr_br, min(rr.rr_nbr_used, len(rr.rr_br)))}
