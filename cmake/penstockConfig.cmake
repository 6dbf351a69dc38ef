# SPDX-License-Identifier: Apache-2.0
# find_package(penstock [COMPONENTS library plugin]): penstock::penstock for programs, penstock::plugin for plug-ins.
include(${CMAKE_CURRENT_LIST_DIR}/penstockTargets.cmake)
foreach(component IN LISTS ${CMAKE_FIND_PACKAGE_NAME}_FIND_COMPONENTS)
  if(component MATCHES "^(library|plugin)$")
    set(${CMAKE_FIND_PACKAGE_NAME}_${component}_FOUND TRUE)
  elseif(${CMAKE_FIND_PACKAGE_NAME}_FIND_REQUIRED_${component})
    set(${CMAKE_FIND_PACKAGE_NAME}_FOUND FALSE)
    set(${CMAKE_FIND_PACKAGE_NAME}_NOT_FOUND_MESSAGE "penstock has the components library and plugin, but no '${component}'")
  endif()
endforeach()
if(NOT TARGET penstock::plugin)
  # Equal bytes on all devices need exactly these flags of floating point; loops need -O3.
  add_library(penstock::plugin INTERFACE IMPORTED)
  set_target_properties(penstock::plugin PROPERTIES
                        INTERFACE_LINK_LIBRARIES penstock::penstock INTERFACE_COMPILE_FEATURES cxx_std_20
                        INTERFACE_COMPILE_OPTIONS "-O3;-ffp-contract=off;-fno-math-errno;-fno-trapping-math")
endif()
