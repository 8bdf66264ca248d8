"""pypfm encode: the register values for a measurement."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from pypfm.cli._common import Subparsers, add_json_option, add_pmu_option, on_terminal, print_json, selected_pmu
from pypfm.request import (
    AddressRange,
    Btb,
    Ear,
    EarMode,
    Etb,
    EventRequest,
    IpEar,
    Ism,
    OpcodeMatch,
    parse_plm,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["add_parser"]

_EPILOG = """\
An event may carry options behind commas: plm=LEVELS, thres=N, ism=both|ia32|ia64,
noqual (do not check that it supports the qualifiers in use).  Levels are user,
kernel, or numbers 0 to 3.  Numbers are decimal or 0x hexadecimal.

  pypfm encode -p itanium2 CPU_CYCLES NOPS_RETIRED,thres=2 --plm user,kernel
  pypfm encode -p itanium2 IA64_INST_RETIRED --code-range 0x4000000000001000+0x40
  pypfm encode -p montecito L3_READS_ALL_ALL:M:E --dear tlb:0xe
"""


def add_parser(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "encode", help="compute register values", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Compute the PMC, PMD and debug registers for a measurement: tables and pictures on a"
        " terminal, JSON in a pipe.")
    add_pmu_option(parser)
    add_json_option(parser)
    parser.add_argument("events", nargs="*", type=_checked(_event), metavar="EVENT[:MASK...][,OPTION...]",
                        help="event to count, up to the number of counters; none for an EAR on its own")
    add = parser.add_argument
    add("--plm", type=_checked(parse_plm), default=parse_plm("user"), metavar="LEVELS",
        help="default privilege levels: user, kernel, user,kernel or numbers such as 0,3 (default: user)")
    add("--code-range", action="append", default=[], type=_checked(_range), metavar="START-END[@LEVELS]",
        help="measure inside these addresses only; END is exclusive; START+SIZE too; up to 4 times")
    add("--data-range", action="append", default=[], type=_checked(_range), metavar="START-END[@LEVELS]",
        help="count accesses to these addresses only; likewise")
    add("--invert", action="store_true", help="measure outside the code ranges")
    add("--no-fine", action="store_true", help="no fine mode for code ranges")
    add("--iear", type=_checked(_ear), metavar="MODE:UMASK[,plm=,ism=]",
        help="instruction EAR; MODE is cache or tlb")
    add("--dear", type=_checked(_ear), metavar="MODE:UMASK[,plm=,ism=]",
        help="data EAR; MODE is cache, tlb or alat")
    add("--system-wide", action="store_true", help="measure the whole system, not one thread")
    add("--unavail", type=_checked(_numbers), default=(), metavar="N,N", help="PMCs that must not be used")
    add("--cpuid3", type=_checked(_number), metavar="VALUE",
        help="CPUID register 3, as if the processor had been detected")
    add("--check", choices=["manual", "reference"], default="manual",
        help="manual: refuse what breaks a promise of the manual page (default); reference: as the C library")
    ita2 = parser.add_argument_group("Itanium 2")
    ita2.add_argument("--pmc8", type=_checked(_matcher_value), metavar="VALUE", help="raw opcode matcher PMC8")
    ita2.add_argument("--pmc9", type=_checked(_matcher_value), metavar="VALUE", help="raw opcode matcher PMC9")
    ita2.add_argument("--btb", type=_checked(_btb), metavar="tm=3,ptm=3,...",
                      help="branch trace buffer: ds, tm, ptm, ppm, brt, plm")
    mont = parser.add_argument_group("Montecito")
    mont.add_argument("--opcm1", type=_checked(_matcher), metavar="m,i,f,b:MATCH:MASK", help="first opcode matcher")
    mont.add_argument("--opcm2", type=_checked(_matcher), metavar="m,i,f,b:MATCH:MASK", help="second opcode matcher")
    mont.add_argument("--etb", type=_checked(_etb), metavar="tm=3,ptm=3,...",
                      help="execution trace buffer: tm, ptm, ppm, brt, plm")
    mont.add_argument("--ipear", type=_checked(_ipear), metavar="DELAY[,plm=]", help="record instruction addresses")
    mont.add_argument("--demand-fetch", action="store_true", help="of dual events, count demand fetches")
    mont.add_argument("--prefetch-match", action="store_true", help="of dual events, count prefetches")
    parser.set_defaults(run=run, take_rest=_take_rest, usage_error=parser.error)


def _take_rest(args: argparse.Namespace, words: list[str]) -> None:
    """Add the events that stand behind options."""
    for word in words:
        try:
            args.events.append(_event(word))
        except ValueError as error:
            args.usage_error(f"argument EVENT: {error}")


# ---- values of options -------------------------------------------------------

def _checked(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser whose errors argparse shows."""
    def checked(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return checked


def _number(text: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        message = f"{text!r} is not a number (decimal or 0x...)"
        raise ValueError(message) from None
    if value < 0:
        message = f"{text!r} is negative"
        raise ValueError(message)
    return value


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_number(n) for n in text.split(","))


def _options(words: list[str], allowed: tuple[str, ...]) -> dict[str, str]:
    """KEY=VALUE words; a privilege level behind plm= belongs to it."""
    found: dict[str, str] = {}
    last = ""
    for word in words:
        key, equals, value = word.partition("=")
        if not equals and last == "plm" and key != "noqual":
            found["plm"] += f",{word}"
            continue
        if key not in allowed or bool(equals) == (key == "noqual"):
            spelt = ", ".join(k if k == "noqual" else f"{k}=" for k in allowed)
            message = f"{word!r}: expected {spelt}"
            raise ValueError(message)
        if key in found:
            message = f"{key} is given twice"
            raise ValueError(message)
        found[key], last = value, key
    return found


def _ism(text: str) -> int:
    names = {i.name.lower(): int(i) for i in Ism}
    return names[text.lower()] if text.lower() in names else _number(text)


def _event(text: str) -> EventRequest:
    name, *words = text.split(",")
    options = _options(words, ("plm", "thres", "ism", "noqual"))
    return EventRequest(
        name, plm=parse_plm(options["plm"]) if "plm" in options else 0,
        threshold=_number(options.get("thres", "0")), ism=_ism(options.get("ism", "0")),
        no_qualcheck="noqual" in options)


def _range(text: str) -> AddressRange:
    addresses, _, levels = text.partition("@")
    match = re.fullmatch(r"\s*(\w+)\s*([-+])\s*(\w+)\s*", addresses)
    if not match:
        message = f"{text!r}: expected START-END or START+SIZE"
        raise ValueError(message)
    start, second = _number(match.group(1)), _number(match.group(3))
    end = second if match.group(2) == "-" else start + second
    if max(start, end) >= 1 << 64:
        message = f"{text!r}: addresses have 64 bits"
        raise ValueError(message)
    return AddressRange(start, end, parse_plm(levels) if levels else 0)


def _ear(text: str) -> Ear:
    setting, *words = text.split(",")
    mode, colon, umask = setting.partition(":")
    modes = {m.name.lower(): int(m) for m in EarMode}
    if not colon or mode.lower() not in modes:
        message = f"{text!r}: expected MODE:UMASK with MODE one of {', '.join(modes)}"
        raise ValueError(message)
    options = _options(words, ("plm", "ism"))
    return Ear(modes[mode.lower()], _number(umask), parse_plm(options["plm"]) if "plm" in options else 0,
               _ism(options.get("ism", "0")))


def _branch_options(text: str, allowed: tuple[str, ...]) -> dict[str, int]:
    options = _options(text.split(","), allowed)
    return {k: parse_plm(v) if k == "plm" else _number(v) for k, v in options.items()}


def _btb(text: str) -> Btb:
    return Btb(**_branch_options(text, ("ds", "tm", "ptm", "ppm", "brt", "plm")))


def _etb(text: str) -> Etb:
    return Etb(**_branch_options(text, ("tm", "ptm", "ppm", "brt", "plm")))


def _ipear(text: str) -> IpEar:
    delay, *words = text.split(",")
    options = _options(words, ("plm",))
    return IpEar(_number(delay), parse_plm(options["plm"]) if "plm" in options else 0)


def _matcher_value(text: str) -> OpcodeMatch:
    return OpcodeMatch(value=_number(text))


def _matcher(text: str) -> OpcodeMatch:
    parts = text.split(":")
    if len(parts) != 3:
        message = f"{text!r}: expected SLOTS:MATCH:MASK, such as m,i:0x1000:0xff"
        raise ValueError(message)
    slots = [s.strip().lower() for s in parts[0].split(",") if s.strip()]
    if unknown := set(slots) - set("mifb"):
        message = f"{text!r}: slot {sorted(unknown)[0]!r}; slots are m, i, f and b"
        raise ValueError(message)
    return OpcodeMatch(_number(parts[1]), _number(parts[2]), **{s: int(s in slots) for s in "mifb"})


# ---- the command ----------------------------------------------------------------

_ONLY = {"itanium2": ("pmc8", "pmc9", "btb"),
         "montecito": ("opcm1", "opcm2", "etb", "ipear", "demand_fetch", "prefetch_match")}


def _model_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments of encode() that one model alone has."""
    for pmu, names in _ONLY.items():
        for name in names:
            if pmu != args.pmu and getattr(args, name) not in (None, False):
                args.usage_error(f"--{name.replace('_', '-')} is an option of {pmu}")
    if args.pmu == "itanium2":
        return {"opcode_match": (args.pmc8, args.pmc9), "btb": args.btb}
    return {"opcode_match": (args.opcm1, args.opcm2), "etb": args.etb, "ipear": args.ipear,
            "demand_fetch": args.demand_fetch, "prefetch_match": args.prefetch_match}


def run(args: argparse.Namespace) -> int:
    specific = _model_arguments(args)
    asked = [args.events, args.code_range, args.data_range, args.iear, args.dear, *specific.values()]
    if not any(bool(a) and a != (None, None) for a in asked):
        args.usage_error("nothing to encode: give an event, an EAR, a trace buffer, a matcher or a range")
    encoding = selected_pmu(args, args.cpuid3).encode(
        args.events, plm=args.plm, code_ranges=args.code_range, data_ranges=args.data_range,
        invert=args.invert, no_fine=args.no_fine, iear=args.iear, dear=args.dear,
        system_wide=args.system_wide, unavailable_pmcs=args.unavail, check=args.check, **specific)
    if on_terminal(args):
        from pypfm.cli import _draw
        _draw.encoding(encoding)
    else:
        print_json(encoding.to_json())
    return 0
