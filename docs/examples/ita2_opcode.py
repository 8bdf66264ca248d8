"""Itanium 2: count retired branch instructions with opcode matcher PMC8, which lets all
B-slot instructions through, whatever their opcode."""

import sys

from pypfm.pfm3 import *

inp = pfmlib_input_param_t()
outp = pfmlib_output_param_t()
ita2_inp = pfmlib_ita2_input_param_t()
matcher = pfm_ita2_pmc_reg_t()

matcher.pmc8_9_ita2_reg.opcm_b = 1
matcher.pmc8_9_ita2_reg.opcm_mask = 0x7ffffff  # bits not to compare: all

if pfm_initialize() != PFMLIB_SUCCESS:
    sys.exit("cannot initialize the library")
pfm_find_event("IA64_TAGGED_INST_RETIRED_IBRP0_PMC8", byref(inp.pfp_events[0], "event"))
if not pfm_ita2_support_opcm(inp.pfp_events[0].event):
    sys.exit("the event ignores the opcode matchers")
inp.pfp_event_count = 1
inp.pfp_dfl_plm = PFM_PLM3
ita2_inp.pfp_ita2_pmc8.opcm_used = 1
ita2_inp.pfp_ita2_pmc8.pmc_val = matcher.pmc_val

ret = pfm_dispatch_events(inp, ita2_inp, outp, None)
if ret != PFMLIB_SUCCESS:
    sys.exit(f"cannot configure events: {pfm_strerror(ret)}")
for pmc in outp.pfp_pmcs[0:outp.pfp_pmc_count]:
    print(f"PMC{pmc.reg_num:<2} = 0x{pmc.reg_value:016x}")

# Cycles have no opcode, and the library says so ...
pfm_find_event("CPU_CYCLES", byref(inp.pfp_events[1], "event"))
inp.pfp_event_count = 2
ret = pfm_dispatch_events(inp, ita2_inp, outp, None)
print(f"with CPU_CYCLES: {pfm_strerror(ret)}")
# ... unless it is told that they may count unfiltered.
ita2_inp.pfp_ita2_counters[1].flags = PFMLIB_ITA2_FL_EVT_NO_QUALCHECK
ret = pfm_dispatch_events(inp, ita2_inp, outp, None)
print(f"without the check: {pfm_strerror(ret)}")
