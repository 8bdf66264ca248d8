"""List the events of the detected PMU whose names begin with a word: code, counters,
unit masks, description."""

import sys

from pypfm.pfm3 import *


def show_counters(idx):
    counters, implemented = pfmlib_regmask_t(), pfmlib_regmask_t()
    left = c_uint()

    pfm_get_event_counters(idx, counters)
    pfm_get_impl_counters(implemented)
    pfm_regmask_and(counters, counters, implemented)
    pfm_regmask_weight(counters, left)
    print("Counters : [", end="")
    i = 0
    while left.value > 0:
        if pfm_regmask_isset(counters, i):
            print(f" {i}", end="")
            left.value -= 1
        i += 1
    print(" ]")


def show_event(idx, name):
    n, mask_code = c_uint(), c_uint()
    mask, desc = create_string_buffer(64), c_char_p()
    code = c_int()

    if pfm_get_event_code(idx, code) != PFMLIB_SUCCESS:
        sys.exit(f"no code of {name}")
    print(f"Name     : {name}")
    print(f"Code     : {code.value:#x}")
    show_counters(idx)
    pfm_get_event_description(idx, desc)
    print(f"Desc     : {desc.value.decode()}")
    pfm_get_num_event_masks(idx, n)
    for m in range(n.value):
        pfm_get_event_mask_code(idx, m, mask_code)
        pfm_get_event_mask_name(idx, m, mask, len(mask))
        print(f"Umask-{m:02} : 0x{mask_code.value:02x} : [{mask.value.decode()}]")


count = c_uint()
model, name = create_string_buffer(64), create_string_buffer(64)

ret = pfm_initialize()
if ret != PFMLIB_SUCCESS:
    sys.exit(f"cannot initialize the library: {pfm_strerror(ret)}")
pfm_get_pmu_name(model, len(model))
pfm_get_num_events(count)
print(f"{model.value.decode()}: {count.value} events")
for i in range(count.value):
    pfm_get_event_name(i, name, len(name))
    if len(sys.argv) > 1 and name.value.decode().startswith(sys.argv[1]):
        show_event(i, name.value.decode())
