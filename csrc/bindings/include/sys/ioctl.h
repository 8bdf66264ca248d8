/* Nothing of <sys/ioctl.h> is needed, for csrc/bindings/c_reader.py. */
