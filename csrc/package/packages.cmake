# The target uninstall, and what cpack makes: a .deb for each component, and one .tar.gz of all.
# Included after all that is installed.

set(CPACK_PACKAGE_VENDOR pypfm)
set(CPACK_PACKAGE_CONTACT "pypfm <pypfm@localhost>")	# dpkg wants one
set(CPACK_PACKAGE_FILE_NAME pypfm-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_COMPONENTS_ALL libraries development manual commands)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS libraries)

set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(libraries "shared libraries")
set(development "headers, static libraries, pkg-config and CMake files")
set(manual "manual pages")
set(commands "programs that pypfm's commands run")
foreach(component ${CPACK_COMPONENTS_ALL})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/pypfm-${component} RENAME copyright
          COMPONENT ${component})	# each package has it, where Debian wants it
  string(TOUPPER ${component} upper)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${PROJECT_DESCRIPTION}: ${${component}}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME pypfm-${component})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${CPACK_COMPONENT_${upper}_DESCRIPTION}")
endforeach()
set(CPACK_DEBIAN_MANUAL_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_MANUAL_PACKAGE_SECTION doc)
find_program(PYPFM_SHLIBDEPS dpkg-shlibdeps)	# of dpkg-dev: knows the oldest C library that will do
foreach(component LIBRARIES COMMANDS)
  if(PYPFM_SHLIBDEPS)
    set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS ON)
  else()
    set(CPACK_DEBIAN_${component}_PACKAGE_DEPENDS libc6)
  endif()
endforeach()
include(CPack)

# cmake has a list of its own, install_manifest.txt: it forgets DESTDIR and earlier installations, and cpack replaces it.
set(installed ${PROJECT_BINARY_DIR}/installed.txt)
install(CODE "
  if(NOT CMAKE_INSTALL_PREFIX MATCHES \"/_CPack_Packages/\")
    set(directory \"\$ENV{DESTDIR}\")
    if(directory)
      get_filename_component(directory \"\${directory}\" ABSOLUTE)
    endif()
    foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
      file(APPEND \"${installed}\" \"\${directory}\${file}\\n\")
    endforeach()
  endif()" ALL_COMPONENTS)
add_custom_target(uninstall
  COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/uninstall.sh ${installed}
  COMMENT "Removing what was installed" VERBATIM)
