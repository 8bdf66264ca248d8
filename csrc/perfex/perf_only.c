/*
 * The PMUs of libpfm 4 that libperfex contains: a map names Linux's own events only.
 */
#include "pfm4.h"

const struct pfm4_pmu *const pfm4_pmus[] = { &pfm4_perf };
const int pfm4_num_pmus = 1;
