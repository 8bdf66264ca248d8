"""The call of a vector as text, and the places where an answer is not the expected one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from pypfm._c.convert import string
from pypfm.conform.model import Difference
from pypfm.conform.vectors import PMU_IDS, environment
from pypfm.conform.worker.library import api_module
from pypfm.conform.worker.prints import STREAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypfm.conform.model import Json, Vector

__all__ = ["call_of", "code_name", "differences"]

# The columns of the rows in an answer.
_ROWS = {
    "pmcs": ("num", "addr", "alt_addr", "value"), "pmds": ("num", "addr", "alt_addr"),
    "rr_br": ("num", "addr", "alt_addr", "value"), "rr_infos": ("rr_soff", "rr_eoff"),
}
_ABSENT = "absent"
_LEVELS = {1: "PFM_PLM0", 2: "PFM_PLM1", 4: "PFM_PLM2", 8: "PFM_PLM3", 16: "PFM_PLMH"}


# ---- calls -------------------------------------------------------------------------

def call_of(vector: Vector) -> str:
    """Write a call in one line, as C has it if that is short enough to be read."""
    kind = vector["kind"]
    if kind == "dispatch":
        text = _dispatch(vector)
    elif kind in ("call", "start"):
        args = ", ".join(json.dumps(arg) for arg in cast("list[Json]", vector["args"]))
        where = f" on {vector['pmu']}" if vector.get("pmu") else " before pfm_initialize()"
        text = f"{vector['call']}({args}){where if kind == 'call' else ''}"
    elif kind == "query":
        text = f"queries about event {vector['index']} of {vector['pmu']}"
    elif kind == "encode":
        text = _encode(vector)
    elif kind == "step":
        text = _step(vector)
    elif "event" in vector:
        text = f"pfm_get_event_info({vector['event']:#x}, {_layer(vector)}) and its attributes"
    else:
        name = next((name for name, number in PMU_IDS.items() if number == vector["pmu"]), str(vector["pmu"]))
        text = f"pfm_get_pmu_info({name})"
    text += f", call {vector['long']:,} of its process" if "long" in vector else ""
    return text + "".join(f" {name}={value}" for name, value in environment(vector).items())


def _dispatch(vector: Vector) -> str:
    events = []
    for event in cast("list[dict[str, Json]]", vector["events"]):
        rest = "".join(f", {key}={_plain(value)}" for key, value in event.items() if key != "event")
        events.append(f"{{{event['event']}{rest}}}" if rest else str(event["event"]))
    parts = [str(vector["pmu"]), f"[{', '.join(events)}]"]
    for key in ("dfl_plm", "pfp_flags", "unavail_pmcs", "model_in"):
        if vector.get(key) is not None:
            parts.append(f"{key}={_plain(vector[key])}")
    parts += ["model_out"] if vector.get("model_out") else []
    return f"pfm_dispatch_events({', '.join(parts)})"


def _step(vector: Vector) -> str:
    """Write a step of a sequence, with its place."""
    state = {"before": "before pfm_initialize()", "after": "after pfm_terminate()"}.get(str(vector["state"]), "")
    call = (f"free({vector['free']}) of {vector['of']}()" if "free" in vector else
            f"{vector['call']}({', '.join(map(_argument, cast('list[Json]', vector['args'])))})")
    return f"{call}{state and ' '}{state}, step {vector['at']} of {vector['sequence']}"


def _argument(arg: Json) -> str:
    """Write an argument of a step as C has it; for memory, its name and the values set in it."""
    if not isinstance(arg, dict):
        return "NULL" if arg is None else json.dumps(arg, ensure_ascii=False)
    if "out" not in arg:
        return str(next(iter(arg.values())))
    given = arg.get("set", {})
    if isinstance(given, dict) and "out" not in given:
        inner = ", ".join(f"{name}={_argument(value)}" for name, value in given.items())
    else:
        inner = _argument(given)
    return f"&{arg['out']}" + (f"{{{inner}}}" if inner else "")


def _encode(vector: Vector) -> str:
    levels = cast(int, vector["dfl_plm"])
    names = [name for bit, name in _LEVELS.items() if levels & bit]
    names += [hex(levels & ~31)] if levels & ~31 else []
    given = [f"{key}={_plain(vector[key])}" for key in ("size", "room", "attr") if key in vector]
    arg = f", {{{', '.join(given)}}}" if given else ""
    event = json.dumps(vector["event"], ensure_ascii=False)
    return f"pfm_get_os_event_encoding({event}, {'|'.join(names) or '0'}, {_layer(vector)}{arg})"


def _layer(vector: Vector) -> str:
    return f"PFM_OS_{str(vector['os']).upper()}"


def _plain(value: Json) -> str:
    """Write JSON data without quotes."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}={_plain(v)}' for key, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    return str(value)


# ---- differences -------------------------------------------------------------------

def differences(api: str, vector: Vector, expected: Json, got: Json) -> tuple[Difference, ...]:
    """Return the places where an answer is not the expected one; if the return code differs, only that."""
    if vector["kind"] == "query":  # functions that only one of the libraries has are a matter of symbols
        pair = cast("tuple[dict[str, Json], dict[str, Json]]", (expected, got))
        common = {*(name for name in pair[0] if name in pair[1]), *STREAMS}
        expected, got = ({name: answer for name, answer in answers.items() if name in common} for answers in pair)
    return () if expected == got else tuple(_walk(api, "", "", expected, got))


def _walk(api: str, path: str, key: str, expected: Json, got: Json) -> Iterator[Difference]:
    """Yield the differences below a place.

    :param path: the place, as text
    :param key: its name, that of the list for an element
    """
    if expected == got and type(expected) is type(got):
        return
    if isinstance(expected, dict) and isinstance(got, dict):
        if expected.get("ret") != got.get("ret"):
            yield Difference(_below(path, "ret"), _text(api, "ret", expected.get("ret", 0)),
                             _text(api, "ret", got.get("ret", 0)))
            return
        for name in {**expected, **got}:
            yield from _walk(api, _below(path, name), name, expected.get(name, _ABSENT), got.get(name, _ABSENT))
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield Difference(f"len({path})", str(len(expected)), str(len(got)))
        for n, (one, other) in enumerate(zip(expected, got, strict=False)):
            yield from _walk(api, f"{path}[{n}]", key, _row(key, one), _row(key, other))
    else:
        yield Difference(path, _text(api, key, expected), _text(api, key, got))


def _row(key: str, value: Json) -> Json:
    """Return an element of a list; for a row of columns, with their names."""
    return dict(zip(_ROWS[key], value, strict=False)) if key in _ROWS and isinstance(value, list) else value


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _text(api: str, key: str, value: Json) -> str:
    """Write a value for a reader: return codes with their names."""
    if isinstance(value, dict) and set(value) == {"ret"}:
        return _text(api, "ret", value["ret"])
    if type(value) is int and (key == "ret" or (key == "find" and value < 0)):
        return code_name(api, value)
    if value is None:
        return "NULL"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def code_name(api: str, code: int) -> str:
    """Return a return code with its name."""
    ffi, lib = api_module(api)
    pointer = lib.pfm4_error_name(code) if api == "pfm4" else lib.pfm3_error_name(code)
    return f"{string(pointer)} ({code})" if pointer != ffi.NULL else str(code)
