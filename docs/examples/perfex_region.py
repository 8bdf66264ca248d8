"""libperfex: count two events in one part of a program, twice, and add them up."""

import mmap
import os
import sys

from pypfm.libperfex import *

PAGES = 64

ICACHE2_MISSES, DCACHE2_MISSES = 10, 26


def work():
    """One page fault a page, each time: the memory is new."""
    p = mmap.mmap(-1, PAGES * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    p.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(PAGES):
        p[i * mmap.PAGESIZE] = 1


c0, c1 = c_longlong(), c_longlong()
total0 = total1 = 0

for _ in range(2):
    if start_counters(ICACHE2_MISSES, DCACHE2_MISSES) < 0:
        sys.exit(f"start_counters: {os.strerror(ffi.errno)}")
    work()
    if read_counters(ICACHE2_MISSES, c0, DCACHE2_MISSES, c1) < 0:
        sys.exit(f"read_counters: {os.strerror(ffi.errno)}")
    total0 += c0.value
    total1 += c1.value
print(f"event {ICACHE2_MISSES}: at least {2 * PAGES}: {'yes' if total0 >= 2 * PAGES else 'no'}")
print(f"event {DCACHE2_MISSES}: at least {2 * PAGES}: {'yes' if total1 >= 2 * PAGES else 'no'}")
