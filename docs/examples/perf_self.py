"""Count a software event of this program: libpfm encodes it, the kernel counts it."""

import fcntl
import mmap
import os
import sys

from pypfm.pfm4 import *

PAGES = 64


def work():
    """One page fault a page."""
    p = mmap.mmap(-1, PAGES * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    p.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(PAGES):
        p[i * mmap.PAGESIZE] = 1


ret = pfm_initialize()
if ret != PFM_SUCCESS:
    sys.exit(f"cannot initialize the library: {pfm_strerror(ret)}")

attr = perf_event_attr()
arg = pfm_perf_encode_arg_t()
fstr = c_char_p()
attr.size = sizeof(attr)
arg.size = sizeof(arg)
arg.attr = pointer(attr)
arg.fstr = pointer(fstr)
ret = pfm_get_os_event_encoding("perf::PAGE-FAULTS:u", PFM_PLM3, PFM_OS_PERF_EVENT, arg)
if ret != PFM_SUCCESS:
    sys.exit(f"cannot encode: {pfm_strerror(ret)}")
print(f"{fstr.value.decode()}: type {attr.type}, config {attr.config:#x}")

attr.disabled = 1
fd = perf_event_open(attr, 0, -1, -1, 0)
if fd < 0:
    sys.exit(f"perf_event_open: {os.strerror(ffi.errno)}")
fcntl.ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)
work()
fcntl.ioctl(fd, PERF_EVENT_IOC_DISABLE, 0)
count = int.from_bytes(os.read(fd, 8), sys.byteorder)
print(f"{PAGES} pages, at least {PAGES} page faults: {'yes' if count >= PAGES else 'no'}")
os.close(fd)
