/*
 * libpmc: counters by event name.  Manual page: pmc(3) of NetBSD, called libpmc(3) here.
 */
#ifndef _PMC_H_
#define _PMC_H_

#include <sys/pmc.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An event of the machine. */
struct pmc_event {
	const char *name; /* NULL ends a list */
	pmc_evid_t val;   /* its identifier */
};

/**
 * Configure a counter for an event given by name.
 *
 * :param ctr: counter
 * :param evname: name of the event, in lower case as listed
 * :param reset_val: ticks between two overflows; 0: the width of the counter
 * :param flags: not used
 * :return: 0, or -1 with errno: ESRCH (no such event), or as PMC_OP_CONFIGURE
 *
 * Source: libpmc(3).
 */
extern int pmc_configure_counter(int ctr, const char *evname, pmc_ctr_t reset_val, uint32_t flags);

/**
 * Start a configured counter.
 *
 * :param ctr: counter
 * :return: 0, or -1 with errno as PMC_OP_START
 *
 * Source: libpmc(3).
 */
extern int pmc_start_counter(int ctr);

/**
 * Stop a counter.
 *
 * :param ctr: counter
 * :return: 0, or -1 with errno as PMC_OP_STOP
 *
 * Source: libpmc(3).
 */
extern int pmc_stop_counter(int ctr);

/**
 * Ask how many counters the machine has.
 *
 * :return: their number; 0 if there is none or the machine is unknown
 *
 * Source: libpmc(3).
 */
extern int pmc_get_num_counters(void);

/**
 * Ask for the class of the machine.
 *
 * :return: PMC_CLASS_*; 0 if the machine is unknown
 *
 * Source: libpmc(3).
 */
extern int pmc_get_counter_class(void);

/**
 * Ask for the type of a counter.
 *
 * :param ctr: counter
 * :param typep: where PMC_TYPE_* is stored
 * :return: 0, or -1 with errno: ENODEV (ctr below 0), or as PMC_INFO_CPUCTR_TYPE
 *
 * Source: libpmc(3).
 */
extern int pmc_get_counter_type(int ctr, int *typep);

/**
 * Read a counter.
 *
 * :param ctr: counter
 * :param valp: where the number of events since CONFIGURE is stored
 * :return: 0, or -1 with errno as PMC_INFO_COUNTER_VALUE
 *
 * Source: libpmc(3).
 */
extern int pmc_get_counter_value(int ctr, uint64_t *valp);

/**
 * Read what ended child processes have counted.
 *
 * :param ctr: counter
 * :param valp: where the number of events is stored
 * :return: 0, or -1 with errno as PMC_INFO_ACCUMULATED_COUNTER_VALUE
 *
 * Source: libpmc(3).
 */
extern int pmc_get_accumulated_counter_value(int ctr, uint64_t *valp);

/**
 * Name a class (or a type) of the machine.
 *
 * :param classval: PMC_CLASS_* or PMC_TYPE_*
 * :return: the name, or NULL with errno ESRCH
 *
 * Source: libpmc(3).
 */
extern const char *pmc_get_counter_class_name(int classval);

/**
 * Name a type of counter (or a class) of the machine.
 *
 * :param type: PMC_TYPE_* or PMC_CLASS_*
 * :return: the name, or NULL with errno ESRCH
 *
 * Source: libpmc(3).
 */
extern const char *pmc_get_counter_type_name(int type);

/**
 * Name an event of the machine.
 *
 * :param event: its identifier
 * :return: the first name with that identifier, or NULL with errno ESRCH
 *
 * Source: libpmc(3).
 */
extern const char *pmc_get_counter_event_name(pmc_evid_t event);

/**
 * List the events of the machine.
 *
 * :return: an array that ends with name NULL, or NULL with errno ESRCH
 *
 * Source: libpmc(3).
 */
extern const struct pmc_event *pmc_get_counter_event_list(void);

#ifdef __cplusplus
}
#endif

#endif /* _PMC_H_ */
