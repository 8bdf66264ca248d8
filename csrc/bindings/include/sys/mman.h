/*
 * Nothing of <sys/mman.h> is needed, for csrc/bindings/c_reader.py, which cannot read the label that perfmon/perfmon_mmap.h
 * gives mmap().
 */
#define PFM_NO_MMAP_REDIRECT
