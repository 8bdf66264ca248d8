/*
 * The map of events to perf events: the shipped one, or a user's file in CSV, whose first line names the columns.
 *
 * Of several rows of an event the first that the machine can count is taken.  Rows that name the cpu replace those
 * that name none.
 */
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pfm4.h"

enum { CPU, EVENT, PERF, QUALITY, NOTE, COLUMNS };

const char *const perfex_quality_names[] = { "exact", "simulated", "approximate", "modelled", "unavailable" };
static const char *const column_names[COLUMNS] = { "cpu", "event", "perf", "quality", "note" };

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int
parse_raw_term(const char *name, uint64_t *config)
{
	size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");

	if (name[0] != 'r' || digits == 0 || digits > 16 || name[1 + digits])
		return -EINVAL;
	*config = strtoull(name + 1, NULL, 16);
	return 0;
}

int
perfex_term(const char *name, size_t size, uint32_t *type, uint64_t *config)
{
	char text[PFM4_STRING_SIZE];
	struct pfm4_context context;
	struct pfm4_request request = { 0 };
	struct perf_event_attr attr = { 0 };
	int cpu;

	for (; size && is_blank(name[0]); size--)
		name++;
	while (size && is_blank(name[size - 1]))
		size--;
	if (size == 0 || size >= sizeof(text) || memchr(name, '\0', size))
		return -EINVAL;
	memcpy(text, name, size);
	text[size] = '\0';
	if (parse_raw_term(text, config) == 0) {
		*type = PERF_TYPE_RAW;
		return 0;
	}
	pfm4_context_for(&context, &pfm4_perf);
	attr.size = sizeof(attr);
	if (pfm4_encode_perf(&context, text, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &attr, &cpu, &request) != PFM_SUCCESS)
		return -EINVAL;
	for (int i = 0; i < request.num_entries; i++)
		if (request.entries[i].modifier) /* the map may not say in which mode it is counted, or how */
			return -EINVAL;
	*type = attr.type;
	*config = attr.config;
	return 0;
}

/* ---- CSV ---- */

struct csv {
	const char *at;
	char *to; /* fields are copied there, each with a NUL after it */
};

/* Copy a field, up to its separator. */
static int
copy_field(struct csv *csv, struct perfex_fault *fault)
{
	if (*csv->at == '"') {
		for (csv->at++; *csv->at != '"' || csv->at[1] == '"'; *csv->to++ = *csv->at++) {
			if (!*csv->at)
				return perfex_refuse(fault, "", 0, "a quotation mark that no other one follows");
			csv->at += *csv->at == '"';
		}
		if (!strchr(",\r\n", *++csv->at))
			return perfex_refuse(fault, csv->at, strcspn(csv->at, ",\r\n"),
					     "{} after a quotation mark, where a comma is expected");
	}
	while (!strchr(",\r\n", *csv->at))
		*csv->to++ = *csv->at++;
	*csv->to++ = '\0';
	return 0;
}

/* Take a line off; return whether there was one, which must have all fields; or -EINVAL. */
static int
take_record(struct csv *csv, const char *text, char *fields[COLUMNS], struct perfex_fault *fault)
{
	csv->at += strspn(csv->at, "\r\n");
	fault->at = (size_t)(csv->at - text);
	if (!*csv->at)
		return 0;
	for (int count = 0;; csv->at++) {
		fields[count] = csv->to;
		if (copy_field(csv, fault) < 0)
			return -EINVAL;
		count++;
		if (*csv->at != ',' && count == COLUMNS)
			return 1;
		if (*csv->at != ',' || count == COLUMNS) {
			perfex_refuse(fault, "", 0, "%d values are expected", COLUMNS);
			return -EINVAL;
		}
	}
}

static int
find_name(const char *name, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

/* The columns of the first line: where[column] is its place. */
static int
take_head(struct csv *csv, const char *text, int where[COLUMNS], struct perfex_fault *fault)
{
	char *fields[COLUMNS];
	unsigned int seen = 0;

	if (take_record(csv, text, fields, fault) > 0)
		for (int i = 0; i < COLUMNS; i++) {
			const int column = find_name(fields[i], column_names, COLUMNS);

			seen |= column < 0 ? 0 : 1u << column;
			where[column < 0 ? 0 : column] = i;
		}
	if (seen == (1u << COLUMNS) - 1)
		return 0;
	perfex_refuse(fault, text + fault->at, strcspn(text + fault->at, "\r\n"),
		      "the columns are {}, not cpu,event,perf,quality,note");
	return -EINVAL;
}

static int
check_terms(const char *perf, struct perfex_fault *fault)
{
	uint32_t type;
	uint64_t config;

	for (size_t size;; perf += size + 1) {
		size = strcspn(perf, "+");
		if (perfex_term(perf, size, &type, &config) < 0)
			return perfex_refuse(fault, perf, size, "%s", ""); /* libpfm 4 knows the reason */
		if (!perf[size])
			return 0;
	}
}

static int
parse_row(char *const fields[COLUMNS], const int where[COLUMNS], struct perfex_row *row, struct perfex_fault *fault)
{
	const char *const *names = perfex_quality_names, *cpu = fields[where[CPU]], *event = fields[where[EVENT]];
	const char *quality = fields[where[QUALITY]];
	const int level = find_name(quality, names, PERFEX_UNAVAILABLE + 1);
	char *perf = fields[where[PERF]], *end = strchr(perf, '\0');

	while (end > perf && is_blank(end[-1]))
		*--end = '\0';
	while (is_blank(*perf))
		perf++;
	*row = (struct perfex_row){ cpu, 0, perf, (enum perfex_quality)level, fields[where[NOTE]] };
	if (level < 0)
		return perfex_refuse(fault, quality, strlen(quality), "{} is not a quality; %s, %s, %s, %s, %s are",
				     names[0], names[1], names[2], names[3], names[4]);
	if (!*perf != (level == PERFEX_UNAVAILABLE))
		return perfex_refuse(fault, "", 0, "a row without a perf event is unavailable, and no other");
	if (*cpu && !perfex_cpu_find(cpu))
		return perfex_refuse(fault, cpu, strlen(cpu), "{} is not a cpu; %s, %s, %s are, or nothing for all",
				     perfex_cpus[0].name, perfex_cpus[1].name, perfex_cpus[2].name);
	row->event = perfex_event_in_file(event, strlen(event), fault);
	if (row->event < 0)
		return row->event;
	return !*perf || strcmp(perf, "0") == 0 ? 0 : check_terms(perf, fault);
}

static int
take_rows(const char *text, struct perfex_map *map, struct perfex_fault *fault)
{
	struct csv csv = { text, map->text };
	int where[COLUMNS], ret = take_head(&csv, text, where, fault);
	char *fields[COLUMNS];

	while (ret == 0 && (ret = take_record(&csv, text, fields, fault)) > 0) {
		if (map->count % PERFEX_NUM_EVENTS == 0) {
			const size_t room = map->count + PERFEX_NUM_EVENTS;
			struct perfex_row *grown = realloc(map->own, room * sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			map->rows = map->own = grown;
		}
		ret = parse_row(fields, where, &map->own[map->count++], fault);
	}
	return ret;
}

int
perfex_map_parse(const char *text, size_t size, struct perfex_map *map, struct perfex_fault *fault)
{
	int ret;

	*map = (struct perfex_map){ NULL, 0, NULL, NULL };
	ret = perfex_text_check(text, size, fault);
	if (ret < 0)
		return ret;
	fault->at = strlen(text);
	if (fault->at < size)
		return perfex_refuse(fault, "", 0, "byte 0x00 is not text");
	map->text = malloc(size + 1);
	return map->text ? take_rows(text, map, fault) : -ENOMEM;
}

int
perfex_map_load(struct perfex_map *map)
{
	const char *path = perfex_environment("PERFEX_PERF_TABLE");
	struct perfex_fault fault;
	char *text;
	size_t size;
	int ret;

	*map = perfex_shipped_map;
	if (!path)
		return 0;
	ret = perfex_read_file(path, &text, &size);
	if (ret < 0)
		return ret;
	ret = perfex_map_parse(text, size, map, &fault);
	free(text);
	if (ret < 0)
		perfex_map_free(map);
	return ret;
}

void
perfex_map_free(struct perfex_map *map)
{
	free(map->own);
	free(map->text);
	*map = (struct perfex_map){ NULL, 0, NULL, NULL };
}

const char *
perfex_map_owner(const struct perfex_map *map, const struct perfex_cpu *cpu, int event)
{
	const char *const names[] = { cpu->name, cpu->base };

	for (size_t n = 0; n < 2; n++)
		for (size_t i = 0; i < map->count; i++)
			if (map->rows[i].event == event && strcmp(map->rows[i].cpu, names[n]) == 0)
				return names[n];
	return "";
}
