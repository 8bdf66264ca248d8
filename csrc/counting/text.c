/*
 * Short texts of /proc.
 */
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int
counting_read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, size - 1);
	ret = got < 0 ? -errno : 0;
	close(fd);
	text[got < 0 ? 0 : got] = '\0';
	return ret;
}
