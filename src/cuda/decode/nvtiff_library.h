// SPDX-License-Identifier: Apache-2.0
// The part of nvTIFF's interface that is used here (0.8, whose calls earlier versions do not have), declared here so
// that no NVIDIA header is needed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/memory.h"
#include "cuda/decode/decoder_status.h"

namespace penstock::nvtiff {

using Status = DecoderStatus;
std::string status_string(Status status);

struct ImageInfo {
  uint32_t type, width, height;
  int compression, photometric, planar;
  uint16_t samples, bits_of_pixel;
  uint16_t bits[16];
  int formats[16];
};
struct Region {  // of the image whose directory is at `directory`, 0: the first; width and height 0: all
  size_t directory;
  int32_t x, y;
  uint32_t width, height;
};
struct Image {  // on the host, with device addresses
  void** planes;
  size_t* pitches;  // bytes per row
  uint32_t count;   // number of planes: interleaved ones count as one
};

struct Decoder;
struct File;
struct Params;

// One function pointer each; tests replace them.
struct Library {
  Status (*decoder_create)(Decoder**, StreamHandle) = nullptr;
  Status (*decoder_destroy)(Decoder*, StreamHandle) = nullptr;
  Status (*open)(const uint8_t* file, size_t bytes, File**) = nullptr;  // the bytes must live until close()
  Status (*close)(File*) = nullptr;
  Status (*image_info)(File*, size_t directory, ImageInfo*) = nullptr;
  Status (*params_create)(Params**) = nullptr;
  Status (*params_destroy)(Params*) = nullptr;
  Status (*set_regions)(Params*, const Region*, uint32_t count) = nullptr;
  // A decoder can have one decode in flight.
  Status (*decode)(File*, Decoder*, Params*, Image* to, StreamHandle) = nullptr;
};

// Loaded at the first call. Null if it is not found; `why` then says why.
const Library* library(std::string& why);

}  // namespace penstock::nvtiff
