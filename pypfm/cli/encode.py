"""pypfm encode: the register values for a measurement."""

from __future__ import annotations

import argparse
from dataclasses import fields
from inspect import signature
from typing import TYPE_CHECKING, Any

from pypfm import pmus
from pypfm.cli import values
from pypfm.cli._program import completed, say
from pypfm.cli.common import (
    PMUS,
    add_pmu_options,
    api_of,
    asked_pmu,
    checked,
    event_names,
    number,
    on_terminal,
    print_json,
)
from pypfm.errors import printable, shown
from pypfm.ia64 import EventRequest
from pypfm.ia64.models import MODELS, TAGS
from pypfm.levels import parse_plm

if TYPE_CHECKING:
    from pypfm import perf
    from pypfm.ia64 import Btb, Etb, ItaniumBtb

__all__ = ["DESCRIPTION", "EPILOG", "HELP", "REST", "add_options", "run"]

HELP = "compute register values"
DESCRIPTION = (
    "Compute the register values or event codes for a measurement: tables and pictures on a"
    " terminal, JSON in a pipe.")
EPILOG = """\
IA-64: an event may carry options after commas: plm=LEVELS, thres=N,
ism=both|ia32|ia64, noqual (do not check that it supports the qualifiers in use);
of gen_ia64 only plm.  Levels are user, kernel, or numbers 0 to 3.  Numbers are decimal or 0x
hexadecimal.  glm, perf, ita, ita2 and mont: an event is a libpfm 4 string,
EVENT:UMASK:MODIFIER=N.

With --perf the output is a command line of the perf tool, for a shell.  Of the
IA-64 PMUs it has the groups in which Linux's driver (since August 2026) counts
the events correctly.

  pypfm encode -p itanium2 CPU_CYCLES NOPS_RETIRED,thres=2 --plm user,kernel
  pypfm encode -p itanium2 IA64_INST_RETIRED --code-range 0x4000000000001000+0x40
  pypfm encode -p montecito L3_READS_ALL_ALL:M:E --dear tlb:0xe
  pypfm encode -p glm OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE:u
  pypfm encode -p perf task-clock --open
  pypfm encode -p mont --perf CPU_OP_CYCLES_ALL IA64_INST_RETIRED:u:k L3_MISSES
"""
REST = "events"


def add_options(parser: argparse.ArgumentParser) -> None:
    add_pmu_options(parser)
    add = parser.add_argument
    event = add("events", nargs="*", metavar="EVENT[:MASK...][,OPTION...]",
                help="event to count, up to the number of counters; none for an EAR on its own")
    completed(event, event_names)
    add("--plm", type=checked(parse_plm), default=parse_plm("user"), metavar="LEVELS",
        help="default privilege levels: user, kernel, user,kernel or numbers such as 0,3 (default: user)")
    add("--check", choices=["manual", "reference"], default="manual",
        help="manual: refuse what contradicts the manual page (default); reference: do as the C library does")
    _add_ia64_options(parser)
    add("--perf", action="store_true", help="print the command line of perf stat that counts the events")
    pfm4 = parser.add_argument_group("glm, perf, ita, ita2, mont")
    pfm4.add_argument("--os", choices=["none", "perf_event", "perf_event_ext"],
                      help="interface: raw codes (the default but for perf), perf_event, perf_event with its own"
                      " modifiers (default of perf)")
    pfm4.add_argument("--open", action="store_true", help="count the events over a short loop of this process")


def _add_ia64_options(parser: argparse.ArgumentParser) -> None:
    both = parser.add_argument_group("IA-64")
    both.add_argument("--code-range", action="append", default=[], type=checked(values.address_range),
                      metavar="START-END[@LEVELS]", help="measure inside these addresses only; END is exclusive;"
                      " START+SIZE too; up to 4 times")
    both.add_argument("--data-range", action="append", default=[], type=checked(values.address_range),
                      metavar="START-END[@LEVELS]", help="count accesses to these addresses only; likewise")
    both.add_argument("--invert", action="store_true", help="measure outside the code ranges (Itanium 2, Montecito)")
    both.add_argument("--no-fine", action="store_true", help="no fine mode for code ranges (likewise)")
    both.add_argument("--iear", type=checked(values.ear), metavar="MODE:UMASK[,plm=,ism=]",
                      help="instruction EAR; MODE is cache or tlb")
    both.add_argument("--dear", type=checked(values.ear), metavar="MODE:UMASK[,plm=,ism=]",
                      help="data EAR; MODE is cache, tlb or (not on Itanium) alat")
    both.add_argument("--system-wide", action="store_true", help="measure the whole system, not one thread")
    both.add_argument("--unavail", type=checked(values.numbers), default=(), metavar="N,N",
                      help="PMCs that must not be used")
    both.add_argument("--cpuid3", type=checked(number), metavar="VALUE",
                      help="CPUID register 3, as if the processor had been detected")
    both.add_argument("--corrected", action="store_true", help="glm, itanium: without libpfm's known errors (see the"
                      " pages on deviations)")
    both.add_argument("--pal", metavar="FILE", help="gen_ia64: what the kernel says of the processor in"
                      " /proc/pal/cpu0/perfmon_info (default: what libpfm assumes of a forced PMU)")
    ita2 = parser.add_argument_group("Itanium and Itanium 2")
    for option in _RAW_MATCHERS:
        ita2.add_argument(f"--{option}", type=checked(values.matcher_value), metavar="VALUE",
                          help=f"raw opcode matcher {option.upper()}")
    ita2.add_argument("--btb", type=checked(values.btb), metavar="tm=3,ptm=3,...",
                      help="branch trace buffer: tm, ptm, ppm, plm; Itanium 2: ds, brt; Itanium: tar, tac, bac")
    mont = parser.add_argument_group("Montecito")
    for option, which in zip(_MATCHERS, ("first", "second"), strict=True):
        mont.add_argument(f"--{option}", type=checked(values.matcher), metavar="m,i,f,b:MATCH:MASK",
                          help=f"{which} opcode matcher")
    mont.add_argument("--etb", type=checked(values.etb), metavar="tm=3,ptm=3,...",
                      help="execution trace buffer: tm, ptm, ppm, brt, plm")
    mont.add_argument("--ipear", type=checked(values.ipear), metavar="DELAY[,plm=]",
                      help="record instruction addresses")
    for option, what in (("demand-fetch", "demand fetches"), ("prefetch-match", "prefetches")):
        mont.add_argument(f"--{option}", action="store_true",
                          help=f"for events that count two kinds of fetches: count {what}")


_RAW_MATCHERS, _MATCHERS = ("pmc8", "pmc9"), ("opcm1", "opcm2")
# Options that not every PMU has: their parameter of its class or of encode(), and the attribute of the model that has
# the registers that they set.
_OPTIONS = {
    "code_range": ("code_ranges", "irange"), "data_range": ("data_ranges", "drange"), "invert": ("invert", "irange"),
    "no_fine": ("no_fine", "irange"), "iear": ("iear", "iear"), "dear": ("dear", "dear"), "btb": ("btb", "trace"),
    "etb": ("etb", "trace"), "ipear": ("ipear", "ipear"), "demand_fetch": ("demand_fetch", "irange"),
    "prefetch_match": ("prefetch_match", "irange"),
    **dict.fromkeys((*_RAW_MATCHERS, *_MATCHERS), ("opcode_match", "matchers")),
    **{name: (name, "") for name in ("system_wide", "cpuid3", "pal", "corrected", "os")},
    "unavail": ("unavailable_pmcs", ""), "open": ("os", ""),
}


def _options_of(pmu: str) -> list[str]:
    """Return the options that a PMU has: its class has their parameters."""
    cls = type(pmus.pmu(pmu))
    parameters = {*signature(cls).parameters, *signature(cls.encode).parameters}
    other = _MATCHERS if pmu in MODELS and MODELS[pmu].has_raw_matchers else _RAW_MATCHERS
    return [option for option, (name, _) in _OPTIONS.items() if name in parameters and option not in other]


def _given(args: argparse.Namespace) -> list[str]:
    """Return the options on a command line that not every PMU has."""
    return [name for name in _OPTIONS
            if (value := getattr(args, name)) is not None and value is not False and value not in ([], ())]  # 0 is one


def _check_options(args: argparse.Namespace) -> None:
    own = _options_of(args.pmu) if args.library is None else ["os", "open"]
    for name in _given(args):
        if name not in own:
            _refuse_option(args, name)


def _refuse_option(args: argparse.Namespace, name: str) -> None:
    owners = [pmu for pmu in PMUS if name in _options_of(pmu)]
    args.usage_error(f"{_spelled(name)} is an option of {', '.join(owners)}, not of {args.pmu}")


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def run(args: argparse.Namespace) -> int:
    api = api_of(args)
    if args.perf:
        return _run_perf(args)
    _check_options(args)
    return _run_pfm4(args) if api == "pfm4" else _run_pfm3(args)


def _run_perf(args: argparse.Namespace) -> int:
    """Print the command line of perf that counts the events."""
    from pypfm.perf.groups import ungrouped

    if not args.events:
        args.usage_error("nothing to encode: give an event")
    name = TAGS.get(args.pmu, args.pmu) if args.library is None else ""
    _check_perf_options(args, name)
    found: perf.Groups
    if name in MODELS:
        events = _events(args) if args.pmu == name else args.events
        processor: Any = pmus.pmu(name)
        found = processor.for_perf(events, plm=args.plm, system_wide=args.system_wide)
    else:
        pmu = asked_pmu(args, **({"corrected": True} if args.corrected else {}))
        found = ungrouped(pmu, _single(pmu, args), plm=args.plm, system_wide=args.system_wide)
    if args.json:
        print_json(found.to_json())
    else:
        for note in found.notes:
            say(f"pypfm encode: {note}\n")
        print(printable(found.command))
    return 0


def _check_perf_options(args: argparse.Namespace, name: str) -> None:
    """Refuse what Linux's driver does not do, by the register that it does not set, and options of other PMUs."""
    if args.corrected and (not name or "corrected" not in _options_of(name)):
        _refuse_option(args, "corrected")
    if args.corrected and name in MODELS:
        args.usage_error("--corrected: the kernel's driver has no way to set the registers that it corrects")
    given = _given(args)
    for option in ("os", "open"):
        if option in given:
            args.usage_error(f"--{option} and --perf: give one")
    for option in ("unavail", "cpuid3", "pal"):
        if option in given:
            args.usage_error(f"--{option} and --perf: the kernel knows its processor, and chooses the counters itself")
    for option in given:
        if part := _OPTIONS[option][1]:
            registers = getattr(MODELS[name], part) if name in MODELS else None
            while isinstance(registers, tuple):  # the first of several
                registers = registers[0] if registers else None
            if registers is None:
                _refuse_option(args, option)
            args.usage_error(f"{_spelled(option)}: the kernel's driver has no way to set PMC{registers}")


def _events(args: argparse.Namespace) -> list[EventRequest]:
    """Return the events of the command line, with the options after their commas."""
    events = []
    for word in args.events:
        try:
            events.append(values.event(word))
        except ValueError as error:
            args.usage_error(f"argument EVENT: {shown(word)}: {error}")
    return events


def _run_pfm3(args: argparse.Namespace) -> int:
    specific = _specific(args)
    if not any(bool(a) and a != (None, None) for a in [args.events, *specific.values()]):
        args.usage_error("nothing to encode: give an event, an EAR, a trace buffer, a matcher or a range")
    events = _events(args)
    pmu = asked_pmu(args, **{name: getattr(args, name) for name in ("cpuid3", "pal", "corrected")
                             if name in _given(args)})
    encoding = pmu.encode(events, plm=args.plm, system_wide=args.system_wide, unavailable_pmcs=args.unavail,
                          check=args.check, **specific)
    if on_terminal(args):
        from pypfm.cli import draw
        draw.encoding(encoding)
    else:
        print_json(encoding.to_json())
    return 0


def _specific(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of encode() that not every IA-64 PMU has."""
    own = _options_of(args.pmu)
    found = {_OPTIONS[name][0]: getattr(args, name) for name in own if _OPTIONS[name][1]}
    for first, second in (_RAW_MATCHERS, _MATCHERS):
        if first in own:
            found["opcode_match"] = getattr(args, first), getattr(args, second)
    if "btb" in own:
        found["btb"] = _btb(args)
    return found


def _btb(args: argparse.Namespace) -> Btb | ItaniumBtb | Etb | None:
    """Return the branch trace buffer of the PMU, from options that some other PMU may have."""
    cls: type[Btb | ItaniumBtb | Etb] | None = pmus.pmu(args.pmu).branches
    if args.btb is None or cls is None:
        return None
    allowed = [f.name for f in fields(cls) if f.name != "used"]
    for name in args.btb:
        if name not in allowed:
            args.usage_error(f"argument --btb: {name}: {args.pmu} has {', '.join(allowed)}")
    return cls(**args.btb)


def _run_pfm4(args: argparse.Namespace) -> int:
    if not args.events:
        args.usage_error("nothing to encode: give an event")
    pmu = asked_pmu(args, **({"corrected": True} if args.corrected else {}))
    os: Any = args.os or ("perf_event_ext" if args.open else pmu.default_os)
    events = _single(pmu, args)
    encodings = [pmu.encode(text, plm=args.plm, os=os, check=args.check) for text in events]
    counts = [pmu.count(text, _loop, plm=args.plm, os=os) for text in events] if args.open else None
    if counts is not None:
        encodings = [_counted(e, count) for e, count in zip(encodings, counts, strict=True)]
    if on_terminal(args):
        from pypfm.cli import draw
        for encoding in encodings:
            draw.encoding4(encoding)
    else:
        from pypfm.perf.encoding import Encodings
        print_json(Encodings(pmu.name, os, tuple(encodings)).to_json())
    return 0


def _single(pmu: Any, args: argparse.Namespace) -> list[str]:
    """Return the events of the command line; ``A+B`` of libpfm_intel_glm(3), an average latency, is two."""
    events = []
    for text in args.events:
        if "+" in text and hasattr(pmu, "parse_average_latency"):
            pair = pmu.parse_average_latency(text, plm=args.plm)
            events += [pair.outstanding.string, pair.requests.string]
        else:
            events.append(text)
    return events


def _counted(encoding: perf.Encoding, count: int) -> perf.Encoding:
    """Return an encoding with its count, the unit, and the modes that it is of."""
    from pypfm.common.counting import counts_both, unit
    from pypfm.perf.encoding import Counted

    attr = encoding.attr or {}
    both = counts_both(attr)
    modes: list[Any] = [mode for mode in ("user", "kernel") if both or f"exclude_{mode}" not in attr]
    return Counted(**vars(encoding), count=count, unit=unit(attr), modes=tuple(modes))


def _loop() -> None:
    """Something to count: a few milliseconds of work, and fresh pages."""
    from mmap import mmap

    with mmap(-1, 1 << 16) as data:  # of the kernel's; malloc may have pages that were touched before
        for i in range(100_000):
            data[i & 0xFFFF] = i & 0xFF
