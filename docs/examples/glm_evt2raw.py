"""Turn event strings into raw codes: what goes into the event select register, and for
offcore events what goes into the second register."""

import sys

from pypfm.pfm4 import *

ret = pfm_initialize()
if ret != PFM_SUCCESS:
    sys.exit(f"cannot initialize the library: {pfm_strerror(ret)}")
for string in sys.argv[1:]:
    arg = pfm_pmu_encode_arg_t()
    fstr = c_char_p()
    arg.size = sizeof(arg)
    arg.fstr = pointer(fstr)
    ret = pfm_get_os_event_encoding(string, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, arg)
    if ret != PFM_SUCCESS:
        print(f"{string}: {pfm_strerror(ret)}")
        continue
    for n in range(arg.count):
        print(f"{arg.codes[n]:#x}", end=" ")
    print(fstr.value.decode())
pfm_terminate()
