"""NetBSD: pmc_control(2) and pmc_get_info(2) themselves.  What this process counts, and
what its ended children have counted, on the model of an XScale (PMC_MACHINE=xscale)."""

import errno
import os
import sys

from pypfm.pmc import *

DCACHE_MISS = 0xb


def err(what):
    sys.exit(f"{what}: {os.strerror(ffi.errno)}")


cfg = pmc_counter_cfg()
own, children = c_uint64(), c_uint64()
n = c_int()

if pmc_get_info(0, PMC_INFO_NCOUNTERS, n) < 0:
    err("no counters")
print(f"{n.value} counters")

cfg.event_id = DCACHE_MISS
if pmc_control(0, PMC_OP_CONFIGURE, cfg) < 0 and ffi.errno == errno.ENODEV:
    print("counter 0 counts cycles only")
if pmc_control(1, PMC_OP_CONFIGURE, cfg) < 0:
    err("configure")
if pmc_control(1, PMC_OP_START, None) < 0:
    err("start")
pmc_model_advance(DCACHE_MISS, 1000)
sys.stdout.flush()
for _ in range(3):
    if os.fork() == 0:
        pmc_model_advance(DCACHE_MISS, 100)
        os._exit(0)
    os.wait()
if pmc_control(1, PMC_OP_STOP, None) < 0:
    err("stop")
if pmc_get_info(1, PMC_INFO_COUNTER_VALUE, own) < 0:
    err("value")
if pmc_get_info(1, PMC_INFO_ACCUMULATED_COUNTER_VALUE, children) < 0:
    err("accumulated value")
print(f"data cache misses: {own.value}, of children: {children.value}")
