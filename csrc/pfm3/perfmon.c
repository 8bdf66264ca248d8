/*
 * perfmon2 calls of a host that has no PMU to offer: they fail with ENOSYS.
 */
#include "public.h"

#include <errno.h>
#include <sys/mman.h>

static int
not_here(int code)
{
	errno = code;
	return -1;
}

int
pfm_create_context(pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size)
{
	(void)ctx;
	(void)smpl_name;
	(void)smpl_arg;
	(void)smpl_size;
	return not_here(ENOSYS);
}

int
pfm_create_context_v2old(pfarg_ctx_t *ctx, char *smpl_name, void *smpl_arg, size_t smpl_size)
{
	(void)ctx;
	(void)smpl_name;
	(void)smpl_arg;
	(void)smpl_size;
	return not_here(ENOSYS);
}

int
pfm_create(int flags, pfarg_sinfo_t *sif, ...)
{
	(void)flags;
	(void)sif;
	return not_here(ENOSYS);
}

int
pfm_write_pmcs(int fd, pfarg_pmc_t *pmcs, int count)
{
	(void)fd;
	(void)pmcs;
	(void)count;
	return not_here(ENOSYS);
}

int
pfm_write_pmds(int fd, pfarg_pmd_t *pmds, int count)
{
	(void)fd;
	(void)pmds;
	(void)count;
	return not_here(ENOSYS);
}

int
pfm_read_pmds(int fd, pfarg_pmd_t *pmds, int count)
{
	(void)fd;
	(void)pmds;
	(void)count;
	return not_here(ENOSYS);
}

int
pfm_load_context(int fd, pfarg_load_t *load)
{
	(void)fd;
	(void)load;
	return not_here(ENOSYS);
}

int
pfm_unload_context(int fd)
{
	(void)fd;
	return not_here(ENOSYS);
}

int
pfm_start(int fd, pfarg_start_t *start)
{
	(void)fd;
	(void)start;
	return not_here(ENOSYS);
}

int
pfm_stop(int fd)
{
	(void)fd;
	return not_here(ENOSYS);
}

int
pfm_restart(int fd)
{
	(void)fd;
	return not_here(ENOSYS);
}

int
pfm_create_evtsets(int fd, pfarg_setdesc_t *setd, int count)
{
	(void)fd;
	(void)setd;
	(void)count;
	return not_here(ENOSYS);
}

int
pfm_delete_evtsets(int fd, pfarg_setdesc_t *setd, int count)
{
	(void)fd;
	(void)setd;
	(void)count;
	return not_here(ENOSYS);
}

int
pfm_getinfo_evtsets(int fd, pfarg_setinfo_t *info, int count)
{
	(void)fd;
	(void)info;
	(void)count;
	return not_here(ENOSYS);
}

int
pfm_getinfo_evtsets_v2old(int fd, void *info, int count)
{
	(void)fd;
	(void)info;
	(void)count;
	return not_here(ENOSYS);
}

int
pfm_write(int fd, int flags, int type, void *pms, size_t sz)
{
	(void)fd;
	(void)flags;
	(void)type;
	(void)pms;
	(void)sz;
	return not_here(ENOSYS);
}

int
pfm_read(int fd, int flags, int type, void *pmds, size_t sz)
{
	(void)fd;
	(void)flags;
	(void)type;
	(void)pmds;
	(void)sz;
	return not_here(ENOSYS);
}

int
pfm_set_state(int fd, int flags, int state)
{
	(void)fd;
	(void)flags;
	(void)state;
	return not_here(ENOSYS);
}

int
pfm_create_sets(int fd, int flags, pfarg_set_desc_t *s, size_t sz)
{
	(void)fd;
	(void)flags;
	(void)s;
	(void)sz;
	return not_here(ENOSYS);
}

int
pfm_getinfo_sets(int fd, int flags, pfarg_set_info_t *info, size_t sz)
{
	(void)fd;
	(void)flags;
	(void)info;
	(void)sz;
	return not_here(ENOSYS);
}

int
pfm_attach(int fd, int flags, int target)
{
	(void)fd;
	(void)flags;
	(void)target;
	return not_here(ENOSYS);
}

int
perfmonctl(int fd, int cmd, void *arg, int narg)
{
	(void)fd;
	(void)cmd;
	(void)arg;
	(void)narg;
	return not_here(ENOSYS);
}

int
pfm_model_advance(unsigned int event, unsigned int plm, uint64_t count)
{
	(void)event;
	(void)plm;
	(void)count;
	return not_here(ENXIO);
}

int
pfm_model_advance_code(unsigned int es, unsigned int umask, unsigned int plm, uint64_t count)
{
	(void)es;
	(void)umask;
	(void)plm;
	(void)count;
	return not_here(ENXIO);
}

int
pfm_model_advance_task(pid_t tid, unsigned int event, unsigned int plm, uint64_t count)
{
	(void)tid;
	(void)event;
	(void)plm;
	(void)count;
	return not_here(ENXIO);
}

int
pfm_model_time(uint64_t ns)
{
	(void)ns;
	return not_here(ENXIO);
}

int
pfm_model_time_task(pid_t tid, uint64_t ns)
{
	(void)tid;
	(void)ns;
	return not_here(ENXIO);
}

int
pfm_model_set_ip(uint64_t ip)
{
	(void)ip;
	return not_here(ENXIO);
}

int
pfm_model_set_pmd(unsigned int pmd, uint64_t value)
{
	(void)pmd;
	(void)value;
	return not_here(ENXIO);
}

void *
pfm_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return mmap(addr, len, prot, flags, fd, offset);
}

void *
pfm_mmap64(void *addr, size_t len, int prot, int flags, int fd, int64_t offset)
{
	return mmap(addr, len, prot, flags, fd, offset);
}
