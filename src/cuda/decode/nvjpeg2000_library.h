// SPDX-License-Identifier: Apache-2.0
// The part of nvJPEG2000's interface that is used here (0.8 and later), declared here so that no NVIDIA header is
// needed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/memory.h"
#include "cuda/decode/decoder_status.h"

namespace penstock::nvjpeg2000 {

using Status = DecoderStatus;
std::string status_string(Status status);

struct ImageInfo {
  uint32_t width, height, tile_width, tile_height, tiles_x, tiles_y, components;
};
struct ComponentInfo {
  uint32_t width, height;
  uint8_t bits, is_signed;
};
enum class SampleType : int { uint8 = 0 };
struct Image {  // on the host, with device addresses
  void** planes;
  size_t* pitches;  // bytes per row
  SampleType type;
  uint32_t components;
};
constexpr int kInterleaved = 1;

struct Handle;
struct State;   // one image during decoding
struct Parsed;  // one file
struct Params;

// One function pointer each; tests replace them.
struct Library {
  Status (*create)(Handle**) = nullptr;
  Status (*destroy)(Handle*) = nullptr;
  Status (*state_create)(Handle*, State**) = nullptr;
  Status (*state_destroy)(State*) = nullptr;
  Status (*parsed_create)(Parsed**) = nullptr;
  Status (*parsed_destroy)(Parsed*) = nullptr;
  Status (*parse)(Handle*, const unsigned char* file, size_t length, int reserved, int reserved_too, Parsed*) = nullptr;
  Status (*image_info)(Parsed*, ImageInfo*) = nullptr;
  Status (*component_info)(Parsed*, ComponentInfo*, uint32_t component) = nullptr;
  Status (*params_create)(Params**) = nullptr;
  Status (*params_destroy)(Params*) = nullptr;
  // The bounds of the decoded part, all 0 for the whole picture.
  Status (*set_area)(Params*, uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) = nullptr;
  Status (*set_format)(Params*, int format) = nullptr;
  Status (*decode)(Handle*, State*, Parsed*, Params*, Image* to, StreamHandle) = nullptr;
};

// Loaded at the first call. Null if it is not found; `why` then says why.
const Library* library(std::string& why);

}  // namespace penstock::nvjpeg2000
