/*
 * Calls of libpfm 4 as programs make them that load it with dlopen() and declare its structures by hand.
 *
 * The first argument is the library.  Everything that is printed is to be the same on any libpfm 4 that has the PMUs
 * glm and perf: no address, no description, no number of PMUs or of perf's events, which the machine adds to.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OS_NONE, OS_PERF, OS_PERF_EXT, PLM0 = 1, PLM3 = 8 };

/* pfm_pmu_info_t, the flags as one word */
struct info {
	const char *name, *desc;
	size_t size;
	int pmu, type, nevents, first_event, max_encoding, num_cntrs, num_fixed_cntrs;
	unsigned int flags;
};

/* pfm_perf_encode_arg_t: 40 bytes */
struct encode {
	void *attr;
	char **fstr;
	size_t size;
	int idx, cpu, flags, pad0;
};

/* pfm_pmu_encode_arg_t: 32 bytes */
struct raw {
	uint64_t *codes;
	char **fstr;
	size_t size;
	int count, idx;
};

_Static_assert(sizeof(struct info) == 56 && sizeof(struct encode) == 40 && sizeof(struct raw) == 32, "LP64");

static const char *const names[15] = {
	"pfm_initialize",         "pfm_terminate",       "pfm_get_version",           "pfm_strerror",
	"pfm_find_event",         "pfm_get_event_next",  "pfm_get_event_info",        "pfm_get_event_attr_info",
	"pfm_get_pmu_info",       "pfm_pmu_validate",    "pfm_get_os_event_encoding", "pfm_get_perf_event_encoding",
	"pfm_get_event_encoding", "pfm_dispatch_events", "pfm_get_num_events", /* libpfm 3: which of the two is it? */
};
static void *functions[15];

#define CALL(result, n, ...) ((result (*)(__VA_ARGS__))functions[n])

static const char *const events[] = {
	"glm::CPU_CLK_UNHALTED:CORE_P:u",
	"glm::ICACHE:HIT:c=3:i",
	"glm::OFFCORE_RESPONSE_0:ANY_RFO:L2_HIT",
	"glm::BACLEARS",
	"glm::OFFCORE_RESPONSE_1:ANY_REQUEST",
	"PERF_COUNT_HW_CPU_CYCLES:k",
	"perf::PERF_COUNT_SW_PAGE_FAULTS:u",
	"perf::L1-DCACHE-LOADS",
	"glm::NO_SUCH_EVENT",
	"glm::ICACHE:HIT:c=256",
	"glm::BACLEARS:period=5:precise=2",
	"",
	"::",
};

/* A buffer that ends where memory does, with a pattern in it. */
static unsigned char *
at_the_end(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE))
		exit(3);
	memset(pages, 0xa5, page);
	memset(pages + page - size, 0, size);
	return pages + page - size;
}

static void
print_bytes(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		printf("%s%02x", i % 8 ? "" : " ", bytes[i]);
}

/* Sizes that are 0, as the structure's first users left them; more PMUs than there are. */
static void
print_pmus(int client_max)
{
	for (int i = -1; i < client_max; i++) {
		struct info *info = (struct info *)at_the_end(sizeof(*info));
		int ret = CALL(int, 8, int, void *)(i, info);
		int known = ret == 0 && (strcmp(info->name, "glm") == 0 || strcmp(info->name, "perf") == 0);

		if (i < 0 || i >= 517)
			printf("pmu %d: %d\n", i, ret);
		else if (known)
			printf("pmu %d: %s size %zu number %d type %d first %d %d encoding %d counters %d %d flags "
			       "%x\n",
			       i, info->name, info->size, info->pmu, info->type, info->first_event >> 21,
			       info->first_event & 0x1fffff, info->max_encoding, info->num_cntrs, info->num_fixed_cntrs,
			       info->flags & 3); /* the other bits are not set */
	}
}

/* What was in *fstr is the program's own, and stays. */
static void
print_raw(const char *event)
{
	char own[16] = "mine", *fstr = own;
	struct raw *arg = (struct raw *)at_the_end(sizeof(*arg));
	int ret;

	arg->fstr = &fstr;
	ret = CALL(int, 10, const char *, int, int, void *)(event, PLM3, OS_NONE, arg);
	printf("raw %s: %d count %d size %zu idx %d fstr %s own %s", event, ret, arg->count, arg->size, arg->idx,
	       fstr == own ? "not written"
	       : fstr      ? fstr
			   : "NULL",
	       own);
	for (int i = 0; i < arg->count; i++)
		printf(" %llx", (unsigned long long)arg->codes[i]);
	printf("\n");
	if (fstr != own)
		free(fstr);
	free(arg->codes);
}

/* An attr of a program that knows another version of it; only what it has room for is written. */
static void
print_attr(const char *event, int os, uint32_t size)
{
	size_t room = size ? size : 64;
	unsigned char *attr = at_the_end(room);
	char own[16] = "mine", *fstr = own;
	struct encode arg = { .attr = attr, .fstr = &fstr, .size = sizeof(arg), .cpu = 77, .flags = 78, .pad0 = 79 };
	int ret;

	memcpy(attr + 4, &size, sizeof(size));
	ret = CALL(int, 10, const char *, int, int, void *)(event, PLM0 | PLM3, os, &arg);
	printf("attr of %u, os %d, %s: %d idx %d cpu %d %d %d fstr %s own %s", size, os, event, ret, arg.idx, arg.cpu,
	       arg.flags, arg.pad0,
	       fstr == own ? "not written"
	       : fstr      ? fstr
			   : "NULL",
	       own);
	print_bytes(attr, room);
	printf(" before");
	print_bytes(attr - 8, 8);
	printf("\n");
	if (fstr != own)
		free(fstr);
}

/* The calls of the first version; codes are allocated, or the program's. */
static void
print_old(const char *event)
{
	uint64_t mine[4] = { 0 }, *codes = NULL;
	unsigned char *attr = at_the_end(128);
	int count = 0, idx = -1, ret;
	uint32_t size = 128;

	ret = CALL(int, 12, const char *, int, char **, int *, uint64_t **, int *)(event, PLM3, NULL, &idx, &codes,
										   &count);
	printf("old %s: %d count %d idx %d", event, ret, count, idx);
	print_bytes((unsigned char *)codes, sizeof(*codes) * (size_t)count);
	free(codes);
	codes = mine;
	count = 4;
	ret = CALL(int, 12, const char *, int, char **, int *, uint64_t **, int *)(event, PLM3, NULL, NULL, &codes,
										   &count);
	printf(" and %d count %d %s", ret, count, codes == mine ? "mine" : "another");
	print_bytes((unsigned char *)mine, sizeof(mine));
	memcpy(attr + 4, &size, sizeof(size));
	ret = CALL(int, 11, const char *, int, void *, char **, int *)(event, PLM3, attr, NULL, NULL);
	printf(" and %d", ret);
	print_bytes(attr, 128);
	printf("\n");
}

int
main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 192 };
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!library)
		return 2;
	for (int i = 0; i < 15; i++) {
		functions[i] = dlsym(library, names[i]);
		printf("%s: %s\n", names[i], functions[i] ? "there" : "not there");
	}
	printf("before: %d\n", CALL(int, 4, const char *)("glm::BACLEARS"));
	printf("initialize: %d version %x\n", CALL(int, 0, void)(), (unsigned int)CALL(int, 2, void)());
	print_pmus(300);
	print_pmus(600);
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		print_raw(events[i]);
		print_old(events[i]);
		for (size_t j = 0; j < sizeof(sizes) / sizeof(*sizes); j++)
			for (int os = OS_PERF; os <= OS_PERF_EXT; os++)
				print_attr(events[i], os, sizes[j]);
	}
	CALL(void, 1, void)();
	printf("after: %d\n", CALL(int, 4, const char *)("glm::BACLEARS"));
	return dlclose(library);
}
