# A project that uses the installed libraries: a program for each.
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(pypfm 0.1 REQUIRED COMPONENTS pfm3 pfm4)
find_package(pypfm REQUIRED)
foreach(name pfm3 pfm3-manual pfm4 pmc perfex)
  add_executable(${name}-program ${name}.c)
  target_link_libraries(${name}-program PRIVATE pypfm::${name})
endforeach()
