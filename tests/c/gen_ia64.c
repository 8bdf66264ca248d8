/*
 * The generic IA-64 PMU: how it is detected, the file that says what the processor
 * has, and the quirks of the reference.
 */
#include "check_pfm3.h"

#include <perfmon/pfmlib_gen_ia64.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER "0x21000000" /* CPUID register 3 of a processor that has no PMU of its own here */

static pfmlib_input_param_t inp;
static pfmlib_output_param_t outp;
static char directory[] = "/tmp/pypfm-XXXXXX";
static char path[64];

/* What the kernel of a machine with an Itanium 2 wrote. */
static const char *const itanium2_lines[] = {
	"PMC/PMD pairs                 : 4\n",     "Counter width                 : 47 bits\n",
	"Cycle event number            : 18\n",    "Retired event number          : 8\n",
	"Implemented PMC               : 0-15 \n", "Implemented PMD               : 0-17 \n",
	"Cycles count capable          : 4-7 \n",  "Retired bundles count capable : 4-7 \n",
};
enum { PAIRS, WIDTH, CYCLE, RETIRED, PMCS, PMDS, CYCLES_CAPABLE, RETIRED_CAPABLE, NUM_LINES };

/* pfm_initialize() with a file of these bytes, on a processor that only the generic PMU fits. */
static pfm_err_t
initialize_from(const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fwrite(bytes, 1, size, file) == size);
	if (file)
		fclose(file);
	setenv("LIBPFM_IA64_PAL", path, 1);
	return pfm_initialize();
}

/* The same with one line in the place of another; "" leaves it out. */
static pfm_err_t
with_line(int number, const char *line)
{
	char text[4096] = "";

	for (int i = 0; i < NUM_LINES; i++)
		strcat(text, i == number ? line : itanium2_lines[i]);
	return initialize_from(text, strlen(text));
}

static pfm_err_t
with_all_lines(void)
{
	return with_line(-1, "");
}

static unsigned int
number_of(pfm_err_t (*getter)(unsigned int *))
{
	unsigned int number = 0x5a5a5a5a;

	CHECK_EQ(getter(&number), PFMLIB_SUCCESS);
	return number;
}

static unsigned long
word_of(pfm_err_t (*getter)(pfmlib_regmask_t *), unsigned int word)
{
	pfmlib_regmask_t mask;

	memset(&mask, 0x5a, sizeof(mask));
	CHECK_EQ(getter(&mask), PFMLIB_SUCCESS);
	return mask.bits[word];
}

static int
code_of(unsigned int event)
{
	int code = -7;

	CHECK_EQ(pfm_get_event_code(event, &code), PFMLIB_SUCCESS);
	return code;
}

/* Of an event, the counters that the query answers. */
static unsigned long
counters_of(unsigned int event)
{
	pfmlib_regmask_t mask;

	memset(&mask, 0x5a, sizeof(mask));
	CHECK_EQ(pfm_get_event_counters(event, &mask), PFMLIB_SUCCESS);
	return mask.bits[0];
}

static int
current(void)
{
	int type = PFMLIB_NO_PMU;

	CHECK_EQ(pfm_get_pmu_type(&type), PFMLIB_SUCCESS);
	return type;
}

static void
request(unsigned int count, const unsigned int *events)
{
	memset(&inp, 0, sizeof(inp));
	inp.pfp_dfl_plm = PFM_PLM0 | PFM_PLM3;
	inp.pfp_event_count = count;
	for (unsigned int i = 0; i < count; i++)
		inp.pfp_events[i].event = events[i];
}

static pfm_err_t
dispatch(void)
{
	return pfm_dispatch_events(&inp, NULL, &outp, NULL);
}

static const unsigned int both[] = { 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 };

/* ---- before initialisation ---- */

/* pfm_force_pmu() does not fill the tables (G1). */
static void
empty_tables(void)
{
	CHECK_EQ(pfm_force_pmu(PFMLIB_GEN_IA64_PMU), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_num_pmcs), PMU_GEN_IA64_NUM_PMCS);
	CHECK_EQ(number_of(pfm_get_num_pmds), PMU_GEN_IA64_NUM_PMDS);
	CHECK_EQ(number_of(pfm_get_num_counters), PMU_GEN_IA64_NUM_COUNTERS);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 0);
	CHECK_EQ(word_of(pfm_get_impl_pmcs, 0), 0);
	CHECK_EQ(word_of(pfm_get_impl_pmds, 0), 0);
	CHECK_EQ(word_of(pfm_get_impl_counters, 0), 0xf0);
	CHECK_EQ(code_of(0), 0);
	CHECK_EQ(code_of(1), 0);
	CHECK_EQ(counters_of(0), 0);
	request(1, both);
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
	request(0, both);
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
}

/* ---- forced ---- */

static void
events(void)
{
	static const char *const names[] = { "CPU_CYCLES", "IA64_INST_RETIRED" };
	pfmlib_event_t event;
	unsigned int number;
	char *text = NULL;
	int code = -7;

	CHECK_EQ(number_of(pfm_get_num_events), 2);
	for (unsigned int i = 0; i < 2; i++) {
		CHECK_EQ(pfm_find_event(names[i], &number), PFMLIB_SUCCESS);
		CHECK_EQ(number, i);
		CHECK_EQ(pfm_get_event_description(i, &text), PFMLIB_SUCCESS);
		CHECK(strlen(text) > 10);
		free(text);
		CHECK_EQ(pfm_get_num_event_masks(i, &number), PFMLIB_SUCCESS);
		CHECK_EQ(number, 0);
	}
	CHECK_EQ(pfm_find_event("DATA_REFERENCES", &number), PFMLIB_ERR_NOTFOUND);
	CHECK_EQ(pfm_find_event("18", &number), PFMLIB_SUCCESS);
	CHECK_EQ(number, 0);
	CHECK_EQ(pfm_get_cycle_event(&event), PFMLIB_SUCCESS);
	CHECK_EQ(event.event, 0);
	CHECK_EQ(pfm_get_inst_retired_event(&event), PFMLIB_SUCCESS);
	CHECK_EQ(event.event, 1);
	CHECK_EQ(pfm_get_event_code_counter(1, 7, &code), PFMLIB_SUCCESS);
	CHECK_EQ(code, 8);
	CHECK_EQ(pfm_get_event_code_counter(1, 3, &code), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code_counter(1, 8, &code), PFMLIB_ERR_INVAL);
	CHECK_EQ(pfm_get_event_code(2, &code), PFMLIB_ERR_INVAL);
}

static void
forced(void)
{
	setenv("LIBPFM_FORCE_PMU", "1", 1);
	setenv("LIBPFM_IA64_PAL", "/nonexistent", 1); /* is not read */
	CHECK_EQ(pfm_initialize(), PFMLIB_SUCCESS);
	CHECK_EQ(current(), PFMLIB_GEN_IA64_PMU);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 47);
	CHECK_EQ(word_of(pfm_get_impl_pmcs, 0), 0xff);
	CHECK_EQ(word_of(pfm_get_impl_pmds, 0), 0xf0);
	CHECK_EQ(number_of(pfm_get_num_pmcs), 8);
	CHECK_EQ(number_of(pfm_get_num_pmds), 4);
	CHECK_EQ(code_of(0), 18);
	/* The query tests registers 0 to 3 only, and so misses all counters (G3). */
	CHECK_EQ(counters_of(0), 0);
	CHECK_EQ(counters_of(1), 0);
	events();
	/* From here on the tables are filled for pfm_force_pmu(), too. */
	CHECK_EQ(pfm_force_pmu(PFMLIB_ITANIUM2_PMU), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_force_pmu(PFMLIB_GEN_IA64_PMU), PFMLIB_SUCCESS);
	CHECK_EQ(code_of(0), 18);
}

/* A counter's address is the place of its event, its second address 0 (G4). */
static void
addresses(void)
{
	request(3, both);
	inp.pfp_flags = PFMLIB_PFP_SYSTEMWIDE;
	inp.pfp_unavail_pmcs.bits[0] = 1 << 4;
	inp.pfp_events[2].plm = PFM_PLM1;
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_values(outp.pfp_pmcs, outp.pfp_pmc_count), "5=0x1269 6=0x869 7=0x862");
	CHECK_TEXT(show_numbers(outp.pfp_pmds, outp.pfp_pmd_count), "5 6 7");
	for (unsigned int i = 0; i < 3; i++) {
		CHECK(outp.pfp_pmcs[i].reg_addr == i && outp.pfp_pmcs[i].reg_alt_addr == 0);
		CHECK(outp.pfp_pmds[i].reg_addr == 5 + i && outp.pfp_pmds[i].reg_alt_addr == 0);
	}
	inp.pfp_unavail_pmcs.bits[0] = 3 << 4;
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
	request(5, both);
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
	request(4, both);
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	/* Model arguments are ignored, whatever they point to. */
	CHECK_EQ(pfm_dispatch_events(&inp, NULL, &outp, &inp), PFMLIB_SUCCESS);
	CHECK_EQ(pfm_dispatch_events(&inp, &outp, &outp, NULL), PFMLIB_SUCCESS);
}

/* ---- detected ---- */

static void
detected(void)
{
	setenv("LIBPFM_FORCE_PMU", "-1", 1);
	setenv("LIBPFM_IA64_CPUID3", OTHER, 1);
	CHECK_EQ(with_all_lines(), PFMLIB_SUCCESS);
	CHECK_EQ(current(), PFMLIB_GEN_IA64_PMU);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 47);
	CHECK_EQ(word_of(pfm_get_impl_pmcs, 0), 0xffff);
	CHECK_EQ(word_of(pfm_get_impl_pmds, 0), 0x3ffff);
	CHECK_EQ(number_of(pfm_get_num_pmcs), 16);
	CHECK_EQ(number_of(pfm_get_num_pmds), 18);
	CHECK_EQ(number_of(pfm_get_num_counters), 4);
	CHECK_EQ(code_of(0), 18);
	CHECK_EQ(code_of(1), 8);
	/* Models of their own come first, and read no file. */
	setenv("LIBPFM_IA64_PAL", "/nonexistent", 1);
	setenv("LIBPFM_IA64_CPUID3", "0x07000804", 1);
	CHECK_EQ(pfm_initialize(), PFMLIB_SUCCESS);
	CHECK_EQ(current(), PFMLIB_ITANIUM_PMU);
	/* Without a file there is no generic PMU; the one before stays. */
	setenv("LIBPFM_IA64_CPUID3", OTHER, 1);
	CHECK_EQ(pfm_initialize(), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(current(), PFMLIB_ITANIUM_PMU);
	/* Without a processor there is none either. */
	unsetenv("LIBPFM_IA64_CPUID3");
	CHECK_EQ(with_all_lines(), PFMLIB_ERR_NOTSUPP);
	setenv("LIBPFM_IA64_CPUID3", "none", 1);
	CHECK_EQ(with_all_lines(), PFMLIB_ERR_NOTSUPP);
	setenv("LIBPFM_IA64_CPUID3", OTHER, 1);
}

/* Every key is needed; exactly eight lines have to have one. */
static void
keys(void)
{
	for (int i = 0; i < NUM_LINES; i++) {
		char twice[256];

		CHECK_EQ(with_line(i, ""), PFMLIB_ERR_NOTSUPP);
		CHECK_EQ(with_line(i, "Unknown key: 7\n"), PFMLIB_ERR_NOTSUPP);
		snprintf(twice, sizeof(twice), "%s%s", itanium2_lines[i], itanium2_lines[i]);
		CHECK_EQ(with_line(i, twice), PFMLIB_ERR_NOTSUPP); /* nine */
		snprintf(twice, sizeof(twice), "Unknown key: 7\n%s", itanium2_lines[i]);
		CHECK_EQ(with_line(i, twice), PFMLIB_SUCCESS);
	}
	/* A key that comes twice makes up for one that is missing. */
	CHECK_EQ(with_line(WIDTH, itanium2_lines[PAIRS]), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 0);
	/* The beginning of the line has to be the key, in its letters. */
	CHECK_EQ(with_line(WIDTH, "Counter width of this machine: 40\n"), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 40);
	CHECK_EQ(with_line(WIDTH, " Counter width: 40\n"), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(with_line(WIDTH, "counter width: 40\n"), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(with_line(WIDTH, "Counter widt: 40\n"), PFMLIB_ERR_NOTSUPP);
	/* One character after the colon is skipped. */
	CHECK_EQ(with_line(WIDTH, "Counter width:140\n"), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 40);
	CHECK_EQ(with_line(WIDTH, "Counter width:\n"), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 0);
	CHECK_EQ(with_line(WIDTH, "Counter width: 0x20\n"), PFMLIB_SUCCESS); /* decimal */
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 0);
}

/* The first line without a colon ends it: before, between and after the keys, and the last key itself. */
static void
colons(void)
{
	char line[256];

	snprintf(line, sizeof(line), "perfmon\n%s", itanium2_lines[PAIRS]);
	CHECK_EQ(with_line(PAIRS, line), PFMLIB_ERR_NOTSUPP);
	snprintf(line, sizeof(line), "\n%s", itanium2_lines[RETIRED_CAPABLE]);
	CHECK_EQ(with_line(RETIRED_CAPABLE, line), PFMLIB_ERR_NOTSUPP);
	snprintf(line, sizeof(line), "%sthe end\nCounter width: 1\n", itanium2_lines[RETIRED_CAPABLE]);
	CHECK_EQ(with_line(RETIRED_CAPABLE, line), PFMLIB_SUCCESS); /* no ninth key is seen */
	CHECK_EQ(with_line(RETIRED_CAPABLE, "Retired bundles count capable   4-7 \n"), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(with_line(RETIRED_CAPABLE, "Retired bundles count capable"), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(with_line(RETIRED_CAPABLE, "Retired bundles count capable : 4-7"), PFMLIB_SUCCESS); /* no line feed */
	CHECK_EQ(with_line(RETIRED_CAPABLE, "Retired bundles count capable :"), PFMLIB_SUCCESS);
	request(1, both + 1);
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
}

/* What is longer than the buffer is the next line. */
static void
long_lines(void)
{
	char line[256];

	/* 62 characters fit: the number is cut off, and what is left has no colon. */
	snprintf(line, sizeof(line), "Counter width %46s: %s\n", "", "47");
	CHECK_EQ(strlen(line), 65);
	CHECK_EQ(with_line(WIDTH, line), PFMLIB_ERR_NOTSUPP);
	/* The last line may be as long as it likes. */
	snprintf(line, sizeof(line), "Retired bundles count capable : 4-7 %60s\n", "8");
	CHECK_EQ(with_line(RETIRED_CAPABLE, line), PFMLIB_SUCCESS);
	/* Exactly the buffer: the line feed is the next line, which has no colon. */
	snprintf(line, sizeof(line), "Counter width %43s: %s\n", "", "47");
	CHECK_EQ(strlen(line), 62);
	CHECK_EQ(with_line(WIDTH, line), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 47);
	snprintf(line, sizeof(line), "Counter width %44s: %s\n", "", "47");
	CHECK_EQ(with_line(WIDTH, line), PFMLIB_ERR_NOTSUPP);
	/* A rest that has a colon and no key is passed over. */
	snprintf(line, sizeof(line), "Counter width : 47 %62s : the rest\n", "");
	CHECK_EQ(with_line(WIDTH, line), PFMLIB_SUCCESS);
	/* A rest that is a line with a key counts as one. */
	snprintf(line, sizeof(line), "Unknown : %52sCounter width : 33\n", "");
	CHECK_EQ(with_line(WIDTH, line), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 33);
}

static void
lists(void)
{
	/* clang-format off */
	static const struct { const char *list; unsigned long bits; } good[] = {
		{ "4-7 ", 0xf0 }, { "4-7", 0xf0 }, { "4 5 6 7 ", 0xf0 }, { "0-1 4-4 63 ", 0x8000000000000013 },
		{ "4 5 6 7", 0x70 },	/* G2: the number at the end does not count */
		{ "7", 0 }, { "", 0 }, { "7-4 ", 0 }, { "512", 0 }, { "4-", 0 }, { "4-7-", 0xf0 },
		/* An empty item is register 0. */
		{ " 4-7 ", 0xf1 }, { "4-7  9 ", 0x2f1 }, { " ", 1 }, { "   ", 1 }, { " 7", 1 }, { "  4   6-7  ", 0xd1 },
		{ "4--7 ", 0x80 }, { "4--7", 0 }, { "--7 ", 0x81 }, { "4 -6 ", 0x7f }, { "4- 6 ", 0x40 },
		/* After a range a minus ends it. */
		{ "4-7-9 ", 0x2f0 }, { "4-7-9", 0xf0 }, { "4-7-9-10 ", 0x6f0 }, { "4-5--7 ", 0xff }, { "---", 1 },
		/* White space, and a plus. */
		{ "+4 ", 0x10 }, { "4-+7 ", 0xf0 }, { "++4 ", 1 }, { "4-7 \t9 ", 0x2f0 }, { "4\t-7 ", 0xf0 }, { "\t+4 ", 0x10 },
		{ "4-\v7 ", 0xf0 }, { "\t ", 1 }, { "\t-4 ", 0x1f }, { "+ 4 ", 0x11 }, { "4-7 \r", 0xf0 },
		/* What is no number is no error: the digits at the beginning count, 0 if there are none. */
		{ "4-15,", 0xfff0 }, { "4-15, ", 0xfff0 }, { "4-15,6", 0xfff0 }, { "07 ", 0x80 }, { "07", 0 },
		{ "4-x ", 0 }, { "4x ", 0x10 }, { "4x", 0 }, { "-4 ", 0x1f }, { "4,5 ", 0x10 },
		{ "4 , ", 0x11 }, { "x ", 1 }, { "x", 0 }, { "\x80 ", 1 }, { "0\t7 ", 1 }, { "0x7 ", 1 }, { "-", 1 },
		{ "010 ", 0x400 }, { "511 4 ", 0x10 },
	};
	static const char *const bad[] = {
		"512 ", "0-512 ", "512-513", "4-99999999999999999999 ", "99999999999999999999 ", "600-4 ", "4-7 512, ", "512x ",
		"4-7-512 ", "4--512 ", "+512 ", "\t512 ",
	};
	char line[128];
	/* clang-format on */

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		snprintf(line, sizeof(line), "Implemented PMC               : %s\n", good[i].list);
		CHECK_EQ(with_line(PMCS, line), PFMLIB_SUCCESS);
		CHECK_EQ(word_of(pfm_get_impl_pmcs, 0), good[i].bits);
	}
	CHECK_EQ(word_of(pfm_get_impl_pmcs, 7), 1ul << 63); /* 511 */
	CHECK_EQ(number_of(pfm_get_num_pmcs), 2);
	if (!freopen("/dev/null", "w", stderr)) /* a bad number is reported there */
		CHECK(0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (int which = PMCS; which < NUM_LINES; which++) {
			snprintf(line, sizeof(line), "%.30s: %s\n", itanium2_lines[which], bad[i]);
			CHECK_EQ(with_line(which, line), PFMLIB_ERR_NOTSUPP);
		}
}

/* More registers than a request has room for: the next initialisation refuses the PMU. */
static void
too_many_registers(void)
{
	static const int lists[] = { PMCS, PMDS };
	char line[128];

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		snprintf(line, sizeof(line), "%.30s: 0-510 \n", itanium2_lines[lists[i]]);
		CHECK_EQ(with_line(lists[i], line), PFMLIB_SUCCESS);
		CHECK_EQ(with_all_lines(), PFMLIB_SUCCESS);
	}
	CHECK_EQ(with_line(PMDS, "Implemented PMD               : 0-511 \n"), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_num_pmds), 512);
	CHECK_EQ(with_all_lines(), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(number_of(pfm_get_num_pmds), 512);
	CHECK_EQ(current(), PFMLIB_GEN_IA64_PMU);
}

/* Counters: each event has its own, and there are four whatever the file says of pairs. */
static void
capable(void)
{
	CHECK_EQ(with_line(RETIRED_CAPABLE, "Retired bundles count capable : 4-5 12 \n"), PFMLIB_SUCCESS);
	request(3, both);
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	CHECK_TEXT(show_numbers(outp.pfp_pmcs, outp.pfp_pmc_count), "6 4 5");
	request(4, both);
	inp.pfp_events[3].event = 1;
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
	/* The query tests as many registers as there are counters. */
	CHECK_EQ(with_line(PAIRS, "PMC/PMD pairs : 6\n"), PFMLIB_SUCCESS);
	CHECK_EQ(counters_of(0), 0x30);
	CHECK_EQ(word_of(pfm_get_impl_counters, 0), 0xf0);
	CHECK_EQ(with_line(PAIRS, "PMC/PMD pairs : 12\n"), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_num_counters), 4);
	CHECK_EQ(counters_of(0), 0xf0);
	for (unsigned int n = 5; n <= 13; n++) {
		request(n, both);
		CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
	}
	CHECK_EQ(with_line(PAIRS, "PMC/PMD pairs : 4294967295\n"), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_num_counters), 4);
	CHECK_EQ(counters_of(0), 0xf0);
	memset(&inp, 0, sizeof(inp));
	inp.pfp_dfl_plm = PFM_PLM3;
	inp.pfp_event_count = PFMLIB_MAX_PMCS - 1;
	CHECK_EQ(dispatch(), PFMLIB_ERR_NOASSIGN);
	CHECK_EQ(with_line(PAIRS, "PMC/PMD pairs : 2\n"), PFMLIB_SUCCESS);
	CHECK_EQ(number_of(pfm_get_num_counters), 4);
	CHECK_EQ(counters_of(0), 0);
	request(3, both);
	CHECK_EQ(dispatch(), PFMLIB_SUCCESS);
	/* Of a code 8 bits count. */
	CHECK_EQ(with_line(CYCLE, "Cycle event number : 274\n"), PFMLIB_SUCCESS);
	CHECK_EQ(code_of(0), 18);
}

/* What is no such file, and what a failure leaves behind. */
static void
no_such_file(void)
{
	static const char noise[] = "\0\xff:\x01\n:::\n\x7f"
				    "ELF\0\0Counter width: 47\n";
	char many[8192];

	CHECK_EQ(with_line(WIDTH, "Counter width: 46\n"), PFMLIB_SUCCESS);
	CHECK_EQ(initialize_from(noise, sizeof(noise) - 1), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(initialize_from("", 0), PFMLIB_ERR_NOTSUPP);
	memset(many, ':', sizeof(many));
	CHECK_EQ(initialize_from(many, sizeof(many)), PFMLIB_ERR_NOTSUPP);
	memset(many, '\0', sizeof(many));
	CHECK_EQ(initialize_from(many, sizeof(many)), PFMLIB_ERR_NOTSUPP);
	CHECK_EQ(number_of(pfm_get_hw_counter_width), 46); /* as before */
	CHECK_EQ(current(), PFMLIB_GEN_IA64_PMU);
	setenv("LIBPFM_IA64_PAL", directory, 1);
	CHECK_EQ(pfm_initialize(), PFMLIB_ERR_NOTSUPP);
	setenv("LIBPFM_IA64_PAL", "", 1);
	CHECK_EQ(pfm_initialize(), PFMLIB_ERR_NOTSUPP);
	setenv("LIBPFM_IA64_PAL", path, 1);
	CHECK_EQ(with_all_lines(), PFMLIB_SUCCESS);
	CHECK_EQ(chmod(path, 0), 0);
	if (access(path, R_OK) != 0) /* root may read it all the same */
		CHECK_EQ(pfm_initialize(), PFMLIB_ERR_NOTSUPP);
	unlink(path);
	CHECK_EQ(pfm_initialize(), PFMLIB_ERR_NOTSUPP);
	unsetenv("LIBPFM_IA64_PAL"); /* the kernel's own, which only an IA-64 has */
	CHECK_EQ(pfm_initialize(), access("/proc/pal/cpu0/perfmon_info", R_OK) ? PFMLIB_ERR_NOTSUPP : PFMLIB_SUCCESS);
}

int
main(void)
{
	unsetenv("LIBPFM_IA64_CPUID3");
	unsetenv("LIBPFM_FORCE_PMU");
	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/perfmon_info", directory);
	empty_tables();
	forced();
	addresses();
	detected();
	keys();
	colons();
	long_lines();
	capable();
	no_such_file();
	lists();
	too_many_registers();
	unlink(path);
	rmdir(directory);
	return check_result();
}
