/*
 * The models of libpfm 3 with structures of their own, one line each, for the programs that try all of them:
 * MODEL(name in the recorded answers, prefix of its functions and types, its type, what tells fine mode or NULL).
 */
#ifndef TESTS_PFM3_MODELS_H
#define TESTS_PFM3_MODELS_H

#include <perfmon/pfmlib_itanium.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>

#define PFM3_MODELS(MODEL) \
	MODEL(itanium2, ita2, PFMLIB_ITANIUM2_PMU, pfm_ita2_irange_is_fine) \
	MODEL(montecito, mont, PFMLIB_MONTECITO_PMU, pfm_mont_irange_is_fine) \
	MODEL(itanium, ita, PFMLIB_ITANIUM_PMU, NULL)

#endif /* TESTS_PFM3_MODELS_H */
