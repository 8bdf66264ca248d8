/*
 * Private: the public header, as the library's own files include it.
 *
 * Everything is compiled with hidden visibility; in the shared library what the
 * public header declares is visible, in the Python extension nothing is.
 */
#ifndef PYPFM_PERFEX_PUBLIC_H
#define PYPFM_PERFEX_PUBLIC_H

#ifdef PYPFM_SHARED
#pragma GCC visibility push(default)
#endif

#include <perfex.h>

#ifdef PYPFM_SHARED
#pragma GCC visibility pop
#endif

#endif /* PYPFM_PERFEX_PUBLIC_H */
