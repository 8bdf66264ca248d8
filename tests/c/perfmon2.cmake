# perfmon2: the part of libpfm 3 that counts, with the model.

set(perfmon2_threads_arguments)
if(PYPFM_SANITIZE STREQUAL "thread")
  set(perfmon2_threads_arguments "no fork")	# whose children it does not follow
endif()
foreach(program perfmon2_checks perfmon2_counting perfmon2_messages perfmon2_sets perfmon2_samples perfmon2_perfmonctl
        perfmon2_deviations perfmon2_children perfmon2_threads perfmon2_owners perfmon2_order perfmon2_descriptor
        perfmon2_tasks perfmon2_handlers perfmon2_surroundings perfmon2_rate)
  c_program(${program} SOURCES ${program}.c LIBRARIES pfm3)
  c_test(${program} ${program} ${${program}_arguments})
endforeach()
# Counters of this host: software events in the place of those that a virtual machine does not have.
set(engine ${PROJECT_SOURCE_DIR}/csrc/perfmon2 ${PROJECT_SOURCE_DIR}/csrc/pfm3/include ${PROJECT_SOURCE_DIR}/csrc/pfm4/include)
foreach(program perfmon2_host perfmon2_periods perfmon2_hostile perfmon2_million perfmon2_locked)
  c_program(${program} SOURCES ${program}.c OBJECTS pfm3 WRAP host_event_of
            INCLUDES ${engine})
  c_test(${program} ${program} ${${program}_arguments})
endforeach()
c_program(perfmon2_kernels SOURCES perfmon2_kernels.c OBJECTS pfm3 WRAP ${system_calls} host_event_of mmap pipe eventfd
          epoll_create1 INCLUDES ${engine})
c_test(perfmon2_kernels perfmon2_kernels)
if(PYPFM_MEMCHECK)	# valgrind's own page faults and processor time are counted, and it runs one thread at a time
  set_tests_properties(perfmon2_host perfmon2_periods perfmon2_hostile perfmon2_million perfmon2_locked perfmon2_kernels
                       PROPERTIES DISABLED ON)
endif()
c_program(perfmon2_raw SOURCES perfmon2_raw.c OBJECTS pfm3 INCLUDES ${engine})
c_test(perfmon2_raw perfmon2_raw)
# Not by calls, none of which reads a control register.
c_program(perfmon2_machine SOURCES perfmon2_machine.c OBJECTS pfm3 INCLUDES ${PROJECT_SOURCE_DIR}/csrc/perfmon2
          ${PROJECT_SOURCE_DIR}/csrc/pfm3/include)
c_test(perfmon2_machine perfmon2_machine)
# With times of its own, beside the plain model.
c_program(perfmon2_core SOURCES perfmon2_core.c OBJECTS pfm3 INCLUDES ${engine} ${PROJECT_SOURCE_DIR}/tests/fuzz)
c_test(perfmon2_core perfmon2_core)

if(PYPFM_SANITIZE)	# clang's AddressSanitizer takes its own stack at the end of a cancelled thread for that of the calls left
  set_tests_properties(perfmon2_threads PROPERTIES ENVIRONMENT ASAN_OPTIONS=use_sigaltstack=0)
endif()

c_program(perfmon2_failing SOURCES perfmon2_failing.c OBJECTS pfm3 WRAP ${system_calls} pipe mkostemp ftruncate mmap
          munmap realloc pthread_create pthread_atfork)
c_test(perfmon2_failing perfmon2_failing)

if(PYPFM_MEMCHECK OR PYPFM_SANITIZE)	# these have memory, descriptors and time of their own
  set_tests_properties(perfmon2_surroundings perfmon2_rate PROPERTIES DISABLED ON)
endif()
set_tests_properties(perfmon2_threads perfmon2_messages perfmon2_counting perfmon2_sets perfmon2_samples PROPERTIES LABELS threads)
set_tests_properties(perfmon2_million PROPERTIES LABELS slow)	# 4 seconds
set_tests_properties(perfmon2_locked PROPERTIES RUN_SERIAL ON)	# other programs of the user give rings back
