/*
 * The layouts of the public structures, held at compile time: sizes and offsets as measured
 * on libpfm 4.13.0, with words of 64 and of 32 bits.
 */
#ifndef LAYOUT_PFM4_H
#define LAYOUT_PFM4_H

#include <assert.h>
#include <stddef.h>

#define WORD sizeof(void *)

#define SIZE(type, size) static_assert(sizeof(type) == (size), #type)
#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset), #type "." #member)

SIZE(pfm_pmu_t, 4);
SIZE(pfm_os_t, 4);

SIZE(pfm_pmu_info_t, PFM_PMU_INFO_ABI0);
AT(pfm_pmu_info_t, name, 0);
AT(pfm_pmu_info_t, desc, WORD);
AT(pfm_pmu_info_t, size, 2 * WORD);
AT(pfm_pmu_info_t, pmu, 3 * WORD);
AT(pfm_pmu_info_t, type, 3 * WORD + 4);
AT(pfm_pmu_info_t, nevents, 3 * WORD + 8);
AT(pfm_pmu_info_t, first_event, 3 * WORD + 12);
AT(pfm_pmu_info_t, max_encoding, 3 * WORD + 16);
AT(pfm_pmu_info_t, num_cntrs, 3 * WORD + 20);
AT(pfm_pmu_info_t, num_fixed_cntrs, 3 * WORD + 24);

SIZE(pfm_event_info_t, PFM_EVENT_INFO_ABI0);
AT(pfm_event_info_t, name, 0);
AT(pfm_event_info_t, desc, WORD);
AT(pfm_event_info_t, equiv, 2 * WORD);
AT(pfm_event_info_t, size, 3 * WORD);
AT(pfm_event_info_t, code, 4 * WORD);
AT(pfm_event_info_t, pmu, 4 * WORD + 8);
AT(pfm_event_info_t, dtype, 4 * WORD + 12);
AT(pfm_event_info_t, idx, 4 * WORD + 16);
AT(pfm_event_info_t, nattrs, 4 * WORD + 20);
AT(pfm_event_info_t, reserved, 4 * WORD + 24);

SIZE(pfm_event_attr_info_t, PFM_ATTR_INFO_ABI0);
AT(pfm_event_attr_info_t, name, 0);
AT(pfm_event_attr_info_t, desc, WORD);
AT(pfm_event_attr_info_t, equiv, 2 * WORD);
AT(pfm_event_attr_info_t, size, 3 * WORD);
AT(pfm_event_attr_info_t, code, 4 * WORD);
AT(pfm_event_attr_info_t, type, 4 * WORD + 8);
AT(pfm_event_attr_info_t, idx, 4 * WORD + 12);
AT(pfm_event_attr_info_t, ctrl, 4 * WORD + 16);
AT(pfm_event_attr_info_t, dfl_val64, 4 * WORD + 24);

SIZE(pfm_pmu_encode_arg_t, PFM_RAW_ENCODE_ABI0);
AT(pfm_pmu_encode_arg_t, codes, 0);
AT(pfm_pmu_encode_arg_t, fstr, WORD);
AT(pfm_pmu_encode_arg_t, size, 2 * WORD);
AT(pfm_pmu_encode_arg_t, count, 3 * WORD);
AT(pfm_pmu_encode_arg_t, idx, 3 * WORD + 4);

SIZE(pfm_perf_encode_arg_t, PFM_PERF_ENCODE_ABI0);
AT(pfm_perf_encode_arg_t, attr, 0);
AT(pfm_perf_encode_arg_t, fstr, WORD);
AT(pfm_perf_encode_arg_t, size, 2 * WORD);
AT(pfm_perf_encode_arg_t, idx, 3 * WORD);
AT(pfm_perf_encode_arg_t, cpu, 3 * WORD + 4);
AT(pfm_perf_encode_arg_t, flags, 3 * WORD + 8);
AT(pfm_perf_encode_arg_t, pad0, 3 * WORD + 12);

SIZE(struct perf_event_attr, PERF_ATTR_SIZE_VER7);
AT(struct perf_event_attr, type, 0);
AT(struct perf_event_attr, size, 4);
AT(struct perf_event_attr, config, 8);
AT(struct perf_event_attr, sample_period, 16);
AT(struct perf_event_attr, sample_type, 24);
AT(struct perf_event_attr, read_format, 32);
AT(struct perf_event_attr, wakeup_events, 48);
AT(struct perf_event_attr, bp_type, 52);
AT(struct perf_event_attr, config1, 56);
AT(struct perf_event_attr, config2, 64);
AT(struct perf_event_attr, branch_sample_type, 72);
AT(struct perf_event_attr, sample_regs_user, 80);
AT(struct perf_event_attr, sample_stack_user, 88);
AT(struct perf_event_attr, clockid, 92);
AT(struct perf_event_attr, sample_regs_intr, 96);
AT(struct perf_event_attr, aux_watermark, 104);
AT(struct perf_event_attr, sample_max_stack, 108);
AT(struct perf_event_attr, aux_sample_size, 112);
AT(struct perf_event_attr, sig_data, 120);

SIZE(struct perf_event_mmap_page, 1088);
SIZE(struct perf_event_header, 8);
SIZE(struct perf_event_query_bpf, 8);
AT(struct perf_event_query_bpf, ids, 8);
SIZE(struct perf_branch_entry, 24);
SIZE(struct perf_branch_stack, 8);
AT(struct perf_branch_stack, entries, 8);
SIZE(struct perf_ns_link_info, 16);
SIZE(union perf_sample_weight, 8);
AT(union perf_sample_weight, var2_w, 4);
AT(union perf_sample_weight, var3_w, 6);
SIZE(union perf_mem_data_src, 8);

#endif /* LAYOUT_PFM4_H */
