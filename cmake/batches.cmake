# SPDX-License-Identifier: Apache-2.0
# Small files include the same headers, which take longer to read than the files do: about eight are compiled as one. So
# the names in their anonymous namespaces must differ. Alone stay files of several programs, what is compiled for several
# processor targets, and what is named in `alone` below.
function(penstock_in_batches target)  # in alphabetical order
  set(size 8)
  if(PENSTOCK_SANITIZE)  # built as a whole each time
    set(size 16)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

function(penstock_folders_in_batches target)  # each batch has files of one folder
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(folders)
  foreach(source IN LISTS sources)
    get_source_file_property(skipped ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(NOT skipped)
      get_filename_component(folder ${source} DIRECTORY)
      string(REPLACE "${CMAKE_SOURCE_DIR}/" "" folder "${folder}")
      string(REGEX REPLACE "^src/" "" folder "${folder}")
      string(MAKE_C_IDENTIFIER "${folder}" folder)
      list(APPEND folders ${folder})
      list(APPEND of_${folder} ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH of_${folder} count)
    math(EXPR batches "(${count} + 9) / 10")
    math(EXPR size "(${count} + ${batches} - 1) / ${batches}")
    set(place 0)
    foreach(source IN LISTS of_${folder})
      math(EXPR batch "${place} / ${size}")
      math(EXPR place "${place} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${batch})
    endforeach()
  endforeach()
endfunction()

# Under sanitizers a third of the compilation is optimization, which most tests do not need. Under TSan those of the
# rooms base, data and exec do: they run for minutes.
function(penstock_unoptimized target)
  if(PENSTOCK_SANITIZE MATCHES "address" OR
     (PENSTOCK_SANITIZE AND NOT target MATCHES "^(penstock_(base|data|exec)|(base|data|exec)_test)$"))
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

set(alone src/base/target.cpp src/codecs/audio/flac_checksums.cpp src/codecs/audio/flac_loops.cpp
    src/cuda/decode/nvjpeg_decoder.cpp src/cuda/decode/nvjpeg2000_decoder.cpp src/cuda/decode/nvtiff_decoder.cpp
    src/cuda/jpeg/huffman_lookup_test.cpp src/cuda/kernels/kernels_test.cpp src/cuda/stages/stage_kernels_test.cpp
    src/cuda/whole/kernels_test.cpp)
list(TRANSFORM alone PREPEND ${CMAKE_SOURCE_DIR}/)
# The names in a file that registers a format are its own, and so are those of the JPEG decoder.
file(GLOB_RECURSE codecs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/codecs/*.cpp)
list(FILTER codecs EXCLUDE REGEX "_test\\.cpp$")
foreach(source IN LISTS codecs)
  file(STRINGS ${source} registers REGEX "^PENSTOCK_(IMAGE|SOUND)_FORMAT" LIMIT_COUNT 1)
  if(registers OR source MATCHES "/codecs/jpeg/")
    list(APPEND alone ${source})
  endif()
endforeach()
set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
