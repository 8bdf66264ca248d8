"""Itanium 2: count the instructions that retire inside one function, START to END."""

import sys

from pypfm.pfm3 import *


# begin: request
def request(inp, ita2_inp, start, end):
    if pfm_find_event("IA64_INST_RETIRED", byref(inp.pfp_events[0], "event")) != PFMLIB_SUCCESS:
        sys.exit("no such event")
    inp.pfp_event_count = 1
    inp.pfp_dfl_plm = PFM_PLM3
    ita2_inp.pfp_ita2_irange.rr_used = 1
    ita2_inp.pfp_ita2_irange.rr_limits[0].rr_start = start
    ita2_inp.pfp_ita2_irange.rr_limits[0].rr_end = end
# end: request


# begin: answer
def show(outp, ita2_outp):
    irange = ita2_outp.pfp_ita2_irange

    for pmc in outp.pfp_pmcs[0:outp.pfp_pmc_count]:
        print(f"PMC{pmc.reg_num:<2} = 0x{pmc.reg_value:016x}")
    for ibr in irange.rr_br[0:irange.rr_nbr_used]:
        print(f"IBR{ibr.reg_num:<2} = 0x{ibr.reg_value:016x}")
    mode = "fine" if pfm_ita2_irange_is_fine(outp, ita2_outp) else "mask"
    print(f"{mode} mode, {irange.rr_infos[0].rr_soff} bytes too many before,"
          f" {irange.rr_infos[0].rr_eoff} after")
# end: answer


inp = pfmlib_input_param_t()
outp = pfmlib_output_param_t()
ita2_inp = pfmlib_ita2_input_param_t()
ita2_outp = pfmlib_ita2_output_param_t()

if len(sys.argv) != 3:
    sys.exit("usage: ita2_code_range.py START END")
if pfm_initialize() != PFMLIB_SUCCESS:
    sys.exit("cannot initialize the library")
request(inp, ita2_inp, int(sys.argv[1], 0), int(sys.argv[2], 0))
ret = pfm_dispatch_events(inp, ita2_inp, outp, ita2_outp)
if ret != PFMLIB_SUCCESS:
    sys.exit(f"cannot configure events: {pfm_strerror(ret)}")
show(outp, ita2_outp)
