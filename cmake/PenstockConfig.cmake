# SPDX-License-Identifier: Apache-2.0
# find_package(Penstock) finds the same as find_package(penstock), with targets of either name.
include(${CMAKE_CURRENT_LIST_DIR}/../penstock/penstockConfig.cmake)
foreach(target penstock plugin)
  if(NOT TARGET Penstock::${target})
    add_library(Penstock::${target} INTERFACE IMPORTED)
    set_target_properties(Penstock::${target} PROPERTIES INTERFACE_LINK_LIBRARIES penstock::${target})
  endif()
endforeach()
