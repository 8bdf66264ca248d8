# Tests of libpfm 3 alone, where it is built.

foreach(program itanium gen_ia64 regmask queries stale)
  c_program(pfm3_${program} SOURCES ${program}.c LIBRARIES pfm3)
  c_test(pfm3_${program} pfm3_${program})
endforeach()

c_program(pfm3_nomem SOURCES nomem_pfm3.c OBJECTS pfm3 WRAP ${allocations})
c_test(pfm3_nomem pfm3_nomem)

# ---- the program that measures libraries, on each of them: as a test it only has to run ----

foreach(library pfm3 pfm3-manual pfm4)
  c_test(pfmtime_${library} pfmtime 3 ${library} $<TARGET_FILE:${library}>)
endforeach()
