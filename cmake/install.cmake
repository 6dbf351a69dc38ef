# SPDX-License-Identifier: Apache-2.0
# For C and C++ programs: the library, its headers, find_package(penstock) and pkg-config, as the component `development`.
# What a wheel holds is the component `python`, which is installed only where it is asked for (pyproject.toml does).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
target_include_directories(penstock INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(penstock INTERFACE cxx_std_17)
set(component COMPONENT development)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/penstockConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# Relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH include_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/penstock.pc.in penstock.pc @ONLY)

install(TARGETS penstock EXPORT penstock LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})
install(DIRECTORY include/penstock DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${component})
install(FILES third_party/dlpack/dlpack.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock ${component})
install(EXPORT penstock NAMESPACE penstock:: FILE penstockConfig.cmake DESTINATION ${package} ${component})
install(FILES ${CMAKE_BINARY_DIR}/penstockConfigVersion.cmake DESTINATION ${package} ${component})
install(FILES ${CMAKE_BINARY_DIR}/penstock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${component})
