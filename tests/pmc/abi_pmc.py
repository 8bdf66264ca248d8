"""The types of libpmc as ctypes declares them: NetBSD/amd64's."""

from __future__ import annotations

import ctypes

from layouts import Aggregate


class pmc_counter_cfg(ctypes.Structure):
    _fields_ = [("event_id", ctypes.c_int), ("reset_value", ctypes.c_uint64), ("flags", ctypes.c_uint32)]


class pmc_event(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("val", ctypes.c_int)]


TYPES: dict[str, Aggregate] = {"struct pmc_counter_cfg": pmc_counter_cfg, "struct pmc_event": pmc_event}
POINTERS = {("pmc_event", "name"): "const char *"}
# Size, and where each member begins, in bytes.
PUBLISHED = {
    "struct pmc_counter_cfg": (24, {"event_id": 0, "reset_value": 8, "flags": 16}),
    "struct pmc_event": (16, {"name": 0, "val": 8}),
}
SCALARS = {"pmc_evid_t": ("signed", 4), "pmc_ctr_t": ("unsigned", 8)}
CONSTANTS = {
    "PMC_OP_START": 1, "PMC_OP_STOP": 2, "PMC_OP_CONFIGURE": 3, "PMC_OP_PROFSTART": 4, "PMC_OP_PROFSTOP": 5,
    "PMC_INFO_NCOUNTERS": 1, "PMC_INFO_CPUCTR_TYPE": 2, "PMC_INFO_COUNTER_VALUE": 3,
    "PMC_INFO_ACCUMULATED_COUNTER_VALUE": 4,
    "PMC_CLASS_I80200": 0x10000, "PMC_TYPE_I80200_CCNT": 0x10001, "PMC_TYPE_I80200_PMCx": 0x10002,
    "PMC_CLASS_I586": 0x10000, "PMC_TYPE_I586_TSC": 0x10001, "PMC_TYPE_I586_PMCx": 0x10002,
    "PMC_CLASS_I686": 0x20000, "PMC_TYPE_I686_TSC": 0x20001, "PMC_TYPE_I686_PMCx": 0x20002,
    "PMC_CLASS_K7": 0x30000, "PMC_TYPE_K7_TSC": 0x30001, "PMC_TYPE_K7_PMCx": 0x30002,
    "PMC_CLASS_LINUX": 0x40000, "PMC_TYPE_LINUX_CYCLES": 0x40001, "PMC_TYPE_LINUX_PMCx": 0x40002,
    "__PMC_EVID_EVENT_MASK": 0x0000FFFF, "__PMC_EVID_UNIT_MASK": 0xFFFF0000,
}
