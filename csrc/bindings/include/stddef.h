/* Types of <stddef.h>, for csrc/bindings/c_reader.py. */
#ifndef STUB_STDDEF_H
#define STUB_STDDEF_H
typedef __SIZE_TYPE__ size_t;
#endif
