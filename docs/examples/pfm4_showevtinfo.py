"""List the events of the active PMUs whose names begin with a word, with their unit masks
and modifiers."""

import sys

from pypfm.pfm4 import *


def show_attribute(event, a):
    info = pfm_event_attr_info_t()
    info.size = sizeof(info)
    if pfm_get_event_attr_info(event.idx, a, PFM_OS_NONE, info) != PFM_SUCCESS:
        sys.exit(f"no attribute {a} of {event.name}")
    if info.type == PFM_ATTR_UMASK:
        print(f"Umask    : 0x{info.code:02x} : [{info.name}]{' default' if info.is_dfl else ''}")
    else:
        print(f"Modifier : [{info.name}] {'switch' if info.type == PFM_ATTR_MOD_BOOL else 'number'}")


def show_event(pmu, event):
    print(f"Name     : {pmu.name}::{event.name}")
    print(f"Code     : {event.code:#x}")
    print(f"Equiv    : {event.equiv}")
    for a in range(event.nattrs):
        show_attribute(event, a)


ret = pfm_initialize()
if ret != PFM_SUCCESS:
    sys.exit(f"cannot initialize the library: {pfm_strerror(ret)}")
for id in range(PFM_PMU_MAX):
    pmu = pfm_pmu_info_t()
    pmu.size = sizeof(pmu)
    if pfm_get_pmu_info(id, pmu) != PFM_SUCCESS or not pmu.is_present:
        continue
    print(f"{pmu.name}: {pmu.desc}, {pmu.nevents} events, {pmu.num_cntrs} counters")
    i = pmu.first_event
    while i != -1:
        event = pfm_event_info_t()
        event.size = sizeof(event)
        pfm_get_event_info(i, PFM_OS_NONE, event)
        if len(sys.argv) > 1 and event.name.startswith(sys.argv[1]):
            show_event(pmu, event)
        i = pfm_get_event_next(i)
pfm_terminate()
