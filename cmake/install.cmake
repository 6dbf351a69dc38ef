# SPDX-License-Identifier: Apache-2.0
# For C and C++ programs: the library, its headers, find_package(penstock) and pkg-config, as the component `development`.
# What a wheel holds is the component `python`, which is installed only where it is asked for (pyproject.toml does); a wheel
# has the same files for C++ in penstock/_development.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
target_include_directories(penstock INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
target_compile_features(penstock INTERFACE cxx_std_17)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/penstockConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# What programs are built with: headers, CMake files, pkg-config and licenses below `root`, for the library in `libraries`;
# both relative to the prefix.
function(penstock_install_development root libraries)  # then options of install()
  string(REGEX REPLACE "/$" "" include "${root}${CMAKE_INSTALL_INCLUDEDIR}")
  set(lib ${root}${CMAKE_INSTALL_LIBDIR})
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DSOURCE_DIR=${CMAKE_SOURCE_DIR}\"
      \"-DDESTINATION=\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${include}\" -P \"${CMAKE_SOURCE_DIR}/cmake/install_headers.cmake\"
      COMMAND_ERROR_IS_FATAL ANY)" ${ARGN})
  install(FILES ${CMAKE_SOURCE_DIR}/third_party/dlpack/dlpack.h DESTINATION ${include}/penstock ${ARGN})
  # Relative to the .pc file, so that an installed tree can be moved.
  file(RELATIVE_PATH libraries_from_pc /${lib}/pkgconfig /${libraries})
  file(RELATIVE_PATH include_from_pc /${lib}/pkgconfig /${include})
  string(REPLACE "/" "_" folder ${lib})
  foreach(pc penstock penstock-plugin)
    configure_file(${CMAKE_SOURCE_DIR}/cmake/${pc}.pc.in ${CMAKE_BINARY_DIR}/${folder}/${pc}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${folder}/${pc}.pc DESTINATION ${lib}/pkgconfig ${ARGN})
  endforeach()
  foreach(name penstock Penstock)  # find_package() takes either
    set(package ${lib}/cmake/${name})
    install(FILES ${CMAKE_SOURCE_DIR}/cmake/${name}Config.cmake DESTINATION ${package} ${ARGN})
    install(FILES ${CMAKE_BINARY_DIR}/penstockConfigVersion.cmake DESTINATION ${package} RENAME ${name}ConfigVersion.cmake
            ${ARGN})
  endforeach()
endfunction()

set(component COMPONENT development)
install(TARGETS penstock EXPORT penstock LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT penstock NAMESPACE penstock:: FILE penstockTargets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/penstock ${component})
penstock_install_development("" ${CMAKE_INSTALL_LIBDIR} ${component})
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} ${component})
install(FILES third_party/dlpack/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.dlpack ${component})
