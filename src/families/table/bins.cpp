// SPDX-License-Identifier: Apache-2.0
#include "families/table/bins.h"

#include <algorithm>
#include <vector>

#include "base/intrinsics.h"
#include "families/table/counts.h"

namespace penstock::table {
namespace {

#define PENSTOCK_LOOPS bins
#define PENSTOCK_LOOPS_TEXT "families/table/bins.inc.h"
#include "base/foreach_target.h"

void count_bytes_on_host(const uint8_t* in, const ImageRule::Extents& e, int64_t positions, const Bins& b,
                         int32_t* out) {
  std::vector<int32_t> counts(static_cast<size_t>(e.outer * e.inner * 256));
  count_on_host(in, e, positions, 1, counts.data());
  for (size_t i = 0; i < counts.size(); ++i) {
    const int32_t bin = bin_of(static_cast<float>(i % 256), b);
    if (bin < b.count) out[static_cast<int64_t>(i / 256) * b.count + bin] += counts[i];
  }
}

// Neighbors are counted apart: a count does not wait for the one before it. The last bin holds what is in none.
template <class T>
void count_on_host(const T* in, const ImageRule::Extents& e, int64_t positions, const Bins& b, int32_t* out) {
  constexpr int64_t kApart = 4;
  const int64_t period = kApart * e.inner, part = std::max<int64_t>(1, 1024 / period) * period, all = b.count + 1;
  std::vector<int32_t> first(static_cast<size_t>(part)), places(first.size());
  for (int64_t i = 0; i < part; ++i) first[static_cast<size_t>(i)] = static_cast<int32_t>(i % period * all);
  std::vector<int32_t> counts(static_cast<size_t>(period * all));
  for (int64_t image = 0; image < e.outer; ++image, out += e.inner * b.count) {
    std::ranges::fill(counts, 0);
    const int64_t n = positions * e.inner;
    for (int64_t begin = 0; begin < n; begin += part) {
      const int64_t now = std::min(part, n - begin);
      PENSTOCK_FOR_TARGET(best_target(), bins, places_of<T>(in, first.data(), places.data(), now, b));
      int32_t* const to = counts.data();
      for (int64_t i = 0; i < now; ++i) ++to[places[static_cast<size_t>(i)]];
      in += now;
    }
    for (int64_t k = 0; k < period; ++k)
      for (int64_t v = 0; v < b.count; ++v) out[k % e.inner * b.count + v] += counts[static_cast<size_t>(k * all + v)];
  }
}

}  // namespace

void count_bins(const View& in, const View& out, const Bins& b, SampleWork& to) {
  if (out.volume() == 0) return;
  const ImageRule::Extents e = image_extents(in.shape, in.layout);
  const int64_t positions = e.depth * e.height * e.width, n = positions * e.inner;
  if (positions > INT32_MAX) bad_argument("an image of {} pixels is too large", positions);
  SampleNumbers zero;
  zero.here = {0.0f};
  to.fill(out, zero);
  if (n == 0) return;
  const auto host = [=] {
    int32_t* const counts = out.as<int32_t>();
    switch (in.dtype) {
      case DType::uint8: return count_bytes_on_host(in.as<const uint8_t>(), e, positions, b, counts);
      case DType::uint16: return count_on_host(in.as<const uint16_t>(), e, positions, b, counts);
      case DType::int16: return count_on_host(in.as<const int16_t>(), e, positions, b, counts);
      default: return count_on_host(in.as<const float>(), e, positions, b, counts);
    }
  };
  const auto once = [&](int64_t image) { return image == 0 ? std::function<void()>(host) : [] {}; };
  if (in.dtype == DType::uint8 && e.inner <= kMostChannels) {
    const int known = e.inner == 1 || e.inner == 3 ? static_cast<int>(e.inner) : 0;
    const int64_t slices = std::clamp<int64_t>(n >> 16, 1, 64), copies = count_copies(e.inner, kBlockBytes);
    for (int64_t i = 0; i < e.outer; ++i) {
      const CountRow counted{in.as<const uint8_t>() + i * n, nullptr, n, e.inner, slices, copies};
      to.kernel({{"families/table/kernels/bins.h", "table::count_byte_bins", {}, {known}, nullptr, 1},
                 row_bytes(ByteBinsRow{counted, out.as<int32_t>() + i * e.inner * b.count, b}),
                 slices,
                 static_cast<size_t>(copies * e.inner * 1024),
                 nullptr,
                 0,
                 once(i)});
    }
    return;
  }
  const auto bytes = static_cast<size_t>(e.inner * b.count) * sizeof(int32_t);
  const bool shared = bytes <= kBlockBytes;
  for (int64_t i = 0; i < e.outer; ++i) {
    const BinsRow row{in.as<const char>() + i * n * static_cast<int64_t>(size_of(in.dtype)),
                      out.as<int32_t>() + i * e.inner * b.count,
                      n,
                      e.inner,
                      b,
                      shared};
    to.kernel({{"families/table/kernels/bins.h", "table::count_bins", {in.dtype}, {}, nullptr, 1 << 14},
               row_bytes(row),
               n,
               shared ? bytes : 0,
               nullptr,
               0,
               once(i)});
  }
}

}  // namespace penstock::table
