/*
 * SIGPROF from counters: while any profiles, the interval timer is off, so that
 * profil(3) and a handler of the program's own see overflows only.
 */
#include "machine.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static struct {
	int counters;           /* that profile, of all states */
	struct itimerval timer; /* as it was before the first */
	bool ignored;           /* by us: the default action would end the process */
} profile;

int
pmc_profile_begin(void)
{
	static const struct itimerval off;
	struct sigaction action;

	if (profile.counters) {
		profile.counters++;
		return 0;
	}
	if (setitimer(ITIMER_PROF, &off, &profile.timer) < 0)
		return -ENODEV; /* it cannot profile: the only error that the manual has for this */
	profile.counters = 1;
	if (sigaction(SIGPROF, NULL, &action) == 0 && action.sa_handler == SIG_DFL) {
		action.sa_handler = SIG_IGN;
		profile.ignored = sigaction(SIGPROF, &action, NULL) == 0;
	}
	return 0;
}

/* Restore the timer, unless the program has set it since. */
static void
restart_timer(void)
{
	struct itimerval timer;

	if (getitimer(ITIMER_PROF, &timer) == 0 && !timerisset(&timer.it_value))
		setitimer(ITIMER_PROF, &profile.timer, NULL);
}

void
pmc_profile_end(void)
{
	struct sigaction action;
	bool listening;

	if (--profile.counters)
		return;
	listening = sigaction(SIGPROF, NULL, &action) == 0 && action.sa_handler != SIG_DFL;
	if (listening && profile.ignored && action.sa_handler == SIG_IGN) {
		action.sa_handler = SIG_DFL;
		sigaction(SIGPROF, &action, NULL);
	}
	profile.ignored = false;
	if (listening) /* else the program has ended its own profiling: profil(NULL, ...) */
		restart_timer();
}

void
pmc_profile_forget(void)
{
	/* Interval timers are not inherited; the disposition of the signal is. */
	memset(&profile.timer, 0, sizeof(profile.timer));
	if (profile.counters) {
		profile.counters = 1;
		pmc_profile_end();
	}
}
