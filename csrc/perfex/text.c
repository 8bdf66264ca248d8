/*
 * Files of a user, and the numbers in them.
 */
#include "library.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The leading byte of a character: how many follow, and the least code that needs them. */
static size_t
lead(unsigned char byte, uint32_t *code, uint32_t *least)
{
	static const uint32_t leasts[] = { 0, 0x80, 0x800, 0x10000 };
	size_t more = byte < 0x80 ? 0 : (byte & 0xe0) == 0xc0 ? 1 : (byte & 0xf0) == 0xe0 ? 2
		: (byte & 0xf8) == 0xf0 ? 3 : 4;

	if (more == 4)
		return more;
	*code = more ? byte & (0x3fu >> more) : byte;
	*least = leasts[more];
	return more;
}

size_t
perfex_character(const char *at, const char *end, uint32_t *code)
{
	uint32_t least;
	size_t more = lead((unsigned char)*at, code, &least);

	if (more == 4 || more >= (size_t)(end - at))
		return 0;
	for (size_t i = 1; i <= more; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (at[i] & 0x3f);
	}
	return *code < least || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : more + 1;
}

static bool
is_utf8(const char *at, const char *end)
{
	uint32_t code;
	size_t size;

	for (; at < end; at += size) {
		size = perfex_character(at, end, &code);
		if (!size)
			return false;
	}
	return true;
}

/* All bytes, at most one more than a file may have; or a negative errno value. */
static ssize_t
read_all(const char *path, char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	while (got > 0 && size <= PERFEX_LARGEST) {
		got = read(fd, text + size, PERFEX_LARGEST + 1 - size);
		if (got > 0)
			size += (size_t)got;
		else if (got < 0 && errno == EINTR)
			got = 1;
	}
	got = got < 0 ? -errno : size > PERFEX_LARGEST ? -EFBIG : (ssize_t)size;
	close(fd);
	return got;
}

int
perfex_read_file(const char *path, char **text, size_t *size)
{
	ssize_t got;

	*text = calloc(PERFEX_LARGEST + 2, 1);	/* with the NUL */
	if (!*text)
		return -ENOMEM;
	got = read_all(path, *text);
	if (got >= 0 && !is_utf8(*text, *text + got))
		got = -EINVAL;
	if (got < 0) {
		free(*text);
		*text = NULL;
		return (int)got;
	}
	*size = (size_t)got;
	return 0;
}

static size_t
digits_at(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

int
perfex_event_number(const char *text, size_t size)
{
	int number = 0;

	if (size == 0 || size > 9 || digits_at(text, size) != size)
		return -1;
	for (size_t i = 0; i < size; i++)
		number = 10 * number + (text[i] - '0');
	return number < PERFEX_NUM_EVENTS ? number : -1;
}

double
perfex_decimal(const char *text, size_t size, size_t digits)
{
	char copy[32];
	size_t whole = digits_at(text, size), part = 0;
	void *before;
	double value;

	if (whole < size) {
		if (text[whole] != '.')
			return -1;
		part = digits_at(text + whole + 1, size - whole - 1);
		if (whole + 1 + part != size)
			return -1;
	}
	if (whole > digits || part > digits || whole + part == 0 || size >= sizeof(copy))
		return -1;
	memcpy(copy, text, size);
	copy[size] = '\0';
	before = perfex_locale_begin();
	value = strtod(copy, NULL);
	perfex_locale_end(before);
	return value;
}

void *
perfex_locale_begin(void)
{
	return uselocale(newlocale(LC_ALL_MASK, "C", NULL));	/* the C library's own: never freed */
}

void
perfex_locale_end(void *before)
{
	uselocale(before);
}
