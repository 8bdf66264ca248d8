/* Nothing of <err.h> is needed, for csrc/bindings/c_reader.py. */
