/*
 * Private: the public headers, as the library's own files include them.
 *
 * Everything is compiled with hidden visibility; in the shared library what the
 * public headers declare is visible, in the Python extension nothing is.
 */
#ifndef PYPFM_PMC_PUBLIC_H
#define PYPFM_PMC_PUBLIC_H

#ifdef PYPFM_SHARED
#pragma GCC visibility push(default)
#endif

#include <pmc.h>
#include <pmc_model.h>

#ifdef PYPFM_SHARED
#pragma GCC visibility pop
#endif

#endif /* PYPFM_PMC_PUBLIC_H */
