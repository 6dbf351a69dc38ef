// SPDX-License-Identifier: Apache-2.0
#include "families/table/counts.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "pixel/byte_table.h"

namespace penstock::table {
namespace {

// On the host: f(a channel, a place, its pixel) for all elements of one image. Usual numbers of channels are
// constants.
template <class F> void for_each_element(int64_t positions, int64_t channels, F&& f) {
  const auto all = [&](auto n) {
    for (int64_t i = 0; i < positions; ++i)
      for (int64_t c = 0; c < n; ++c) f(c, i * n + c, i);
  };
  if (channels == 1) all(std::integral_constant<int64_t, 1>{});
  else if (channels == 3) all(std::integral_constant<int64_t, 3>{});
  else all(channels);
}

// Counts of one channel, in four tables: eight bytes are one load.
void count_plane(const uint8_t* in, int64_t n, int32_t* counts) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t eight;
    std::memcpy(&eight, in + i, sizeof eight);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) ++counts[k % 4 * 256 + (eight >> (8 * k) & 255)];
  }
  for (; i < n; ++i) ++counts[in[i]];
}

// Adds the bytes of an image to tables of 256 counts, one for each channel, and these for each of kApart neighbors: a
// count does not wait for the one before it. Where n is constant, so are the places of the tables.
constexpr int64_t kApart = 4;
template <class N> void count_apart(const uint8_t* in, int64_t positions, N n, int32_t* counts) {
  int64_t i = 0;
  for (; i + kApart <= positions; i += kApart, in += kApart * n)
    for (int64_t k = 0; k < kApart * n; ++k) ++counts[k * 256 + in[k]];
  for (int64_t k = 0; k < (positions - i) * n; ++k) ++counts[k * 256 + in[k]];
}
void count_channels(const uint8_t* in, int64_t positions, int64_t channels, int32_t* counts) {
  if (channels == 1) count_plane(in, positions, counts);
  else if (channels == 3) count_apart(in, positions, std::integral_constant<int64_t, 3>{}, counts);
  else count_apart(in, positions, channels, counts);
}

}  // namespace

void count_on_host(const uint8_t* in, const ImageRule::Extents& e, int64_t positions, int64_t slices, int32_t* to) {
  std::vector<int32_t> counts(static_cast<size_t>(kApart * e.inner * 256));
  std::fill_n(to, e.outer * e.inner * slices * 256, 0);
  for (int64_t image = 0; image < e.outer; ++image) {
    std::ranges::fill(counts, 0);
    count_channels(in + image * positions * e.inner, positions, e.inner, counts.data());
    for (int64_t c = 0; c < e.inner; ++c)
      for (int64_t v = 0; v < 256; ++v)
        for (int64_t k = 0; k < kApart; ++k)
          to[(image * e.inner + c) * slices * 256 + v] += counts[static_cast<size_t>((k * e.inner + c) * 256 + v)];
  }
}
void equalize_on_host(const uint8_t* in, uint8_t* out, const ImageRule::Extents& e, int64_t positions,
                      const uint8_t* tables) {
  for (int64_t image = 0; image < e.outer; ++image) {
    const uint8_t* const own = tables + image * e.inner * 256;
    const uint8_t* const from = in + image * positions * e.inner;
    uint8_t* const to = out + image * positions * e.inner;
    if (e.inner == 1) {
      look_up_bytes(best_target(), from, to, positions, own);
      continue;
    }
    for_each_element(positions, e.inner, [=](int64_t c, int64_t i, int64_t) { to[i] = own[c * 256 + from[i]]; });
  }
}

void equalize(const Counting& c, const ImageRule::Extents& e, SampleWork& to, std::function<void()> count,
              std::function<void()> make, std::function<void()> apply) {
  const int known = e.inner == 1 || e.inner == 3 ? static_cast<int>(e.inner) : 0;
  const int64_t bytes = c.positions * e.inner;
  const int64_t copies = count_copies(e.inner, kBlockBytes);
  const auto once = [](int64_t image, std::function<void()>& all) { return image == 0 ? all : [] {}; };
  for (int64_t i = 0; i < e.outer; ++i) {
    const CountRow row{c.in + i * bytes, c.counts + i * e.inner * c.slices * 256, bytes, e.inner, c.slices, copies};
    to.kernel({{"families/table/kernels/counts.h", "table::count_bytes", {}, {known}, nullptr, 1},
               row_bytes(row),
               c.slices,
               static_cast<size_t>(copies * e.inner * 1024),
               nullptr,
               0,
               once(i, count)});
  }
  to.then();
  to.kernel({{"families/table/kernels/counts.h", "table::even_tables", {}, {c.pillow ? 1 : 0}, nullptr, 1},
             row_bytes(EvenRow{c.counts, c.tables, c.positions, c.slices}),
             e.outer * e.inner,
             513 * sizeof(int32_t),
             nullptr,
             0,
             std::move(make)});
  to.then();
  for (int64_t i = 0; i < e.outer; ++i) {
    const LookupRow row{c.in + i * bytes, c.out + i * bytes, c.tables + i * e.inner * 256, {}, bytes, e.inner};
    to.kernel(lookup_step(row, DType::uint8, nullptr, once(i, apply)));
  }
}

}  // namespace penstock::table
