"""Four counters of Itanium 2: user and kernel cycles, instructions, and cycles in which
more than two instructions were nops.  Prints what has to be written and read."""

import sys

from pypfm.pfm3 import *

events = ["CPU_CYCLES", "IA64_INST_RETIRED", "NOPS_RETIRED", "L2_MISSES"]

type, width = c_int(), c_uint()

if pfm_initialize() != PFMLIB_SUCCESS:
    sys.exit("cannot initialize the library")
pfm_get_pmu_type(type)
if type.value != PFMLIB_ITANIUM2_PMU:
    sys.exit("this program is for Itanium 2")

inp = pfmlib_input_param_t()
outp = pfmlib_output_param_t()
ita2_inp = pfmlib_ita2_input_param_t()

for i, event in enumerate(events):
    ret = pfm_find_event(event, byref(inp.pfp_events[i], "event"))
    if ret != PFMLIB_SUCCESS:
        sys.exit(f"{event}: {pfm_strerror(ret)}")
inp.pfp_event_count = len(events)
inp.pfp_dfl_plm = PFM_PLM3
inp.pfp_events[0].plm = PFM_PLM0 | PFM_PLM3
ita2_inp.pfp_ita2_counters[2].thres = 2

ret = pfm_dispatch_events(inp, ita2_inp, outp, None)
if ret != PFMLIB_SUCCESS:
    sys.exit(f"cannot configure events: {pfm_strerror(ret)}")

pfm_get_hw_counter_width(width)
print(f"counters have {width.value} bits")
for pmc in outp.pfp_pmcs[0:outp.pfp_pmc_count]:
    print(f"write PMC{pmc.reg_num} = {pmc.reg_value:#x}")
for pmd, event in zip(outp.pfp_pmds[0:outp.pfp_pmd_count], events, strict=True):
    print(f"read  PMD{pmd.reg_num}: {event}")
