"""What pmc_control(), pmc_get_info() and pmc_model_advance() return: one row a case.

A call is "OPERATION COUNTER ARGUMENT", "control" or "info" with a number for the operation, or "advance ID COUNT";
"other:" before it has another process make it.  ARGUMENT is as in tests/c/pmc_script.c; without one it is null.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

OPERATIONS = {
    "START": ("control", 1), "STOP": ("control", 2), "CONFIGURE": ("control", 3), "PROFSTART": ("control", 4),
    "PROFSTOP": ("control", 5),
    "NCOUNTERS": ("info", 1), "TYPE": ("info", 2), "VALUE": ("info", 3), "ACCUMULATED": ("info", 4),
}


def expand(call: str) -> str:
    """A call as the workers read it."""
    name, *words = call.split()
    if name not in OPERATIONS:
        return call
    function, number = OPERATIONS[name]
    return " ".join([function, words[0], str(number), *(words[1:] or ["null"])])


class Check(NamedTuple):
    """One case.

    :ivar machine: PMC_MACHINE
    :ivar before: calls that bring the state about; each returns 0
    :ivar call: the call in question, and its answer
    :ivar after: calls that show what it changed or left, and their answers
    """

    machine: str
    before: Sequence[str]
    call: str
    answer: str
    after: Sequence[tuple[str, str]] = ()


MISS = "cfg:0xb:0"  # dcache-miss of xscale, on counters 1 and 2
CLOCK = "cfg:0x100:0"
RUNNING = [f"CONFIGURE 1 {MISS}", "START 1"]
STOPPED = [*RUNNING, "advance 0xb 3", "STOP 1"]
PROFILING = ["PROFSTART 1 cfg:0xb:10"]
ELSEWHERE = [f"other:{call}" for call in RUNNING]
PROFILING_ELSEWHERE = [f"other:{call}" for call in PROFILING]

CHECKS = {
    # ---- the counter's range is looked at in one place for all operations, and in one for all values
    # ---- START: not configured, running, profiling owns it; argp is ignored
    "start-never-configured": Check("xscale", [], "START 1", "-1 ENXIO"),
    "start-configured": Check("xscale", [f"CONFIGURE 1 {MISS}"], "START 1", "0 -", [("START 1", "-1 EINPROGRESS")]),
    "start-ignores-argp": Check("xscale", [f"CONFIGURE 1 {MISS}"], "START 1 bad", "0 -"),
    "start-running": Check("xscale", RUNNING, "START 1", "-1 EINPROGRESS", [("VALUE 1 uint64", "0 - 0")]),
    "start-stopped": Check("xscale", STOPPED, "START 1", "0 -", [("VALUE 1 uint64", "0 - 3")]),
    "start-below-range": Check("xscale", [], "START -1", "-1 EINVAL"),
    "start-above-range": Check("xscale", [], "START 3", "-1 EINVAL"),
    "start-profiling": Check("xscale", [f"CONFIGURE 1 {MISS}", *PROFILING], "START 1", "-1 EBUSY"),
    "start-profiling-elsewhere": Check("xscale", [f"CONFIGURE 1 {MISS}", *PROFILING_ELSEWHERE], "START 1", "-1 EBUSY"),
    "start-after-profstop": Check("xscale", [f"CONFIGURE 1 {MISS}", *PROFILING, "PROFSTOP 1"], "START 1", "0 -"),
    "start-never-configured-profiling": Check("xscale", PROFILING, "START 1", "-1 ENXIO"),
    "start-running-elsewhere": Check("xscale", [f"CONFIGURE 1 {MISS}", *ELSEWHERE], "START 1", "0 -"),
    # ---- STOP
    "stop-never-configured": Check("xscale", [], "STOP 1", "-1 ENXIO"),
    "stop-configured": Check("xscale", [f"CONFIGURE 1 {MISS}"], "STOP 1", "0 -"),
    "stop-running": Check("xscale", RUNNING, "STOP 1", "0 -", [("advance 0xb 5", "0 -"), ("VALUE 1 uint64", "0 - 0")]),
    "stop-ignores-argp": Check("xscale", RUNNING, "STOP 1 bad", "0 -"),
    "stop-stopped": Check("xscale", STOPPED, "STOP 1", "0 -", [("VALUE 1 uint64", "0 - 3")]),
    "stop-profiling": Check("xscale", PROFILING, "STOP 1", "-1 ENXIO", [("advance 0xb 10", "0 -"), ("signals", "1 -")]),
    # ---- CONFIGURE: pointer, counter, use, event
    "configure": Check("xscale", [], f"CONFIGURE 1 {MISS}", "0 -", [("VALUE 1 uint64", "0 - 0")]),
    "configure-does-not-start": Check("xscale", [f"CONFIGURE 1 {MISS}"], "advance 0xb 4", "0 -",
                                      [("VALUE 1 uint64", "0 - 0")]),
    "configure-null": Check("xscale", [], "CONFIGURE 1 null", "-1 EFAULT", [("START 1", "-1 ENXIO")]),
    "configure-bad-pointer": Check("xscale", [], "CONFIGURE 1 bad", "-1 EFAULT"),
    "configure-pointer-before-counter": Check("xscale", [], "CONFIGURE 9 bad", "-1 EFAULT"),
    "configure-pointer-before-running": Check("xscale", RUNNING, "CONFIGURE 1 null", "-1 EFAULT",
                                              [("START 1", "-1 EINPROGRESS")]),
    "configure-above-range": Check("xscale", [], f"CONFIGURE 3 {MISS}", "-1 EINVAL"),
    "configure-counter-before-event": Check("xscale", [], "CONFIGURE 3 cfg:0x99:0", "-1 EINVAL"),
    "configure-running": Check("xscale", [*RUNNING, "advance 0xb 7"], "CONFIGURE 1 cfg:0x7:0", "-1 EBUSY", [
        ("START 1", "-1 EINPROGRESS"), ("advance 0x7 9", "0 -"), ("advance 0xb 1", "0 -"), ("VALUE 1 uint64", "0 - 8")]),
    "configure-running-before-event": Check("xscale", RUNNING, "CONFIGURE 1 cfg:0x99:0", "-1 EBUSY"),
    "configure-stopped-resets": Check("xscale", STOPPED, f"CONFIGURE 1 {MISS}", "0 -", [("VALUE 1 uint64", "0 - 0")]),
    "configure-stopped-another-event": Check("xscale", STOPPED, "CONFIGURE 1 cfg:0x7:0", "0 -", [
        ("START 1", "0 -"), ("advance 0xb 9", "0 -"), ("advance 0x7 2", "0 -"), ("VALUE 1 uint64", "0 - 2")]),
    "configure-profiling": Check("xscale", PROFILING, f"CONFIGURE 1 {MISS}", "-1 EBUSY"),
    "configure-profiling-before-event": Check("xscale", PROFILING, "CONFIGURE 1 cfg:0x99:0", "-1 EBUSY"),
    "configure-profiling-elsewhere": Check("xscale", PROFILING_ELSEWHERE, f"CONFIGURE 1 {MISS}", "-1 EBUSY"),
    "configure-another-than-profiling": Check("xscale", PROFILING, f"CONFIGURE 2 {MISS}", "0 -"),
    "configure-running-elsewhere": Check("xscale", ELSEWHERE, f"CONFIGURE 1 {MISS}", "0 -"),
    "configure-no-event": Check("xscale", [], "CONFIGURE 1 cfg:0x13:0", "-1 ENODEV", [("START 1", "-1 ENXIO")]),
    "configure-negative-event": Check("xscale", [], "CONFIGURE 1 cfg:-1:0", "-1 ENODEV"),
    "configure-no-event-keeps-the-old": Check("xscale", STOPPED, "CONFIGURE 1 cfg:0x17:0", "-1 ENODEV", [
        ("VALUE 1 uint64", "0 - 3"), ("START 1", "0 -"), ("advance 0xb 1", "0 -"), ("VALUE 1 uint64", "0 - 4")]),
    "configure-clock-on-1": Check("xscale", [], f"CONFIGURE 1 {CLOCK}", "-1 ENODEV"),
    "configure-clock-on-0": Check("xscale", [], f"CONFIGURE 0 {CLOCK}", "0 -"),
    "configure-event-on-0": Check("xscale", [], f"CONFIGURE 0 {MISS}", "-1 ENODEV"),
    "configure-i686-flops-on-0": Check("i686", [], "CONFIGURE 0 cfg:0xc1:0", "0 -"),
    "configure-i686-flops-on-1": Check("i686", [], "CONFIGURE 1 cfg:0xc1:0", "-1 ENODEV"),
    "configure-i686-mul-on-0": Check("i686", [], "CONFIGURE 0 cfg:0x12:0", "-1 ENODEV"),
    "configure-i686-mul-on-1": Check("i686", [], "CONFIGURE 1 cfg:0x12:0", "0 -"),
    # ---- PROFSTART: pointer, counter, use, event
    "profstart": Check("xscale", [], "PROFSTART 1 cfg:0xb:10", "0 -", [("advance 0xb 100", "0 -"), ("signals", "10 -")]),
    "profstart-null": Check("xscale", [], "PROFSTART 1 null", "-1 EFAULT"),
    "profstart-bad-pointer": Check("xscale", [], "PROFSTART 1 bad", "-1 EFAULT"),
    "profstart-pointer-before-counter": Check("xscale", [], "PROFSTART -1 bad", "-1 EFAULT"),
    "profstart-running": Check("xscale", RUNNING, f"PROFSTART 1 {MISS}", "-1 EBUSY", [
        ("advance 0xb 2", "0 -"), ("VALUE 1 uint64", "0 - 2")]),
    "profstart-running-before-event": Check("xscale", RUNNING, "PROFSTART 1 cfg:0x99:0", "-1 EBUSY"),
    "profstart-running-elsewhere": Check("xscale", ELSEWHERE, f"PROFSTART 1 {MISS}", "-1 EBUSY"),
    "profstart-running-elsewhere-before-event": Check("xscale", ELSEWHERE, "PROFSTART 1 cfg:0x99:0", "-1 EBUSY"),
    "profstart-stopped-elsewhere": Check("xscale", [*ELSEWHERE, "other:STOP 1"], f"PROFSTART 1 {MISS}", "0 -"),
    "profstart-configured-elsewhere": Check("xscale", [f"other:CONFIGURE 1 {MISS}"], f"PROFSTART 1 {MISS}", "0 -"),
    "profstart-another-runs-elsewhere": Check("xscale", ELSEWHERE, f"PROFSTART 2 {MISS}", "0 -"),
    "profstart-configured": Check("xscale", [f"CONFIGURE 1 {MISS}"], f"PROFSTART 1 {MISS}", "0 -"),
    "profstart-profiling": Check("xscale", PROFILING, f"PROFSTART 1 {MISS}", "-1 EBUSY"),
    "profstart-profiling-elsewhere": Check("xscale", PROFILING_ELSEWHERE, f"PROFSTART 1 {MISS}", "-1 EBUSY"),
    "profstart-no-event": Check("xscale", [], "PROFSTART 1 cfg:0x99:0", "-1 ENODEV", [
        (f"CONFIGURE 1 {MISS}", "0 -"), ("START 1", "0 -")]),
    "profstart-event-of-another-counter": Check("xscale", [], f"PROFSTART 1 {CLOCK}", "-1 ENODEV"),
    "profstart-no-interrupts": Check("i586", [], "PROFSTART 0 cfg:0x2:1", "-1 ENODEV", [
        ("CONFIGURE 0 cfg:0x2:1", "0 -")]),
    "profstart-no-interrupts-running-elsewhere": Check("i586", ["other:CONFIGURE 0 cfg:0x2:0", "other:START 0"],
                                                       "PROFSTART 0 cfg:0x2:1", "-1 EBUSY"),
    "profstart-i686": Check("i686", [], "PROFSTART 1 cfg:0x43:5", "0 -", [("advance 0x43 11", "0 -"), ("signals", "2 -")]),
    "profstart-k7": Check("k7", [], "PROFSTART 3 cfg:0x40:5", "0 -", [("advance 0x40 4", "0 -"), ("signals", "0 -")]),
    # ---- PROFSTOP
    "profstop-not-profiling": Check("xscale", [], "PROFSTOP 1", "0 -"),
    "profstop-ignores-argp": Check("xscale", PROFILING, "PROFSTOP 1 bad", "0 -"),
    "profstop-profiling": Check("xscale", PROFILING, "PROFSTOP 1", "0 -", [
        ("advance 0xb 100", "0 -"), ("signals", "0 -"), (f"other:PROFSTART 1 {MISS}", "0 -")]),
    "profstop-running": Check("xscale", RUNNING, "PROFSTOP 1", "0 -", [("START 1", "-1 EINPROGRESS")]),
    "profstop-of-another-process": Check("xscale", PROFILING_ELSEWHERE, "PROFSTOP 1", "0 -", [
        (f"PROFSTART 1 {MISS}", "-1 EBUSY")]),
    # ---- unknown operations, before anything else
    "control-unknown": Check("xscale", [], "control 1 6 null", "-1 EINVAL"),
    "control-zero": Check("xscale", [], "control 1 0 bad", "-1 EINVAL"),
    "control-negative": Check("xscale", [], "control -5 -1 bad", "-1 EINVAL"),
    "info-unknown": Check("xscale", [], "info 1 5 bad", "-1 EINVAL"),
    "info-zero": Check("xscale", [], "info 1 0 null", "-1 EINVAL"),
    # ---- NCOUNTERS: ctr is ignored
    "ncounters": Check("xscale", [], "NCOUNTERS 0 int", "0 - 3"),
    "ncounters-any-counter": Check("xscale", [], "NCOUNTERS -77 int", "0 - 3"),
    "ncounters-null": Check("xscale", [], "NCOUNTERS 0 null", "-1 EFAULT"),
    "ncounters-bad-pointer": Check("xscale", [], "NCOUNTERS 99 bad", "-1 EFAULT"),
    # ---- CPUCTR_TYPE
    "type-class": Check("xscale", [], "TYPE -1 int", "0 - 65536"),
    "type-cycle-counter": Check("xscale", [], "TYPE 0 int", "0 - 65537"),
    "type-counter": Check("xscale", [], "TYPE 2 int", "0 - 65538"),
    "type-below-range": Check("xscale", [], "TYPE -2 int", "-1 EINVAL"),
    "type-above-range": Check("xscale", [], "TYPE 3 int", "-1 EINVAL"),
    "type-counter-before-pointer": Check("xscale", [], "TYPE 3 bad", "-1 EINVAL"),
    "type-null": Check("xscale", [], "TYPE -1 null", "-1 EFAULT"),
    "type-bad-pointer": Check("xscale", [], "TYPE 0 bad", "-1 EFAULT"),
    # ---- COUNTER_VALUE: counter, configured, pointer
    "value-never-configured": Check("xscale", [], "VALUE 1 uint64", "-1 ENXIO"),
    "value-configured-before-pointer": Check("xscale", [], "VALUE 1 bad", "-1 ENXIO"),
    "value-below-range": Check("xscale", [], "VALUE -1 uint64", "-1 EINVAL"),
    "value-above-range": Check("xscale", [], "VALUE 3 uint64", "-1 EINVAL"),
    "value-counter-before-pointer": Check("xscale", [], "VALUE 3 bad", "-1 EINVAL"),
    "value-null": Check("xscale", RUNNING, "VALUE 1 null", "-1 EFAULT"),
    "value-bad-pointer": Check("xscale", STOPPED, "VALUE 1 bad", "-1 EFAULT", [("VALUE 1 uint64", "0 - 3")]),
    "value-profiling-only": Check("xscale", PROFILING, "VALUE 1 uint64", "-1 ENXIO"),
    # ---- ACCUMULATED: the same, and read in the same way
    "accumulated-never-configured": Check("xscale", [], "ACCUMULATED 1 uint64", "-1 ENXIO"),
    "accumulated-not-own-counts": Check("xscale", STOPPED, "ACCUMULATED 1 uint64", "0 - 0"),
    "accumulated-below-range": Check("xscale", [], "ACCUMULATED -1 uint64", "-1 EINVAL"),
    # ---- pmc_model_advance()
    "advance-no-event": Check("xscale", [], "advance 0x13 1", "-1 ENODEV"),
    "advance-nothing-counts": Check("xscale", [], "advance 0xb 1000", "0 -"),
    "advance-zero": Check("xscale", RUNNING, "advance 0xb 0", "0 -", [("VALUE 1 uint64", "0 - 0")]),
    "advance-another-event": Check("xscale", RUNNING, "advance 0x7 5", "0 -", [("VALUE 1 uint64", "0 - 0")]),
    "advance-linux": Check("linux", [], "advance 0x100 1", "-1 ENODEV"),
    # ---- linux, as far as no event is opened
    "linux-ncounters": Check("linux", [], "NCOUNTERS 0 int", "0 - 8"),
    "linux-class": Check("linux", [], "TYPE -1 int", "0 - 262144"),
    "linux-cycle-counter": Check("linux", [], "TYPE 0 int", "0 - 262145"),
    "linux-counter": Check("linux", [], "TYPE 7 int", "0 - 262146"),
    "linux-start-never-configured": Check("linux", [], "START 7", "-1 ENXIO"),
    "linux-configure-no-event": Check("linux", [], "CONFIGURE 1 cfg:0x7fffffff:0", "-1 ENODEV"),
    "linux-configure-event-on-the-cycle-counter": Check("linux", [], "CONFIGURE 0 cfg:0x1:0", "-1 ENODEV"),
}
# A name that is no machine's: every call is refused, before any other check.
NO_MACHINE = ["START 0", "STOP 99", f"CONFIGURE 1 {MISS}", "CONFIGURE 1 bad", "PROFSTART 1 null", "PROFSTOP 0",
              "NCOUNTERS 0 int", "TYPE -1 int", "VALUE 0 bad", "ACCUMULATED 9 uint64", "control 1 99 null",
              "info 0 77 null", "advance 0xb 1"]
