/*
 * The PMUs of libpfm 4.
 */
#include "pfm4.h"

const struct pfm4_pmu *const pfm4_pmus[] = {
	&pfm4_gen_ia64, &pfm4_ita, &pfm4_ita2, &pfm4_mont, &pfm4_glm, &pfm4_perf, &pfm4_perf_raw,
};
const int pfm4_num_pmus = sizeof(pfm4_pmus) / sizeof(*pfm4_pmus);

_Static_assert(sizeof(pfm4_pmus) / sizeof(*pfm4_pmus) == PFM4_NUM_PMUS, "a context has a state for each");
