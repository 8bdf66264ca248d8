# A project that uses the installed libraries: a program for each.
cmake_minimum_required(VERSION 3.25)
project(consumer C)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)	# without it, an installed program finds no library, or another libpfm.so.4
find_package(pypfm 0.1 REQUIRED COMPONENTS pfm3 pfm4)
find_package(pypfm REQUIRED)
foreach(name pfm3 pfm3-manual pfm4 pmc perfex)
  add_executable(${name}-program ${name}.c)
  target_link_libraries(${name}-program PRIVATE pypfm::${name})
  add_executable(${name}-static-program ${name}.c)
  target_link_libraries(${name}-static-program PRIVATE pypfm::${name}-static)
  install(TARGETS ${name}-program)
endforeach()
