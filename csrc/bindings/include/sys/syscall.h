/* What <sys/syscall.h> has, for csrc/bindings/c_reader.py; the compiler that builds takes the system's. */
#define __NR_perf_event_open 0
