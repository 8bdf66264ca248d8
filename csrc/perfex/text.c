/*
 * Files of a user: errors in them, and numbers.
 */
#include "library.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIGITS "0123456789"

size_t
perfex_character(const char *at, const char *end, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char lead = (unsigned char)*at;
	const size_t more = lead < 0x80 ? 0 : lead < 0xc0 ? 4 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf8 ? 3 : 4;

	if (more == 4 || more >= (size_t)(end - at))
		return 0;
	*code = more ? lead & (0x3fu >> more) : lead;
	for (size_t i = 1; i <= more; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (at[i] & 0x3f);
	}
	return *code < least[more] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : more + 1;
}

int
perfex_refuse(struct perfex_fault *fault, const char *word, size_t size, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(fault->what, sizeof(fault->what), format, values);
	va_end(values);
	fault->size = size < sizeof(fault->word) ? size : sizeof(fault->word);
	memcpy(fault->word, word, fault->size);
	return -EINVAL;
}

int
perfex_text_check(const char *text, size_t size, struct perfex_fault *fault)
{
	uint32_t code;
	size_t bytes = 1;

	if (size > PERFEX_LARGEST) {
		perfex_refuse(fault, "", 0, "larger than %d bytes", PERFEX_LARGEST);
		return -EFBIG;
	}
	for (fault->at = 0; fault->at < size; fault->at += bytes) {
		bytes = perfex_character(text + fault->at, text + size, &code);
		if (!bytes)
			return perfex_refuse(fault, "", 0, "byte 0x%02x is not UTF-8 text",
					     (unsigned char)text[fault->at]);
	}
	return 0;
}

int
perfex_read_file(const char *path, char **text, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	ssize_t got = 0;

	if (fd < 0)
		return -errno;
	*size = 0;
	*text = calloc(PERFEX_LARGEST + 2, 1); /* with the NUL */
	while (*text &&
	       ((got = read(fd, *text + *size, PERFEX_LARGEST + 1 - *size)) > 0 || (got < 0 && errno == EINTR)))
		*size += got > 0 ? (size_t)got : 0;
	ret = !*text ? -ENOMEM : got < 0 ? -errno : 0;
	close(fd);
	if (ret < 0)
		free(*text);
	return ret;
}

int
perfex_event_number(const char *text, size_t size)
{
	int number = size > 0 && size <= 9 ? 0 : -1;

	for (size_t i = 0; number >= 0 && i < size; i++)
		number = text[i] >= '0' && text[i] <= '9' ? 10 * number + (text[i] - '0') : -1;
	return number < PERFEX_NUM_EVENTS ? number : -1;
}

int
perfex_event_in_file(const char *text, size_t size, struct perfex_fault *fault)
{
	const int number = perfex_event_number(text, size);

	return number >= 0
		       ? number
		       : perfex_refuse(fault, text, size, "event: {} is not an event; events are numbers from 0 to %d",
				       PERFEX_NUM_EVENTS - 1);
}

double
perfex_decimal(const char *text, size_t size, size_t digits)
{
	char copy[32] = "";
	size_t whole, part;
	void *before;
	double value;

	if (size >= sizeof(copy))
		return -1;
	memcpy(copy, text, size);
	whole = strspn(copy, DIGITS);
	part = copy[whole] == '.' ? strspn(copy + whole + 1, DIGITS) : 0;
	if (whole > digits || part > digits || whole + part == 0 || whole + part + (copy[whole] == '.') != size)
		return -1;
	before = perfex_locale_begin();
	value = strtod(copy, NULL);
	perfex_locale_end(before);
	return value;
}

#ifdef __NetBSD__ /* which has no locale for one thread: for a moment all threads have C's numbers */

void *
perfex_locale_begin(void)
{
	const char *before = setlocale(LC_NUMERIC, NULL);
	char *copy = before ? strdup(before) : NULL;

	setlocale(LC_NUMERIC, "C");
	return copy;
}

void
perfex_locale_end(void *before)
{
	if (before)
		setlocale(LC_NUMERIC, before);
	free(before);
}

#else

void *
perfex_locale_begin(void)
{
	return uselocale(newlocale(LC_ALL_MASK, "C", NULL)); /* the C library's own: never freed */
}

void
perfex_locale_end(void *before)
{
	uselocale(before);
}

#endif
