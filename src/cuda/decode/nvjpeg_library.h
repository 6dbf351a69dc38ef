// SPDX-License-Identifier: Apache-2.0
// The part of nvJPEG's interface that is used here, declared anew so that no header of NVIDIA's is needed: versions 12
// and 13 agree in it.
#pragma once
#include <cstddef>
#include <string>

#include "base/memory.h"

namespace penstock::nvjpeg {

enum class Status : int {
  success = 0,
  not_initialized,
  invalid_parameter,
  bad_jpeg,
  jpeg_not_supported,
  allocator_failure,
  execution_failed,
  arch_mismatch,
  internal_error,
  implementation_not_supported,
  incomplete_bitstream
};
const char* words_of(Status status);

constexpr int kBackendHardware = 3;
enum class OutputFormat : int { rgb_interleaved = 5, bgr_interleaved = 6 };

struct Image {  // where the pixels go: interleaved ones into the first plane
  unsigned char* plane[4] = {};
  size_t pitch[4] = {};  // bytes of a row
};

struct Handle;
struct State;

// One function pointer each; tests put functions of their own here.
struct Library {
  Status (*create)(int backend, void* device_allocator, void* pinned_allocator, unsigned flags, Handle**) = nullptr;
  Status (*destroy)(Handle*) = nullptr;
  Status (*state_create)(Handle*, State**) = nullptr;
  Status (*state_destroy)(State*) = nullptr;
  Status (*batched_initialize)(Handle*, State*, int size, int cpu_threads, OutputFormat) = nullptr;
  Status (*batched_decode)(Handle*, State*, const unsigned char* const* files, const size_t* lengths, Image* to,
                           StreamHandle) = nullptr;
};

// Loaded at the first call. Null where it is not found; then `why` says so.
const Library* library(std::string& why);

}  // namespace penstock::nvjpeg
