/*
 * NetBSD: the machine that PMC_MACHINE names: its counters and events.
 */
#include <err.h>
#include <pmc.h>
#include <stdio.h>

int
main(void)
{
	const struct pmc_event *event;
	int ctr, type, n = pmc_get_num_counters();

	if (n == 0)
		errx(1, "no such machine");
	printf("%s: %d counters\n", pmc_get_counter_class_name(pmc_get_counter_class()), n);
	for (ctr = 0; ctr < n; ctr++) {
		if (pmc_get_counter_type(ctr, &type) < 0)
			err(1, "type");
		printf("%d: %s\n", ctr, pmc_get_counter_type_name(type));
	}
	for (event = pmc_get_counter_event_list(); event->name; event++)
		printf("0x%x %s\n", (unsigned int)event->val, event->name);
	return 0;
}
