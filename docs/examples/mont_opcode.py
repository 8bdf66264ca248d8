"""Montecito: count one instruction, nop.m 0, inside a range of code.  Opcode matcher 1
compares all bits of an instruction but its qualifying predicate, bits 5:0."""

import sys

from pypfm.pfm3 import *

inp = pfmlib_input_param_t()
outp = pfmlib_output_param_t()
mont_inp = pfmlib_mont_input_param_t()
mont_outp = pfmlib_mont_output_param_t()
irange = mont_outp.pfp_mont_irange

if pfm_initialize() != PFMLIB_SUCCESS:
    sys.exit("cannot initialize the library")
pfm_find_event("IA64_TAGGED_INST_RETIRED_IBRP0_PMC32_33", byref(inp.pfp_events[0], "event"))
inp.pfp_event_count = 1
inp.pfp_dfl_plm = PFM_PLM3

mont_inp.pfp_mont_opcm1.opcm_used = 1
mont_inp.pfp_mont_opcm1.opcm_m = 1              # M slots only
mont_inp.pfp_mont_opcm1.opcm_match = 0x8000000  # nop.m 0: x4 is 1, all else 0
mont_inp.pfp_mont_opcm1.opcm_mask = 0x3f        # the predicate does not count

mont_inp.pfp_mont_irange.rr_used = 1
mont_inp.pfp_mont_irange.rr_limits[0].rr_start = 0x4000000000010000
mont_inp.pfp_mont_irange.rr_limits[0].rr_end = 0x4000000000014000

ret = pfm_dispatch_events(inp, mont_inp, outp, mont_outp)
if ret != PFMLIB_SUCCESS:
    sys.exit(f"cannot configure events: {pfm_strerror(ret)}")
for pmc in outp.pfp_pmcs[0:outp.pfp_pmc_count]:
    print(f"PMC{pmc.reg_num:<2} = 0x{pmc.reg_value:016x}")
for ibr in irange.rr_br[0:irange.rr_nbr_used]:
    print(f"IBR{ibr.reg_num:<2} = 0x{ibr.reg_value:016x}")
