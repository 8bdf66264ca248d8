/* Types of <sys/types.h>, for csrc/bindings/c_reader.py; and what it defines of a compiler's default. */
#ifndef STUB_SYS_TYPES_H
#define STUB_SYS_TYPES_H
#define _DEFAULT_SOURCE
#include <stddef.h>
typedef int pid_t;
typedef long off_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
#endif
