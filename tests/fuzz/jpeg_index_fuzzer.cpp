// SPDX-License-Identifier: Apache-2.0
// Any index for a good file: as an entry of a store, its sums unchecked, or as changes to the right one, which get past
// every check of the store. Decoding must end well: without an error and, by the sanitizers, inside its memory.
#include <cstring>

#include "codecs/jpeg/index_store_format.h"
#include "fuzz_images.h"

using namespace penstock;

namespace {

struct Good {
  test::File file;
  ImageInfo info;
  EntropyIndex index;
};

const std::vector<Good>& good_files() {
  static const std::vector<Good> all = [] {
    std::vector<Good> good;
    for (auto& file : fuzz::seed_files()) {
      Good g{file, probe_image(file, {}), {}};
      test::KeptIndex making;
      making.step = 1 + static_cast<int>(good.size()) % 5;
      test::decode_by(JpegEngine::automatic, g.file, g.info, {}, {0, 0, g.info.height, g.info.width}, &making);
      g.index = making.index;
      good.push_back(g);
    }
    return good;
  }();
  return all;
}

bool read_entry(Bytes entry, EntropyIndex& index) {
  const auto head = read_entry_head(entry, false);
  return head && read_entry_points(entry, *head, index);
}

// Nine bytes each: which point, what, the value.
void change(Bytes changes, EntropyIndex& index) {
  for (; changes.size() >= 9; changes = changes.subspan(9)) {
    uint32_t which, value;
    std::memcpy(&which, changes.data(), 4);
    std::memcpy(&value, changes.data() + 5, 4);
    if (changes[4] >= 250) index.scan_bytes = value;
    if (changes[4] == 249) index.step = static_cast<int32_t>(value);
    if (changes[4] == 248) index.points.resize(value % 4096);
    if (index.points.empty()) continue;
    EntropyPoint& p = index.points[which % index.points.size()];
    switch (changes[4] % 6) {
      case 0: p.bit = value % (index.scan_bytes * 8 + 9); break;
      case 1: p.bit += value % 64; break;
      case 2: p.bit = value; break;
      default: p.dc[changes[4] % 3] = static_cast<int16_t>(value); break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 6) return 0;
  const Good& good = good_files()[data[0] % good_files().size()];
  const Bytes rest(data + 6, size - 6);
  test::KeptIndex index;
  index.has = true;
  index.index = good.index;
  if (data[1] & 1) change(rest, index.index);
  else if (!read_entry(rest, index.index)) return 0;
  const std::vector<uint8_t> exact(good.file);
  if (!test::decode_by(JpegEngine::automatic, exact, good.info, {}, fuzz::region_of(data + 2, good.info), &index)
           .error.empty())
    std::abort();
  return 0;
}
