# SPDX-License-Identifier: Apache-2.0
# The operator of TensorFlow, over TensorFlow's C interface: the build needs no TensorFlow, and one library serves all
# versions from 2.16 on. Its functions come from libtensorflow_framework.so.2, which this library must name: versions
# before 2.19 load it where no other library sees it. A library of that name without any function satisfies the linker.
if(NOT PENSTOCK_PYTHON)
  return()
endif()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tensorflow_stub.c CONTENT "int penstock_tensorflow_stub;\n")
add_library(tensorflow_stub SHARED EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/tensorflow_stub.c)
set_target_properties(tensorflow_stub PROPERTIES OUTPUT_NAME tensorflow_framework SOVERSION 2
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tensorflow_stub)
file(GLOB tensorflow_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tensorflow/*.cpp)
add_library(penstock_tf MODULE ${tensorflow_sources})
target_link_libraries(penstock_tf PRIVATE penstock)
target_link_options(penstock_tf PRIVATE -Wl,--no-as-needed $<TARGET_FILE:tensorflow_stub> -Wl,--as-needed)
add_dependencies(penstock_tf tensorflow_stub)
set_target_properties(penstock_tf PROPERTIES CXX_VISIBILITY_PRESET hidden BUILD_RPATH "$ORIGIN;${CMAKE_BINARY_DIR}"
                      INSTALL_RPATH "$ORIGIN" SUFFIX ${PENSTOCK_SUFFIX})
penstock_in_batches(penstock_tf)
add_dependencies(library penstock_tf)
if(DEFINED SKBUILD)
  install(TARGETS penstock_tf LIBRARY DESTINATION penstock COMPONENT python EXCLUDE_FROM_ALL)
else()
  set_target_properties(penstock_tf PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_SOURCE_DIR}/python/penstock)
endif()
