/*
 * Private: the public headers, as the library's own files include them.
 *
 * Everything is compiled with hidden visibility; in the shared library what the
 * public headers declare is visible, in the Python extension nothing is.
 */
#ifndef PFM4_PUBLIC_H
#define PFM4_PUBLIC_H

#ifdef PYPFM_SHARED
#pragma GCC visibility push(default)
#endif

#ifndef PFM_OWN_PERF_EVENT
#define PFM_OWN_PERF_EVENT /* the same structures on every machine */
#endif
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#ifdef PYPFM_SHARED
#pragma GCC visibility pop
#endif

#endif /* PFM4_PUBLIC_H */
