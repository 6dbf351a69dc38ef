// SPDX-License-Identifier: Apache-2.0
// Decoding with one engine or the other, for tests and fuzzers.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "codecs/decode_task.h"
#include "codecs/jpeg/baseline_decoder.h"
#include "codecs/jpeg/entropy_index.h"

namespace penstock::test {

// 20, as in the tests of Python; `make test-long` sets more.
inline int test_count() {
  const char* text = std::getenv("PENSTOCK_TEST_COUNT");
  return text ? std::max(1, std::atoi(text)) : 20;
}

// Restores the choice of engine and instruction set.
struct RestoreJpegChoice {
  const JpegChoice before = jpeg_choice();
  ~RestoreJpegChoice() { jpeg_choice() = before; }
};

// Keeps one index, as a store would.
struct KeptIndex : EntropyIndexAccess {
  EntropyIndex index;
  int step = 0;     // wanted
  int offered = 0;  // how often
  bool has = false;
  bool find(Bytes, EntropyIndex& into) override {
    if (has) into = index;
    return has;
  }
  int wanted_step() const override { return step; }
  void offer(Bytes, const EntropyIndex& made) override { index = made, has = true, ++offered; }
};

struct Decoded {
  std::string error;
  std::vector<uint8_t> pixels;  // none if there is an error
  bool operator==(const Decoded&) const = default;
};

// A task that writes into `out`; call finish() for it after decode_images.
inline DecodeTask task_into(Decoded& out, Bytes file, const ImageInfo& info, const DecodeParams& params,
                            const Region& region, EntropyIndexAccess* index = nullptr) {
  const int64_t row = region.width * output_channels(info, params.type) * static_cast<int64_t>(size_of(params.dtype));
  out.pixels.assign(row * region.height, 0);
  DecodeTask t;
  t.file = file, t.info = info, t.params = params, t.region = region, t.index = index;
  t.sink = {out.pixels.data(), row};
  return t;
}
inline void finish(const DecodeTask& t, Decoded& out) {
  if (t.error) out.error = t.error->what(), out.pixels.clear();
}

inline Decoded decode_by(JpegEngine engine, Bytes file, const ImageInfo& info, const DecodeParams& params,
                         const Region& region, EntropyIndexAccess* index = nullptr) {
  jpeg_choice().engine = engine;
  Decoded out;
  DecodeTask t = task_into(out, file, info, params, region, index);
  decode_images({&t, 1});
  finish(t, out);
  return out;
}

}  // namespace penstock::test
