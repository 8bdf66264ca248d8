/*
 * The perfmon2 interface: flags that only IA-64 has.  Included by perfmon.h.
 */
#ifndef _PERFMON_IA64_H_
#define _PERFMON_IA64_H_

#ifndef PFM_NO_PERFMON_COMPAT
#include <perfmon/perfmon_compat.h>
#endif

/* Of a context: user programs may start and stop it.  Without effect. */
#define PFM_ITA_FL_INSECURE 0x10000

/* Of a set: what of interrupts and of the idle loop is counted.  Checked, without effect. */
#define PFM_ITA_SETFL_EXCL_INTR 0x10000 /* not what interrupts do */
#define PFM_ITA_SETFL_INTR_ONLY 0x20000 /* only that */
#define PFM_ITA_SETFL_IDLE_EXCL 0x40000 /* not the idle loop; system-wide */

#endif /* _PERFMON_IA64_H_ */
