# SPDX-License-Identifier: Apache-2.0
# The fuzzers of saved pipelines and checkpoints need all operators, which clang 14 does not compile: these are built by g++, in
# the build of the unit tests under the address sanitizer, with libFuzzer's library of clang. What reads such texts is traced
# (coverage.cpp). The objects are those of the unit tests, where nothing counts what is traced (untraced.cpp).
execute_process(COMMAND clang++-14 --print-resource-dir OUTPUT_VARIABLE clang_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(libfuzzer ${clang_folder}/lib/linux/libclang_rt.fuzzer-${CMAKE_SYSTEM_PROCESSOR}.a)
set(below_capi ${PENSTOCK_ROOMS})
list(REMOVE_ITEM below_capi capi)
if(EXISTS ${libfuzzer})
  set(trace -fsanitize-coverage=trace-pc,trace-cmp)
  target_compile_options(penstock_graph PRIVATE ${trace})
  set(traced exec/pipeline exec/output_queue exec/deliveries data/checkpoint data/sample_order)
  list(TRANSFORM traced REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/src/\\1.cpp")
  set_source_files_properties(${traced} PROPERTIES COMPILE_OPTIONS "${trace}" SKIP_UNITY_BUILD_INCLUSION ON)
  add_library(penstock_untraced OBJECT ${CMAKE_CURRENT_LIST_DIR}/untraced.cpp)
  list(APPEND PENSTOCK_OBJECTS $<TARGET_OBJECTS:penstock_untraced>)
  foreach(name pipeline_fuzzer checkpoint_fuzzer)
    add_executable(${name} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp ${CMAKE_CURRENT_LIST_DIR}/coverage.cpp)
    foreach(room ${below_capi})
      target_link_libraries(${name} PRIVATE $<TARGET_OBJECTS:penstock_${room}>)
    endforeach()
    target_link_libraries(${name} PRIVATE ${libfuzzer} fmt::fmt nlohmann_json::nlohmann_json penstock_codec_libraries Threads::Threads
                          ${CMAKE_DL_LIBS})
    target_link_options(${name} PRIVATE -Wl,--wrap=__sanitizer_cov_trace_pc)
  endforeach()
endif()
