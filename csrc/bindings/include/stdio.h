/* Types of <stdio.h>, for csrc/bindings/c_reader.py. */
#ifndef STUB_STDIO_H
#define STUB_STDIO_H
#include <stddef.h>
typedef struct FILE FILE;
#endif
