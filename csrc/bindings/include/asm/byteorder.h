/* Nothing of <asm/byteorder.h> is needed, for csrc/bindings/c_reader.py. */
