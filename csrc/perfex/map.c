/*
 * The map of events to perf events: the shipped one, or a user's file in CSV, whose form is
 * that of pypfm/perfex/perf_table.py.
 */
#include "library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pfm4.h"

enum { CPU, EVENT, PERF, QUALITY, NOTE, COLUMNS };

static const char *const column_names[COLUMNS] = { "cpu", "event", "perf", "quality", "note" };
static const char *const quality_names[] = { "exact", "approximate", "modelled", "unavailable" };

static int
raw_term(const char *name, uint64_t *config)
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

	while (size && strchr(" \t", name[0]))
		name++, size--;
	while (size && strchr(" \t", name[size - 1]))
		size--;
	if (size == 0 || size >= sizeof(text) || memchr(name, '\0', size))
		return -EINVAL;
	memcpy(text, name, size);
	text[size] = '\0';
	if (raw_term(text, config) == 0) {
		*type = PERF_TYPE_RAW;
		return 0;
	}
	pfm4_context_for(&context, &pfm4_perf);
	attr.size = sizeof(attr);
	if (pfm4_encode_perf(&context, text, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &attr, &cpu, &request) != PFM_SUCCESS)
		return -EINVAL;
	*type = attr.type;
	*config = attr.config;
	return 0;
}

/* ---- CSV ---- */

/*
 * Take a field off the text, in place: its end is marked by a NUL.  What stood behind it, or
 * -1 if a quotation mark is out of place.
 */
static int
take_field(char **at, char **field)
{
	char *to = *at, *from = *at;
	int end;

	*field = to;
	if (*from == '"') {
		for (from++; *from != '"' || from[1] == '"'; *to++ = *from++) {
			if (!*from)
				return -1;
			from += *from == '"';
		}
		from++;
		if (*from && !strchr(",\r\n", *from))
			return -1;
	} else {
		while (*from && !strchr(",\r\n", *from))
			from++;
		to = from;
	}
	end = *from;
	if (end == '\r' && from[1] == '\n')
		from++;
	*at = from + (end != '\0');
	*to = '\0';
	return end;
}

/* Take a line off: the number of its fields, 0 at the end of the text, or -EINVAL. */
static int
take_record(char **at, char *fields[COLUMNS])
{
	int count = 0, end = ',';

	*at += strspn(*at, "\r\n");
	if (!**at)
		return 0;
	while (end == ',') {
		char *field;

		end = take_field(at, &field);
		if (end < 0 || count == COLUMNS)
			return -EINVAL;
		fields[count++] = field;
	}
	return count;
}

static int
find(const char *name, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

/* The columns of the first line: where[column] is its place. */
static int
take_head(char **at, int where[COLUMNS])
{
	char *fields[COLUMNS];
	bool seen[COLUMNS] = { false };

	if (take_record(at, fields) != COLUMNS)
		return -EINVAL;
	for (int i = 0; i < COLUMNS; i++) {
		int column = find(fields[i], column_names, COLUMNS);

		if (column < 0 || seen[column])
			return -EINVAL;
		seen[column] = true;
		where[column] = i;
	}
	return 0;
}

static int
check_terms(const char *perf)
{
	uint32_t type;
	uint64_t config;

	for (const char *next; perf; perf = next ? next + 1 : NULL) {
		next = strchr(perf, '+');
		if (perfex_term(perf, next ? (size_t)(next - perf) : strlen(perf), &type, &config) < 0)
			return -EINVAL;
	}
	return 0;
}

static int
take_row(char *const fields[COLUMNS], const int where[COLUMNS], struct perfex_row *row)
{
	const char *cpu = fields[where[CPU]], *event = fields[where[EVENT]], *perf = fields[where[PERF]];
	int quality = find(fields[where[QUALITY]], quality_names, sizeof(quality_names) / sizeof(quality_names[0]));
	char *end;

	perf += strspn(perf, " \t");
	end = strchr(perf, '\0');
	while (end > perf && strchr(" \t", end[-1]))
		*--end = '\0';
	*row = (struct perfex_row){ cpu, perfex_event_number(event, strlen(event)), perf,
				    quality < 0 ? PERFEX_UNAVAILABLE : (enum perfex_quality)quality };
	if (quality < 0 || row->event < 0 || (*cpu && !perfex_cpu_find(cpu)))
		return -EINVAL;
	if (!*perf || row->quality == PERFEX_UNAVAILABLE)
		return *perf || row->quality != PERFEX_UNAVAILABLE ? -EINVAL : 0;
	return strcmp(perf, "0") == 0 ? 0 : check_terms(perf);
}

static int
take_rows(char *at, struct perfex_map *map)
{
	int where[COLUMNS], ret = take_head(&at, where);
	size_t room = 0;
	char *fields[COLUMNS];

	while (ret == 0 && (ret = take_record(&at, fields)) > 0) {
		if (map->count == room) {
			struct perfex_row *grown = realloc(map->own, (room += PERFEX_NUM_EVENTS) * sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			map->own = grown;
		}
		ret = ret == COLUMNS ? take_row(fields, where, &map->own[map->count]) : -EINVAL;
		map->count++;
	}
	return ret;
}

int
perfex_map_load(const char *path, struct perfex_map *map)
{
	size_t size;
	int ret;

	*map = (struct perfex_map){ perfex_shipped_rows, perfex_num_shipped_rows, NULL, NULL };
	path = path ? path : perfex_environment("PERFEX_PERF_TABLE");
	if (!path)
		return 0;
	map->count = 0;
	ret = perfex_read_file(path, &map->text, &size);
	if (ret == 0)
		ret = memchr(map->text, '\0', size) ? -EINVAL : take_rows(map->text, map);
	map->rows = map->own;
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
