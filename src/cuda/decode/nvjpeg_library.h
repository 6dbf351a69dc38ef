// SPDX-License-Identifier: Apache-2.0
// The part of nvJPEG's interface that is used here, declared here so that no NVIDIA header is needed: versions 12 and
// 13 have it in common.
#pragma once
#include <cstddef>
#include <string>

#include "base/memory.h"
#include "cuda/decode/decoder_status.h"

namespace penstock::nvjpeg {

using Status = DecoderStatus;
std::string status_string(Status status);

constexpr int kBackendHardware = 3;
enum class OutputFormat : int { rgb_interleaved = 5, bgr_interleaved = 6 };

struct Image {  // destinations of the pixels: interleaved ones go to the first plane
  unsigned char* plane[4] = {};
  size_t pitch[4] = {};  // bytes per row
};

struct Handle;
struct State;

// One function pointer each; tests replace them.
struct Library {
  Status (*create)(int backend, void* device_allocator, void* pinned_allocator, unsigned flags, Handle**) = nullptr;
  Status (*destroy)(Handle*) = nullptr;
  Status (*state_create)(Handle*, State**) = nullptr;
  Status (*state_destroy)(State*) = nullptr;
  Status (*batched_initialize)(Handle*, State*, int size, int cpu_threads, OutputFormat) = nullptr;
  Status (*batched_decode)(Handle*, State*, const unsigned char* const* files, const size_t* lengths, Image* to,
                           StreamHandle) = nullptr;
};

// Loaded at the first call. Null if it is not found; `why` then says why.
const Library* library(std::string& why);

}  // namespace penstock::nvjpeg
