// SPDX-License-Identifier: Apache-2.0
// What the fuzzers of the JPEG decoder share: the files that they start from, and a region by four bytes.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "codecs/jpeg/test_decodes.h"
#include "codecs/test_images.h"

namespace penstock::fuzz {

// Somewhere in the picture that params ask for, by four bytes.
inline Region region_of(const uint8_t* choice, const ImageInfo& info, const DecodeParams& params = {}) {
  const int64_t height = scaled_extent(info.height, params), width = scaled_extent(info.width, params);
  Region r;
  r.y = choice[0] * height / 256, r.x = choice[1] * width / 256;
  r.height = 1 + choice[2] * (height - r.y - 1) / 255, r.width = 1 + choice[3] * (width - r.x - 1) / 255;
  return r;
}

// Every sampling, with and without restart markers, standard, optimized and long codes.
inline std::vector<test::File> seed_files() {
  std::vector<test::File> files;
  const int samplings[][2] = {{2, 2}, {1, 1}, {2, 1}, {1, 2}};
  for (int i = 0; i < 16; ++i) {
    test::JpegRecipe r;
    r.height = 17 + i * 3, r.width = 61 - i * 2;
    r.h = samplings[i % 4][0], r.v = samplings[i % 4][1];
    r.components = i % 7 == 6 ? 1 : 3;
    r.quality = 30 + i * 4;
    r.restart_mcus = i % 3 == 1 ? 1 + i / 2 : 0;
    r.optimized = i % 5 == 2;
    r.long_codes = i % 5 == 3;
    r.progressive = i == 11 || i == 14;
    r.incomplete = i == 14;
    r.seed = i;
    files.push_back(test::make_jpeg(r));
  }
  return files;
}

}  // namespace penstock::fuzz
