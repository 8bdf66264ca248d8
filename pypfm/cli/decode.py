"""pypfm decode: what register values mean."""

from __future__ import annotations

import argparse
import errno
import io
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pypfm.cli import _printed
from pypfm.cli.common import add_pmu_options, api_of, file_errors, named, number, on_terminal, print_json
from pypfm.errors import DecodeError, PfmError, shown

if TYPE_CHECKING:
    from pypfm import perf
    from pypfm.ia64.decode import Decoded

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "REST", "add_options", "run"]

_SPELLED = re.compile("r([0-9a-f]{1,16})(?::([ukh]+))?", re.IGNORECASE)  # of perf: a raw config in hexadecimal
_REGISTER = re.compile(r"(?:PMC|PMD|IBR|DBR)\d", re.IGNORECASE)  # of libpfm 3, also of a PMU that libpfm 4 knows
_LEVELS = {"u": "exclude_user", "k": "exclude_kernel", "h": "exclude_hv"}
_LONGEST = 1 << 24  # characters: no encoding takes a hundredth of it, and /dev/zero has no end

HELP = "say what register values mean"
DESCRIPTION = "Say what register values mean: pictures and tables on a terminal, JSON in a pipe."
EPILOG = """\
Registers of the IA-64 PMUs: PMC4, PMD48, IBR0, DBR1 ...  Those that belong
together are read together: give all that there are.  PMUs of libpfm 4: code, code1,
code2 (glm: code and offcore), or config, config1, config2, type and exclude_user,
exclude_kernel, exclude_hv of perf_event.  Values are decimal or 0x hexadecimal.  A number
alone, or perf's r5100c0, is a code, the next one code1; with --perf it is a config.
Of what a program prints, PMC4 = 0x1228, PMC4(pmc4)=0x1228 and PMC4 0x1228 are read; from standard
input the rest is left out.

  pypfm decode -p itanium2 PMC4=0x1228
  pypfm decode -p montecito PMD38=2 PMD39=0x1 PMD48=0x4000000000001235 --etb
  pypfm decode -p glm code=0x5101b7 offcore=0x18000
  pypfm decode -p perf type=3 config=0x10000
  pypfm decode -p mont --perf 0x1200
  pypfm decode -p skl --library r5100c0
  pypfm encode -p itanium2 CPU_CYCLES | pypfm decode -p itanium2 -
  pypfm decode -p itanium2 'write PMC4 = 0x1229'
  LIBPFM_VERBOSE=1 ./old-program 2>&1 | pypfm decode -p itanium2 -
"""
REST = "registers"


def add_options(parser: argparse.ArgumentParser) -> None:
    add_pmu_options(parser)
    add = parser.add_argument
    add("registers", nargs="*", metavar="REG=VALUE",
        help="register and its value, or a code, also as a program prints them; - reads what pypfm encode --json or a"
        " program wrote from standard input")
    add("--perf", action="store_true", help="numbers are raw configs of the kernel's driver (perf stat -e r...)")
    add("--from", dest="file", metavar="FILE", help="read the same from a file")
    add("--svg", metavar="FILE", help="write the picture to a file")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--etb", action="store_true",
                      help="the trace buffer of Montecito holds branches (the default without PMC42)")
    mode.add_argument("--ipear", action="store_true", help="it holds instruction addresses")


def run(args: argparse.Namespace) -> int:
    decoded = _decoded(args)
    if args.svg is not None:
        from pypfm.cli import _draw_decoded
        _draw_decoded.save(args.svg, decoded)
    if on_terminal(args):
        from pypfm.cli import _draw_decoded
        _draw_decoded.show(decoded)
    else:
        print_json(decoded.to_json())
    return 0


def _decoded(args: argparse.Namespace) -> Decoded | perf.Decoded:
    from pypfm.decoding import decode
    from pypfm.ia64.models import MODELS, TAGS, having

    api = api_of(args)
    if args.library is None and args.pmu in TAGS and any(_REGISTER.match(word) for word in args.registers):
        api, args.pmu = "pfm3", TAGS[args.pmu]
    if args.perf and args.library is None and args.pmu in MODELS:
        api, args.pmu = "pfm4", MODELS[args.pmu].tag
    if (args.etb or args.ipear) and (api == "pfm4" or MODELS[args.pmu].ipear is None):
        args.usage_error(f"--{'etb' if args.etb else 'ipear'} is an option of {having('ipear')}, not of {args.pmu}")
    registers: dict[str, int] = {}
    pmds: list[int] | None = None
    files = (["-"] if "-" in args.registers else []) + ([] if args.file is None else [args.file])
    if len(files) > 1:
        args.usage_error("- and --from: give one")
    for file in files:
        source = "standard input" if file == "-" else named(file)
        registers, pmds = _of_text(args, api, _read(file, source), source)
    for word in _words(args, api):
        if api == "pfm4" and (code := _code(word, args.perf)):
            _add_codes(args, registers, code)
        elif word != "-":
            _add(args, registers, word)
    if not registers:
        args.usage_error("nothing to decode: give REG=VALUE, or - to read what pypfm encode or a program wrote")
    pmu: str = args.pmu
    if args.library is not None or (api == "pfm4" and args.perf):
        from pypfm.perf.decode import decode_codes
        return decode_codes(pmu, registers, args.library)
    return decode(pmu, registers, etb=args.etb, ipear=args.ipear, pmds=pmds)


def _words(args: argparse.Namespace, api: str) -> list[str]:
    """Return the words to decode; of what a program has printed, its registers as REG=VALUE."""
    words = [word for word in args.registers if word != "-"]
    if api == "pfm4" or all(re.fullmatch(r"[^\W_]+=\S*", word) for word in words):
        return words
    found, rest = _printed.taken(" ".join(words))
    return [*(f"{name}={value}" for name, value in found), *rest]


def _of_text(args: argparse.Namespace, api: str, text: str, source: str) -> tuple[dict[str, int], list[int] | None]:
    """Return the registers, and the PMDs to read, in what pypfm encode --json or another program has written.

    :raises DecodeError: there are none
    """
    failure = None
    if re.match(r"\s*(?:\{|\[\s*(?:[]{[]|$))", text):
        try:
            data = _json(text, source)
        except DecodeError as error:
            failure = error  # unless a program's first line starts so
        else:
            return _of_encode(args.pmu, api, _names(args), data, source)
    found = _printed.codes(text, _names(args), source) if api == "pfm4" else _printed.registers(text, source)
    if failure and not found:
        raise failure
    if not found:
        example = f"{_names(args)[0]}=0x5100c0" if api == "pfm4" else "PMC4=0x1228"
        raise DecodeError(f"{source} is not JSON of pypfm encode, and no line has the value of a register, such as"
                          f" {example}")
    return found, None


def _names(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the names of an event's codes, in their order."""
    from pypfm.perf.decode import code_names
    return code_names(args.pmu, "perf_event" if args.perf else "none", args.library)


def _code(word: str, perf: bool) -> dict[str, int]:
    """Parse a number or a raw event of perf: its value under "", and flags by name; empty for any other word."""
    if match := _SPELLED.fullmatch(word):
        levels: str | None = match[2]
        flags = {} if levels is None else {flag: int(key not in levels.lower()) for key, flag in _LEVELS.items()}
        return {"": int(match[1], 16), **flags} if perf or not flags else {}
    try:
        return {"": number(word)}
    except ValueError:
        return {}


def _add_codes(args: argparse.Namespace, registers: dict[str, int], code: dict[str, int]) -> None:
    """Add a code by the first name that none has yet."""
    names = _names(args)
    free = [name for name in names if name not in registers]
    if not free:
        args.usage_error(f"argument REG=VALUE: {len(names) + 1} codes; {args.pmu} takes {len(names)} at most")
    registers |= {key or free[0]: value for key, value in code.items()}


def _add(args: argparse.Namespace, registers: dict[str, int], word: str) -> None:
    """Add a REG=VALUE word."""
    name, equals, value = word.partition("=")
    if not equals or not name:
        args.usage_error(f"argument REG=VALUE: {shown(word)}: expected a register and its value, such as PMC4=0x1228")
    if name in registers:
        args.usage_error(f"argument REG=VALUE: {name} is given twice")
    try:
        registers[name] = number(value)
    except ValueError as error:
        args.usage_error(f"argument REG=VALUE: {name}: {error}")


def _read(file: str, source: str) -> str:
    """Return the text of a file.

    :raises DecodeError: it cannot be read
    """
    with file_errors(DecodeError, f"cannot read {source}"):
        if file == "-":
            if sys.stdin is None:  # its descriptor is closed
                raise OSError(errno.EBADF, "it is closed")
            if isinstance(sys.stdin, io.TextIOWrapper):
                sys.stdin.reconfigure(errors="replace")  # a program prints what it likes beside its registers
            text = sys.stdin.read(_LONGEST + 1)
        else:
            with Path(file).open(encoding="utf-8", errors="replace") as stream:
                text = stream.read(_LONGEST + 1)
    if len(text) > _LONGEST:
        raise DecodeError(f"{source} is not what pypfm encode --json writes: it is longer than {_LONGEST} characters")
    return text


def _json(text: str, source: str) -> object:
    """Return the data.

    :raises DecodeError: it is not JSON
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise DecodeError(f"{source} is not JSON of pypfm encode: it is nested too deeply") from None
    except ValueError as error:
        raise DecodeError(f"{source} is not JSON: {error}") from None


def _of_encode(pmu: str, api: str, names: tuple[str, ...], data: Any,
               source: str) -> tuple[dict[str, int], list[int] | None]:
    """Return the registers, and the PMDs to read, of the output of ``pypfm encode --json``.

    :raises DecodeError: it is not such an output, or of another PMU
    """
    try:
        if data["pmu"].lower() != pmu.lower():
            raise DecodeError(f"{source} is of {shown(data['pmu'])}, not of {pmu}")
        if api == "pfm4":
            return _of_event(data, names, source), None
        found = {f"PMC{r['num']}": int(r["value"], 16) for r in data["pmcs"]}
        for name, kind in (("irange", "IBR"), ("drange", "DBR")):
            if data[name] is not None:
                found |= {f"{kind}{r['num']}": int(r["value"], 16) for r in data[name]["registers"]}
        return found, [int(r["num"]) for r in data["pmds"]]
    except PfmError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):  # JSON of any other shape
        raise DecodeError(f"{source} is not what pypfm encode --json writes") from None


def _of_event(data: Any, names: tuple[str, ...], source: str) -> dict[str, int]:
    """Return the values of the one event of an output of ``pypfm encode`` of a PMU of libpfm 4."""
    if len(data["events"]) != 1:
        raise DecodeError(f"{source} holds {len(data['events'])} events; decode takes one")
    event = data["events"][0]
    if data["os"] == "none":
        return {name: int(code, 16) for name, code in zip(names, event["codes"], strict=False)}
    wanted = ("type", "config", "config1", "config2", "exclude_user", "exclude_kernel", "exclude_hv")
    return {name: int(value, 16) for name, value in event["attr"].items() if name in wanted}
