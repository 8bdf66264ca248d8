"""Calls of a libpfm 4 library, made in processes of their own; the answers as JSON.

A session is a list of calls, [operation, argument ...], made one after another in a fresh process: what
one session leaves behind, the next does not see.  ask() runs sessions on a library; run as a program,
this file is the other end.  The C types are those of the replay programs.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "replay"))

from pfm4_info import PMUS, AttrInfo, EventInfo, PmuInfo
from pfm4_info import ask as info_of
from pfm4_vectors import OS, Attr, PerfEncodeArg, PmuEncodeArg, load

Call = Sequence[Any]
Session = Sequence[Call]
DEBIAN = Path("/usr/lib/x86_64-linux-gnu/libpfm.so.4")


def ask(library: Path, sessions: Sequence[Session], **env: str) -> list[list[Any]]:
    """Answers of each session, in its order; one that ends early has {"crash": status} as its last."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("LIBPFM_")} | env
    done = subprocess.run([sys.executable, __file__, library], input=json.dumps(sessions), env=clean, text=True,
                          stdout=subprocess.PIPE, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:]
    answers: list[list[Any]] = [[]]
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if isinstance(answer, dict) and "end" in answer:
            answers[-1] += [{"crash": answer["end"]}] if answer["end"] else []
            answers.append([])
        else:
            answers[-1].append(answer)
    return answers[:-1]


# ---- the other end ------------------------------------------------------------------------

Lib = Any


def text_of(pointer: ctypes.c_char_p) -> str | None:
    return None if pointer.value is None else pointer.value.decode("latin-1")


def structure(kind: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """An argument in a buffer of 8 KiB: options size, and bytes after it, {offset: value}."""
    buffer = (ctypes.c_uint8 * 8192)()
    for offset, value in options.get("tail", {}).items():
        buffer[int(offset)] = value
    arg = kind.from_buffer(buffer)
    arg.size = options.get("size", ctypes.sizeof(kind))
    return arg, buffer


def encode_none(lib: Lib, text: bytes, options: dict[str, Any]) -> dict[str, Any]:
    fstr, room = ctypes.c_char_p(), (ctypes.c_uint64 * 8)(*[0xA5] * 8)
    arg, _ = structure(PmuEncodeArg, options)
    arg.count, arg.idx = options.get("count", 0), -77
    if "room" in options:
        arg.codes, arg.count = room, options["room"]
    if options.get("fstr", True):
        arg.fstr = ctypes.pointer(fstr)
    ret = lib.pfm_get_os_event_encoding(text, options.get("plm", 9), 0, ctypes.byref(arg))
    codes = [hex(arg.codes[i]) for i in range(arg.count)] if ret == 0 else []
    return {"ret": ret, "codes": codes, "room": list(room), "idx": arg.idx, "count": arg.count,
            "size": arg.size, "fstr": text_of(fstr)}


def preset(options: dict[str, Any]) -> Any:
    """A struct perf_event_attr: fields set beforehand, or a byte that fills it."""
    attr = Attr()
    ctypes.memset(ctypes.addressof(attr), options.get("fill", 0), 128)
    for name, value in options.get("attr", {"size": 128}).items():
        setattr(attr, name, value)
    return attr


def encode_perf(lib: Lib, text: bytes, options: dict[str, Any]) -> dict[str, Any]:
    fstr, attr = ctypes.c_char_p(), preset(options)
    arg, _ = structure(PerfEncodeArg, options)
    arg.idx, arg.cpu, arg.flags, arg.pad0 = -77, -78, 79, 80
    arg.attr = ctypes.addressof(attr)
    if options.get("fstr", True):
        arg.fstr = ctypes.pointer(fstr)
    ret = lib.pfm_get_os_event_encoding(text, options.get("plm", 9), options["os"], ctypes.byref(arg))
    return {"ret": ret, "attr": bytes(attr)[:192].hex(), "idx": arg.idx, "cpu": arg.cpu, "size": arg.size,
            "rest": [arg.flags, arg.pad0], "fstr": text_of(fstr)}


def encode(lib: Lib, text: str, options: dict[str, Any]) -> dict[str, Any]:
    function = encode_perf if options.get("os", 0) in (1, 2) else encode_none
    return function(lib, text.encode("latin-1"), options)


def legacy(lib: Lib, text: str, plm: int, room: int) -> list[Any]:
    """pfm_get_event_encoding() with an array of room elements, or none."""
    fstr, idx, count = ctypes.c_char_p(), ctypes.c_int(-77), ctypes.c_int(room)
    array = (ctypes.c_uint64 * max(room, 1))()
    codes = ctypes.cast(array, ctypes.POINTER(ctypes.c_uint64)) if room else ctypes.POINTER(ctypes.c_uint64)()
    enough = room != 1  # one element and a string: Debian's frees what is not its own
    ret = lib.pfm_get_event_encoding(text.encode("latin-1"), plm, ctypes.byref(fstr) if enough else None, ctypes.byref(idx),
                                     ctypes.byref(codes), ctypes.byref(count))
    values = [hex(codes[i]) for i in range(count.value)] if ret == 0 else []
    return [ret, values, count.value, idx.value, text_of(fstr)]


def perf_legacy(lib: Lib, text: str, plm: int, options: dict[str, Any]) -> list[Any]:
    fstr, idx, attr = ctypes.c_char_p(), ctypes.c_int(-77), preset(options)
    ret = lib.pfm_get_perf_event_encoding(text.encode("latin-1"), plm, ctypes.byref(attr), ctypes.byref(fstr), ctypes.byref(idx))
    return [ret, bytes(attr)[:192].hex(), idx.value, text_of(fstr)]


def info_call(function: str, kind: Any) -> Callable[..., Any]:
    def answer(lib: Lib, *args: Any) -> Any:
        *numbers, options = args if isinstance(args[-1], dict) else (*args, None)
        if options is None:
            return info_of(getattr(lib, function), kind(), *numbers)
        out, buffer = structure(kind, options)
        ret = getattr(lib, function)(*numbers, ctypes.byref(out))
        return [ret, out.size, bytes(buffer)[ctypes.sizeof(kind):200].hex()]
    return answer


def catalogue(lib: Lib, name: str) -> list[Any]:
    """All that there is to ask about a PMU, and a little beyond its last event and attribute."""
    info = info_of(lib.pfm_get_pmu_info, PmuInfo(), PMUS[name])
    rows: list[Any] = [info]
    for n in range(info.get("nevents", 0) + 2):
        idx = PMUS[name] << 21 | n
        rows.append(lib.pfm_get_event_next(idx))
        for layer in range(4):
            event = info_of(lib.pfm_get_event_info, EventInfo(), idx, layer)
            count = event.get("nattrs", 0) + 2
            rows += [event, [info_of(lib.pfm_get_event_attr_info, AttrInfo(), idx, a, layer) for a in range(count)]]
    return rows


def set_environment(_: Lib, changes: dict[str, str | None]) -> None:
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def validate(lib: Lib, pmu: int, path: str) -> Any:
    """pfm_pmu_validate() into a file: the return code and the lines."""
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    stream = libc.fopen(path.encode(), b"w+")
    ret = lib.pfm_pmu_validate(pmu, ctypes.c_void_p(stream))
    libc.fclose(ctypes.c_void_p(stream))
    return [ret, Path(path).read_text().splitlines()]


OPERATIONS: dict[str, Callable[..., Any]] = {
    "init": lambda lib: lib.pfm_initialize(),
    "terminate": lambda lib: lib.pfm_terminate() and None,
    "env": set_environment,
    "find": lambda lib, text: lib.pfm_find_event(text.encode("latin-1")),
    "next": lambda lib, idx: lib.pfm_get_event_next(idx),
    "strerror": lambda lib, code: lib.pfm_strerror(code).decode(),
    "encode": encode,
    "legacy": legacy,
    "perf_legacy": perf_legacy,
    "pmu_info": info_call("pfm_get_pmu_info", PmuInfo),
    "event_info": info_call("pfm_get_event_info", EventInfo),
    "attr_info": info_call("pfm_get_event_attr_info", AttrInfo),
    "catalogue": catalogue,
    "validate": validate,
}


def session(lib: Lib, calls: Session) -> None:
    for operation, *args in calls:
        print(json.dumps(OPERATIONS[operation](lib, *args)), flush=True)


def main() -> None:
    lib = load(sys.argv[1])
    lib.pfm_terminate.restype = None
    for calls in json.load(sys.stdin):
        child = os.fork()
        if child == 0:
            session(lib, calls)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"end": status}), flush=True)


if __name__ == "__main__":
    assert set(OS.values()) == {0, 1, 2}
    main()
