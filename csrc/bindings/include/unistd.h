/* Nothing of <unistd.h> is needed, for csrc/bindings/c_reader.py. */
