/* Nothing of <linux/ioctl.h> is needed, for csrc/bindings/c_reader.py. */
