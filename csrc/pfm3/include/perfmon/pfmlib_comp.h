/*
 * Compiler glue of libpfm 3: what pfmlib.h needs from the compiler.
 * Stands alone; works with any C99 or C++ compiler.
 */
#ifndef __PFMLIB_COMP_H__
#define __PFMLIB_COMP_H__

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Count the one bits of a word.
 *
 * :param v: any value
 * :return: the number of bits set, 0 to the width of unsigned long
 *
 * Source: libpfm 3.10 header, compiler glue.
 */
static inline unsigned long
pfmlib_popcnt(unsigned long v)
{
	unsigned long sum = 0;

	for (; v; v &= v - 1)
		sum++;
	return sum;
}

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_COMP_H__ */
