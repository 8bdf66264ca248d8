/*
 * Compiler glue of libpfm 3 on IA-64.  What pfmlib.h needs is the same everywhere: pfmlib_comp.h has it.
 */
#ifndef __PFMLIB_COMP_IA64_H__
#define __PFMLIB_COMP_IA64_H__

#include <perfmon/pfmlib_comp.h>

#endif /* __PFMLIB_COMP_IA64_H__ */
