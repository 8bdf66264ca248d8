"""NetBSD: the machine that PMC_MACHINE names: its counters and events."""

import os
import sys

from pypfm.pmc import *

type = c_int()
n = pmc_get_num_counters()

if n == 0:
    sys.exit("no such machine")
print(f"{pmc_get_counter_class_name(pmc_get_counter_class())}: {n} counters")
for ctr in range(n):
    if pmc_get_counter_type(ctr, type) < 0:
        sys.exit(f"type: {os.strerror(ffi.errno)}")
    print(f"{ctr}: {pmc_get_counter_type_name(type.value)}")
events, i = pmc_get_counter_event_list(), 0
while events[i].name:
    print(f"{events[i].val:#x} {events[i].name}")
    i += 1
