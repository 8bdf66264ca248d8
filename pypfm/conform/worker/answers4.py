"""The calls of libpfm 4 that vectors describe, made on a library."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from pypfm._c.loading import MissingFunctionError
from pypfm.conform.worker.library import POISON, Lasting, bytes_of, text_at

if TYPE_CHECKING:
    from _cffi_backend import FFI

    from pypfm._c.loading import Functions
    from pypfm.conform.model import Json, Vector

__all__ = ["Library4"]

_ROOM = 8192  # bytes for a structure: the caller's size may be larger than the library knows it
_BEYOND = bytes([POISON]) * _ROOM
_MOST_CODES = 64
_MORE_ATTRS = 64  # than our event has, that are asked for
_MOST_EVENTS = 1 << 14
_COMPARED = ("type", "config", "sample_period", "config1", "config2")  # of struct perf_event_attr
_WIDTH = 64  # bits of the words that flags lie in


class Library4:
    """A libpfm 4 under test.

    :param ffi: of pypfm._c.pfm4
    :param functions: of the library
    :param lasting: notes the strings that have to stay
    :param descriptions: return descriptions as they are, not just whether there is one
    """

    def __init__(self, ffi: FFI, functions: Functions, lasting: Lasting, descriptions: bool = False) -> None:
        self._ffi, self._functions, self._descriptions = cast(Any, ffi), functions, descriptions
        self._lasting = lasting
        self._lib = functions.lib
        self._lib.pfm_initialize()  # ours: it knows what the recorded indices stand for
        compared = {self._ffi.offsetof("struct perf_event_attr", name) for name in _COMPARED}
        self._uncompared_bytes = [slice(field.offset, field.offset + self._ffi.sizeof(field.type))
                                  for _, field in self._ffi.typeof("struct perf_event_attr").fields
                                  if field.bitsize < 0 and field.offset not in compared]
        self._listed: dict[tuple[Any, int], dict[str, int]] = {}
        self._os = {"none": self._lib.PFM_OS_NONE, "perf_event": self._lib.PFM_OS_PERF_EVENT,
                    "perf_event_ext": self._lib.PFM_OS_PERF_EVENT_EXT}

    def answer(self, vector: Vector) -> Json:
        """Make the call of a vector.

        :return: what came back, in the form of ``expect``
        :raises MissingFunctionError: the library does not export the function
        """
        self._ffi.errno = 0  # what one call leaves there, another one may look at
        if vector["kind"] == "start":
            return {"ret": self._functions.pfm_initialize()}
        if vector["kind"] == "info":
            return self._pmu(cast(int, vector["pmu"])) if "event" not in vector else self._event(vector)
        if vector["os"] == "none":
            return self._raw(cast("dict[str, Any]", vector))
        return self._perf(cast("dict[str, Any]", vector))

    # ---- pfm_get_os_event_encoding() ----

    def _memory(self, ctype: str, size: int = 0) -> tuple[Any, Any]:
        """Make a zeroed structure with poison after it; return the memory, and the pointer to the structure.

        :param size: what the caller takes for its size, if that is more
        """
        memory = self._ffi.new("unsigned char[]", _ROOM)
        end = min(max(size, self._ffi.sizeof(ctype)), _ROOM)
        self._ffi.buffer(memory)[end:] = _BEYOND[end:]
        return memory, self._ffi.cast(f"{ctype} *", memory)

    def _argument(self, ctype: str, vector: dict[str, Any]) -> tuple[Any, Any, Any]:
        """Make an argument in which all is poisoned but what the caller sets; return also where the string goes."""
        room, arg = self._memory(ctype, vector.get("size", 0))
        fstr = self._ffi.new("char **")
        arg.size = vector.get("size", self._ffi.sizeof(ctype))
        self._poison(arg, "idx", "cpu", *(() if "room" in vector else ("count",)))
        return room, arg, fstr

    def _poison(self, pointer: Any, *names: str) -> None:
        """Poison members that the library writes, those of these names that exist."""
        for name, field in self._ffi.typeof(pointer).item.fields:
            if name in names:
                self._ffi.memmove(self._ffi.addressof(pointer, name), _BEYOND, self._ffi.sizeof(field.type))

    def _take(self, fstr: Any) -> str:
        """Return the string that the library allocated, and free it as a caller does."""
        text = text_at(self._ffi, fstr[0]) or ""
        self._lib.free(fstr[0])
        return text

    def _raw(self, vector: dict[str, Any]) -> Json:
        text = bytes_of(vector["event"], "latin-1")
        room, arg, fstr = self._argument("pfm_pmu_encode_arg_t", vector)
        codes = None
        if "room" in vector:
            codes = self._ffi.new("uint64_t[]", max(vector["room"], 1))
            arg.codes, arg.count = codes, vector["room"]
        else:
            arg.fstr = fstr
        ret = self._functions.pfm_get_os_event_encoding(text, vector["dfl_plm"], self._os["none"], arg)
        got: dict[str, Json] = {"ret": ret}
        if vector.get("find"):
            got["find"] = self._recorded(self._functions.pfm_find_event(text), self._lib.pfm_find_event(text), text)
        if ret == 0:
            most = max(len(codes), _MOST_CODES) if codes else _MOST_CODES
            got["idx"] = self._recorded(arg.idx, self._lib.pfm_find_event(text), text)
            got["codes"] = [hex(arg.codes[i]) for i in range(min(arg.count, most))] if arg.codes else None
            if arg.count > most:
                got["count"] = arg.count
            if not codes:
                self._lib.free(arg.codes)
            got["fstr"] = self._take(fstr)
        if text != bytes_of(vector["event"], "latin-1"):
            got["input changed"] = True
        return self._checked(got, room, "pfm_pmu_encode_arg_t", vector.get("size", 0))

    def _perf(self, vector: dict[str, Any]) -> Json:
        memory, attr = self._memory("struct perf_event_attr")
        self._poison(attr, "type", "config")
        flags = self._flags(attr)
        for name, value in vector.get("attr", {}).items():
            if name == "flags":
                flags[0] = value
            else:
                setattr(attr, name, value)
        filled = self._uncompared(attr)
        room, arg, fstr = self._argument("pfm_perf_encode_arg_t", vector)
        arg.attr, arg.fstr = attr, fstr
        text = bytes_of(vector["event"], "latin-1")
        ret = self._functions.pfm_get_os_event_encoding(text, vector["dfl_plm"], self._os[vector["os"]], arg)
        got: dict[str, Json] = {"ret": ret}
        if ret == 0:
            got |= {"idx": self._recorded(arg.idx, self._lib.pfm_find_event(text), text), "type": attr.type,
                    "config": hex(attr.config), "config1": hex(attr.config1),
                    "config2": hex(attr.config2), "sample_period": attr.sample_period, "flags": hex(flags[0]),
                    "cpu": arg.cpu, "open_flags": arg.flags, "fstr": self._take(fstr)}
        if self._uncompared(attr) != filled or text != bytes_of(vector["event"], "latin-1"):
            got["input changed"] = True
        got = self._checked(got, room, "pfm_perf_encode_arg_t", vector.get("size", 0))
        return self._checked(got, memory, "struct perf_event_attr")

    def _uncompared(self, attr: Any) -> list[bytes]:
        """Return the bytes of those members of a struct perf_event_attr that answers do not have."""
        attr_bytes = self._ffi.buffer(attr)[:]
        return [attr_bytes[place] for place in self._uncompared_bytes]

    def _flags(self, attr: Any) -> Any:
        """Return the word of a struct perf_event_attr that holds its bits."""
        offset = self._ffi.offsetof("struct perf_event_attr", "wakeup_events") - _WIDTH // 8
        return self._ffi.cast("uint64_t *", self._ffi.cast("char *", attr) + offset)

    def _checked(self, got: dict[str, Json], memory: Any, ctype: str, size: int = 0) -> dict[str, Json]:
        """Return the answer, with a note if bytes after a structure were written; parameters as of `_memory`."""
        start = self._ffi.sizeof(ctype)
        end = min(max(size, start), _ROOM)
        if self._ffi.buffer(memory)[start:] != bytes(end - start) + _BEYOND[end:]:
            got["overrun"] = True
        return got

    # ---- indices ----

    def _finds(self, text: bytes) -> int:
        with suppress(MissingFunctionError):
            return int(self._functions.pfm_find_event(text))
        return -1

    def _recorded(self, index: int, expected: int, text: bytes = b"") -> int:
        """Return the index of an event in our library, which is the reference: indices are opaque.

        :param index: that the library under test returned
        :param expected: that ours returns
        :param text: the string that both were found for
        :return: of an index that stands for no event that ours has, itself
        """
        if index < 0 or index == expected:
            return index
        event = self._event_of(self._functions, index)
        ours = self._event_of(self._lib, expected)
        if event == ours and (event or (expected >= 0 and text and self._finds(text) == index)):
            return expected  # of a disabled PMU nothing but the string is known
        return self._indices(self._lib, event[0]).get(event[1], index) if event else index

    def _own(self, index: int) -> int:
        """Return the index of a recorded event in the library under test, which finds it by name."""
        event = self._event_of(self._lib, index)
        if not event or self._event_of(self._functions, index) == event:
            return index
        return self._indices(self._functions, event[0]).get(event[1], index)

    def _event_of(self, library: Any, index: int) -> tuple[int, str] | None:
        """Return the PMU and the name of the event of an index of a library."""
        _room, info = self._memory("pfm_event_info_t")
        with suppress(MissingFunctionError):
            if library.pfm_get_event_info(index, self._os["none"], info) == 0 and info.name:
                return info.pmu, text_at(self._ffi, info.name) or ""
        return None

    def _indices(self, library: Any, pmu: int) -> dict[str, int]:
        """Return the index of each listed event of a PMU by name; pfm_find_event() would resolve aliases."""
        if (library, pmu) not in self._listed:
            found = self._listed[library, pmu] = {}
            _room, info = self._memory("pfm_pmu_info_t")
            with suppress(MissingFunctionError):
                following = library.pfm_get_event_next  # without it there is no list
                index = -1 if library.pfm_get_pmu_info(pmu, info) else info.first_event
                for _ in range(_MOST_EVENTS):
                    if not (event := self._event_of(library, index)):
                        break
                    found.setdefault(event[1], index)
                    index = following(index)
        return self._listed[library, pmu]

    # ---- information ----

    def _pmu(self, pmu: int) -> dict[str, Json]:
        got = self._ask("pfm_get_pmu_info", pmu)
        ours = self._ffi.new("pfm_pmu_info_t *")
        if "first_event" in got and not self._lib.pfm_get_pmu_info(pmu, ours):
            got["first_event"] = self._recorded(cast(int, got["first_event"]), ours.first_event)
        return got

    def _event(self, vector: Vector) -> Json:
        """Query an event, each of its attributes and one after the last, and the next event."""
        recorded, layer = cast(int, vector["event"]), self._os[str(vector["os"])]
        index = self._own(recorded)
        got = self._ask("pfm_get_event_info", index, layer)
        _room, ours = self._memory("pfm_event_info_t")
        self._lib.pfm_get_event_info(recorded, layer, ours)
        count = min(cast(int, got.get("nattrs", 0)), ours.nattrs + _MORE_ATTRS)
        got["attrs"] = [cast("Json", self._ask("pfm_get_event_attr_info", index, n, layer)) for n in range(count + 1)]
        if index != recorded and got.get("idx") == index:
            got["idx"] = recorded
        got["next"] = self._recorded(self._functions.pfm_get_event_next(index), self._lib.pfm_get_event_next(recorded))
        return cast("Json", got)

    def _ask(self, function: str, *args: Any) -> dict[str, Json]:
        """Call a query; return the structure that it fills in, with the return code."""
        ctype = self._functions.signature(function).args[-1].item.cname
        room, info = self._memory(ctype)
        self._ffi.memmove(room, _BEYOND, self._ffi.sizeof(ctype))
        info.size = 0
        ret = getattr(self._functions, function)(*args, info)
        got: dict[str, Json] = {"ret": ret} if ret else {"ret": 0} | self._fields(function, info)
        return self._checked(got, room, ctype)

    def _fields(self, function: str, info: Any) -> dict[str, Json]:
        """Return the members; the bit-fields as one number, the default of an attribute as 64 bits."""
        row: dict[str, Json] = {}
        flags = 0
        for name, member in self._ffi.typeof(info).item.fields:
            self._lasting.note(function, name, getattr(info, name))
            if member.bitsize >= 0:
                if name != "reserved_bits":
                    flags |= getattr(info, name) << member.bitshift
            elif name == "desc":
                text = text_at(self._ffi, info.desc)
                row[name] = text if self._descriptions else bool(text)
            elif member.type.cname == "char *" and not name.startswith("dfl_"):
                row[name] = text_at(self._ffi, getattr(info, name))
            elif name == "dfl_val64":
                row |= {"flags": flags, "dfl": info.dfl_val64}
            elif not name.startswith("dfl_"):
                row[name] = int(getattr(info, name))
        return row | {"flags": flags}
