"""Montecito: count loads from one array, START to END, and see how well the data debug
registers hold it."""

import sys

from pypfm.pfm3 import *

inp = pfmlib_input_param_t()
outp = pfmlib_output_param_t()
mont_inp = pfmlib_mont_input_param_t()
mont_outp = pfmlib_mont_output_param_t()
drange = mont_outp.pfp_mont_drange

if len(sys.argv) != 3:
    sys.exit("usage: mont_data_range.py START END")
if pfm_initialize() != PFMLIB_SUCCESS:
    sys.exit("cannot initialize the library")
pfm_find_event("LOADS_RETIRED", byref(inp.pfp_events[0], "event"))
if not pfm_mont_support_darr(inp.pfp_events[0].event):
    sys.exit("the event ignores data ranges")
inp.pfp_event_count = 1
inp.pfp_dfl_plm = PFM_PLM3
mont_inp.pfp_mont_drange.rr_used = 1
mont_inp.pfp_mont_drange.rr_limits[0].rr_start = int(sys.argv[1], 0)
mont_inp.pfp_mont_drange.rr_limits[0].rr_end = int(sys.argv[2], 0)

ret = pfm_dispatch_events(inp, mont_inp, outp, mont_outp)
if ret != PFMLIB_SUCCESS:
    sys.exit(f"cannot configure events: {pfm_strerror(ret)}")
for pmc in outp.pfp_pmcs[0:outp.pfp_pmc_count]:
    print(f"PMC{pmc.reg_num} = {pmc.reg_value:#x}")
for dbr in drange.rr_br[0:drange.rr_nbr_used]:
    print(f"DBR{dbr.reg_num} = {dbr.reg_value:#x}")
print(f"{drange.rr_infos[0].rr_soff} bytes too many before, {drange.rr_infos[0].rr_eoff} after")
