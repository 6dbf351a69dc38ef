// SPDX-License-Identifier: Apache-2.0
// The JPEG engine of our own, "jpeg/penstock": baseline files without a fault. Everything else, and every file in which
// anything is wrong, is left to libjpeg-turbo, so that damaged files behave as users know them.
#pragma once
#include <cstdint>

#include "base/target.h"

namespace penstock {

enum class JpegEngine : uint8_t {
  automatic,      // ours first, libjpeg-turbo behind it
  own,            // ours alone: a file that it leaves to libjpeg-turbo is an error (for tests)
  libjpeg_turbo,  // libjpeg-turbo alone
};
// PENSTOCK_JPEG=auto|own|libjpeg-turbo. Tests and benchmarks may change both; not while something is decoded.
struct JpegChoice {
  JpegEngine engine = JpegEngine::automatic;
  Target target = Target::scalar;
};
JpegChoice& jpeg_choice();

}  // namespace penstock
