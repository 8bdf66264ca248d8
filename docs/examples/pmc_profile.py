"""NetBSD: a profile.  SIGPROF comes with each hundredth data cache miss, and the handler
notes which function ran.  On the model of an XScale (PMC_MACHINE=xscale)."""

import os
import signal
import sys

from pypfm.pmc import *

DCACHE_MISS = 0xb

SORT, SEARCH = range(2)

names = ["sort", "search"]
running = SORT
ticks = [0, 0]


def err(what):
    sys.exit(f"{what}: {os.strerror(ffi.errno)}")


def tick(*_):
    ticks[running] += 1


def run(function, misses):
    """The work of a function: on a model, the misses that it would have."""
    global running
    running = function
    pmc_model_advance(DCACHE_MISS, misses)


cfg = pmc_counter_cfg()
cfg.event_id = DCACHE_MISS
cfg.reset_value = 100
signal.signal(signal.SIGPROF, tick)
if pmc_control(1, PMC_OP_PROFSTART, cfg) < 0:
    err("profile")
run(SORT, 7500)
run(SEARCH, 2500)
if pmc_control(1, PMC_OP_PROFSTOP, None) < 0:
    err("profile")
for name, n in zip(names, ticks, strict=True):
    print(f"{name:<6} {n:3} ticks")
