"""Itanium 2: record mispredicted taken branches in the branch trace buffer, a sample each
time that a counter of branches overflows.  The registers are taken apart with the
unions of the header."""

import sys

from pypfm.pfm3 import *

inp = pfmlib_input_param_t()
outp = pfmlib_output_param_t()
ita2_inp = pfmlib_ita2_input_param_t()
reg = pfm_ita2_pmc_reg_t()

if pfm_initialize() != PFMLIB_SUCCESS:
    sys.exit("cannot initialize the library")
if pfm_find_event("BRANCH_EVENT", byref(inp.pfp_events[0], "event")) != PFMLIB_SUCCESS:
    sys.exit("no such event")
inp.pfp_event_count = 1
inp.pfp_dfl_plm = PFM_PLM3

ita2_inp.pfp_ita2_btb.btb_used = 1
ita2_inp.pfp_ita2_btb.btb_ds = 0     # record the target
ita2_inp.pfp_ita2_btb.btb_tm = 2     # taken
ita2_inp.pfp_ita2_btb.btb_ptm = 1    # target mispredicted
ita2_inp.pfp_ita2_btb.btb_ppm = 3    # path predicted or not
ita2_inp.pfp_ita2_btb.btb_brt = 0    # of every kind

ret = pfm_dispatch_events(inp, ita2_inp, outp, None)
if ret != PFMLIB_SUCCESS:
    sys.exit(f"cannot configure events: {pfm_strerror(ret)}")
for pmc in outp.pfp_pmcs[0:outp.pfp_pmc_count]:
    reg.pmc_val = pmc.reg_value
    if pmc.reg_num == 12:
        btbc = reg.pmc12_ita2_reg
        print(f"PMC12 = {reg.pmc_val:#x}: tm {btbc.btbc_tm}, ptm {btbc.btbc_ptm},"
              f" ppm {btbc.btbc_ppm}, plm {btbc.btbc_plm}")
    elif pmc.reg_num < 8:
        print(f"PMC{pmc.reg_num} = {reg.pmc_val:#x}: event {reg.pmc_ita2_counter_reg.pmc_es:#x}")
    else:
        print(f"PMC{pmc.reg_num} = {reg.pmc_val:#x}")
print("to read at each sample:", end="")
for pmd in outp.pfp_pmds[0:outp.pfp_pmd_count]:
    print(f" PMD{pmd.reg_num}", end="")
print()
