/*
 * The program's memory: what the program asks for, and programs that it executes.  qemu leaves them to the kernel, which
 * executes those of this host only, and without qemu; so they are given to a qemu with this plugin here, before qemu sees
 * the call.
 */
#define _GNU_SOURCE
#include "plugin.h"

#include <byteswap.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WORDS = 4096, PATH = 4096, ARGUMENT = 128 << 10, OURS = 11, FIRST_LINE = 256 };

static struct {
	bool mips, big_endian;
	unsigned int word; /* bytes of an address */
	uint64_t base;     /* what is added to addresses of the program */
	char qemu[32];     /* the program that runs it */
} guest;

void
guest_is(const char *target)
{
	guest.mips = strncmp(target, "mips", 4) == 0;
	guest.big_endian = guest.mips && !strstr(target, "el");
	guest.word = strstr(target, "64") ? 8 : 4;
	snprintf(guest.qemu, sizeof guest.qemu, "qemu-%s", target);
}

bool
guest_is_mips(void)
{
	return guest.mips;
}

bool
guest_is_big_endian(void)
{
	return guest.big_endian;
}

void
guest_at(uint64_t base)
{
	guest.base = base;
}

/* ---- the program's memory ---- */

/* Bytes at an address, fewer where memory ends; 0: there are none. */
static size_t
read_memory(uint64_t address, void *to, size_t size)
{
	const struct iovec mine = { to, size }, theirs = { (void *)(uintptr_t)(address + guest.base), size };
	const ssize_t n = process_vm_readv(getpid(), &mine, 1, &theirs, 1, 0);
	return n > 0 ? (size_t)n : 0;
}

static uint64_t
word_of(const uint8_t *bytes)
{
	uint64_t word = 0;
	for (unsigned int b = 0; b < guest.word; b++)
		word = word << 8 | bytes[guest.big_endian ? b : guest.word - 1 - b];
	return word;
}

/* Write numbers of that many bytes; false: there is no such memory. */
static bool
write_numbers(uint64_t address, const uint64_t *numbers, size_t n, unsigned int size)
{
	uint8_t bytes[8 * R10K_NUM_COUNTS];
	for (size_t i = 0; i < n; i++)
		for (unsigned int b = 0; b < size; b++)
			bytes[i * size + (guest.big_endian ? size - 1 - b : b)] = (uint8_t)(numbers[i] >> 8 * b);
	const struct iovec mine = { bytes, n * size }, theirs = { (void *)(uintptr_t)(address + guest.base), n * size };
	return process_vm_writev(getpid(), &mine, 1, &theirs, 1, 0) == (ssize_t)(n * size);
}

/* ---- what it asks for ---- */

void
guest_answer(uint64_t address, const uint64_t *counts, bool fine)
{
	enum { RUNNING = 0x1001, READ = 'R' << 24 | 'K' << 16, BEFORE = 3 };
	uint8_t words[BEFORE * 8];
	if (read_memory(address - BEFORE * guest.word, words, BEFORE * guest.word) != BEFORE * guest.word)
		return;
	const uint64_t number = word_of(words), to = word_of(words + guest.word),
		       room = word_of(words + 2 * guest.word);
	uint64_t answer = number == RUNNING;
	if (number == READ &&
	    write_numbers(to, counts, room < R10K_NUM_COUNTS ? room : R10K_NUM_COUNTS, sizeof *counts))
		answer = R10K_NUM_COUNTS | (uint64_t)fine << 8;
	write_numbers(address, &answer, 1, guest.word);
}

/* A string, allocated; NULL: there is none. */
static char *
read_string(uint64_t address)
{
	static char text[ARGUMENT];
	size_t n = 0;
	while (n < sizeof text) {
		const size_t page = 4096 - (address + n) % 4096, room = sizeof text - n;
		const size_t got = read_memory(address + n, text + n, page < room ? page : room);
		if (!got)
			return NULL;
		if (memchr(text + n, 0, got))
			return strdup(text);
		n += got;
	}
	return NULL;
}

/* A vector of strings up to its end, each of them a copy; false: it is none. */
static bool
read_vector(uint64_t address, char **to, size_t room)
{
	for (size_t i = 0; i + 1 < room; i++) {
		uint8_t bytes[8];
		if (read_memory(address + i * guest.word, bytes, guest.word) != guest.word)
			return false;
		const uint64_t word = word_of(bytes);
		to[i] = word ? read_string(word) : NULL;
		if (!to[i])
			return !word;
	}
	return false;
}

/* ---- programs that it executes ---- */

bool
guest_executes(int64_t number)
{
	enum { O32 = 4011, N64 = 5057, N32 = 6057 };
	return guest.mips ? number == O32 || number == N64 || number == N32 : number == SYS_execve;
}

/* The first bytes of a file that can be executed, without more rights than this process has; fewer: it is shorter, or none. */
static size_t
read_head(const char *path, void *to, size_t size)
{
	struct stat known;
	const int fd = access(path, X_OK) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	const bool plain = fstat(fd, &known) == 0 && S_ISREG(known.st_mode) && !(known.st_mode & (S_ISUID | S_ISGID));
	const ssize_t n = plain ? pread(fd, to, size, 0) : 0;
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* The name of the qemu for a MIPS program. */
static const char *
qemu_for_mips(bool little, bool wide, uint32_t flags)
{
	if (wide)
		return little ? "qemu-mips64el" : "qemu-mips64";
	if (flags & 0x20) /* EF_MIPS_ABI2 */
		return little ? "qemu-mipsn32el" : "qemu-mipsn32";
	return little ? "qemu-mipsel" : "qemu-mips";
}

/* The name of the qemu for a file; NULL: it is no program of the kind that is counted. */
static const char *
qemu_for(const char *path)
{
	Elf32_Ehdr head = { .e_ident = { 0 } }, own = { .e_ident = { 0 } }; /* up to e_machine all are alike */
	const bool found =
		read_head(path, &head, sizeof head) == sizeof head && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
	const bool little = head.e_ident[EI_DATA] == ELFDATA2LSB, wide = head.e_ident[EI_CLASS] == ELFCLASS64;
	if (!found)
		return NULL;
	if (guest.mips)
		return (little ? head.e_machine : bswap_16(head.e_machine)) != EM_MIPS
			       ? NULL
			       : qemu_for_mips(little, wide, little ? head.e_flags : bswap_32(head.e_flags));
	return read_head("/proc/self/exe", &own, sizeof own) == sizeof own && head.e_machine == own.e_machine &&
			       head.e_ident[EI_CLASS] == own.e_ident[EI_CLASS]
		       ? guest.qemu
		       : NULL;
}

/* A script's interpreter, and its argument or NULL; false: it is no script.  They stay until the next one. */
static bool
read_script(const char *path, char **interpreter, char **argument)
{
	static char text[FIRST_LINE];
	const size_t n = read_head(path, text, sizeof text - 1);
	if (n < 3 || memcmp(text, "#!", 2) != 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (size_t end = strlen(text); end > 2 && strchr(" \t", text[end - 1]); end--)
		text[end - 1] = '\0';
	*interpreter = text + 2 + strspn(text + 2, " \t");
	*argument = *interpreter + strcspn(*interpreter, " \t");
	if (**argument) {
		*(*argument)++ = '\0';
		*argument += strspn(*argument, " \t");
	} else {
		*argument = NULL;
	}
	return **interpreter;
}

/* The options of this qemu, as perfex has given them, for another program. */
static char *
options_for(const char *own, const char *path)
{
	static char text[3 * PATH];
	const char *off = strstr(own, ",off=no") ? "no" : header->wanted ? "on" : "yes", *end = strstr(own, ",off=");
	int n = snprintf(text, sizeof text - 2 * PATH, "%.*s,off=%s,program=", (int)(end ? end - own : 0), own, off);
	for (; *path && n + 2 < (int)sizeof text; path++) {
		text[n++] = *path;
		if (*path == ',') /* twice, or an option would begin */
			text[n++] = ',';
	}
	text[n] = '\0';
	return end ? text : NULL;
}

/* The word after an option in the command line of this process; NULL: it is not there. */
static char *
after(char *line, size_t size, const char *option)
{
	for (char *at = line; at < line + size; at += strlen(at) + 1)
		if (strcmp(at, option) == 0)
			return at + strlen(at) + 1;
	return NULL;
}

/* Put a script's interpreter before its words, of which the first one is what is executed; returns where they begin. */
static char **
interpreted(char **given, char *script, char *interpreter, char *argument)
{
	*given = script;
	if (argument)
		*--given = argument;
	*--given = interpreter;
	return given;
}

void
guest_execute(uint64_t file, uint64_t arguments, uint64_t environment)
{
	static char line[64 << 10], qemu[PATH], *words[WORDS + OURS], *variables[WORDS];
	char *path = read_string(file), **given = words + OURS - 1; /* the first one goes to -0 */
	char *interpreter = path, *argument = NULL;
	variables[0] = NULL; /* of a NULL environment, which Linux takes for an empty one */
	const bool script = path && read_script(path, &interpreter, &argument);
	const char *name = path ? qemu_for(interpreter) : NULL;
	const int fd = name ? open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC) : -1;
	const ssize_t size = fd < 0 ? -1 : read(fd, line, sizeof line - 1);
	const ssize_t length = readlink("/proc/self/exe", qemu, sizeof qemu - 32);
	if (fd >= 0)
		close(fd);
	if (size <= 0 || length <= 0 || !read_vector(arguments, given, WORDS) ||
	    (environment && !read_vector(environment, variables, WORDS)))
		return;
	qemu[length] = '\0';
	strcpy(strrchr(qemu, '/') + 1, name);
	char *own = after(line, (size_t)size, "-plugin"), *root = after(line, (size_t)size, "-L");
	char *option = own ? options_for(own, interpreter) : NULL;
	if (!option)
		return;
	if (!*given)
		given[1] = NULL;
	if (script)
		given = interpreted(given, path, interpreter, argument);
	char *const first[] = { qemu, "-L", root, "-0", *given ? *given : path, "-plugin", option };
	*given = interpreter;
	char **at = given - 5 - 2 * (root != NULL);
	at[0] = qemu;
	if (root)
		memcpy(at + 1, first + 1, 2 * sizeof *first);
	memcpy(given - 4, first + 3, 4 * sizeof *first);
	execve(qemu, at, variables);
}
