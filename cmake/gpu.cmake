# SPDX-License-Identifier: Apache-2.0
# The GPU part: a library that is loaded at run time. Where the CUDA toolkit is, it is built against CUDA's runtime (linked
# statically, so that it loads without a driver); with the tests it is also built against a GPU that is emulated.
file(GLOB gpu_sources CONFIGURE_DEPENDS src/cuda/*.cpp src/cuda/decode/*.cpp src/cuda/jpeg/*.cpp src/cuda/kernels/*.cpp
     src/cuda/runtime/*.cpp src/cuda/stages/*.cpp src/cuda/video/*.cpp src/cuda/whole/*.cpp)
list(FILTER gpu_sources EXCLUDE REGEX "(_test|/batch_decoder|/write_text)\\.cpp$")
# Videos on the GPU need the declarations of nv-codec-headers; its library is found at run time.
find_path(PENSTOCK_NV_CODEC_HEADERS ffnvcodec/dynlink_nvcuvid.h)
if(PENSTOCK_NV_CODEC_HEADERS)
  file(GLOB nvdec_sources CONFIGURE_DEPENDS src/cuda/video/nvdec/*.cpp)
  set_source_files_properties(src/cuda/video/no_engine.cpp PROPERTIES COMPILE_DEFINITIONS PENSTOCK_NVDEC)
  list(APPEND gpu_sources ${nvdec_sources})
endif()

# The headers that the text of a kernel begins with: what is written with transcendental.h comes after it.
set(vocabulary pixel/prelude.h pixel/host_device.h base/half.h pixel/math.h pixel/wrap.h pixel/convert.h
    pixel/affine.h pixel/transcendental32.h pixel/transcendental.h pixel/far_angles.h pixel/float32.h pixel/taps.h pixel/stored.h pixel/philox.h)
# The text of the JPEG decoder's kernels.
set(jpeg_kernels pixel/prelude.h cuda/jpeg/batch_table.h cuda/jpeg/device.h cuda/jpeg/huffman_lookup.h cuda/jpeg/scan.h
    cuda/jpeg/unstuff.h cuda/jpeg/restarts.h cuda/jpeg/synchronize.h cuda/jpeg/decode.h cuda/jpeg/color_rows.h
    cuda/jpeg/reconstruct.h cuda/jpeg/kernels.h)
# The text of the kernel that makes RGB of a video's frames.
set(video_kernels pixel/prelude.h pixel/host_device.h pixel/yuv_rgb.h cuda/video/frame_table.h cuda/video/convert.h)
# The headers of stages' kernels: a text has those that it needs.
file(GLOB kernel_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src src/cuda/kernels/*.h)
list(FILTER kernel_sources EXCLUDE REGEX "/(emit|kernel_writer|fold_text|numbered_operators|type_names|vocabulary)\\.h$")  # the host's
list(REMOVE_ITEM kernel_sources cuda/kernels/spellings.h)
list(PREPEND kernel_sources cuda/kernels/spellings.h pixel/frame_colors.h launch/find_entry.h launch/word_runs.h)
# The kernels of whole operators and of families: a text is one of them, with what it includes of these and of the vocabulary.
file(GLOB whole_kernels CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src src/cuda/whole/kernels/*.h
     src/families/*/kernels/*.h)
list(PREPEND whole_kernels pixel/prelude.h pixel/extremes.h pixel/gamma.h pixel/frame_colors.h launch/find_entry.h
     launch/entry.h launch/global_memory.h launch/word_runs.h launch/refusal.h numerics/lz4_block.h numerics/folds.h
     numerics/mirrored.h numerics/loudness.h
     numerics/butterflies.inc.h numerics/fourier_plan.h numerics/fourier_stages.h numerics/convolution_stages.h)
function(penstock_embed_headers source namespace function)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/src/ OUTPUT_VARIABLE files)
  string(REPLACE ";" "," headers "${ARGN}")
  add_custom_command(OUTPUT ${source}
                     COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${CMAKE_SOURCE_DIR}/src -DHEADERS=${headers}
                             -DNAMESPACE=${namespace} -DFUNCTION=${function} -DOUTPUT=${source}
                             -P ${CMAKE_SOURCE_DIR}/cmake/vocabulary.cmake
                     DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/vocabulary.cmake VERBATIM)
endfunction()
set(vocabulary_source ${CMAKE_BINARY_DIR}/vocabulary_parts.cpp ${CMAKE_BINARY_DIR}/jpeg_kernel_parts.cpp
    ${CMAKE_BINARY_DIR}/video_kernel_parts.cpp ${CMAKE_BINARY_DIR}/kernel_source_parts.cpp
    ${CMAKE_BINARY_DIR}/whole_kernel_parts.cpp)
penstock_embed_headers(${CMAKE_BINARY_DIR}/vocabulary_parts.cpp penstock vocabulary_parts ${vocabulary})
penstock_embed_headers(${CMAKE_BINARY_DIR}/jpeg_kernel_parts.cpp penstock::jpeg_gpu kernel_parts ${jpeg_kernels})
penstock_embed_headers(${CMAKE_BINARY_DIR}/video_kernel_parts.cpp penstock::video_gpu kernel_parts ${video_kernels})
penstock_embed_headers(${CMAKE_BINARY_DIR}/kernel_source_parts.cpp penstock kernel_source_parts ${kernel_sources})
penstock_embed_headers(${CMAKE_BINARY_DIR}/whole_kernel_parts.cpp penstock::whole kernel_parts ${whole_kernels})
# Parts of the room that small programs take too: each is compiled once. Nothing of the room is built by itself: where
# there is neither the CUDA toolkit nor a test, nothing needs it.
set(kernel_text_sources src/cuda/stages/texts.cpp src/cuda/stages/generic_text.cpp src/cuda/kernels/fold_text.cpp
    src/cuda/kernels/vocabulary.cpp src/cuda/kernels/vocabulary_text.cpp src/cuda/kernels/numbered_operators.cpp
    src/cuda/jpeg/kernel_text.cpp src/cuda/video/kernel_text.cpp)
set(nvrtc_sources src/cuda/runtime/nvrtc.cpp src/cuda/runtime/nvidia_library.cpp src/cuda/runtime/driver_version.cpp)
set(compiling_sources src/cuda/runtime/kernel_cache.cpp src/cuda/runtime/compile_apart.cpp)
foreach(part kernel_text nvrtc compiling)
  list(TRANSFORM ${part}_sources PREPEND ${CMAKE_SOURCE_DIR}/)
  list(REMOVE_ITEM gpu_sources ${${part}_sources})
endforeach()
list(APPEND kernel_text_sources ${vocabulary_source})
set(room_sources ${gpu_sources})
set(gpu_objects)
foreach(part room kernel_text nvrtc compiling)
  set(target penstock_gpu_${part})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${${part}_sources})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${target} PUBLIC fmt::fmt nlohmann_json::nlohmann_json)
  list(APPEND gpu_objects $<TARGET_OBJECTS:${target}>)
  if(PENSTOCK_SANITIZE)
    penstock_folders_in_batches(${target})
  endif()
  penstock_unoptimized(${target})
endforeach()

# NVRTC in a process of its own. Beside the libraries that begin it: src/cuda/runtime/compile_apart.cpp.
add_executable(penstock_kernel_compiler EXCLUDE_FROM_ALL src/cuda/runtime/apart/main.cpp src/base/error.cpp
               $<TARGET_OBJECTS:penstock_gpu_nvrtc>)
target_link_libraries(penstock_kernel_compiler PRIVATE fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})

function(penstock_gpu_library name)
  add_library(${name} SHARED ${gpu_objects} ${ARGN} src/immortal.cpp)  # threads that compile use statics at an exit
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE penstock fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
  add_dependencies(${name} penstock_kernel_compiler)
endfunction()

find_program(PENSTOCK_NVCC nvcc HINTS /usr/local/cuda/bin)
if(PENSTOCK_NVCC)
  find_package(CUDAToolkit 12.8)
endif()
set(PENSTOCK_NVCC_MAJOR ${CUDAToolkit_VERSION_MAJOR})
# CUDA's runtime of 12 works on drivers of CUDA 12 and 13, that of 13 on the latter alone. So it may be another one than
# the toolkit's: the folder of the wheel nvidia-cuda-runtime-cu12, with `include` and `lib`.
file(GLOB cudart_folder ${CMAKE_SOURCE_DIR}/.venv/lib/python*/site-packages/nvidia/cuda_runtime)
set(PENSTOCK_CUDART "${cudart_folder}" CACHE PATH "folder of CUDA's static runtime and its headers; empty: the toolkit's")
set(cudart_includes ${CUDAToolkit_INCLUDE_DIRS})
set(cudart_static CUDA::cudart_static)
if(CUDAToolkit_FOUND AND EXISTS "${PENSTOCK_CUDART}/lib/libcudart_static.a")
  list(PREPEND cudart_includes ${PENSTOCK_CUDART}/include)  # the toolkit's have crt/, a package of its own
  add_library(penstock_cudart_static STATIC IMPORTED)
  set_target_properties(penstock_cudart_static PROPERTIES IMPORTED_LOCATION ${PENSTOCK_CUDART}/lib/libcudart_static.a
                        INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};rt")
  set(cudart_static penstock_cudart_static)
elseif(CUDAToolkit_FOUND AND PENSTOCK_CUDART)
  message(FATAL_ERROR "PENSTOCK_CUDART is ${PENSTOCK_CUDART}, which has no lib/libcudart_static.a")
endif()
file(GLOB cudart_sources CONFIGURE_DEPENDS src/cuda/cudart/*.cpp)
list(FILTER cudart_sources EXCLUDE REGEX "_check\\.cpp$")
include(cmake/prebuilt.cmake)
if(CUDAToolkit_FOUND)
  list(REMOVE_ITEM cudart_sources ${CMAKE_SOURCE_DIR}/src/cuda/cudart/prebuilt_images.cpp)
  add_library(penstock_cudart OBJECT EXCLUDE_FROM_ALL ${cudart_sources})
  target_include_directories(penstock_cudart SYSTEM PUBLIC ${cudart_includes})
  target_link_libraries(penstock_cudart PUBLIC fmt::fmt nlohmann_json::nlohmann_json)
  set(cudart_objects $<TARGET_OBJECTS:penstock_cudart> $<TARGET_OBJECTS:penstock_prebuilt_images>)
endif()
# Tries the driver function by function.
function(penstock_driver_check name)
  add_executable(${name} ${ARGN} src/cuda/cudart/driver_check.cpp ${cudart_objects}
                 $<TARGET_OBJECTS:penstock_gpu_compiling> $<TARGET_OBJECTS:penstock_gpu_nvrtc>)
  target_link_libraries(${name} PRIVATE penstock fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES BUILD_RPATH "$ORIGIN")
endfunction()
if(TARGET CUDA::cudart_static AND NOT PENSTOCK_SANITIZE)
  penstock_gpu_library(penstock_cuda ${cudart_objects} src/cuda/decode/batch_decoder.cpp)
  target_link_libraries(penstock_cuda PRIVATE ${cudart_static})
  set_target_properties(penstock_cuda PROPERTIES SUFFIX ${PENSTOCK_SUFFIX})
  target_link_options(penstock_cuda PRIVATE -Wl,--gc-sections -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/gpu_exports.map)
  install(TARGETS penstock_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})  # as in install.cmake
  install(TARGETS penstock_kernel_compiler RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})
  # Needs a GPU, so it is no test of the build.
  penstock_driver_check(gpu_driver_check EXCLUDE_FROM_ALL)
  target_link_libraries(gpu_driver_check PRIVATE ${cudart_static})
  if(PENSTOCK_TESTS)  # the stages' tests on a real GPU, and what their kernels take
    foreach(name stage_check stage_bench whole_bench jpeg_bench)
      add_executable(gpu_${name} EXCLUDE_FROM_ALL ${gpu_objects} ${cudart_objects}
                     src/cuda/decode/batch_decoder.cpp ${PENSTOCK_OBJECTS})
      target_include_directories(gpu_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
      target_link_libraries(gpu_${name} PRIVATE fmt::fmt nlohmann_json::nlohmann_json penstock_codec_libraries
                            Threads::Threads ${cudart_static} ${CMAKE_DL_LIBS})
    endforeach()
    target_sources(gpu_stage_check PRIVATE src/cuda/stages/stage_test.cpp src/cuda/whole/whole_test.cpp src/cuda/stages/stage_kernels_test.cpp)
    target_link_libraries(gpu_stage_check PRIVATE GTest::gtest_main)
    target_sources(gpu_stage_bench PRIVATE benchmarks/gpu/stage_bench.cpp)
    target_sources(gpu_whole_bench PRIVATE benchmarks/gpu/whole_bench.cpp)
    target_sources(gpu_jpeg_bench PRIVATE benchmarks/gpu/jpeg_bench.cpp)
    add_executable(gpu_feed_bench EXCLUDE_FROM_ALL benchmarks/gpu/feed_bench.cpp)
    target_link_libraries(gpu_feed_bench PRIVATE penstock Threads::Threads ${cudart_static} ${CMAKE_DL_LIBS})
  endif()
endif()
if(CUDAToolkit_FOUND AND PENSTOCK_TESTS)  # the same on CUDA calls that only keep the books
  penstock_driver_check(fake_driver_check tests/fake_cuda/driver_library.cpp tests/fake_cuda/runtime.cpp)
  target_include_directories(fake_driver_check SYSTEM PRIVATE ${cudart_includes})
  target_link_options(fake_driver_check PRIVATE -Wl,--wrap=dlopen)
  set_target_properties(fake_driver_check PROPERTIES ENABLE_EXPORTS ON)
  add_test(NAME cuda_driver COMMAND fake_driver_check --fault)
  set_tests_properties(cuda_driver PROPERTIES SKIP_REGULAR_EXPRESSION "no kernels: NVRTC is not installed"
                       ENVIRONMENT "PENSTOCK_CACHE=${CMAKE_BINARY_DIR}/test_cache;ASAN_OPTIONS=detect_leaks=0")
endif()

if(PENSTOCK_TESTS)
  file(GLOB emulated_sources CONFIGURE_DEPENDS tests/emulated_gpu/*.cpp)
  if(PENSTOCK_SANITIZE MATCHES "thread")  # which cannot follow from stack to stack
    set_source_files_properties(tests/emulated_gpu/fibers.cpp tests/emulated_gpu/cooperative_kernels.cpp PROPERTIES
                                COMPILE_OPTIONS -fno-sanitize=thread)
  endif()
  if(emulated_sources)
    set(one_thread ${CMAKE_BINARY_DIR}/one_thread_parts.cpp)
    penstock_embed_headers(${one_thread} penstock one_thread_parts ../tests/emulated_gpu/one_thread.h)
    add_library(penstock_emulation OBJECT ${emulated_sources} ${one_thread})
    target_include_directories(penstock_emulation PUBLIC ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(penstock_emulation PUBLIC fmt::fmt nlohmann_json::nlohmann_json)
    penstock_gpu_library(penstock_emulated_gpu $<TARGET_OBJECTS:penstock_emulation>)
    set(emulated_objects ${gpu_objects} $<TARGET_OBJECTS:penstock_emulation> ${PENSTOCK_OBJECTS})
    add_library(standin_cufile SHARED tests/standin_cufile/cufile.cpp)
    add_library(standin_nvrtc SHARED tests/standin_nvrtc/nvrtc.cpp)
    add_library(standin_cudart SHARED tests/standin_cudart/cudart.cpp)
    add_dependencies(penstock_emulated_gpu standin_cudart standin_cufile standin_nvrtc)
  endif()
  if(PENSTOCK_NV_CODEC_HEADERS)  # a libnvcuvid for machines without a GPU
    file(GLOB nvcuvid_sources CONFIGURE_DEPENDS tests/emulated_gpu/nvcuvid/*.cpp)
    add_library(penstock_nvcuvid SHARED ${nvcuvid_sources})
    target_include_directories(penstock_nvcuvid PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(penstock_nvcuvid PRIVATE penstock fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(penstock_nvcuvid PROPERTIES OUTPUT_NAME nvcuvid SOVERSION 1
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/emulated_gpu BUILD_RPATH "$ORIGIN/..")
    add_dependencies(penstock_emulated_gpu penstock_nvcuvid)
    add_executable(nvdec_limit EXCLUDE_FROM_ALL benchmarks/gpu/nvdec_limit.cpp)
    target_link_libraries(nvdec_limit PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  endif()
  file(GLOB gpu_tests CONFIGURE_DEPENDS src/cuda/decode/*_test.cpp src/cuda/jpeg/*_test.cpp
       src/cuda/kernels/*_test.cpp src/cuda/runtime/*_test.cpp src/cuda/stages/*_test.cpp
       src/cuda/whole/*_test.cpp src/families/*/kernels/*_test.cpp)
  if(gpu_tests)
    add_executable(cuda_test ${gpu_tests} ${emulated_objects})
    target_include_directories(cuda_test PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(cuda_test PRIVATE fmt::fmt nlohmann_json::nlohmann_json penstock_codec_libraries Threads::Threads
                          GTest::gtest_main ${CMAKE_DL_LIBS})
    penstock_in_batches(cuda_test)
    penstock_unoptimized(cuda_test)
    target_compile_options(cuda_test PRIVATE -Wno-maybe-uninitialized)  # kernels fill arrays by parts that exclude each other
    if(PENSTOCK_SANITIZE)
      set_source_files_properties(src/cuda/jpeg/huffman_lookup_test.cpp src/cuda/kernels/kernels_test.cpp
                                  src/cuda/stages/stage_kernels_test.cpp src/cuda/whole/kernels_test.cpp
                                  PROPERTIES COMPILE_OPTIONS -O1)  # they run kernels
    endif()
    # Host time of a call: nothing is copied or launched.
    add_executable(stage_host_bench EXCLUDE_FROM_ALL benchmarks/gpu/stage_host_bench.cpp ${emulated_objects})
    target_include_directories(stage_host_bench PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(stage_host_bench PRIVATE fmt::fmt nlohmann_json::nlohmann_json penstock_codec_libraries Threads::Threads
                          ${CMAKE_DL_LIBS})
    # By far the longest program: two halves for two cores.
    file(GLOB nvrtc_folder ${CMAKE_SOURCE_DIR}/.venv/lib/python*/site-packages/nvidia/cu13/lib)
    foreach(half 0 1)
      add_test(NAME cuda_${half} COMMAND cuda_test)
      # A search for leaks dies inside of NVRTC. (The driver's streams, events and kernels live as long as the process.)
      set_tests_properties(cuda_${half} PROPERTIES
                           COST 100  # first, so that the short programs fill what remains of two cores
                           ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0;GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${half}"
                           ENVIRONMENT_MODIFICATION "PENSTOCK_NVIDIA_LIBS=path_list_append:${nvrtc_folder}")
    endforeach()
  endif()
endif()
