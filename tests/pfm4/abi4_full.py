"""ctypes declarations of every public type of the libpfm 4 headers, and the values of its enumerations.

Written from the published facts of the ABI (libpfm 4.13.0, Linux 5.18), never from the headers under test.
Pointers are void *; what they point to stands in POINTERS.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_int32, c_int64, c_size_t, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any


class PmuFlags(ctypes.Structure):
    _fields_ = [("is_present", c_uint, 1), ("is_dfl", c_uint, 1), ("reserved_bits", c_uint, 30)]


class EventFlags(ctypes.Structure):
    _fields_ = [("is_precise", c_uint, 1), ("is_speculative", c_uint, 2), ("support_hw_smpl", c_uint, 1),
                ("reserved_bits", c_uint, 28)]


class AttrFlags(ctypes.Structure):
    _fields_ = [("is_dfl", c_uint, 1), ("is_precise", c_uint, 1), ("is_speculative", c_uint, 2),
                ("support_hw_smpl", c_uint, 1), ("reserved_bits", c_uint, 27)]


def union(*, anonymous: tuple[str, ...] = (), **members: Any) -> type[ctypes.Union]:
    return type("union", (ctypes.Union,), {"_anonymous_": anonymous, "_fields_": list(members.items())})


AttrDefault = union(dfl_val64=c_uint64, dfl_str=c_void_p, dfl_bool=c_int, dfl_int=c_int)


class pfm_pmu_info_t(ctypes.Structure):
    _anonymous_ = ("flags",)
    _fields_ = [("name", c_void_p), ("desc", c_void_p), ("size", c_size_t), ("pmu", c_int), ("type", c_int),
                ("nevents", c_int), ("first_event", c_int), ("max_encoding", c_int), ("num_cntrs", c_int),
                ("num_fixed_cntrs", c_int), ("flags", PmuFlags)]


class pfm_event_info_t(ctypes.Structure):
    _anonymous_ = ("flags",)
    _fields_ = [("name", c_void_p), ("desc", c_void_p), ("equiv", c_void_p), ("size", c_size_t), ("code", c_uint64),
                ("pmu", c_int), ("dtype", c_int), ("idx", c_int), ("nattrs", c_int), ("reserved", c_int),
                ("flags", EventFlags)]


class pfm_event_attr_info_t(ctypes.Structure):
    _anonymous_ = ("flags", "defaults")
    _fields_ = [("name", c_void_p), ("desc", c_void_p), ("equiv", c_void_p), ("size", c_size_t), ("code", c_uint64),
                ("type", c_int), ("idx", c_int), ("ctrl", c_int), ("flags", AttrFlags), ("defaults", AttrDefault)]


class pfm_pmu_encode_arg_t(ctypes.Structure):
    _fields_ = [("codes", c_void_p), ("fstr", c_void_p), ("size", c_size_t), ("count", c_int), ("idx", c_int)]


class pfm_perf_encode_arg_t(ctypes.Structure):
    _fields_ = [("attr", c_void_p), ("fstr", c_void_p), ("size", c_size_t), ("idx", c_int), ("cpu", c_int),
                ("flags", c_int), ("pad0", c_int)]


# The bits of the flag word from bit 0 on.
FLAGS_IN_ORDER = """
disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle mmap comm freq inherit_stat
enable_on_exec task watermark precise_ip mmap_data sample_id_all exclude_host exclude_guest
exclude_callchain_kernel exclude_callchain_user mmap2 comm_exec use_clockid context_switch write_backward
namespaces ksymbol bpf_event aux_output cgroup text_poke build_id inherit_thread remove_on_exec sigtrap
"""
ATTR_FLAGS = [*((name, c_uint64, 2 if name == "precise_ip" else 1) for name in FLAGS_IN_ORDER.split()),
              ("__reserved_1", c_uint64, 26)]


class perf_event_attr(ctypes.Structure):
    _anonymous_ = ("period", "wakeup", "addr", "len")
    _fields_ = [("type", c_uint32), ("size", c_uint32), ("config", c_uint64),
                ("period", union(sample_period=c_uint64, sample_freq=c_uint64)),
                ("sample_type", c_uint64), ("read_format", c_uint64), *ATTR_FLAGS,
                ("wakeup", union(wakeup_events=c_uint32, wakeup_watermark=c_uint32)), ("bp_type", c_uint32),
                ("addr", union(bp_addr=c_uint64, kprobe_func=c_uint64, uprobe_path=c_uint64, config1=c_uint64)),
                ("len", union(bp_len=c_uint64, kprobe_addr=c_uint64, probe_offset=c_uint64, config2=c_uint64)),
                ("branch_sample_type", c_uint64), ("sample_regs_user", c_uint64), ("sample_stack_user", c_uint32),
                ("clockid", c_int32), ("sample_regs_intr", c_uint64), ("aux_watermark", c_uint32),
                ("sample_max_stack", c_uint16), ("__reserved_2", c_uint16), ("aux_sample_size", c_uint32),
                ("__reserved_3", c_uint32), ("sig_data", c_uint64)]


class Capabilities(ctypes.Structure):
    _fields_ = [("cap_bit0", c_uint64, 1), ("cap_bit0_is_deprecated", c_uint64, 1), ("cap_user_rdpmc", c_uint64, 1),
                ("cap_user_time", c_uint64, 1), ("cap_user_time_zero", c_uint64, 1),
                ("cap_user_time_short", c_uint64, 1), ("cap_____res", c_uint64, 58)]


class perf_event_mmap_page(ctypes.Structure):
    _anonymous_ = ("word",)
    _fields_ = [("version", c_uint32), ("compat_version", c_uint32), ("lock", c_uint32), ("index", c_uint32),
                ("offset", c_int64), ("time_enabled", c_uint64), ("time_running", c_uint64), ("word", union(anonymous=("bits",), capabilities=c_uint64, bits=Capabilities)),
                ("pmc_width", c_uint16), ("time_shift", c_uint16), ("time_mult", c_uint32), ("time_offset", c_uint64),
                ("time_zero", c_uint64), ("size", c_uint32), ("__reserved_1", c_uint32), ("time_cycles", c_uint64),
                ("time_mask", c_uint64), ("__reserved", c_uint8 * 928), ("data_head", c_uint64),
                ("data_tail", c_uint64), ("data_offset", c_uint64), ("data_size", c_uint64), ("aux_head", c_uint64),
                ("aux_tail", c_uint64), ("aux_offset", c_uint64), ("aux_size", c_uint64)]


class perf_event_header(ctypes.Structure):
    _fields_ = [("type", c_uint32), ("misc", c_uint16), ("size", c_uint16)]


class perf_branch_entry(ctypes.Structure):
    _fields_ = [("from", c_uint64), ("to", c_uint64), ("mispred", c_uint64, 1), ("predicted", c_uint64, 1),
                ("in_tx", c_uint64, 1), ("abort", c_uint64, 1), ("cycles", c_uint64, 16), ("type", c_uint64, 4),
                ("spec", c_uint64, 2), ("new_type", c_uint64, 4), ("priv", c_uint64, 3), ("reserved", c_uint64, 31)]


class perf_branch_stack(ctypes.Structure):
    _fields_ = [("nr", c_uint64), ("entries", perf_branch_entry * 0)]


class perf_event_query_bpf(ctypes.Structure):
    _fields_ = [("ids_len", c_uint32), ("prog_cnt", c_uint32), ("ids", c_uint32 * 0)]


class perf_ns_link_info(ctypes.Structure):
    _fields_ = [("dev", c_uint64), ("ino", c_uint64)]


class SampleWeights(ctypes.Structure):
    _fields_ = [("var1_dw", c_uint32), ("var2_w", c_uint16), ("var3_w", c_uint16)]


perf_sample_weight = union(anonymous=("parts",), full=c_uint64, parts=SampleWeights)


class DataSource(ctypes.Structure):
    _fields_ = [("mem_op", c_uint64, 5), ("mem_lvl", c_uint64, 14), ("mem_snoop", c_uint64, 5), ("mem_lock", c_uint64, 2),
                ("mem_dtlb", c_uint64, 7), ("mem_lvl_num", c_uint64, 4), ("mem_remote", c_uint64, 1),
                ("mem_snoopx", c_uint64, 2), ("mem_blk", c_uint64, 3), ("mem_hops", c_uint64, 3), ("mem_rsvd", c_uint64, 18)]


perf_mem_data_src = union(anonymous=("bits",), val=c_uint64, bits=DataSource)


TYPES: dict[str, type[ctypes.Structure] | type[ctypes.Union]] = {
    "pfm_pmu_info_t": pfm_pmu_info_t, "pfm_event_info_t": pfm_event_info_t,
    "pfm_event_attr_info_t": pfm_event_attr_info_t, "pfm_pmu_encode_arg_t": pfm_pmu_encode_arg_t,
    "pfm_perf_encode_arg_t": pfm_perf_encode_arg_t, "struct perf_event_attr": perf_event_attr,
    "struct perf_event_mmap_page": perf_event_mmap_page, "struct perf_event_header": perf_event_header,
    "struct perf_branch_entry": perf_branch_entry, "struct perf_branch_stack": perf_branch_stack,
    "struct perf_event_query_bpf": perf_event_query_bpf, "struct perf_ns_link_info": perf_ns_link_info,
    "union perf_sample_weight": perf_sample_weight, "union perf_mem_data_src": perf_mem_data_src,
}

# Sizes in bytes as the published tables give them.
SIZES = {"pfm_pmu_info_t": 56, "pfm_event_info_t": 64, "pfm_event_attr_info_t": 64, "pfm_pmu_encode_arg_t": 32,
         "pfm_perf_encode_arg_t": 40, "struct perf_event_attr": 128, "struct perf_event_mmap_page": 1088,
         "struct perf_event_header": 8, "struct perf_branch_entry": 24, "struct perf_branch_stack": 8,
         "struct perf_event_query_bpf": 8, "struct perf_ns_link_info": 16, "union perf_sample_weight": 8,
         "union perf_mem_data_src": 8}

ENUM_FIELDS = {("pfm_pmu_info_t", "pmu"): "pfm_pmu_t", ("pfm_pmu_info_t", "type"): "pfm_pmu_type_t",
               ("pfm_event_info_t", "pmu"): "pfm_pmu_t", ("pfm_event_info_t", "dtype"): "pfm_dtype_t",
               ("pfm_event_attr_info_t", "type"): "pfm_attr_t", ("pfm_event_attr_info_t", "ctrl"): "pfm_attr_ctrl_t"}

POINTERS = {(owner, name): "const char *" for owner, names in {
    "pfm_pmu_info_t": ("name", "desc"), "pfm_event_info_t": ("name", "desc", "equiv"),
    "pfm_event_attr_info_t": ("name", "desc", "equiv", "dfl_str")}.items() for name in names} | {
    ("pfm_pmu_encode_arg_t", "codes"): "uint64_t *", ("pfm_pmu_encode_arg_t", "fstr"): "char **",
    ("pfm_perf_encode_arg_t", "attr"): "struct perf_event_attr *", ("pfm_perf_encode_arg_t", "fstr"): "char **"}

SCALARS = {"pfm_err_t": c_int, "os_err_t": c_int}


def numbered(prefix: str, names: str) -> dict[str, int]:
    return {prefix + name: value for value, name in enumerate(names.split())}


# All but pfm_pmu_t, of which there are 517.
ENUMS = {
    "pfm_pmu_type_t": numbered("PFM_PMU_TYPE_", "UNKNOWN CORE UNCORE OS_GENERIC MAX"),
    "pfm_attr_t": numbered("PFM_ATTR_", "NONE UMASK MOD_BOOL MOD_INTEGER RAW_UMASK MAX"),
    "pfm_dtype_t": numbered("PFM_DTYPE_", "UNKNOWN UINT64 INT64 DOUBLE FIXED RATIO CHAR8 MAX"),
    "pfm_attr_ctrl_t": numbered("PFM_ATTR_CTRL_", "UNKNOWN PMU PERF_EVENT MAX"),
    "pfm_os_t": numbered("PFM_OS_", "NONE PERF_EVENT PERF_EVENT_EXT MAX"),
    "pfm_event_info_spec_t": numbered("PFM_EVENT_INFO_SPEC_", "NA TRUE FALSE"),
}
SOME_PMUS = {"PFM_PMU_NONE": 0, "PFM_PMU_PERF_EVENT": 51, "PFM_PMU_PERF_EVENT_RAW": 114, "PFM_PMU_INTEL_GLM": 202,
             "PFM_PMU_MAX": 517}

CONSTANTS = {
    "LIBPFM_VERSION": 0x40000, "LIBPFM_ABI_VERSION": 0, "PFM_PLM0": 1, "PFM_PLM1": 2, "PFM_PLM2": 4, "PFM_PLM3": 8,
    "PFM_PLMH": 16, "PFM_PMU_INFO_ABI0": 56, "PFM_EVENT_INFO_ABI0": 64, "PFM_ATTR_INFO_ABI0": 64,
    "PFM_RAW_ENCODE_ABI0": 32, "PFM_PERF_ENCODE_ABI0": 40, "PFM_SUCCESS": 0, "PFM_ERR_NOTSUPP": -1, "PFM_ERR_INVAL": -2,
    "PFM_ERR_NOINIT": -3, "PFM_ERR_NOTFOUND": -4, "PFM_ERR_FEATCOMB": -5, "PFM_ERR_UMASK": -6, "PFM_ERR_NOMEM": -7,
    "PFM_ERR_ATTR": -8, "PFM_ERR_ATTR_VAL": -9, "PFM_ERR_ATTR_SET": -10, "PFM_ERR_TOOMANY": -11,
    "PFM_ERR_TOOSMALL": -12,
    **{f"PERF_ATTR_SIZE_VER{n}": size for n, size in enumerate([64, 72, 80, 96, 104, 112, 120, 128])},
    "PERF_TYPE_HARDWARE": 0, "PERF_TYPE_SOFTWARE": 1, "PERF_TYPE_TRACEPOINT": 2, "PERF_TYPE_HW_CACHE": 3,
    "PERF_TYPE_RAW": 4, "PERF_TYPE_BREAKPOINT": 5,
}
