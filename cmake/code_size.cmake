# SPDX-License-Identifier: Apache-2.0
# Half of a wheel is compressed code (docs/decisions/0048-wheels.md). What runs once, when a pipeline is made, is compiled
# for size, and the linker drops the functions of it that nothing calls. Whatever runs for each batch or call is not: -Os
# made pipelines of small operators 13 percent slower.
function(penstock_code_size target room)
  if(room STREQUAL "graph" AND NOT PENSTOCK_SANITIZE)
    target_compile_options(${target} PRIVATE -Os -ffunction-sections -fdata-sections)
  endif()
endfunction()

# The parser of JSON, which reads definitions and settings.
if(NOT PENSTOCK_SANITIZE)
  set_source_files_properties(src/base/json.cpp src/base/json_text.cpp PROPERTIES COMPILE_OPTIONS -Os)
endif()
