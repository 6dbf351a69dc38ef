# SPDX-License-Identifier: Apache-2.0
# Small files include the same headers, which take longer to read than the files do: eight are compiled as one. So the names
# in their anonymous namespaces must differ.
function(penstock_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# These tests instantiate kernels with blocks of their own, each in its way.
set(alone cuda/jpeg/huffman_lookup_test cuda/kernels/kernels_test cuda/stages/stage_kernels_test cuda/whole/kernels_test)
list(TRANSFORM alone REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/src/\\1.cpp")
set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
