"""Itanium 2: sample data cache misses of at least 16 cycles with the data EAR.  First as
the event says it, then with settings of our own, then free running, without a counter."""

import sys

from pypfm.pfm3 import *

inp = pfmlib_input_param_t()
ita2_inp = pfmlib_ita2_input_param_t()


def show(what):
    outp = pfmlib_output_param_t()
    ret = pfm_dispatch_events(inp, ita2_inp, outp, None)
    if ret != PFMLIB_SUCCESS:
        sys.exit(f"{what}: {pfm_strerror(ret)}")
    print(f"{what}:", end="")
    for pmc in outp.pfp_pmcs[0:outp.pfp_pmc_count]:
        print(f" PMC{pmc.reg_num}={pmc.reg_value:#x}", end="")
    print(", samples in", end="")
    for pmd in outp.pfp_pmds[0:outp.pfp_pmd_count]:
        print(f" PMD{pmd.reg_num}", end="")
    print()


mode = pfmlib_ita2_ear_mode_t()
event = c_uint()
umask = c_ulong()

if pfm_initialize() != PFMLIB_SUCCESS:
    sys.exit("cannot initialize the library")
if pfm_find_event("DATA_EAR_CACHE_LAT16", event) != PFMLIB_SUCCESS or not pfm_ita2_is_dear(event.value):
    sys.exit("no data EAR event")
pfm_ita2_get_ear_mode(event.value, mode)
pfm_ita2_get_event_umask(event.value, umask)
print(f"EAR mode {mode.value}, unit mask {umask.value:#x}")

# The event brings the settings.
inp.pfp_events[0].event = event.value
inp.pfp_event_count = 1
inp.pfp_dfl_plm = PFM_PLM3
show("event")

# Settings of our own: the kernel too, IA-64 code only.
ita2_inp.pfp_ita2_dear.ear_used = 1
ita2_inp.pfp_ita2_dear.ear_mode = mode.value
ita2_inp.pfp_ita2_dear.ear_umask = umask.value
ita2_inp.pfp_ita2_dear.ear_plm = PFM_PLM0 | PFM_PLM3
ita2_inp.pfp_ita2_dear.ear_ism = PFMLIB_ITA2_ISM_IA64
show("settings")

# No event: the EAR runs, and nothing is counted.
inp.pfp_event_count = 0
show("free running")
