// SPDX-License-Identifier: Apache-2.0
// Compares the look-ups of the GPU's decoder with the canonical search, for every 16 bits that a stream may have.
#include "emulated_gpu/fibers.h"

#include "cuda/jpeg/huffman_lookup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "codecs/jpeg/scan_header.h"
#include "codecs/test_images.h"

namespace penstock::jpeg_gpu {
namespace {

std::unique_ptr<TableSet> tables_of(const test::JpegRecipe& recipe) {
  const auto file = test::make_jpeg(recipe);
  const auto header = std::make_unique<jpeg::ScanHeader>();
  EXPECT_EQ(jpeg::read_scan_header(file, *header), nullptr);
  TableSpec spec{};
  for (int i = 0; i < 2; ++i) {
    const auto& component = header->component[i];
    const jpeg::HuffmanSpec* const specs[] = {&header->dc[component.dc], &header->ac[component.ac]};
    for (int kind = 0; kind < 2; ++kind) {
      std::copy_n(specs[kind]->counts + 1, 16, spec.counts[2 * kind + i]);
      std::copy_n(specs[kind]->values, 256, spec.values[2 * kind + i]);
    }
  }
  auto set = std::make_unique<TableSet>();
  BatchTable batch{};
  batch.specs = &spec, batch.tables = set.get(), batch.table_sets = 1;
  fibers::run(1, kThreads, [&] { build_tables(batch, 0); });
  return set;
}

TEST(HuffmanLookup, HoldsWhatTheSearchFinds) {
  size_t searched = 0, several = 0, wrong = 0;
  for (int kind = 0; kind < 3; ++kind) {
    test::JpegRecipe recipe;
    recipe.height = 90, recipe.width = 140, recipe.quality = 70, recipe.seed = 700 + kind;
    recipe.long_codes = kind == 0, recipe.optimized = kind == 1;
    const auto set = tables_of(recipe);
    for (uint32_t t = 0; t < 4; ++t)
      for (uint32_t i = 0; i < 1u << 17; ++i) {
        const uint32_t next = i >> 1, window = next << 16 | (i & 1 ? 0xFFFF : 0);
        const bool dc = t < 2;
        const uint32_t want = search_code(set->codes + t, next, 1, dc);
        const uint32_t one = set->decode[t * kLookTable + index_of<kLookBits>(window, set->decode_long)];
        searched += one == 0;
        wrong += (one ? one : search_code(set->codes + t, next, 33 - set->decode_long.shift, dc)) != want;
        const uint32_t scanned = set->scan[t * kScanTable + index_of<kScanBits>(window, set->scan_long)];
        if (scanned == 0) {
          wrong += search_code(set->codes + t, next, 33 - set->scan_long.shift, dc) != want;
          continue;
        }
        if (but_last_of(scanned) == 0) {
          wrong += (scanned & kAllMask) != one_of(want);
          continue;
        }
        // Two or three of them: the codes are in the window's first bits, whatever values follow.
        ++several;
        wrong += first_of(scanned) != one_of(want);
        uint32_t all = one_of(want), but_last = 0;
        for (int k = 0; k < 2 && all != (scanned & kAllMask); ++k) {
          but_last = all;
          all += one_of(search_code(set->codes + t, window << (all & 31) >> 16, 1, dc));
        }
        wrong += all != (scanned & kAllMask) || but_last != but_last_of(scanned);
      }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(searched, 1000u);
  EXPECT_GT(several, 100000u);
}

}  // namespace
}  // namespace penstock::jpeg_gpu
