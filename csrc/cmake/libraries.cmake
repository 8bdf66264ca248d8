# How the C libraries are made of their sources, and installed.
#
# Each file is compiled once, into an OBJECT library; the shared library, the static one, the extension module and
# the tests are linked of these objects.  What the public headers declare is visible in them, the rest hidden; version
# scripts say what is exported.

# pypfm_table(variable library model table.csv...): appends the C source of an event table to the list of that name.
#
# PYPFM_TABLES is where such sources are that were made elsewhere; without it, Python makes them.
function(pypfm_table variable library model)
  set(c ${PYPFM_TABLES}/${model}_table.c)
  if(PYPFM_TABLES AND NOT EXISTS ${c})
    message(FATAL_ERROR "PYPFM_TABLES: there is no ${c}; another build of this version has it in its directory tables")
  endif()
  if(NOT PYPFM_TABLES)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/csrc/tables/ OUTPUT_VARIABLE csv)
    set(generator ${PROJECT_SOURCE_DIR}/csrc/tables/generate.py)
    set(c ${PROJECT_BINARY_DIR}/tables/${model}_table.c)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tables)
    add_custom_command(
      OUTPUT ${c}
      COMMAND Python::Interpreter ${generator} ${library} ${model} ${c} ${csv}
      DEPENDS ${csv} ${generator}
      COMMENT "Generating ${model}_table.c" VERBATIM)
  endif()
  set(${variable} ${${variable}} ${c} PARENT_SCOPE)
endfunction()

# pypfm_objects(name SOURCES file... [INCLUDES dir...] [DEFINES ...]): files that are compiled once.
#
# INCLUDES and DEFINES are those of who links them, too.
function(pypfm_objects name)
  cmake_parse_arguments(arg "" "" "SOURCES;INCLUDES;DEFINES" ${ARGN})
  add_library(${name} OBJECT ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${arg_INCLUDES} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${name} PUBLIC ${arg_DEFINES} PRIVATE _GNU_SOURCE PYPFM_SHARED)
  target_compile_options(${name} PRIVATE ${PYPFM_WARNINGS} ${PYPFM_LTO})
endfunction()

# pypfm_link(target library): links a program or module with the objects of a library, hidden functions and all.
function(pypfm_link target library)
  get_target_property(parts ${library} PYPFM_PARTS)
  foreach(part ${parts})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${part}>)
  endforeach()
  foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS)
    set(${property} $<TARGET_PROPERTY:${library}_objects,INTERFACE_${property}>)
  endforeach()
  target_include_directories(${target} PRIVATE ${INCLUDE_DIRECTORIES})
  target_compile_definitions(${target} PRIVATE ${COMPILE_DEFINITIONS})
  target_compile_options(${target} PRIVATE ${PYPFM_NO_LTO})
  target_link_options(${target} PRIVATE ${PYPFM_NO_LTO})	# -Wl,--wrap replaces functions between two objects only
endfunction()

# pypfm_library(name BASE libname VERSION N.m.p DESCRIPTION text INCLUDE dir EXPORTS map SOURCES file...
#               [PARTS objects...] [PRIVATE_INCLUDES dir...] [NEEDS target] [FORM_OF library] [DEFINES ...]
#               [USER_DEFINES ...] [USER_OPTIONS ...] [STAYS])
#
# The shared library, libname.so.N, which exports what its version script lists; and <name>_static.  Both
# are of SOURCES and of the PARTS, other objects.  They NEED another target.  Another form of a library has its headers,
# which DEFINES switch.  Programs that use it are compiled with its USER_DEFINES, too, and linked with its USER_OPTIONS.  Installed outside of a wheel, it has its links, a pkg-config file, and is a component of the CMake
# package.  One that STAYS is not unloaded by dlclose(): what it has open and counts would have no owner, and fork() calls it.
function(pypfm_library name)
  cmake_parse_arguments(arg "STAYS" "BASE;VERSION;DESCRIPTION;INCLUDE;EXPORTS;NEEDS;FORM_OF"
                        "SOURCES;PARTS;PRIVATE_INCLUDES;DEFINES;USER_DEFINES;USER_OPTIONS" ${ARGN})
  pypfm_objects(${name}_objects SOURCES ${arg_SOURCES} INCLUDES ${arg_INCLUDE} ${arg_PRIVATE_INCLUDES} DEFINES ${arg_DEFINES})
  if(NOT PYPFM_COUNTING)
    list(REMOVE_ITEM arg_PARTS ${PYPFM_COUNTING_PARTS})
  endif()
  set(parts ${name}_objects ${arg_PARTS})
  list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  string(REGEX MATCH "^[0-9]+" major ${arg_VERSION})
  set(soname ${arg_BASE}.so.${major})
  set(headers ${name})
  if(arg_FORM_OF)
    set(headers ${arg_FORM_OF})
  endif()

  add_library(${name} SHARED ${objects})
  target_link_options(${name} PRIVATE ${PYPFM_LTO})
  if(NOT APPLE)	# whose linker has no version scripts: what is visible is exported
    target_link_options(${name} PRIVATE ${PYPFM_NO_UNDEFINED} -Wl,-Bsymbolic -Wl,--version-script=${arg_EXPORTS}
                        $<$<BOOL:${arg_STAYS}>:-Wl,-z,nodelete>)
  endif()
  set_target_properties(${name} PROPERTIES PYPFM_PARTS "${parts}" PREFIX "" LINK_DEPENDS ${arg_EXPORTS} LINKER_LANGUAGE C
                        OUTPUT_NAME ${arg_BASE})
  set(made ${name})
  if(PYPFM_STATIC)
    pypfm_static_library(${name} ${arg_BASE} ${parts})
    list(APPEND made ${name}_static)
  endif()
  foreach(target ${made})
    string(REPLACE _static -static exported ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${exported})
    add_library(pypfm::${exported} ALIAS ${target})
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${arg_INCLUDE}>
                               $<INSTALL_INTERFACE:${PYPFM_INCLUDE_DIR}/${headers}>)
    target_compile_definitions(${target} INTERFACE ${arg_DEFINES} ${arg_USER_DEFINES})
    target_link_options(${target} INTERFACE ${arg_USER_OPTIONS})
  endforeach()
  target_link_libraries(${name} PRIVATE ${arg_NEEDS})
  if(PYPFM_STATIC)
    target_link_libraries(${name}_static INTERFACE ${arg_NEEDS})
  endif()

  set(directory ${PYPFM_LIB_DIR}/${name})
  if(SKBUILD)
    # One file named as the SONAME: a wheel cannot hold symbolic links.  What -l looks for tells the linker of it.
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${soname} SUFFIX "" NO_SONAME ON)
    if(APPLE)	# whose linker has no scripts
      target_link_options(${name} PRIVATE -Wl,-install_name,@rpath/${soname})
      install(PROGRAMS $<TARGET_FILE:${name}> DESTINATION ${directory} RENAME ${arg_BASE}.so)
    else()
      target_link_options(${name} PRIVATE -Wl,-soname,${soname})
      file(CONFIGURE OUTPUT ${name}.ld CONTENT "INPUT(${soname})\n")
      install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.ld DESTINATION ${directory} RENAME ${arg_BASE}.so)
    endif()
  else()
    set_target_properties(${name} PROPERTIES VERSION ${arg_VERSION} SOVERSION ${major})
  endif()
  if(PYPFM_INSTALL)
    install(TARGETS ${made} EXPORT ${name}
            LIBRARY DESTINATION ${directory} COMPONENT libraries NAMELINK_COMPONENT development
            ARCHIVE DESTINATION ${directory} COMPONENT development)
    if(NOT arg_FORM_OF)
      install(DIRECTORY ${arg_INCLUDE}/ DESTINATION ${PYPFM_INCLUDE_DIR}/${name} COMPONENT development
              FILES_MATCHING PATTERN "*.h")
    endif()
    if(NOT SKBUILD)
      pypfm_package(${name} ${arg_BASE} ${arg_VERSION} "${arg_DESCRIPTION}" ${headers} "${arg_DEFINES};${arg_USER_DEFINES}" "${arg_USER_OPTIONS}"
                    "${arg_NEEDS}")
    endif()
  endif()
endfunction()

# pypfm_static_library(name base parts...): <name>_static, <base>.a.
#
# It is one object in which everything is local that the shared library does not export: no
# other name of ours can be the same as one of the program's.  On MIPS these names stay: its linker cannot link calls of
# functions that were made local.
function(pypfm_static_library name base)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(local --localize-hidden)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^mips")
    unset(local)
  endif()
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_C_COMPILER} ${PYPFM_NO_LTO} -r -nostdlib -o ${object} ${objects}
    COMMAND ${CMAKE_OBJCOPY} ${local} --wildcard --remove-section=.gnu.*lto* ${object}
    DEPENDS ${objects}
    COMMENT "Linking the objects of ${base}.a"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_library(${name}_static STATIC ${object})
  add_dependencies(${name}_static ${ARGN})	# make knows files of its own directory only
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON)
  set_target_properties(${name}_static PROPERTIES LINKER_LANGUAGE C PREFIX "" OUTPUT_NAME ${base}
                        ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name})
endfunction()

# pypfm_package(name base version description headers defines options needs): what pkg-config and find_package(pypfm) say of it.
function(pypfm_package name base version description headers defines options needs)
  string(REGEX REPLACE "^lib" "" base ${base})
  list(REMOVE_ITEM defines "")
  list(TRANSFORM defines PREPEND " -D" OUTPUT_VARIABLE flags)
  list(JOIN flags "" flags)
  list(TRANSFORM options PREPEND " " OUTPUT_VARIABLE link_flags)
  list(JOIN link_flags "" link_flags)
  set(private "")
  if(needs)
    set(private -pthread)
  endif()
  # Relative to the file, so that a tree that was moved is found; but a directory may be given as an absolute one.
  set(prefix ${CMAKE_INSTALL_PREFIX})
  if(NOT IS_ABSOLUTE ${PYPFM_PKGCONFIG_DIR})
    string(REGEX REPLACE "[^/]+" ".." up ${PYPFM_PKGCONFIG_DIR})
    set(prefix "\${pcfiledir}/${up}")
  endif()
  foreach(directory includedir libdir)
    set(${directory} "\${prefix}")
  endforeach()
  cmake_path(APPEND includedir ${PYPFM_INCLUDE_DIR} ${headers})
  cmake_path(APPEND libdir ${PYPFM_LIB_DIR} ${name})
  configure_file(${PROJECT_SOURCE_DIR}/csrc/package/pypfm.pc.in ${PROJECT_BINARY_DIR}/pypfm-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pypfm-${name}.pc DESTINATION ${PYPFM_PKGCONFIG_DIR} COMPONENT development)
  install(EXPORT ${name} NAMESPACE pypfm:: FILE ${name}-targets.cmake DESTINATION ${PYPFM_CMAKE_DIR}
          COMPONENT development)
  set_property(GLOBAL APPEND PROPERTY PYPFM_COMPONENTS ${name})
endfunction()
