/* Nothing of <sys/prctl.h> is needed, for csrc/bindings/c_reader.py. */
