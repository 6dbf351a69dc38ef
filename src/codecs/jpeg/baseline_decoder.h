// SPDX-License-Identifier: Apache-2.0
// Our own JPEG engine, "jpeg/penstock": baseline files without errors. Everything else, and every file with any error,
// goes to libjpeg-turbo, so that damaged files behave as users expect.
#pragma once
#include <cstdint>

#include "base/target.h"

namespace penstock {

enum class JpegEngine : uint8_t {
  automatic,      // ours first, then libjpeg-turbo
  own,            // only ours: a file that it does not accept is an error (for tests)
  libjpeg_turbo,  // only libjpeg-turbo
};
// PENSTOCK_JPEG=auto|own|libjpeg-turbo. Tests and benchmarks may change both, but not while something is decoded.
struct JpegChoice {
  JpegEngine engine = JpegEngine::automatic;
  Target target = Target::scalar;
};
JpegChoice& jpeg_choice();

}  // namespace penstock
