/*
 * Operating-system glue of libpfm 3 on IA-64: the user performance monitor bit of the processor status, and a data
 * register as an instruction reads it.
 *
 * They are here for programs that name them.  The kernel's perf driver owns the counters: the bit starts and stops
 * nothing, and what the register holds is not the 64-bit value of pfm_read_pmds().  Elsewhere the header is empty.
 */
#ifndef __PFMLIB_OS_IA64_H__
#define __PFMLIB_OS_IA64_H__

#ifdef __ia64__

#ifdef __cplusplus
extern "C" {
#endif

#define IA64_PSR_UP_MASK (1 << 2)

static inline void
ia64_sum(void)
{
	__asm__ volatile("sum %0;; srlz.d;;" ::"i"(IA64_PSR_UP_MASK) : "memory");
}
static inline void
ia64_rum(void)
{
	__asm__ volatile("rum %0;; srlz.d;;" ::"i"(IA64_PSR_UP_MASK) : "memory");
}

static inline unsigned long
ia64_get_pmd(int regnum)
{
	unsigned long value;

	__asm__ volatile("mov %0=pmd[%1]" : "=r"(value) : "r"(regnum));
	return value;
}

#ifdef __cplusplus
}
#endif

#endif /* __ia64__ */

#endif /* __PFMLIB_OS_IA64_H__ */
