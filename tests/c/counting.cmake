# C programs that count: libpmc and libperfex, with events that every Linux kernel has.

# ---- libpmc ----------------------------------------------------------------------

# pmc_script only reads calls.
foreach(program pmc_fork pmc_profile pmc_memory pmc_threads pmc_linux pmc_elsewhere pmc_children pmc_ported pmc_script
        pmc_surroundings)
  c_program(${program} SOURCES ${program}.c LIBRARIES pmc)
  c_test(${program} ${program})
endforeach()
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/runtime)
set_property(TEST pmc_ported APPEND PROPERTY ENVIRONMENT
             PMC_MACHINE=xscale XDG_RUNTIME_DIR=${CMAKE_CURRENT_BINARY_DIR}/runtime)
if(PYPFM_MEMCHECK)	# bad addresses on purpose; thousands of processes
  set_tests_properties(pmc_memory pmc_children PROPERTIES DISABLED ON)
endif()

# A process that is ended at every store: compiled with account.c, not with the library.
c_program(pmc_torn SOURCES pmc_torn.c INCLUDES ${PROJECT_SOURCE_DIR}/csrc/pmc ${PROJECT_SOURCE_DIR}/csrc/pmc/include
          ${PROJECT_SOURCE_DIR}/csrc/pfm4/include LIBRARIES pmc)
c_test(pmc_torn pmc_torn)
if(PYPFM_MEMCHECK OR PYPFM_SANITIZE)	# valgrind has no steps; sanitizers keep memory of their own at a process's end
  set_tests_properties(pmc_torn PROPERTIES DISABLED ON)
endif()

# ---- libperfex, with events that every kernel counts; tests/perfex/test_libperfex.py has more ----

c_program(perfex_checks SOURCES libperfex/checks.c LIBRARIES perfex)
c_test(perfex_checks perfex_checks ${perf_table})

c_program(perfex_interrupted SOURCES libperfex/interrupted.c LIBRARIES perfex)
c_test(perfex_interrupted perfex_interrupted ${perf_table} ${CMAKE_CURRENT_BINARY_DIR}/costs)

c_program(unloaded SOURCES unloaded.c LIBRARIES pmc ${CMAKE_DL_LIBS})
target_link_options(unloaded PRIVATE -Wl,--as-needed)	# the headers are libpmc's, its functions are looked up
c_test(unloaded unloaded $<TARGET_FILE:pmc> $<TARGET_FILE:perfex>)
add_dependencies(unloaded perfex)

# ---- no memory: each allocation fails in turn ----------------------------------------

c_program(pmc_nomem SOURCES pmc_nomem.c OBJECTS pmc WRAP ${allocations} mmap open pthread_atfork)
c_test(pmc_nomem pmc_nomem)
c_program(counting_nomem SOURCES nomem_counting.c PARTS counting counting_ring
          INCLUDES ${csrc}/counting ${csrc}/pfm4/include WRAP ${allocations} mmap munmap)
c_test(counting_nomem counting_nomem)
c_program(perfex_nomem SOURCES libperfex/no_memory.c OBJECTS perfex
          WRAP ${allocations} pthread_atfork)
c_test(perfex_nomem perfex_nomem ${perf_table} ${CMAKE_CURRENT_BINARY_DIR}/costs)

# ---- system calls that fail ----------------------------------------------------------

set(system_calls open read write ioctl fcntl lstat mkdir pipe2 sigaction getitimer setitimer readdir
    process_vm_readv process_vm_writev syscall)
c_program(pmc_failing SOURCES pmc_failing.c OBJECTS pmc
          WRAP ${system_calls} nanosleep)
c_test(pmc_failing pmc_failing)
c_program(pmc_states SOURCES pmc_states.c OBJECTS pmc INCLUDES ${csrc}/pmc ${csrc}/pfm4/include)
c_test(pmc_states pmc_states)
c_program(perfex_failing SOURCES libperfex/failing.c OBJECTS perfex WRAP ${system_calls})
c_test(perfex_failing perfex_failing ${perf_table} ${CMAKE_CURRENT_BINARY_DIR}/costs)
c_program(counting_errors SOURCES counting_errors.c PARTS counting counting_ring counting_set counting_threads guard process
          INCLUDES ${csrc}/counting ${csrc}/pfm4/include)
c_test(counting_errors counting_errors)

# The map is found by a path that does not change with the directory.
c_program(perfex_surroundings SOURCES libperfex/surroundings.c LIBRARIES perfex)
c_test(perfex_surroundings perfex_surroundings ${perf_table})
if(PYPFM_MEMCHECK OR PYPFM_SANITIZE)	# these have memory and descriptors of their own
  set_tests_properties(pmc_surroundings perfex_surroundings PROPERTIES DISABLED ON)
endif()

set_tests_properties(pmc_threads perfex_checks PROPERTIES LABELS threads)

if(PYPFM_PFM3)
  include(perfmon2.cmake)
endif()
