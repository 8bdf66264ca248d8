/*
 * Private: the public headers, as the library's own files include them.
 *
 * Everything is compiled with hidden visibility; in the shared library what the
 * public headers declare is visible, in the Python extension nothing is.
 */
#ifndef PFM3_PUBLIC_H
#define PFM3_PUBLIC_H

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && !defined(PFMLIB_NO_REG_UNIONS)
#define PFMLIB_NO_REG_UNIONS /* the encoder does without them */
#endif

#ifdef PYPFM_SHARED
#pragma GCC visibility push(default)
#endif

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_gen_ia64.h>
#include <perfmon/pfmlib_itanium.h>
#include <perfmon/pfmlib_itanium2.h>
#include <perfmon/pfmlib_montecito.h>
#define PFM_NO_MMAP_REDIRECT /* the library's own mmap() is the system's */
#include <perfmon/perfmon.h>
#include <perfmon/perfmon_dfl_smpl.h>
#include <perfmon/perfmon_default_smpl.h>
#include <perfmon/perfmon_model.h>

#ifdef PYPFM_SHARED
#pragma GCC visibility pop
#endif

#endif /* PFM3_PUBLIC_H */
