/*
 * libperfex: counting two events of the R10000 or R12000 in a program.  Manual page:
 * libperfex(3C) of IRIX, as far as it is known.
 *
 * Events have the numbers of perfex(1).  Those from 0 to 15 are counted on counter 0, those
 * from 16 to 31 on counter 1, so that a pair has one of each, in any order.  Counted are all
 * threads of the process, in user mode, through the kernel's events: what stands for an event
 * is what perfex(1) takes with --backend perf.  A child process begins without counters.
 *
 * A program that perfex --backend valgrind runs (or perfex, where there are no hardware counters) counts what is
 * simulated: the same functions, the same events as of perfex's report.  A start/read pair with nothing between counts
 * 0, but for what the dynamic linker does at the first call.  A user's PERFEX_PERF_TABLE means the kernel's events
 * there, too.  Under valgrind without perfex nothing is counted: ENODEV.
 *
 * Environment, read at each call; a variable that is empty is not set:
 *
 *	T5_EVENT0, T5_EVENT1
 *		events in place of e0 and e1, in every function that takes events: numbers, or
 *		names as perfex --list has them
 *	PERFEX_CPU
 *		r10000 (default), r10000-3 or r12000: whose events
 *	PERFEX_PERF_TABLE
 *		file in place of the map of events to perf events, in the form of
 *		perfex --perf-table
 *	PERFEX_COSTS
 *		file in place of /etc/perfex.costs
 *	PERFEX_CLOCK
 *		clock speed in MHz for print_costs(); default 196, or 300 of r12000
 *
 * Functions return 0, or -1 with errno.  Common to those that take events:
 *
 *	EINVAL
 *		conflicting counters: both events are counted on the same counter; an event is
 *		not a number from 0 to 31; T5_EVENT0 or T5_EVENT1 is no event; PERFEX_CPU or
 *		PERFEX_CLOCK has no such value; a line of PERFEX_PERF_TABLE or of a cost file is wrong
 *	EFAULT
 *		a pointer is NULL
 *	ENOMEM
 *		no memory, or no file descriptor left
 *	EAGAIN
 *		the process makes threads faster than their counters can be opened: start the
 *		counters before the threads, or try again
 *	EFBIG
 *		a file is larger than 1 MiB; or an errno value of open(2), read(2)
 *
 * There is one pair of counters and one cost table in a process.  A mutex guards them: any
 * thread may call any function.  Signal handlers may not.  In a set-uid program no variable is set.
 * A function is no cancellation point: a thread is cancelled before or after it.
 */
#ifndef _PERFEX_H_
#define _PERFEX_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Set two counters to 0 and start them.
 *
 * Counters that run already are started anew; if the call fails, they run on.
 *
 * :param e0: an event, 0 to 31
 * :param e1: an event of the other counter
 * :return: 0, or -1 with errno: EINVAL (conflicting counters and others), ENODEV (an event
 *     cannot be counted on this machine, or by the simulation; valgrind runs the program without
 *     perfex; or the process has several threads and no /proc lists them), EACCES (perf_event_paranoid forbids it), EAGAIN, ENOMEM
 *
 * Source: libperfex(3C).
 */
extern int start_counters(int e0, int e1);

/**
 * Stop the counters and read them; adding up is the program's affair.
 *
 * :param e0: an event, as given to start_counters()
 * :param c0: where its count is stored
 * :param e1: the other event
 * :param c1: where its count is stored
 * :return: 0, or -1 with errno: EFAULT, EINVAL (others were started), ENXIO (none are
 *     started), EBADF (the program has closed a counter's descriptor), EBUSY (others had the
 *     counter of the PMU all the time; under perfex -s, counting was off)
 *
 * Source: libperfex(3C).
 */
extern int read_counters(int e0, long long *c0, int e1, long long *c1);

/**
 * Print counts to stderr, as perfex(1) does; no state changes.
 *
 * The count of an event that cannot be counted on this machine is printed as not available.
 *
 * :param e0: an event, 0 to 31
 * :param c0: its count
 * :param e1: an event of the other counter
 * :param c1: its count
 * :return: 0, or -1 with errno: EINVAL, ENOMEM, or that of write(2)
 *
 * Source: libperfex(3C).
 */
extern int print_counters(int e0, long long c0, int e1, long long c1);

/**
 * Print counts with typical, minimum and maximum seconds to stderr, the most costly event
 * first, as perfex -y does; no state changes.
 *
 * :param e0: an event, 0 to 31
 * :param c0: its count
 * :param e1: an event of the other counter
 * :param c1: its count
 * :return: 0, or -1 with errno: as print_counters(); or /etc/perfex.costs cannot be read
 *
 * Source: libperfex(3C); perfex(1), -y.
 */
extern int print_costs(int e0, long long c0, int e1, long long c1);

/**
 * Take costs from a file in the format that perfex -t prints.
 *
 * They come before those of /etc/perfex.costs and the built-in ones.  The costs of a second
 * file come before those of the first.  If the call fails, nothing is loaded.
 *
 * :param CostFileName: the file
 * :return: 0, or -1 with errno: EFAULT, EINVAL (a line is wrong; perfex -t -y -c FILE says
 *     which), EFBIG, ENOMEM, or that of open(2) or read(2)
 *
 * Source: libperfex(3C); perfex(1), -c and -t.
 */
extern int load_costs(char *CostFileName);

/*
 * Fortran: INTEGER*4 functions of the same names; events are INTEGER, counts INTEGER*8.
 */

/**
 * As start_counters().
 *
 * :param e0: an event
 * :param e1: an event of the other counter
 * :return: 0, or -1 with errno as start_counters(), or EFAULT
 */
extern int start_counters_(const int *e0, const int *e1);

/**
 * As read_counters().
 *
 * :param e0: an event
 * :param c0: where its count is stored
 * :param e1: the other event
 * :param c1: where its count is stored
 * :return: 0, or -1 with errno as read_counters()
 */
extern int read_counters_(const int *e0, long long *c0, const int *e1, long long *c1);

/**
 * As print_counters().
 *
 * :param e0: an event
 * :param c0: its count
 * :param e1: an event of the other counter
 * :param c1: its count
 * :return: 0, or -1 with errno as print_counters(), or EFAULT
 */
extern int print_counters_(const int *e0, const long long *c0, const int *e1, const long long *c1);

/**
 * As print_costs().
 *
 * :param e0: an event
 * :param c0: its count
 * :param e1: an event of the other counter
 * :param c1: its count
 * :return: 0, or -1 with errno as print_costs(), or EFAULT
 */
extern int print_costs_(const int *e0, const long long *c0, const int *e1, const long long *c1);

/**
 * As load_costs().
 *
 * :param CostFileName: CHARACTER*(n), the file; blanks at its end, and all after a char(0), are no part of it
 * :param length: n, which the compiler passes (gfortran 8 and later: a size_t)
 * :return: 0, or -1 with errno as load_costs(), or ENAMETOOLONG
 */
extern int load_costs_(const char *CostFileName, size_t length);

#ifdef __cplusplus
}
#endif

#endif /* _PERFEX_H_ */
