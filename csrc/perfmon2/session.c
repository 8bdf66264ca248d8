/*
 * Which threads and CPUs are monitored: per-thread and system-wide contexts exclude each other, and a thread has one at most.
 *
 * The list is in memory that a process shares with its descendants, which is as far as a model's contexts reach.
 */
#include "engine.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_SESSIONS = 1024 };

struct session {
	ino_t	id;		/* of the context's pipe; 0: the place is free */
	pid_t	tid, owner;	/* per-thread; system-wide: 0, and who has loaded it */
	int	cpu;
};

struct sessions {
	struct shared_lock	lock;
	struct session		list[MAX_SESSIONS];
};

static struct sessions *sessions;

/* Before main(): children of the program share it. */
__attribute__((constructor)) static void
make_sessions(void)
{
	void *memory = mmap(NULL, sizeof(*sessions), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return;
	sessions = memory;
	shared_lock_make(&sessions->lock);
}

/* Whose end has not been waited for is as dead as the others. */
static bool
has_ended(pid_t tid)
{
	struct thread_state now;

	return thread_look(tid, &now) == 0 && (now.state == 'Z' || now.state == 'X');
}

/* Entries of the dead are dropped when they are found. */
static bool
is_alive(struct session *s)
{
	if (s->id && kill(s->tid ? s->tid : s->owner, 0) < 0 && errno == ESRCH)
		s->id = 0;
	return s->id != 0;
}

/* Events of perf_event_open(2) share the PMU: of threads and of CPUs, both may be monitored. */
static int
conflict_of(const struct context *c, const struct session *s)
{
	const bool are_both = choice()->backend != &model_backend;

	if (!c->is_system)
		return s->tid == c->tid ? -EEXIST : s->tid == 0 && !are_both ? -EBUSY : 0;
	return (s->tid != 0 && !are_both) || (s->tid == 0 && s->cpu == c->cpu) ? -EBUSY : 0;
}

static int
conflict(const struct context *c, struct session *s)
{
	const int found = is_alive(s) ? conflict_of(c, s) : 0;

	if (!found || !has_ended(s->tid ? s->tid : s->owner))
		return found;
	s->id = 0;
	return 0;
}

/* An entry counts by its number, which comes last: whoever is killed here leaves none that is half written. */
static void
write_session(struct session *s, const struct context *c, ino_t id)
{
	s->tid = c->is_system ? 0 : c->tid;
	s->owner = getpid();
	s->cpu = c->cpu;
	__atomic_store_n(&s->id, id, __ATOMIC_RELEASE);
}

int
session_take(const struct context *c, ino_t id)
{
	struct session *place = NULL;
	int ret = 0;

	if (!sessions)
		return -ENOMEM;
	shared_lock_take(&sessions->lock);
	for (size_t i = 0; i < MAX_SESSIONS; i++) {
		struct session *s = &sessions->list[i];
		const int found = conflict(c, s);

		if (!s->id && !place)
			place = s;
		if (found == -EEXIST || (found && !ret))
			ret = found;
	}
	if (!ret && !place)
		ret = -ENOMEM;
	if (!ret)
		write_session(place, c, id);
	shared_lock_release(&sessions->lock);
	return ret;
}

void
session_drop(ino_t id)
{
	if (!sessions)
		return;
	shared_lock_take(&sessions->lock);
	for (size_t i = 0; i < MAX_SESSIONS; i++)
		if (sessions->list[i].id == id)
			sessions->list[i].id = 0;
	shared_lock_release(&sessions->lock);
}

bool
session_of_thread(pid_t tid)
{
	bool found = false;

	if (!sessions)
		return false;
	shared_lock_take(&sessions->lock);
	for (size_t i = 0; i < MAX_SESSIONS; i++)
		found |= is_alive(&sessions->list[i]) && sessions->list[i].tid == tid;
	shared_lock_release(&sessions->lock);
	return found;
}

bool
session_is_own(ino_t id)
{
	bool found = false;

	if (!sessions)
		return false;
	shared_lock_take(&sessions->lock);
	for (size_t i = 0; i < MAX_SESSIONS; i++)
		found |= sessions->list[i].id == id && sessions->list[i].owner == getpid();
	shared_lock_release(&sessions->lock);
	return found;
}
