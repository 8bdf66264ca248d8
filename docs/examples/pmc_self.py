"""NetBSD: count an event of this program with libpmc.  The event is one that every
machine has: a page fault."""

import mmap
import os
import sys

from pypfm.pmc import *

PAGES = 64


def err(what):
    sys.exit(f"{what}: {os.strerror(ffi.errno)}")


def work():
    p = mmap.mmap(-1, PAGES * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    p.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(PAGES):
        p[i * mmap.PAGESIZE] = 1


value = c_uint64()

# Counters are not alike: look for one that takes the event.
for ctr in range(pmc_get_num_counters()):
    if pmc_configure_counter(ctr, "page-faults", 0, 0) == 0:
        break
else:
    err("no counter for page-faults")
if pmc_start_counter(ctr) < 0:
    err("start")
work()
if pmc_stop_counter(ctr) < 0:
    err("stop")
if pmc_get_counter_value(ctr, value) < 0:
    err("value")
print(f"class {pmc_get_counter_class_name(pmc_get_counter_class())}")
print(f"{PAGES} pages, at least {PAGES} page faults: {'yes' if value.value >= PAGES else 'no'}")
