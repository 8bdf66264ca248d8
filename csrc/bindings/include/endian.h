/* Macros of <endian.h>, for csrc/bindings/c_reader.py. */
#define __LITTLE_ENDIAN __ORDER_LITTLE_ENDIAN__
#define __BYTE_ORDER __BYTE_ORDER__
