/*
 * The layout of the public structure, held at compile time: NetBSD/amd64's.  Other processors align otherwise.
 */
#ifndef LAYOUT_PMC_H
#define LAYOUT_PMC_H

#include <assert.h>
#include <stddef.h>

#ifdef __LP64__
static_assert(sizeof(struct pmc_counter_cfg) == 24, "size");
static_assert(offsetof(struct pmc_counter_cfg, reset_value) == 8, "reset_value");
static_assert(offsetof(struct pmc_counter_cfg, flags) == 16, "flags");
static_assert(sizeof(struct pmc_event) == 16 && offsetof(struct pmc_event, val) == 8, "pmc_event");
#endif
static_assert(offsetof(struct pmc_counter_cfg, event_id) == 0, "event_id");
static_assert(sizeof(pmc_evid_t) == 4 && (pmc_evid_t)-1 < 0, "pmc_evid_t");
static_assert(sizeof(pmc_ctr_t) == 8 && (pmc_ctr_t)-1 > 0, "pmc_ctr_t");

#endif /* LAYOUT_PMC_H */
