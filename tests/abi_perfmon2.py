"""The C interface of perfmon2 for IA-64, written from its published tables: layouts, constants, prototypes.

Not from the headers under test.  For each configuration, `emit` makes a C file of assertions; `TYPES` are the same
structures for ctypes.

Configurations: v3 (no macro), v2old (PFMLIB_OLD_PFMV2), ia64 (what perfmon.h includes of perfmonctl), smpl (the sampling
format of perfmonctl).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

U8, U16, U32, U64 = "uint8_t", "uint16_t", "uint32_t", "uint64_t"
UINT, ULONG, USHORT, UCHAR, INT, PID, PTR = (
    "unsigned int", "unsigned long", "unsigned short", "unsigned char", "int", "pid_t", "void *")
CTYPE: dict[str, Any] = {
    U8: ctypes.c_uint8, U16: ctypes.c_uint16, U32: ctypes.c_uint32, U64: ctypes.c_uint64, UINT: ctypes.c_uint, ULONG: ctypes.c_ulong,
    USHORT: ctypes.c_ushort, UCHAR: ctypes.c_ubyte, INT: ctypes.c_int, PID: ctypes.c_int, PTR: ctypes.c_void_p,
}

BV = 5  # words of a register bit vector: 320 registers, 64 to the word

# name -> (size, alignment, members); a member is (name, type, count or None, offset)
V3: dict[str, Any] = {
    "pfarg_sinfo_t": (112, 8, [
        ("sif_avail_pmcs", U64, BV, 0), ("sif_avail_pmds", U64, BV, 40), ("sif_reserved", U64, 4, 80)]),
    "pfarg_pmr_t": (16, 8, [
        ("reg_num", U16, None, 0), ("reg_set", U16, None, 2), ("reg_flags", U32, None, 4),
        ("reg_value", U64, None, 8)]),
    "pfarg_pmd_attr_t": (208, 8, [
        ("reg_num", U16, None, 0), ("reg_set", U16, None, 2), ("reg_flags", U32, None, 4),
        ("reg_value", U64, None, 8), ("reg_long_reset", U64, None, 16), ("reg_short_reset", U64, None, 24),
        ("reg_random_mask", U64, None, 32), ("reg_smpl_pmds", U64, BV, 40), ("reg_reset_pmds", U64, BV, 80),
        ("reg_ovfl_swcnt", U64, None, 120), ("reg_smpl_eventid", U64, None, 128),
        ("reg_last_value", U64, None, 136), ("reg_reserved", U64, 8, 144)]),
}
V3_SETS: dict[str, Any] = {
    "pfarg_set_desc_t": (64, 8, [
        ("set_id", U16, None, 0), ("set_reserved1", U16, None, 2), ("set_flags", U32, None, 4),
        ("set_timeout", U64, None, 8), ("reserved", U64, 6, 16)]),
    "pfarg_set_info_t": (104, 8, [
        ("set_id", U16, None, 0), ("set_reserved1", U16, None, 2), ("set_reserved2", U32, None, 4),
        ("set_ovfl_pmds", U64, BV, 8), ("set_runs", U64, None, 48), ("set_timeout", U64, None, 56),
        ("set_duration", U64, None, 64), ("set_reserved3", U64, 4, 72)]),
    "pfarg_ovfl_msg_t": (64, 8, [
        ("msg_type", U32, None, 0), ("msg_ovfl_pid", U32, None, 4), ("msg_active_set", U16, None, 8),
        ("msg_ovfl_cpu", U16, None, 10), ("msg_ovfl_tid", U32, None, 12), ("msg_ovfl_ip", U64, None, 16),
        ("msg_ovfl_pmds", U64, BV, 24)]),
    "pfarg_setdesc_t": (64, 8, [
        ("set_id", U16, None, 0), ("set_reserved1", U16, None, 2), ("set_flags", U32, None, 4),
        ("set_timeout", U64, None, 8), ("reserved", U64, 6, 16)]),
    "pfarg_setinfo_t": (200, 8, [
        ("set_id", U16, None, 0), ("set_reserved1", U16, None, 2), ("set_flags", U32, None, 4),
        ("set_ovfl_pmds", U64, BV, 8), ("set_runs", U64, None, 48), ("set_timeout", U64, None, 56),
        ("set_act_duration", U64, None, 64), ("set_avail_pmcs", U64, BV, 72), ("set_avail_pmds", U64, BV, 112),
        ("set_reserved3", U64, 6, 152)]),
}
V2: dict[str, Any] = {
    "pfarg_ctx_t": (64, 8, [
        ("ctx_flags", U32, None, 0), ("ctx_reserved1", U32, None, 4), ("ctx_reserved3", U64, 7, 8)]),
    "pfarg_pmc_t": (48, 8, [
        ("reg_num", U16, None, 0), ("reg_set", U16, None, 2), ("reg_flags", U32, None, 4),
        ("reg_value", U64, None, 8), ("reg_reserved2", U64, 4, 16)]),
    "pfarg_pmd_t": (176, 8, [
        ("reg_num", U16, None, 0), ("reg_set", U16, None, 2), ("reg_flags", U32, None, 4),
        ("reg_value", U64, None, 8), ("reg_long_reset", U64, None, 16), ("reg_short_reset", U64, None, 24),
        ("reg_last_reset_val", U64, None, 32), ("reg_ovfl_switch_cnt", U64, None, 40),
        ("reg_reset_pmds", U64, BV, 48), ("reg_smpl_pmds", U64, BV, 88), ("reg_smpl_eventid", U64, None, 128),
        ("reg_random_mask", U64, None, 136), ("reg_random_seed", U32, None, 144), ("reg_reserved2", U32, 7, 148)]),
    "pfarg_start_t": (32, 8, [
        ("start_set", U16, None, 0), ("start_reserved1", U16, None, 2), ("start_reserved2", U32, None, 4),
        ("reserved3", U64, 3, 8)]),
    "pfarg_load_t": (32, 8, [
        ("load_pid", U32, None, 0), ("load_set", U16, None, 4), ("load_reserved1", U16, None, 6),
        ("load_reserved2", U64, 3, 8)]),
}
V2_OLD_SETS: dict[str, Any] = {
    "pfarg_setdesc_t": (64, 8, [
        ("set_id", U16, None, 0), ("set_id_next", U16, None, 2), ("set_flags", U32, None, 4),
        ("set_timeout", U64, None, 8), ("set_mmap_offset", U64, None, 16), ("reserved", U64, 5, 24)]),
    "pfarg_setinfo_t": (192, 8, [
        ("set_id", U16, None, 0), ("set_id_next", U16, None, 2), ("set_flags", U32, None, 4),
        ("set_ovfl_pmds", U64, BV, 8), ("set_runs", U64, None, 48), ("set_timeout", U64, None, 56),
        ("set_act_duration", U64, None, 64), ("set_mmap_offset", U64, None, 72), ("set_avail_pmcs", U64, BV, 80),
        ("set_avail_pmds", U64, BV, 120), ("reserved", U64, 4, 160)]),
    "pfarg_ovfl_msg_t": (56, 8, [
        ("msg_type", U32, None, 0), ("msg_ovfl_pid", U32, None, 4), ("msg_ovfl_pmds", U64, 4, 8),
        ("msg_active_set", U16, None, 40), ("msg_ovfl_cpu", U16, None, 42), ("msg_ovfl_tid", U32, None, 44),
        ("msg_ovfl_ip", U64, None, 48)]),
}
SMPL: dict[str, Any] = {
    "pfm_dfl_smpl_arg_t": (64, 8, [
        ("buf_size", U64, None, 0), ("buf_flags", U32, None, 8), ("res1", U32, None, 12),
        ("reserved", U64, 6, 16)]),
    "pfm_dfl_smpl_hdr_t": (128, 8, [
        ("hdr_count", U64, None, 0), ("hdr_cur_offs", U64, None, 8), ("hdr_overflows", U64, None, 16),
        ("hdr_buf_size", U64, None, 24), ("hdr_min_buf_space", U64, None, 32), ("hdr_version", U32, None, 40),
        ("hdr_buf_flags", U32, None, 44), ("hdr_reserved", U64, 10, 48)]),
    "pfm_dfl_smpl_entry_t": (40, 8, [
        ("pid", U32, None, 0), ("ovfl_pmd", U16, None, 4), ("reserved", U16, None, 6),
        ("last_reset_val", U64, None, 8), ("ip", U64, None, 16), ("tstamp", U64, None, 24), ("cpu", U16, None, 32),
        ("set", U16, None, 34), ("tgid", U32, None, 36)]),
}
COMPAT: dict[str, Any] = {
    "pfarg_context_t": (128, 8, [
        ("ctx_smpl_buf_id", UCHAR, 16, 0), ("ctx_flags", ULONG, None, 16), ("ctx_reserved1", UINT, None, 24),
        ("ctx_fd", INT, None, 28), ("ctx_smpl_vaddr", PTR, None, 32), ("ctx_reserved3", ULONG, 11, 40)]),
    "pfarg_reg_t": (160, 8, [
        ("reg_num", UINT, None, 0), ("reg_set", USHORT, None, 4), ("reg_reserved1", USHORT, None, 6),
        ("reg_value", ULONG, None, 8), ("reg_flags", ULONG, None, 16), ("reg_long_reset", ULONG, None, 24),
        ("reg_short_reset", ULONG, None, 32), ("reg_reset_pmds", ULONG, 4, 40), ("reg_random_seed", ULONG, None, 72),
        ("reg_random_mask", ULONG, None, 80), ("reg_last_reset_val", ULONG, None, 88),
        ("reg_smpl_pmds", ULONG, 4, 96), ("reg_smpl_eventid", ULONG, None, 128),
        ("reg_ovfl_switch_cnt", ULONG, None, 136), ("reg_reserved2", ULONG, 2, 144)]),
    "pfarg_dbreg_t": (32, 8, [
        ("dbreg_num", UINT, None, 0), ("dbreg_set", USHORT, None, 4), ("dbreg_reserved1", USHORT, None, 6),
        ("dbreg_value", ULONG, None, 8), ("dbreg_flags", ULONG, None, 16), ("dbreg_reserved2", ULONG, 1, 24)]),
    "pfarg_features_t": (40, 8, [
        ("ft_version", UINT, None, 0), ("ft_reserved", UINT, None, 4), ("reserved", ULONG, 4, 8)]),
    "pfm_ovfl_msg_t": (56, 8, [
        ("msg_type", INT, None, 0), ("msg_ctx_fd", INT, None, 4), ("msg_ovfl_pmds", ULONG, 4, 8),
        ("msg_active_set", USHORT, None, 40), ("msg_reserved1", USHORT, None, 42), ("msg_reserved2", UINT, None, 44),
        ("msg_tstamp", ULONG, None, 48)]),
    "pfm_end_msg_t": (16, 8, [
        ("msg_type", INT, None, 0), ("msg_ctx_fd", INT, None, 4), ("msg_tstamp", ULONG, None, 8)]),
    "pfm_gen_msg_t": (16, 8, [
        ("msg_type", INT, None, 0), ("msg_ctx_fd", INT, None, 4), ("msg_tstamp", ULONG, None, 8)]),
}
DEFAULT_SMPL: dict[str, Any] = {
    "pfm_default_smpl_arg_t": (32, 8, [
        ("buf_size", ULONG, None, 0), ("flags", UINT, None, 8), ("res1", UINT, None, 12),
        ("reserved", ULONG, 2, 16)]),
    "pfm_default_smpl_hdr_t": (128, 8, [
        ("hdr_count", U64, None, 0), ("hdr_cur_offs", U64, None, 8), ("dr_reserved2", U64, None, 16),
        ("hdr_overflows", U64, None, 24), ("hdr_buf_size", U64, None, 32), ("hdr_version", U32, None, 40),
        ("hdr_reserved1", U32, None, 44), ("hdr_reserved", U64, 10, 48)]),
    "pfm_default_smpl_entry_t": (40, 8, [
        ("pid", PID, None, 0), ("reserved1", U8, 3, 4), ("ovfl_pmd", U8, None, 7), ("last_reset_val", U64, None, 8),
        ("ip", ULONG, None, 16), ("tstamp", U64, None, 24), ("cpu", U16, None, 32), ("set", U16, None, 34),
        ("tgid", PID, None, 36)]),
    "pfm_default_smpl_ctx_arg_t": (160, 8, [
        ("ctx_arg", "pfarg_context_t", None, 0), ("buf_arg", "pfm_default_smpl_arg_t", None, 128)]),
}
# unions: every member starts at 0
MSG: dict[str, Any] = {"pfarg_msg_t": (64, 8, [("type", U32, None, 0), ("pfm_ovfl_msg", "pfarg_ovfl_msg_t", None, 0)])}
MSG_OLD: dict[str, Any] = {"pfarg_msg_t": (56, 8, [("type", U32, None, 0), ("pfm_ovfl_msg", "pfarg_ovfl_msg_t", None, 0)])}
MSG_COMPAT: dict[str, Any] = {"pfm_msg_t": (56, 8, [
    ("type", INT, None, 0), ("pfm_ovfl_msg", "pfm_ovfl_msg_t", None, 0), ("pfm_end_msg", "pfm_end_msg_t", None, 0),
    ("pfm_gen_msg", "pfm_gen_msg_t", None, 0)])}

# ---- constants: macros, all usable in #if except those that need sizeof ------------------
COMMON_CONST = {
    "PFM_ARCH_MAX_PMCS": 320, "PFM_ARCH_MAX_PMDS": 320, "PFM_MAX_PMCS": 320, "PFM_MAX_PMDS": 320,
    "PFM_FL_NOTIFY_BLOCK": 0x01, "PFM_FL_SYSTEM_WIDE": 0x02, "PFM_FL_SMPL_FMT": 0x04, "PFM_FL_OVFL_NO_MSG": 0x80,
    "PFM_REGFL_OVFL_NOTIFY": 0x1, "PFM_REGFL_RANDOM": 0x2, "PFM_REGFL_NO_EMUL64": 0x4,
    "PFM_RW_PMD": 1, "PFM_RW_PMC": 2, "PFM_RW_PMD_ATTR": 3, "PFM_NO_TARGET": -1,
    "PFM_ST_START": 1, "PFM_ST_STOP": 2, "PFM_ST_RESTART": 3,
    "PFM_SETFL_OVFL_SWITCH": 0x01, "PFM_SETFL_TIME_SWITCH": 0x02, "PFM_MSG_OVFL": 1, "PFM_MSG_END": 2,
    "PFM_DFL_SMPL_VERSION_MAJ": 1, "PFM_DFL_SMPL_VERSION_MIN": 0, "PFM_DFL_SMPL_VERSION": 0x10000,
}
SIZED_CONST = {
    "PFM_BPL": 64, "PFM_PMD_BV": 5, "PFM_PMC_BV": 5, "PFM_BVSIZE(0)": 0, "PFM_BVSIZE(1)": 1, "PFM_BVSIZE(64)": 1,
    "PFM_BVSIZE(65)": 2, "PFM_VERSION_MAJOR(0x0002004fu)": 2, "PFM_VERSION_MINOR(0x0002004fu)": 0x4f,
    "PFM_VERSION_MAJOR(0xffff0000u)": 0xffff,
}
OLD_CONST = {"PFM_MAX_HW_PMDS": 256}
OLD_SIZED = {"PFM_HW_PMD_BV": 4}
IA64_CONST = {
    "PFM_ITA_FL_INSECURE": 0x10000, "PFM_ITA_SETFL_EXCL_INTR": 0x10000, "PFM_ITA_SETFL_INTR_ONLY": 0x20000,
    "PFM_ITA_SETFL_IDLE_EXCL": 0x40000,
    "PFM_WRITE_PMCS": 0x01, "PFM_WRITE_PMDS": 0x02, "PFM_READ_PMDS": 0x03, "PFM_STOP": 0x04, "PFM_START": 0x05,
    "PFM_ENABLE": 0x06, "PFM_DISABLE": 0x07, "PFM_CREATE_CONTEXT": 0x08, "PFM_DESTROY_CONTEXT": 0x09,
    "PFM_RESTART": 0x0a, "PFM_PROTECT_CONTEXT": 0x0b, "PFM_GET_FEATURES": 0x0c, "PFM_DEBUG": 0x0d,
    "PFM_UNPROTECT_CONTEXT": 0x0e, "PFM_GET_PMC_RESET_VAL": 0x0f, "PFM_LOAD_CONTEXT": 0x10,
    "PFM_UNLOAD_CONTEXT": 0x11, "PFM_WRITE_IBRS": 0x20, "PFM_WRITE_DBRS": 0x21,
    "PFM_REG_RETFL_NOTAVAIL": -0x80000000, "PFM_REG_RETFL_EINVAL": 0x40000000, "PFM_REG_RETFL_MASK": -0x40000000,
}
IA64_SIZED = {
    "PFM_REG_HAS_ERROR(0)": 0, "PFM_REG_HAS_ERROR(0x40000000ul)": 1, "PFM_REG_HAS_ERROR(0x80000000ul)": 1,
    "PFM_REG_HAS_ERROR(0x3ful)": 0, "sizeof(pfm_uuid_t)": 16,
}
DEFAULT_CONST = {
    "PFM_DEFAULT_MAX_PMDS": 64, "PFM_DEFAULT_SMPL_VERSION_MAJ": 2, "PFM_DEFAULT_SMPL_VERSION_MIN": 0,
    "PFM_DEFAULT_SMPL_VERSION": 0x20000,
}
DEFAULT_SIZED = {"PFM_DEFAULT_MAX_ENTRY_SIZE": 552, "PFM_DEFAULT_SMPL_MIN_BUF_SIZE": 680}

STRINGS = {"PFM_DFL_SMPL_NAME": "default"}
UUID_OLD = {"PFM_DFL_SMPL_UUID": "d139b29e62e840e4b40273078792e937"}
UUID_DEFAULT = {"PFM_DEFAULT_SMPL_UUID": "4d72bec00664414382b4d3fd27243c97"}
# macros whose absence is part of the configuration
ABSENT = {"v3": ["PFM_DFL_SMPL_UUID", "PFM_MAX_HW_PMDS", "PFM_HW_PMD_BV", "PFM_FL_MAP_SETS"], "v2old": []}

# ---- prototypes: name -> (result, parameters) ----------------------------------------------
V2_CALLS = {
    "pfm_create_context": ("int", ["pfarg_ctx_t *", "char *", "void *", "size_t"]),
    "pfm_write_pmcs": ("int", ["int", "pfarg_pmc_t *", "int"]),
    "pfm_write_pmds": ("int", ["int", "pfarg_pmd_t *", "int"]),
    "pfm_read_pmds": ("int", ["int", "pfarg_pmd_t *", "int"]),
    "pfm_load_context": ("int", ["int", "pfarg_load_t *"]),
    "pfm_start": ("int", ["int", "pfarg_start_t *"]),
    "pfm_stop": ("int", ["int"]),
    "pfm_restart": ("int", ["int"]),
    "pfm_create_evtsets": ("int", ["int", "pfarg_setdesc_t *", "int"]),
    "pfm_getinfo_evtsets": ("int", ["int", "pfarg_setinfo_t *", "int"]),
    "pfm_delete_evtsets": ("int", ["int", "pfarg_setdesc_t *", "int"]),
    "pfm_unload_context": ("int", ["int"]),
    "pfm_create": ("int", ["int", "pfarg_sinfo_t *", "..."]),
}
V3_CALLS = {
    "pfm_write": ("int", ["int", "int", "int", "void *", "size_t"]),
    "pfm_read": ("int", ["int", "int", "int", "void *", "size_t"]),
    "pfm_set_state": ("int", ["int", "int", "int"]),
    "pfm_create_sets": ("int", ["int", "int", "pfarg_set_desc_t *", "size_t"]),
    "pfm_getinfo_sets": ("int", ["int", "int", "pfarg_set_info_t *", "size_t"]),
    "pfm_attach": ("int", ["int", "int", "int"]),
}
COMPAT_CALLS = {"perfmonctl": ("int", ["int", "int", "void *", "int"])}

CONFIGS: dict[str, Any] = {
    "v3": {
        "define": [], "include": ["perfmon/perfmon.h", "perfmon/perfmon_dfl_smpl.h"],
        "structs": {**V3, **V3_SETS, **V2, **MSG, **SMPL}, "consts": COMMON_CONST, "sized": SIZED_CONST,
        "strings": STRINGS, "uuids": {}, "calls": {**V2_CALLS, **V3_CALLS}, "absent": ABSENT["v3"],
        "guards": ["__PERFMON_H__", "__PERFMON_V2_H__", "__PERFMON_DFL_SMPL_H__"]},
    "v2old": {
        "define": ["PFMLIB_OLD_PFMV2"], "include": ["perfmon/perfmon.h", "perfmon/perfmon_dfl_smpl.h"],
        "structs": {**V3, **V2, **V2_OLD_SETS, **MSG_OLD, **SMPL}, "consts": {**COMMON_CONST, **OLD_CONST},
        "sized": {**SIZED_CONST, **OLD_SIZED}, "strings": STRINGS, "uuids": UUID_OLD, "calls": V2_CALLS, "absent": [],
        "guards": ["__PERFMON_H__", "__PERFMON_V2_H__", "__PERFMON_DFL_SMPL_H__"]},
    "ia64": {
        "define": [], "include": ["perfmon/perfmon.h"], "structs": {**COMPAT, **MSG_COMPAT}, "consts": IA64_CONST,
        "sized": IA64_SIZED, "strings": {}, "uuids": {}, "calls": COMPAT_CALLS, "absent": [],
        "guards": ["_PERFMON_IA64_H_", "_PERFMON_COMPAT_H_"]},
    "smpl": {
        "define": [], "include": ["perfmon/perfmon.h", "perfmon/perfmon_default_smpl.h"], "structs": DEFAULT_SMPL,
        "consts": DEFAULT_CONST, "sized": DEFAULT_SIZED, "strings": {}, "uuids": UUID_DEFAULT, "calls": {}, "absent": [],
        "guards": ["__PERFMON_DEFAULT_SMPL_H__"]},
}


def declaration(kind: str, count: int | None) -> str:
    return f"{kind}[{count}]" if count else kind


def size_of(kind: str, count: int | None, structs: dict[str, Any]) -> int:
    size = structs[kind][0] if kind in structs else ctypes.sizeof(CTYPE[kind])
    return size * (count or 1)


def assertions(name: str) -> Iterator[tuple[str, str]]:
    """The C expressions that have to be true, each with the text of the message."""
    config: dict[str, Any] = CONFIGS[name]
    known = {**config["structs"], **COMPAT, **V3_SETS} if name != "v2old" else config["structs"]
    known = {**COMPAT, **DEFAULT_SMPL, **known}
    for struct, (size, align, members) in config["structs"].items():
        yield f"sizeof({struct}) == {size}", f"{struct}: size {size}"
        yield f"_Alignof({struct}) == {align}", f"{struct}: alignment {align}"
        for member, kind, count, offset in members:
            where = f"{struct}.{member}"
            yield f"offsetof({struct}, {member}) == {offset}", f"{where}: offset {offset}"
            extent = size_of(kind, count, known)
            yield f"sizeof((({struct} *)0)->{member}) == {extent}", f"{where}: size {extent}"
            yield (f"__builtin_types_compatible_p(__typeof__((({struct} *)0)->{member}), {declaration(kind, count)})",
                   f"{where}: type {declaration(kind, count)}")
    for const, value in config["consts"].items():
        number = f"({value}LL)" if value >= 0 else f"(-{-value}LL)"
        yield f"(long long)({const}) == {number}", f"{const} == {value:#x}"
    for const, value in config["sized"].items():
        yield f"({const}) == {value}", f"{const} == {value}"
    for const, text in config["strings"].items():
        yield f'sizeof({const}) == {len(text) + 1}', f"{const}: length"
        yield f'__builtin_strcmp({const}, "{text}") == 0', f'{const} == "{text}"'
    for call, (result, parameters) in config["calls"].items():
        kind = f"{result} (*)({', '.join(parameters)})"
        yield f"__builtin_types_compatible_p(__typeof__(&{call}), {kind})", f"{call}: {kind}"
    if name in ("v3", "v2old"):
        yield "__builtin_types_compatible_p(os_err_t, int)", "os_err_t is int"
    if name == "ia64":
        yield "__builtin_types_compatible_p(pfm_uuid_t, unsigned char[16])", "pfm_uuid_t"


def emit(name: str) -> tuple[str, int]:
    """The C file of a configuration, and how many assertions it makes."""
    config: dict[str, Any] = CONFIGS[name]
    lines = [f"#define {macro}" for macro in config["define"]]
    lines += ["#include <stddef.h>", "#include <stdint.h>", "#include <sys/types.h>"]
    lines += [f"#include <{header}>" for header in config["include"]]
    count = 0
    for expression, message in assertions(name):
        lines.append(f'_Static_assert({expression}, {chr(34)}{message.replace(chr(34), chr(39))}{chr(34)});')
        count += 1
    for const in config["consts"]:
        lines += [f"#ifndef {const}", f'#error "{const} is no macro"', "#endif"]
        count += 1
    for guard in config["guards"]:
        lines += [f"#ifndef {guard}", f'#error "{guard} is not defined"', "#endif"]
        count += 1
    for macro in config["absent"]:
        lines += [f"#ifdef {macro}", f'#error "{macro} is defined"', "#endif"]
        count += 1
    for const, value in config["uuids"].items():
        octets = ", ".join(f"0x{value[i:i + 2]}" for i in range(0, 32, 2))
        lines.append(f"static const unsigned char got_{const}[16] = {const}, want_{const}[16] = {{ {octets} }};")
        lines.append(f"int check_{const}(void) {{ return __builtin_memcmp(got_{const}, want_{const}, 16); }}")
        lines.append(f'_Static_assert(sizeof((unsigned char[]){const}) == 16, "{const}: 16 bytes");')
        count += 2
    lines.append("int main(void) { int bad = 0;")
    for const in config["uuids"]:
        lines.append(f"bad |= check_{const}();")
    lines.append("return bad != 0; }")
    return "\n".join(lines) + "\n", count


# ---- the same structures for ctypes ---------------------------------------------------------
def build(structs: dict[str, Any], union: tuple[str, ...] = ()) -> dict[str, type[ctypes.Structure] | type[ctypes.Union]]:
    """ctypes classes of a table, by name (a union is told by its members' offsets)."""
    made: dict[str, Any] = {}
    for name, (_, _, members) in structs.items():
        fields = []
        for member, kind, count, _ in members:
            base = made[kind] if kind in made else CTYPE[kind]
            fields.append((member, base * count if count else base))
        base = ctypes.Union if name in union else ctypes.Structure
        made[name] = type(name, (base,), {"_fields_": fields})
    return made


UNIONS = ("pfarg_msg_t", "pfm_msg_t")
TYPES = build({**V3, **V3_SETS, **V2, **MSG, **SMPL, **COMPAT, **MSG_COMPAT, **DEFAULT_SMPL}, UNIONS)
TYPES_OLD = build({**V3, **V2, **V2_OLD_SETS, **MSG_OLD, **SMPL}, UNIONS)
