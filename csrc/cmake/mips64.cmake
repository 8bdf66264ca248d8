# For programs of an R10000, which perfex counts under qemu-user: cmake --toolchain csrc/cmake/mips64.cmake ...
# Debian: gcc-mips64-linux-gnuabi64 libc6-dev-mips64-cross.  Another ABI or byte order: -DCMAKE_C_COMPILER=...

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR mips64)
if(NOT CMAKE_C_COMPILER)
  set(CMAKE_C_COMPILER mips64-linux-gnuabi64-gcc)
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-mips64 -L /usr/mips64-linux-gnuabi64)
