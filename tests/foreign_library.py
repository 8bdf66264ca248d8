"""Libraries with the functions of libpfm 4 for tests: what an older, a newer, a damaged one does."""

from __future__ import annotations

from pathlib import Path

import pytest

from native import CC, PFM4, build

DEBIAN = Path("/usr/lib/x86_64-linux-gnu/libpfm.so.4")

_SOURCE = r"""
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib_perf_event.h>

#ifndef PMU_NAME
#define PMU_NAME "toy"
#endif
#ifndef EVENT_NAME
#define EVENT_NAME "CYCLES"
#endif
#ifndef PMU_ID
#define PMU_ID 3
#endif
#ifndef ATTRIBUTES
#define ATTRIBUTES 2
#endif
#ifndef MOST
#define MOST PFM_PMU_MAX
#endif

static int is_initialized;

int pfm_initialize(void)
{
	is_initialized = getenv("LIBPFM_ENCODE_INACTIVE") && !getenv("LIBPFM_FORCE_PMU") ? 1 : 2;
#ifdef FAILS
	return PFM_ERR_NOTSUPP;
#else
	return PFM_SUCCESS;
#endif
}

void pfm_terminate(void) { is_initialized = 0; }
int pfm_get_version(void) { return LIBPFM_VERSION; }
const char *pfm_strerror(int code) { (void)code; return "strange"; }

/* Structures of an older version end earlier, and it takes no longer ones. */
static int refused(size_t size, size_t known)
{
#ifdef OLDER
	return size && size != known - 8;
#else
	return size && size < known - 8;
#endif
}

int pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
	if ((int)pmu < 0 || (int)pmu >= MOST || refused(info->size, sizeof *info))
		return PFM_ERR_INVAL;
	if (pmu != PMU_ID)
		return PFM_ERR_NOTSUPP;
	info->name = PMU_NAME;
	info->desc = is_initialized == 1 ? "a toy" : "a toy with another environment";
	info->nevents = 1;
	info->num_cntrs = 2;
	info->first_event = 7;
	return PFM_SUCCESS;
}

int pfm_get_event_next(int idx)
{
#ifdef ENDLESS
	return idx;
#else
	return idx == 7 ? 8 : -1;
#endif
}

int pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *info)
{
	(void)os;
	if ((idx != 7 && idx != 8) || refused(info->size, sizeof *info))
		return PFM_ERR_INVAL;
	info->name = idx == 7 ? EVENT_NAME : "OTHER";
	info->nattrs = idx == 7 ? ATTRIBUTES : 0;
	info->idx = idx;
	return PFM_SUCCESS;
}

int pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t *info)
{
	(void)os;
	if (eidx != 7 || aidx < 0 || aidx > 1 || refused(info->size, sizeof *info))
		return PFM_ERR_INVAL;
	info->name = aidx ? "c" : "ALL";
	info->type = aidx ? PFM_ATTR_MOD_INTEGER : PFM_ATTR_UMASK;
	return PFM_SUCCESS;
}

int pfm_find_event(const char *s) { (void)s; return 7; }

/* PMU::EVENT is its length, c=N N << 32. */
int pfm_get_os_event_encoding(const char *s, int plm, pfm_os_t os, void *args)
{
	pfm_pmu_encode_arg_t *arg = args;
	const char *event = strstr(s, "::") ? strstr(s, "::") + 2 : s;
	const char *c = strstr(event, ":c=");
	unsigned long long code = strcspn(event, ":");

	(void)plm;
	if (os != PFM_OS_NONE)
		return PFM_ERR_NOTSUPP;
	if (refused(arg->size, sizeof *arg))
		return PFM_ERR_INVAL;
	if (strncmp(event, EVENT_NAME, strlen(EVENT_NAME)) && strncmp(event, "OTHER", 5))
		return PFM_ERR_NOTFOUND;
	if (c && atoi(c + 3) > 15)
		return PFM_ERR_ATTR_VAL;
	arg->codes = calloc(1, sizeof *arg->codes);
	arg->codes[0] = code | (c ? strtoull(c + 3, 0, 0) << 32 : 0);
	arg->count = 1;
	arg->idx = *event == 'O' ? 8 : 7;
	*arg->fstr = strdup(s);
	return PFM_SUCCESS;
}

#ifndef LACKS
int pfm_get_event_encoding(const char *s, int plm, char **f, int *i, uint64_t **codes, int *n)
{
	(void)s; (void)plm; (void)f; (void)i; (void)codes; (void)n;
	return PFM_ERR_NOTSUPP;
}
#endif
"""


def library(directory: Path, *defines: str, name: str = "libpfm.so.4") -> Path:
    """A library of two events, with macros that say what is strange about it."""
    directory.mkdir(exist_ok=True)
    out = directory / name
    build(CC, *PFM4.cflags, "-fPIC", "-shared", "-Wl,-soname,libpfm.so.4", *(f"-D{d}" for d in defines), "-xc", "-",
          "-o", out, source=_SOURCE)
    return out


def debian() -> Path:
    """Debian's libpfm 4; where there is none, the test is skipped."""
    if not DEBIAN.exists():
        pytest.skip(f"no {DEBIAN} (Debian: libpfm4)")
    return DEBIAN
