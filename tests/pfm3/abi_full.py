"""ctypes declarations of every public type of the libpfm 3 headers.

Extends the description that the replay programs use (tests/replay/pfm3_abi.py)
by what they do not need: the register unions, the enumerations, the scalar
types.  Written from the published tables of the ABI, never from the headers
under test; the positions of bit-fields stand in the tables and are checked
against the widths when this module is imported.
"""

from __future__ import annotations

import ctypes
import re

import abi_perfmon2
import pfm3_abi as abi

# Whole registers by member: "field low bit/width".
ITA2_PMC = """
pmc_ita2_counter_reg: pmc_plm 0/4, pmc_ev 4/1, pmc_oi 5/1, pmc_pm 6/1, pmc_ig1 7/1, pmc_es 8/8,
    pmc_umask 16/4, pmc_thres 20/3, pmc_enable 23/1, pmc_ism 24/2, pmc_ig2 26/38
pmc8_9_ita2_reg: opcm_ig_ad 0/1, opcm_inv 1/1, opcm_bit2 2/1, opcm_mask 3/27, opcm_ig1 30/3, opcm_match 33/27,
    opcm_b 60/1, opcm_f 61/1, opcm_i 62/1, opcm_m 63/1
pmc10_ita2_cache_reg: iear_plm 0/4, iear_pm 4/1, iear_umask 5/8, iear_ct 13/1, iear_ism 14/2, iear_ig4 16/48
pmc10_ita2_tlb_reg: iear_plm 0/4, iear_pm 4/1, iear_umask 5/7, iear_ct 12/2, iear_ism 14/2, iear_ig4 16/48
pmc11_ita2_reg: dear_plm 0/4, dear_ig1 4/2, dear_pm 6/1, dear_mode 7/2, dear_ig2 9/7, dear_umask 16/4,
    dear_ig3 20/4, dear_ism 24/2, dear_ig4 26/38
pmc12_ita2_reg: btbc_plm 0/4, btbc_ig1 4/2, btbc_pm 6/1, btbc_ds 7/1, btbc_tm 8/2, btbc_ptm 10/2,
    btbc_ppm 12/2, btbc_brt 14/2, btbc_ig2 16/48
pmc13_ita2_reg: darc_ig1 0/3, darc_cfg_dbrp0 3/2, darc_ig2 5/6, darc_cfg_dbrp1 11/2, darc_ig3 13/6,
    darc_cfg_dbrp2 19/2, darc_ig4 21/6, darc_cfg_dbrp3 27/2, darc_ig5 29/16, darc_ena_dbrp0 45/1,
    darc_ena_dbrp1 46/1, darc_ena_dbrp2 47/1, darc_ena_dbrp3 48/1, darc_ig6 49/15
pmc14_ita2_reg: iarc_ig1 0/1, iarc_ibrp0 1/1, iarc_ig2 2/2, iarc_ibrp1 4/1, iarc_ig3 5/2, iarc_ibrp2 7/1,
    iarc_ig4 8/2, iarc_ibrp3 10/1, iarc_ig5 11/2, iarc_fine 13/1, iarc_ig6 14/50
pmc15_ita2_reg: opcmc_ibrp0_pmc8 0/1, opcmc_ibrp1_pmc9 1/1, opcmc_ibrp2_pmc8 2/1, opcmc_ibrp3_pmc9 3/1,
    opcmc_ig1 4/60
"""

ITA_PMC = """
pmc_ita_count_reg: pmc_plm 0/4, pmc_ev 4/1, pmc_oi 5/1, pmc_pm 6/1, pmc_ig1 7/1, pmc_es 8/7, pmc_ig2 15/1,
    pmc_umask 16/4, pmc_thres 20/3, pmc_ig3 23/1, pmc_ism 24/2, pmc_ig4 26/38
pmc8_9_ita_reg: ignored1 0/3, mask 3/27, ignored2 30/3, match 33/27, b 60/1, f 61/1, i 62/1, m 63/1
pmc10_ita_reg: iear_plm 0/4, iear_ig1 4/2, iear_pm 6/1, iear_tlb 7/1, iear_ig2 8/8, iear_umask 16/4, iear_ig3 20/4,
    iear_ism 24/2, iear_ig4 26/38
pmc11_ita_reg: dear_plm 0/4, dear_ig1 4/2, dear_pm 6/1, dear_tlb 7/1, dear_ig2 8/8, dear_umask 16/4, dear_ig3 20/4,
    dear_ism 24/2, dear_ig4 26/2, dear_pt 28/1, dear_ig5 29/35
pmc12_ita_reg: btbc_plm 0/4, btbc_ig1 4/2, btbc_pm 6/1, btbc_tar 7/1, btbc_tm 8/2, btbc_ptm 10/2, btbc_ppm 12/2,
    btbc_bpt 14/1, btbc_bac 15/1, btbc_ig2 16/48
pmc13_ita_reg: irange_ta 0/1, irange_ig 1/63
"""

ITA_PMD = """
pmd_ita_counter_reg: pmd_count 0/32, pmd_sxt32 32/32
pmd0_ita_reg: iear_v 0/1, iear_tlb 1/1, iear_ig1 2/3, iear_icla 5/59
pmd1_ita_reg: iear_lat 0/12, iear_ig1 12/52
pmd2_ita_reg: dear_daddr 0/64
pmd3_ita_reg: dear_latency 0/12, dear_ig1 12/50, dear_level 62/2
pmd8_15_ita_reg: btb_b 0/1, btb_mp 1/1, btb_slot 2/2, btb_addr 4/60
pmd16_ita_reg: btbi_bbi 0/3, btbi_full 3/1, btbi_ignored 4/60
pmd17_ita_reg: dear_vl 0/1, dear_ig1 1/1, dear_slot 2/2, dear_iaddr 4/60
"""

GEN_PMC = """
pmc_gen_count_reg: pmc_plm 0/4, pmc_ev 4/1, pmc_oi 5/1, pmc_pm 6/1, pmc_ig1 7/1, pmc_es 8/8, pmc_ig2 16/48
"""

# PMD16 holds one nibble for each of PMD8 to PMD15, from bit 4.
ITA2_PMD16 = ", ".join(
    f"btbi_pmd{n}ext_b1 {4 * (n - 7)}/1, btbi_pmd{n}ext_bruflush {4 * (n - 7) + 1}/1, "
    f"btbi_pmd{n}ext_ig {4 * (n - 7) + 2}/2" for n in range(8, 16))

ITA2_PMD = f"""
pmd_ita2_counter_reg: pmd_count 0/47, pmd_sxt47 47/17
pmd0_ita2_reg: iear_stat 0/2, iear_ig1 2/3, iear_iaddr 5/59
pmd1_ita2_reg: iear_latency 0/12, iear_overflow 12/1, iear_ig1 13/51
pmd2_ita2_reg: dear_daddr 0/64
pmd3_ita2_reg: dear_latency 0/13, dear_overflow 13/1, dear_stat 14/2, dear_ig1 16/48
pmd8_15_ita2_reg: btb_b 0/1, btb_mp 1/1, btb_slot 2/2, btb_addr 4/60
pmd8_15_ds_ita2_reg: btb_b 0/1, btb_mp 1/1, btb_slot 2/2, btb_loaddr 4/37, btb_pred 41/20, btb_hiaddr 61/3
pmd16_ita2_reg: btbi_bbi 0/3, btbi_full 3/1, {ITA2_PMD16}, btbi_ignored 36/28
pmd17_ita2_reg: dear_slot 0/2, dear_bn 2/1, dear_vl 3/1, dear_iaddr 4/60
"""

MONT_PMC = """
pmc_mont_counter_reg: pmc_plm 0/4, pmc_ev 4/1, pmc_oi 5/1, pmc_pm 6/1, pmc_ig1 7/1, pmc_es 8/8,
    pmc_umask 16/4, pmc_thres 20/3, pmc_ig2 23/1, pmc_ism 24/2, pmc_all 26/1, pmc_i 27/1, pmc_s 28/1,
    pmc_e 29/1, pmc_m 30/1, pmc_res3 31/33
pmc32_34_mont_reg: opcm_mask 0/41, opcm_ig1 41/7, opcm_b 48/1, opcm_f 49/1, opcm_i 50/1, opcm_m 51/1,
    opcm_ig2 52/4, opcm_inv 56/1, opcm_ig_ad 57/1, opcm_ig3 58/6
pmc33_35_mont_reg: opcm_match 0/41, opcm_ig1 41/23
pmc36_mont_reg: opcm_ch0_ig_opcm 0/1, opcm_ch1_ig_opcm 1/1, opcm_ch2_ig_opcm 2/1, opcm_ch3_ig_opcm 3/1,
    opcm_res 4/28, opcm_ig 32/32
pmc37_mont_cache_reg: iear_plm 0/4, iear_pm 4/1, iear_umask 5/8, iear_ct 13/1, iear_res 14/2, iear_ig 16/48
pmc37_mont_tlb_reg: iear_plm 0/4, iear_pm 4/1, iear_umask 5/7, iear_ct 12/2, iear_res 14/50
pmc38_mont_reg: iarc_res1 0/1, iarc_ig_ibrp0 1/1, iarc_res2 2/2, iarc_ig_ibrp1 4/1, iarc_res3 5/2,
    iarc_ig_ibrp2 7/1, iarc_res4 8/2, iarc_ig_ibrp3 10/1, iarc_res5 11/2, iarc_fine 13/1, iarc_ig6 14/50
pmc39_mont_reg: etbc_plm 0/4, etbc_res1 4/2, etbc_pm 6/1, etbc_ds 7/1, etbc_tm 8/2, etbc_ptm 10/2,
    etbc_ppm 12/2, etbc_brt 14/2, etbc_ig 16/48
pmc40_mont_reg: dear_plm 0/4, dear_ig1 4/2, dear_pm 6/1, dear_mode 7/2, dear_ig2 9/7, dear_umask 16/4,
    dear_ig3 20/4, dear_ism 24/2, dear_ig4 26/38
pmc41_mont_reg: darc_res1 0/3, darc_cfg_dtag0 3/2, darc_res2 5/6, darc_cfg_dtag1 11/2, darc_res3 13/6,
    darc_cfg_dtag2 19/2, darc_res4 21/6, darc_cfg_dtag3 27/2, darc_res5 29/16, darc_ena_dbrp0 45/1,
    darc_ena_dbrp1 46/1, darc_ena_dbrp2 47/1, darc_ena_dbrp3 48/1, darc_res6 49/15
pmc42_mont_reg: ipear_plm 0/4, ipear_ig1 4/2, ipear_pm 6/1, ipear_ig2 7/1, ipear_mode 8/3, ipear_delay 11/8,
    ipear_ig3 19/45
"""

# PMD39 holds one nibble for each of PMD48 to PMD63, in this order from bit 0.
PMD39_ORDER = [48, 56, 49, 57, 50, 58, 51, 59, 52, 60, 53, 61, 54, 62, 55, 63]
MONT_PMD39 = ", ".join(
    f"etb_pmd{n}ext_b1 {4 * i}/1, etb_pmd{n}ext_bruflush {4 * i + 1}/1, etb_pmd{n}ext_res {4 * i + 2}/2"
    for i, n in enumerate(PMD39_ORDER))
MONT_PMD39_IPEAR = ", ".join(
    f"ipear_pmd{n}ext_cycles {4 * i}/2, ipear_pmd{n}ext_f {4 * i + 2}/1, ipear_pmd{n}ext_ef {4 * i + 3}/1"
    for i, n in enumerate(PMD39_ORDER))

MONT_PMD = f"""
pmd_mont_counter_reg: pmd_count 0/47, pmd_sxt47 47/17
pmd32_mont_reg: dear_daddr 0/64
pmd33_mont_reg: dear_latency 0/13, dear_ov 13/1, dear_stat 14/2, dear_ig 16/48
pmd34_mont_reg: iear_stat 0/2, iear_ig 2/3, iear_iaddr 5/59
pmd35_mont_reg: iear_latency 0/12, iear_ov 12/1, iear_ig 13/51
pmd36_mont_reg: dear_slot 0/2, dear_bn 2/1, dear_vl 3/1, dear_iaddr 4/60
pmd38_mont_reg: etbi_ebi 0/4, etbi_ig1 4/1, etbi_full 5/1, etbi_ig2 6/58
pmd39_mont_reg: {MONT_PMD39}
pmd39_ipear_mont_reg: {MONT_PMD39_IPEAR}
pmd48_63_etb_mont_reg: etb_s 0/1, etb_mp 1/1, etb_slot 2/2, etb_addr 4/60
pmd48_63_ipear_mont_reg: ipear_addr 0/60, ipear_cycles 60/4
pmd48_63_ipear_ef_mont_reg: ipear_delay 0/8, ipear_addr 8/52, ipear_cycles 60/4
"""

Bits = dict[str, tuple[int, int]]  # field -> low bit, width


def read_register(row: str) -> Bits:
    """The fields of one register; they fill it without gap or overlap."""
    fields = {name: (int(low), int(width)) for name, low, width in re.findall(r"(\w+) (\d+)/(\d+)", row)}
    end = 0
    for name, (low, width) in fields.items():
        if low != end:
            message = f"{name} starts at bit {low}, the field before it ends at {end}"
            raise ValueError(message)
        end += width
    if end != 64:
        message = f"{row}: {end} bits"
        raise ValueError(message)
    return fields


def read_registers(table: str) -> dict[str, Bits]:
    rows = re.findall(r"^(\w+):((?:.*\n(?!\w+:))*.*)", table, flags=re.M)
    return {member: read_register(row) for member, row in rows}


def register_struct(member: str, bits: Bits) -> type[ctypes.Structure]:
    fields = [(name, ctypes.c_ulong) if width == 64 else (name, ctypes.c_ulong, width)
              for name, (_, width) in bits.items()]
    return type(member, (ctypes.Structure,), {"_fields_": fields})


def register_union(name: str, value: str, registers: dict[str, Bits]) -> type[ctypes.Union]:
    members = [(member, register_struct(member, bits)) for member, bits in registers.items()]
    return type(name, (ctypes.Union,), {"_fields_": [(value, ctypes.c_ulong), *members]})


# Register unions: name of the type -> member -> field -> low bit, width.
REGISTERS: dict[str, dict[str, Bits]] = {
    "pfm_ita2_pmc_reg_t": read_registers(ITA2_PMC),
    "pfm_ita2_pmd_reg_t": read_registers(ITA2_PMD),
    "pfm_mont_pmc_reg_t": read_registers(MONT_PMC),
    "pfm_mont_pmd_reg_t": read_registers(MONT_PMD),
    "pfm_ita_pmc_reg_t": read_registers(ITA_PMC),
    "pfm_ita_pmd_reg_t": read_registers(ITA_PMD),
    "pfm_gen_ia64_pmc_reg_t": read_registers(GEN_PMC),
}

options = type("pfmlib_options_t", (abi.options,), {})

# Of Itanium, abi takes these from Itanium 2: their fields are the same.
ita_counter, ita_opcm, ita_ear = (
    type(t.__name__.replace("ita2", "ita"), (ctypes.Structure,), {"_fields_": t._fields_})
    for t in (abi.ita2_counter, abi.ita2_opcm, abi.ita2_ear))


def of_itanium(t: type[ctypes.Structure]) -> type[ctypes.Structure]:
    """A structure of abi with the types of Itanium in it."""
    own = {abi.ita2_opcm: ita_opcm, abi.ita2_ear: ita_ear}
    fields = [(name, ita_counter * 4 if name == "pfp_ita_counters" else own.get(kind, kind)) for name, kind in t._fields_]
    return type(t.__name__, (ctypes.Structure,), {"_fields_": fields})


ita_input = of_itanium(abi.ita_input)
gen_pmd = type("pfm_gen_ia64_pmd_reg_t", (ctypes.Structure,), {"_fields_": [("pmd_val", ctypes.c_ulong)]})

STRUCTS: list[type[ctypes.Structure] | type[ctypes.Union]] = [
    abi.regmask, abi.event, abi.reg, abi.input_param, abi.output_param, options,
    abi.ita2_counter, abi.ita2_opcm, abi.ita2_btb, abi.ita2_ear, abi.ita2_in_desc, abi.ita2_out_desc,
    abi.ita2_in_rr, abi.ita2_out_rr, abi.ita2_input, abi.ita2_output,
    abi.mont_counter, abi.mont_opcm, abi.mont_etb, abi.mont_ipear, abi.mont_ear, abi.mont_in_desc,
    abi.mont_out_desc, abi.mont_in_rr, abi.mont_out_rr, abi.mont_input, abi.mont_output,
    ita_counter, ita_opcm, abi.ita_btb, ita_ear, abi.ita_in_desc, abi.ita_out_desc, abi.ita_in_rr, abi.ita_out_rr,
    ita_input, abi.ita_output, gen_pmd,
    *(register_union(name, "pmd_val" if "pmd" in name else "pmc_val", members)
      for name, members in REGISTERS.items()),
]
TYPES: dict[str, type[ctypes.Structure] | type[ctypes.Union]] = {t.__name__: t for t in STRUCTS} | abi_perfmon2.TYPES

# Integer types with a name.
SCALARS: dict[str, type[ctypes._SimpleCData[int]]] = {
    "pfm_err_t": ctypes.c_int,
    "os_err_t": ctypes.c_int,
    "pfmlib_regmask_bits_t": ctypes.c_ulong,
}

# Enumerations.  None has a negative value: the compilers make them unsigned int.
ENUMS: dict[str, dict[str, int]] = {
    "pfmlib_ita2_ism_t": {
        "PFMLIB_ITA2_ISM_BOTH": 0, "PFMLIB_ITA2_ISM_IA32": 1, "PFMLIB_ITA2_ISM_IA64": 2},
    "pfmlib_ita2_ear_mode_t": {
        "PFMLIB_ITA2_EAR_CACHE_MODE": 0, "PFMLIB_ITA2_EAR_TLB_MODE": 1, "PFMLIB_ITA2_EAR_ALAT_MODE": 2},
    "pfmlib_ita_ism_t": {
        "PFMLIB_ITA_ISM_BOTH": 0, "PFMLIB_ITA_ISM_IA32": 1, "PFMLIB_ITA_ISM_IA64": 2},
    "pfmlib_ita_ear_mode_t": {"PFMLIB_ITA_EAR_CACHE_MODE": 0, "PFMLIB_ITA_EAR_TLB_MODE": 1},
    "pfmlib_mont_ear_mode_t": {
        "PFMLIB_MONT_EAR_CACHE_MODE": 0, "PFMLIB_MONT_EAR_TLB_MODE": 1, "PFMLIB_MONT_EAR_ALAT_MODE": 2},
}

# The fields that pfm3_abi declares as int because ctypes has no enumerations.
ENUM_FIELDS: dict[tuple[str, str], str] = {
    ("pfmlib_ita2_counter_t", "ism"): "pfmlib_ita2_ism_t",
    ("pfmlib_ita2_ear_t", "ear_mode"): "pfmlib_ita2_ear_mode_t",
    ("pfmlib_ita2_ear_t", "ear_ism"): "pfmlib_ita2_ism_t",
    ("pfmlib_mont_ear_t", "ear_mode"): "pfmlib_mont_ear_mode_t",
    ("pfmlib_ita_counter_t", "ism"): "pfmlib_ita_ism_t",
    ("pfmlib_ita_ear_t", "ear_mode"): "pfmlib_ita_ear_mode_t",
    ("pfmlib_ita_ear_t", "ear_ism"): "pfmlib_ita_ism_t",
}

# Sizes in bytes as the ABI's tables print them: a typing error above shows here.
SIZES: dict[str, int] = {
    "pfmlib_regmask_t": 64, "pfmlib_event_t": 232, "pfmlib_reg_t": 32, "pfmlib_input_param_t": 118912,
    "pfmlib_output_param_t": 32832, "pfmlib_options_t": 4,
    "pfmlib_ita2_counter_t": 12, "pfmlib_ita2_opcm_t": 16, "pfmlib_ita2_btb_t": 12, "pfmlib_ita2_ear_t": 24,
    "pfmlib_ita2_input_rr_desc_t": 24, "pfmlib_ita2_output_rr_desc_t": 16, "pfmlib_ita2_input_rr_t": 112,
    "pfmlib_ita2_output_rr_t": 328, "pfmlib_ita2_input_param_t": 384, "pfmlib_ita2_output_param_t": 704,
    "pfmlib_mont_counter_t": 8, "pfmlib_mont_opcm_t": 24, "pfmlib_mont_etb_t": 12, "pfmlib_mont_ipear_t": 12,
    "pfmlib_mont_ear_t": 24, "pfmlib_mont_input_rr_desc_t": 24, "pfmlib_mont_output_rr_desc_t": 16,
    "pfmlib_mont_input_rr_t": 112, "pfmlib_mont_output_rr_t": 328, "pfmlib_mont_input_param_t": 456,
    "pfmlib_mont_output_param_t": 704,
    "pfmlib_ita_counter_t": 12, "pfmlib_ita_opcm_t": 16, "pfmlib_ita_btb_t": 12, "pfmlib_ita_ear_t": 24,
    "pfmlib_ita_input_rr_desc_t": 24, "pfmlib_ita_output_rr_desc_t": 16, "pfmlib_ita_input_rr_t": 112,
    "pfmlib_ita_output_rr_t": 328, "pfmlib_ita_input_param_t": 384, "pfmlib_ita_output_param_t": 704,
    "pfm_gen_ia64_pmd_reg_t": 8,
    **dict.fromkeys(REGISTERS, 8),
    **{name: size for config in abi_perfmon2.CONFIGS.values() if not config["define"]
       for name, (size, _, _) in config["structs"].items()},
}
