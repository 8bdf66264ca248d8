/* Nothing of <linux/types.h> is needed, for csrc/bindings/c_reader.py. */
