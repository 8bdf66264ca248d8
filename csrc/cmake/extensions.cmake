# The extension modules of the Python package.

# pypfm_extension(module LIBRARY name HEADERS ... PRIVATE ... PREFIXES ... INCLUDES ... [HAND file] [SYSTEM dir...] [EXTRA file]
#                 [FORM_OF module] [PARTS objects...])
#
# The extension module pypfm._c.<module> with the mirror's generated Python files.  HEADERS and PRIVATE headers are
# what Python sees of the library; they, and what they include from INCLUDES, are read, what they include from SYSTEM is not.
# A library that is a FORM_OF that of another module has from there what is the same in both.
# PARTS are objects for Python only: what PRIVATE headers declare and the library does not have.
# The library's objects are linked in, and nothing of them is exported: another library with the same
# symbols in the process neither sees nor replaces them.
function(pypfm_extension module)
  cmake_parse_arguments(arg "" "LIBRARY;EXTRA;HAND;FORM_OF" "HEADERS;PRIVATE;PREFIXES;INCLUDES;SYSTEM;PARTS" ${ARGN})
  set(bindings ${PROJECT_SOURCE_DIR}/csrc/bindings)
  set(out ${PROJECT_BINARY_DIR}/bindings)
  file(MAKE_DIRECTORY ${out})
  list(TRANSFORM arg_HEADERS PREPEND "--header=" OUTPUT_VARIABLE headers)
  list(TRANSFORM arg_PRIVATE PREPEND "--private=" OUTPUT_VARIABLE private)
  list(TRANSFORM arg_PREFIXES PREPEND "--prefix=" OUTPUT_VARIABLE prefixes)
  list(TRANSFORM arg_INCLUDES PREPEND "-I" OUTPUT_VARIABLE includes)
  list(TRANSFORM arg_SYSTEM PREPEND "--system=" OUTPUT_VARIABLE system)
  set(defines $<TARGET_PROPERTY:${arg_LIBRARY},INTERFACE_COMPILE_DEFINITIONS>)
  if(arg_EXTRA)
    set(extra --extra ${arg_EXTRA})
  endif()
  if(arg_HAND)
    set(hand --hand ${arg_HAND})
  endif()
  if(arg_FORM_OF)
    set(form_of --form-of ${out}/${arg_FORM_OF}_api.py)
    set(other_form ${out}/${arg_FORM_OF}_api.py)
  endif()
  file(GLOB_RECURSE depends CONFIGURE_DEPENDS ${bindings}/*.py ${bindings}/*.h)
  foreach(dir ${arg_INCLUDES})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${dir}/*.h)
    list(APPEND depends ${found})
  endforeach()
  foreach(header ${arg_PRIVATE})
    list(APPEND depends ${CMAKE_CURRENT_SOURCE_DIR}/${header})
  endforeach()
  add_custom_command(
    OUTPUT ${out}/${module}.c ${out}/${module}.pyi ${out}/${module}_api.py
    COMMAND Python::Interpreter ${bindings}/generate.py ${module} ${out} --cc ${CMAKE_C_COMPILER} ${includes} ${system}
            "$<$<BOOL:${defines}>:-D$<JOIN:${defines},;-D>>" ${headers} ${private} ${prefixes} ${extra} ${hand} ${form_of}
    DEPENDS ${arg_EXTRA} ${arg_HAND} ${other_form} ${depends}
    COMMENT "Generating the mirror of ${module}"
    COMMAND_EXPAND_LISTS VERBATIM)
  Python_add_library(_${module} MODULE ${out}/${module}.c)
  pypfm_link(_${module} ${arg_LIBRARY})
  if(NOT PYPFM_COUNTING)
    list(REMOVE_ITEM arg_PARTS ${PYPFM_COUNTING_PARTS})
  endif()
  foreach(part ${arg_PARTS})
    target_sources(_${module} PRIVATE $<TARGET_OBJECTS:${part}>)
  endforeach()
  set_target_properties(_${module} PROPERTIES PREFIX "" OUTPUT_NAME ${module} SUFFIX ".abi3.so"
                        LINK_DEPENDS ${bindings}/extension.map)
  target_compile_definitions(_${module} PRIVATE _GNU_SOURCE PFM_OWN_PERF_EVENT Py_LIMITED_API=0x030a0000)
  target_include_directories(_${module} PRIVATE ${arg_INCLUDES} ${arg_SYSTEM})
  target_compile_options(_${module} PRIVATE -Werror=incompatible-pointer-types -Werror=int-conversion)
  target_link_libraries(_${module} PRIVATE Threads::Threads)
  if(APPLE)
    target_link_options(_${module} PRIVATE -Wl,-undefined,dynamic_lookup)
  else()
    target_link_options(_${module} PRIVATE -Wl,-Bsymbolic -Wl,--version-script=${bindings}/extension.map)
  endif()
  if(SKBUILD)
    install(TARGETS _${module} LIBRARY DESTINATION pypfm/_c)
    install(FILES ${out}/${module}.pyi ${out}/${module}_api.py DESTINATION pypfm/_c)
    if(SKBUILD_STATE STREQUAL "editable")	# type checkers see the source tree and what is typed here
      install(FILES ${out}/${module}.pyi ${out}/${module}_api.py DESTINATION pypfm-stubs/_c)
    endif()
  endif()
endfunction()
