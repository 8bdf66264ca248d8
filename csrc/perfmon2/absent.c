/*
 * perfmon2 where there is no Linux: each call is ENOSYS, as on a kernel that has none.
 */
#include <errno.h>

#include "engine.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
// NOLINTBEGIN(misc-unused-parameters)

#define FAILS(error, name, ...) \
	int name(__VA_ARGS__) \
	{ \
		errno = error; \
		return -1; \
	}
#define ABSENT(name, ...) FAILS(ENOSYS, name, __VA_ARGS__)

ABSENT(pfm_create_context, pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size)
ABSENT(pfm_create_context_v2old, pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size)
ABSENT(pfm_load_context, int fd, pfarg_load_t *load_arg)
ABSENT(pfm_unload_context, int fd)
ABSENT(pfm_start, int fd, pfarg_start_t *start)
ABSENT(pfm_stop, int fd)
ABSENT(pfm_restart, int fd)
ABSENT(pfm_write_pmcs, int fd, pfarg_pmc_t *pmcs, int count)
ABSENT(pfm_write_pmds, int fd, pfarg_pmd_t *pmds, int count)
ABSENT(pfm_read_pmds, int fd, pfarg_pmd_t *pmds, int count)
ABSENT(pfm_create_evtsets, int fd, pfarg_setdesc_t *setd, int count)
ABSENT(pfm_delete_evtsets, int fd, pfarg_setdesc_t *setd, int count)
ABSENT(pfm_getinfo_evtsets, int fd, pfarg_setinfo_t *info, int count)
ABSENT(pfm_getinfo_evtsets_v2old, int fd, void *info, int count)

ABSENT(pfm_create, int flags, pfarg_sinfo_t *sif, ...)
ABSENT(pfm_attach, int fd, int flags, int target)
ABSENT(pfm_set_state, int fd, int flags, int state)
ABSENT(pfm_write, int fd, int flags, int type, void *pms, size_t sz)
ABSENT(pfm_read, int fd, int flags, int type, void *pmds, size_t sz)
ABSENT(pfm_create_sets, int fd, int flags, pfarg_set_desc_t *s, size_t sz)
ABSENT(pfm_getinfo_sets, int fd, int flags, pfarg_set_info_t *info, size_t sz)

ABSENT(perfmonctl, int fd, int cmd, void *arg, int narg)

/* There is no model to tell of events. */
FAILS(ENXIO, pfm_model_advance, unsigned int event, unsigned int plm, uint64_t count)
FAILS(ENXIO, pfm_model_advance_code, unsigned int es, unsigned int umask, unsigned int plm, uint64_t count)
FAILS(ENXIO, pfm_model_advance_task, pid_t tid, unsigned int event, unsigned int plm, uint64_t count)
FAILS(ENXIO, pfm_model_time, uint64_t ns)
FAILS(ENXIO, pfm_model_time_task, pid_t tid, uint64_t ns)
FAILS(ENXIO, pfm_model_set_ip, uint64_t ip)
FAILS(ENXIO, pfm_model_set_pmd, unsigned int pmd, uint64_t value)

/* No descriptor belongs to a context: mmap() is the system's. */
int
sample_buffer_of(int fd, size_t len, int prot, int flags)
{
	return -1;
}
// NOLINTEND(misc-unused-parameters)
