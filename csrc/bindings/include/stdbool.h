/* Types of <stdbool.h>, for csrc/bindings/c_reader.py. */
#ifndef STUB_STDBOOL_H
#define STUB_STDBOOL_H
typedef _Bool bool;
#endif
