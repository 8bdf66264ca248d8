"""Montecito: the execution trace buffer.  First it records returns, then the addresses of
the instructions that retire (IP-EAR)."""

import sys

from pypfm.pfm3 import *

inp = pfmlib_input_param_t()
mont_inp = pfmlib_mont_input_param_t()


def show(what):
    outp = pfmlib_output_param_t()
    ret = pfm_dispatch_events(inp, mont_inp, outp, None)
    if ret != PFMLIB_SUCCESS:
        sys.exit(f"{what}: {pfm_strerror(ret)}")
    print(f"{what}:", end="")
    for pmc in outp.pfp_pmcs[0:outp.pfp_pmc_count]:
        print(f" PMC{pmc.reg_num}={pmc.reg_value:#x}", end="")
    first, last = outp.pfp_pmds[0], outp.pfp_pmds[outp.pfp_pmd_count - 1]
    print(f", first PMD{first.reg_num}, last PMD{last.reg_num}")


if pfm_initialize() != PFMLIB_SUCCESS:
    sys.exit("cannot initialize the library")
inp.pfp_dfl_plm = PFM_PLM3
if pfm_find_event("ETB_EVENT", byref(inp.pfp_events[0], "event")) != PFMLIB_SUCCESS:
    sys.exit("no such event")
inp.pfp_event_count = 1
show("all branches")

mont_inp.pfp_mont_etb.etb_used = 1
mont_inp.pfp_mont_etb.etb_tm = 2     # taken
mont_inp.pfp_mont_etb.etb_ptm = 3    # target predicted or not
mont_inp.pfp_mont_etb.etb_ppm = 3    # path predicted or not
mont_inp.pfp_mont_etb.etb_brt = 2    # returns
show("returns")

# Instruction addresses: another use of the same buffer.
mont_inp = pfmlib_mont_input_param_t()
mont_inp.pfp_mont_ipear.ipear_used = 1
mont_inp.pfp_mont_ipear.ipear_delay = 100
inp.pfp_event_count = 0
show("addresses")
