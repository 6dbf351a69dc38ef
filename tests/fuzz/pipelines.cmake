# SPDX-License-Identifier: Apache-2.0
# The fuzzers of saved pipelines and checkpoints need all operators, which clang 14 does not compile: these are built by g++, in
# the build of the unit tests under the address sanitizer, with libFuzzer's library of clang. What reads such texts is built
# once more, traced (coverage.cpp); the rest are the objects of the unit tests.
execute_process(COMMAND clang++-14 --print-resource-dir OUTPUT_VARIABLE clang_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(libfuzzer ${clang_folder}/lib/linux/libclang_rt.fuzzer-${CMAKE_SYSTEM_PROCESSOR}.a)
set(below_capi ${PENSTOCK_ROOMS})
list(REMOVE_ITEM below_capi capi)
if(EXISTS ${libfuzzer})
  set(names graph/graph_json graph/graph graph/control graph/domains graph/group graph/place exec/pipeline exec/executor_outputs
      data/checkpoint data/sample_order)
  list(TRANSFORM names REPLACE "(.+)" "${CMAKE_SOURCE_DIR}/src/\\1.cpp" OUTPUT_VARIABLE traced)
  list(JOIN names "|" names)
  set_source_files_properties(${traced} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # each has an object to leave out below
  add_library(penstock_traced OBJECT EXCLUDE_FROM_ALL ${traced})
  target_compile_options(penstock_traced PRIVATE -fsanitize-coverage=trace-pc,trace-cmp)
  foreach(name pipeline_fuzzer checkpoint_fuzzer)
    add_executable(${name} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp ${CMAKE_CURRENT_LIST_DIR}/coverage.cpp
                   $<TARGET_OBJECTS:penstock_traced>)
    foreach(room ${below_capi})
      add_dependencies(${name} penstock_${room})
      target_link_libraries(${name} PRIVATE "$<FILTER:$<TARGET_OBJECTS:penstock_${room}>,EXCLUDE,/(${names})\\.cpp\\.o$>")
    endforeach()
    target_link_libraries(${name} PRIVATE ${libfuzzer} fmt::fmt nlohmann_json::nlohmann_json penstock_codec_libraries Threads::Threads
                          ${CMAKE_DL_LIBS})
    target_link_options(${name} PRIVATE -Wl,--wrap=__sanitizer_cov_trace_pc)
  endforeach()
endif()
