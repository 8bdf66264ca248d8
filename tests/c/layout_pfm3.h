/*
 * The layouts of the public structures for LP64, held at compile time: sizes
 * and offsets as measured on libpfm 3.10, or, with PFMLIB_MANUAL_LAYOUT, as the
 * manual pages print them.  Bit-fields cannot be asserted here;
 * tests/pfm3/test_layout.py writes each of them and looks at the bytes.
 */
#ifndef LAYOUT_PFM3_H
#define LAYOUT_PFM3_H

#include <assert.h>
#include <stddef.h>

#define SIZE(type, size) static_assert(sizeof(type) == (size), #type)
#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset), #type "." #member)

/* Where the two forms differ. */
#ifdef PFMLIB_MANUAL_LAYOUT
#define FORM(header, manual) (manual)
#else
#define FORM(header, manual) (header)
#endif

/* perfmon/pfmlib.h */
SIZE(pfmlib_regmask_t, 64);
AT(pfmlib_regmask_t, bits, 0);

SIZE(pfmlib_event_t, 232);
AT(pfmlib_event_t, event, 0);
AT(pfmlib_event_t, plm, 4);
AT(pfmlib_event_t, flags, 8);
AT(pfmlib_event_t, unit_masks, 16);
AT(pfmlib_event_t, num_masks, 208);
AT(pfmlib_event_t, reserved, 216);

SIZE(pfmlib_reg_t, 32);
AT(pfmlib_reg_t, reg_value, 0);
AT(pfmlib_reg_t, reg_addr, 8);
AT(pfmlib_reg_t, reg_num, 16);
AT(pfmlib_reg_t, reg_reserved1, 20);
AT(pfmlib_reg_t, reg_alt_addr, 24);

SIZE(pfmlib_input_param_t, 118912);
AT(pfmlib_input_param_t, pfp_event_count, 0);
AT(pfmlib_input_param_t, pfp_dfl_plm, 4);
AT(pfmlib_input_param_t, pfp_flags, 8);
AT(pfmlib_input_param_t, reserved1, 12);
AT(pfmlib_input_param_t, pfp_events, 16);
AT(pfmlib_input_param_t, pfp_unavail_pmcs, 118800);
AT(pfmlib_input_param_t, reserved, 118864);

SIZE(pfmlib_output_param_t, 32832);
AT(pfmlib_output_param_t, pfp_pmc_count, 0);
AT(pfmlib_output_param_t, pfp_pmd_count, 4);
AT(pfmlib_output_param_t, pfp_pmcs, 8);
AT(pfmlib_output_param_t, pfp_pmds, 16392);
AT(pfmlib_output_param_t, reserved, 32776);

SIZE(pfmlib_options_t, 4);

/* perfmon/pfmlib_itanium2.h */
SIZE(pfmlib_ita2_ism_t, 4);
SIZE(pfmlib_ita2_ear_mode_t, 4);

SIZE(pfmlib_ita2_counter_t, 12);
AT(pfmlib_ita2_counter_t, flags, 0);
AT(pfmlib_ita2_counter_t, thres, 4);
AT(pfmlib_ita2_counter_t, ism, 8);

SIZE(pfmlib_ita2_opcm_t, 16);
AT(pfmlib_ita2_opcm_t, opcm_used, 0);
AT(pfmlib_ita2_opcm_t, pmc_val, 8);

SIZE(pfmlib_ita2_btb_t, 12);
AT(pfmlib_ita2_btb_t, btb_used, 0);
AT(pfmlib_ita2_btb_t, btb_ds, 1);
AT(pfmlib_ita2_btb_t, btb_tm, 2);
AT(pfmlib_ita2_btb_t, btb_ptm, 3);
AT(pfmlib_ita2_btb_t, btb_ppm, 4);
AT(pfmlib_ita2_btb_t, btb_brt, 5);
AT(pfmlib_ita2_btb_t, btb_plm, 8);

SIZE(pfmlib_ita2_ear_t, 24);
AT(pfmlib_ita2_ear_t, ear_used, 0);
AT(pfmlib_ita2_ear_t, ear_mode, 4);
AT(pfmlib_ita2_ear_t, ear_ism, 8);
AT(pfmlib_ita2_ear_t, ear_plm, 12);
AT(pfmlib_ita2_ear_t, ear_umask, 16);

SIZE(pfmlib_ita2_input_param_t, FORM(384, 376));
AT(pfmlib_ita2_input_param_t, pfp_ita2_counters, 0);
AT(pfmlib_ita2_input_param_t, pfp_ita2_flags, 48);
AT(pfmlib_ita2_input_param_t, pfp_ita2_pmc8, 56);
AT(pfmlib_ita2_input_param_t, pfp_ita2_pmc9, 72);
AT(pfmlib_ita2_input_param_t, pfp_ita2_iear, 88);
AT(pfmlib_ita2_input_param_t, pfp_ita2_dear, 112);
AT(pfmlib_ita2_input_param_t, pfp_ita2_btb, 136);
AT(pfmlib_ita2_input_param_t, pfp_ita2_drange, 152);
AT(pfmlib_ita2_input_param_t, pfp_ita2_irange, 264);

SIZE(pfmlib_ita2_output_param_t, FORM(704, 656));
AT(pfmlib_ita2_output_param_t, pfp_ita2_drange, 0);
AT(pfmlib_ita2_output_param_t, pfp_ita2_irange, 328);

/* perfmon/pfmlib_montecito.h */
SIZE(pfmlib_mont_ear_mode_t, 4);

SIZE(pfmlib_mont_counter_t, 8);
AT(pfmlib_mont_counter_t, flags, 0);
AT(pfmlib_mont_counter_t, thres, 4);

SIZE(pfmlib_mont_opcm_t, 24);
AT(pfmlib_mont_opcm_t, opcm_used, 0);
AT(pfmlib_mont_opcm_t, opcm_m, 1);
AT(pfmlib_mont_opcm_t, opcm_i, 2);
AT(pfmlib_mont_opcm_t, opcm_f, 3);
AT(pfmlib_mont_opcm_t, opcm_b, 4);
AT(pfmlib_mont_opcm_t, opcm_match, 8);
AT(pfmlib_mont_opcm_t, opcm_mask, 16);

SIZE(pfmlib_mont_etb_t, FORM(12, 16));
AT(pfmlib_mont_etb_t, etb_used, 0);
AT(pfmlib_mont_etb_t, etb_plm, 4);
AT(pfmlib_mont_etb_t, etb_tm, FORM(8, 9));
AT(pfmlib_mont_etb_t, etb_ptm, FORM(9, 10));
AT(pfmlib_mont_etb_t, etb_ppm, FORM(10, 11));
AT(pfmlib_mont_etb_t, etb_brt, FORM(11, 12));

SIZE(pfmlib_mont_ipear_t, 12);
AT(pfmlib_mont_ipear_t, ipear_used, 0);
AT(pfmlib_mont_ipear_t, ipear_plm, 4);
AT(pfmlib_mont_ipear_t, ipear_delay, 8);

SIZE(pfmlib_mont_ear_t, 24);
AT(pfmlib_mont_ear_t, ear_used, 0);
AT(pfmlib_mont_ear_t, ear_mode, 4);
AT(pfmlib_mont_ear_t, ear_plm, 8);
AT(pfmlib_mont_ear_t, ear_umask, 16);

SIZE(pfmlib_mont_input_param_t, 456);
AT(pfmlib_mont_input_param_t, pfp_mont_counters, 0);
AT(pfmlib_mont_input_param_t, pfp_mont_flags, 96);
AT(pfmlib_mont_input_param_t, pfp_mont_opcm1, 104);
AT(pfmlib_mont_input_param_t, pfp_mont_opcm2, 128);
AT(pfmlib_mont_input_param_t, pfp_mont_iear, 152);
AT(pfmlib_mont_input_param_t, pfp_mont_dear, 176);
AT(pfmlib_mont_input_param_t, pfp_mont_etb, FORM(200, 212));
AT(pfmlib_mont_input_param_t, pfp_mont_ipear, FORM(212, 200));
AT(pfmlib_mont_input_param_t, pfp_mont_drange, FORM(224, 232));
AT(pfmlib_mont_input_param_t, pfp_mont_irange, FORM(336, 344));

SIZE(pfmlib_mont_output_param_t, FORM(704, 656));
AT(pfmlib_mont_output_param_t, pfp_mont_drange, 0);
AT(pfmlib_mont_output_param_t, pfp_mont_irange, 328);

#ifdef PFMLIB_MANUAL_LAYOUT
AT(pfmlib_mont_etb_t, etb_ds, 8);
#else
AT(pfmlib_ita2_input_param_t, reserved, 376);
AT(pfmlib_ita2_output_param_t, reserved, 656);
AT(pfmlib_mont_input_param_t, reserved, 448);
AT(pfmlib_mont_output_param_t, reserved, 656);
#endif

/* The range structures of Itanium 2 and Montecito; of Itanium the output is the same, the input is not. */
#define OUTPUT_RANGE_TYPES(desc, out) \
	SIZE(desc, 16); \
	AT(desc, rr_soff, 0); \
	AT(desc, rr_eoff, 8); \
	SIZE(out, 328); \
	AT(out, rr_nbr_used, 0); \
	AT(out, rr_infos, 8); \
	AT(out, rr_br, 72)

#define RANGE_TYPES(in_desc, out_desc, in, out) \
	SIZE(in_desc, 24); \
	AT(in_desc, rr_plm, 0); \
	AT(in_desc, rr_start, 8); \
	AT(in_desc, rr_end, 16); \
	SIZE(in, 112); \
	AT(in, rr_flags, 0); \
	AT(in, rr_limits, 8); \
	AT(in, rr_used, 104); \
	OUTPUT_RANGE_TYPES(out_desc, out)

RANGE_TYPES(pfmlib_ita2_input_rr_desc_t, pfmlib_ita2_output_rr_desc_t, pfmlib_ita2_input_rr_t, pfmlib_ita2_output_rr_t);
RANGE_TYPES(pfmlib_mont_input_rr_desc_t, pfmlib_mont_output_rr_desc_t, pfmlib_mont_input_rr_t, pfmlib_mont_output_rr_t);

/* perfmon/pfmlib_itanium.h: the same in both forms, there is no manual page. */
SIZE(pfmlib_ita_ism_t, 4);
SIZE(pfmlib_ita_ear_mode_t, 4);

SIZE(pfmlib_ita_counter_t, 12);
AT(pfmlib_ita_counter_t, flags, 0);
AT(pfmlib_ita_counter_t, thres, 4);
AT(pfmlib_ita_counter_t, ism, 8);

SIZE(pfmlib_ita_opcm_t, 16);
AT(pfmlib_ita_opcm_t, opcm_used, 0);
AT(pfmlib_ita_opcm_t, pmc_val, 8);

SIZE(pfmlib_ita_btb_t, 12);
AT(pfmlib_ita_btb_t, btb_used, 0);
AT(pfmlib_ita_btb_t, btb_tar, 1);
AT(pfmlib_ita_btb_t, btb_tac, 2);
AT(pfmlib_ita_btb_t, btb_bac, 3);
AT(pfmlib_ita_btb_t, btb_tm, 4);
AT(pfmlib_ita_btb_t, btb_ptm, 5);
AT(pfmlib_ita_btb_t, btb_ppm, 6);
AT(pfmlib_ita_btb_t, btb_plm, 8);

SIZE(pfmlib_ita_ear_t, 24);
AT(pfmlib_ita_ear_t, ear_used, 0);
AT(pfmlib_ita_ear_t, ear_mode, 4);
AT(pfmlib_ita_ear_t, ear_ism, 8);
AT(pfmlib_ita_ear_t, ear_plm, 12);
AT(pfmlib_ita_ear_t, ear_umask, 16);

SIZE(pfmlib_ita_input_rr_desc_t, 24);
AT(pfmlib_ita_input_rr_desc_t, rr_flags, 0);
AT(pfmlib_ita_input_rr_desc_t, rr_plm, 4);
AT(pfmlib_ita_input_rr_desc_t, rr_start, 8);
AT(pfmlib_ita_input_rr_desc_t, rr_end, 16);

SIZE(pfmlib_ita_input_rr_t, 112);
AT(pfmlib_ita_input_rr_t, rr_used, 0);
AT(pfmlib_ita_input_rr_t, rr_flags, 4);
AT(pfmlib_ita_input_rr_t, rr_nbr_used, 8);
AT(pfmlib_ita_input_rr_t, rr_limits, 16);

OUTPUT_RANGE_TYPES(pfmlib_ita_output_rr_desc_t, pfmlib_ita_output_rr_t);

SIZE(pfmlib_ita_input_param_t, 384);
AT(pfmlib_ita_input_param_t, pfp_ita_counters, 0);
AT(pfmlib_ita_input_param_t, pfp_ita_flags, 48);
AT(pfmlib_ita_input_param_t, pfp_ita_pmc8, 56);
AT(pfmlib_ita_input_param_t, pfp_ita_pmc9, 72);
AT(pfmlib_ita_input_param_t, pfp_ita_iear, 88);
AT(pfmlib_ita_input_param_t, pfp_ita_dear, 112);
AT(pfmlib_ita_input_param_t, pfp_ita_btb, 136);
AT(pfmlib_ita_input_param_t, pfp_ita_drange, 152);
AT(pfmlib_ita_input_param_t, pfp_ita_irange, 264);
AT(pfmlib_ita_input_param_t, reserved, 376);

SIZE(pfmlib_ita_output_param_t, 704);
AT(pfmlib_ita_output_param_t, pfp_ita_drange, 0);
AT(pfmlib_ita_output_param_t, pfp_ita_irange, 328);
AT(pfmlib_ita_output_param_t, reserved, 656);

#ifndef PFMLIB_NO_REG_UNIONS
SIZE(pfm_ita2_pmc_reg_t, 8);
SIZE(pfm_ita2_pmd_reg_t, 8);
SIZE(pfm_mont_pmc_reg_t, 8);
SIZE(pfm_mont_pmd_reg_t, 8);
SIZE(pfm_ita_pmc_reg_t, 8);
SIZE(pfm_ita_pmd_reg_t, 8);
SIZE(pfm_gen_ia64_pmc_reg_t, 8);
SIZE(pfm_gen_ia64_pmd_reg_t, 8);
#endif

#undef SIZE
#undef AT
#undef FORM
#undef OUTPUT_RANGE_TYPES
#undef RANGE_TYPES

#endif /* LAYOUT_PFM3_H */
