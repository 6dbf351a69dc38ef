# SPDX-License-Identifier: Apache-2.0
# The backend for Triton Inference Server. A server loads it, and the names that begin with TRITON are the server's: no
# library of Triton is linked. It exports the functions that a server looks for, and nothing else.
file(GLOB PENSTOCK_TRITON_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/triton/*.cpp)
# The library of JSON is compiled once, in json.cpp, whose code libpenstock.so does not show.
add_library(triton_penstock MODULE ${PENSTOCK_TRITON_SOURCES} ${CMAKE_SOURCE_DIR}/src/base/json.cpp)
target_link_libraries(triton_penstock PRIVATE penstock fmt::fmt nlohmann_json::nlohmann_json)
set_target_properties(triton_penstock PROPERTIES CXX_VISIBILITY_PRESET hidden UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12
                      BUILD_RPATH "$ORIGIN;${CMAKE_BINARY_DIR}" INSTALL_RPATH "$ORIGIN" SUFFIX ${PENSTOCK_SUFFIX})
target_compile_options(triton_penstock PRIVATE -O2 -ffunction-sections)
target_link_options(triton_penstock PRIVATE -Wl,--gc-sections)  # what of it the backend does not call
if(PENSTOCK_SANITIZE)  # by hand, with the server: docs/how_to/serve_with_triton.md
  set_target_properties(triton_penstock PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
if(DEFINED SKBUILD)
  install(TARGETS triton_penstock LIBRARY DESTINATION penstock COMPONENT python EXCLUDE_FROM_ALL)
endif()
