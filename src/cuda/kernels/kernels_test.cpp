// SPDX-License-Identifier: Apache-2.0
// The headers of kernels, compiled by the host's compiler: one thread a block.
#include "emulated_gpu/one_thread.h"

#include "cuda/kernels/byte_boxes.h"
#include "cuda/kernels/byte_pairs.h"
#include "cuda/kernels/byte_runs.h"
#include "cuda/kernels/bytes.h"
#include "cuda/kernels/elements.h"
#include "cuda/kernels/fold_kernel.h"
#include "cuda/kernels/generic_kernel.h"
#include "cuda/kernels/groups.h"
#include "cuda/kernels/pixel_words.h"
#include "cuda/kernels/positions.h"
#include "cuda/kernels/sampled.h"
#include "cuda/kernels/spellings.h"
#include "cuda/kernels/streams.h"
#include "cuda/kernels/tile_sliding.h"
#include "cuda/kernels/tile_streaming.h"
#include "cuda/kernels/tile_taps.h"
#include "cuda/kernels/warp_lanes.h"
#include "base/dtype.h"
#include "pixel/filter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace penstock {
namespace {

std::vector<uint8_t> random_bytes(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(n);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  return bytes;
}

TEST(Kernels, a_type_has_the_number_that_it_has_on_the_host) {
  const auto size = [](int dtype) -> size_t {
#define PENSTOCK_CASE(T) return sizeof(T)
    PENSTOCK_TYPES(dtype, PENSTOCK_CASE)
#undef PENSTOCK_CASE
  };
  const auto is_number = [](int dtype, auto v) {
#define PENSTOCK_CASE(T) return dtype_of<T> == dtype_of<decltype(v)>
    PENSTOCK_TYPES(dtype, PENSTOCK_CASE)
#undef PENSTOCK_CASE
  };
  for (int t = 0; t < kTypes; ++t) {
    if (is_type(t)) EXPECT_EQ(size(t), size_of(static_cast<DType>(t))) << t;
  }
  EXPECT_TRUE(is_number(static_cast<int>(DType::bfloat16), BFloat16()));
  EXPECT_TRUE(is_number(static_cast<int>(DType::float16), Half()));
  EXPECT_TRUE(is_number(static_cast<int>(DType::int16), int16_t()));
  EXPECT_TRUE(is_number(static_cast<int>(DType::uint32), uint32_t()));
}

TEST(Kernels, bytes_at_any_address_come_by_words) {
  const auto bytes = random_bytes(64, 1);
  for (int at = 0; at < 20; ++at) {
    const uint8_t* p = bytes.data() + at;
    uint32_t word;
    std::memcpy(&word, p, 4);
    EXPECT_EQ(word_at(p), word);
    const TwoWords eight = eight_bytes_at(p);
    EXPECT_EQ(eight.low, word);
    std::memcpy(&word, p + 4, 4);
    EXPECT_EQ(eight.high, word);
    const TwoWords pixels = six_bytes_at(p);
    for (int b = 0; b < 6; ++b) EXPECT_TRUE(byte_number(pixels, b) == p[b] && raw_byte(pixels, b) - kRaw == p[b]);
    uint8_t group[12];
    load_bytes(p, group);
    EXPECT_EQ(0, std::memcmp(group, p, sizeof group));
    uint32_t run[3];
    int shift;
    words_from<2>(p, true, bytes.data() + bytes.size(), run, shift);
    std::memcpy(&word, p + 4, 4);
    EXPECT_EQ(shifted(run[1], run[2], shift), word);
  }
}

TEST(Kernels, a_group_is_stored_as_it_was_loaded) {
  const auto bytes = random_bytes(64, 2);
  for (const bool forward : {true, false})
    for (int at = 0; at < 8; ++at) {
      const uint8_t* p = bytes.data() + 16 + at;
      uint8_t group[4][3], out[12];
      load_group(p, forward, group);
      for (int j = 0; j < 4; ++j)
        for (int c = 0; c < 3; ++c) EXPECT_EQ(group[j][c], p[(forward ? j : -j) * 3 + c]);
      store_pixels(out, group);
      EXPECT_EQ(0, std::memcmp(out, group, sizeof out));
      uint8_t planes[3][4];
      store_planes(&planes[0][0], 4, group);
      for (int j = 0; j < 4; ++j)
        for (int c = 0; c < 3; ++c) EXPECT_EQ(planes[c][j], group[j][c]);
    }
}

TEST(Kernels, elements_are_rounded_as_on_the_host) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> numbers(-400, 400);
  for (int i = 0; i < 10000; ++i) {
    const float v = i < 4 ? 0.5f * static_cast<float>(i) : numbers(random);
    EXPECT_EQ((element_of<float, uint8_t>(v)), (from_lane<float, uint8_t>(v))) << v;
    EXPECT_EQ((element_of<float, int16_t>(v * 100)), (from_lane<float, int16_t>(v * 100))) << v;
    EXPECT_EQ(rounded_to<uint8_t>(v), round_to<uint8_t>(v)) << v;
    EXPECT_EQ((number_of<uint16_t, float>(static_cast<uint16_t>(i))), static_cast<float>(i));
  }
}

TEST(Kernels, a_block_finds_its_entry) {
  const std::vector<int32_t> starts = {0, 3, 3, 10, 11, 40};
  for (int block = 0; block < 40; ++block) {
    int entry = 0;
    while (starts[static_cast<size_t>(entry) + 1] <= block) ++entry;
    EXPECT_EQ(find_entry(starts.data(), 5, block), entry) << block;
  }
}

TEST(Kernels, the_taps_of_a_tile_are_those_of_the_axis) {
  for (const FilterKind kind :
       {FilterKind::nearest, FilterKind::linear, FilterKind::triangular, FilterKind::cubic, FilterKind::lanczos3}) {
    AxisFilter filter;
    filter.kind = kind, filter.lo = 0, filter.hi = 61, filter.out = 23;
    constexpr int kFrom = 5, kCount = 11;
    TapTable all;
    make_taps(filter, 61, kFrom, 1, kCount, all);
    const AxisTaps taps = axis_taps(filter, 61);
    std::vector<int32_t> first(kCount);
    std::vector<float> weight(static_cast<size_t>(taps.taps) * kCount);
    tile_taps<-1>(taps, kFrom, 1, kCount, kCount, first.data(), weight.data());
    ASSERT_EQ(all.taps, taps.taps);
    for (int i = 0; i < kCount; ++i) {
      EXPECT_EQ(first[static_cast<size_t>(i)], all.first[static_cast<size_t>(i)]);
      for (int k = 0; k < taps.taps; ++k)
        EXPECT_EQ(weight[static_cast<size_t>(k * kCount + i)], all.weight[static_cast<size_t>(i * taps.taps + k)]);
    }
  }
}

// A stage that multiplies by the coefficient of a row, as the emitter would print it.
struct HalvingStage {
  typedef int32_t Index;
  typedef float Out;
  typedef float Number;
  template <template <class> class F> using OfInputs = Each<F<uint8_t>>;
  template <int k> using In = typename Nth<k, uint8_t>::type;
  static constexpr RowLayout kRow{1, 2, 0, true, false, false, false, true, false, false};
  static constexpr int kPlanes = 2, kOutPlanes = 2, kGroup = 4;
  static constexpr bool kOneRow = false, kTable = false, kCopies = false, kResultWithin = false;
  struct Coefs {
    float factor;
    explicit Coefs(const char* at) : factor(*reinterpret_cast<const float*>(at)) {}
  };
  template <class Load>
  static void apply(const Coefs& coefs, const Load& load, Number (&made)[2], int32_t*, bool) {
    for (int p = 0; p < 2; ++p) made[p] = number_of<uint8_t, float>(load(Known<0>(), p)) * coefs.factor;
  }
};

TEST(Kernels, positions_are_read_mapped_filled_and_stored) {
  // 5 x 7 pixels of two planes, turned around in x, at (1, 2) of an output of 8 x 11, planes apart.
  constexpr int kRows = 5, kColumns = 7, kHeight = 8, kWidth = 11;
  const auto in = random_bytes(kRows * kColumns * 2, 4);
  std::vector<float> out(2 * kHeight * kWidth, -1);
  struct Table {
    TableHeader head{};
    int64_t row[HalvingStage::kRow.bytes() / 8] = {};
    int32_t starts[2] = {0, 1};
    float factor = 0.5f, fill[2] = {7, 9};
  } table;
  const auto offset = [&](const auto& member) {
    return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&table);
  };
  const StageRow<char> row{HalvingStage::kRow, reinterpret_cast<char*>(table.row)};
  constexpr int kGroups = (kWidth + 3) / 4 * kHeight;
  table.head.entries = 1, table.head.starts = offset(table.starts), table.head.rows = offset(table.row);
  table.head.block = kGroups;
  row.head().out = reinterpret_cast<char*>(out.data()), row.head().positions = kGroups;
  row.head().coefs = offset(table.factor), row.fill() = offset(table.fill);
  row.head().in[0] = reinterpret_cast<const char*>(in.data() + (1 * 0 - 1) * kColumns * 2 + (kColumns - 1 + 2) * 2);
  LoopRow plane{}, y{}, x{};
  plane.extent = plane.hi = 2, plane.out_stride = kHeight * kWidth, plane.in_stride[0] = 1;
  y.extent = kHeight, y.lo = 1, y.hi = 1 + kRows, y.out_stride = kWidth, y.in_stride[0] = kColumns * 2;
  x.extent = kWidth, x.lo = 2, x.hi = 2 + kColumns, x.out_stride = 1, x.in_stride[0] = -2;
  const auto put = [](LoopRow& to, const LoopRow& from) { std::memcpy(&to, &from, 5 * sizeof(int64_t)); };
  put(row.plane(), plane), put(row.dim(0), y), put(row.dim(1), x);
  positions<HalvingStage>(reinterpret_cast<const char*>(&table));
  for (int p = 0; p < 2; ++p)
    for (int i = 0; i < kHeight; ++i)
      for (int j = 0; j < kWidth; ++j) {
        const bool inside = i >= 1 && i < 1 + kRows && j >= 2 && j < 2 + kColumns;
        const int from = ((i - 1) * kColumns + kColumns - 1 - (j - 2)) * 2 + p;
        const float wanted = inside ? 0.5f * static_cast<float>(in[static_cast<size_t>(from)]) : p == 0 ? 7.0f : 9.0f;
        EXPECT_EQ(out[static_cast<size_t>((p * kHeight + i) * kWidth + j)], wanted) << p << ' ' << i << ' ' << j;
      }
}

// A stage of one dimension with taps, which adds 1.
struct TapsStage {
  typedef int32_t Index;
  typedef float Out;
  typedef float Number;
  typedef float SourceNumber;
  template <template <class> class F> using OfInputs = Each<F<uint8_t>>;
  template <int k> using In = typename Nth<k, uint8_t>::type;
  static constexpr RowLayout kRow{1, 1, 1, false, false, true, false, false, false, false};
  static constexpr int kPlanes = 1, kOutPlanes = 1, kGroup = 1, kVertical = 0, kWarpX = -1, kWarpY = -1, kWarpZ = -1;
  static constexpr unsigned kFiltered = 1;
  static constexpr bool kOneRow = false, kTable = false, kCopies = false, kSourceStaysBytes = false;
  struct Coefs {
    explicit Coefs(const char*) {}
  };
  template <class Load>
  static void apply(const Coefs&, const Load&, const float (&source)[1], float (&made)[1], int32_t*, bool) {
    made[0] = source[0] + 1;
  }
};

TEST(Kernels, positions_with_taps_are_sums) {
  constexpr int kOut = 9, kTaps = 3;
  const auto in = random_bytes(40, 5);
  std::vector<float> out(kOut, -1);
  struct Table {
    TableHeader head{};
    int64_t row[TapsStage::kRow.bytes() / 8] = {};
    int32_t starts[2] = {0, 1}, first[kOut];
    float weight[kOut * kTaps];
  } table;
  for (int i = 0; i < kOut; ++i) {
    table.first[i] = (i * 7) % 11;
    for (int t = 0; t < kTaps; ++t)
      table.weight[i * kTaps + t] = (i + t) % 4 == 0 ? 0.0f : 0.25f * static_cast<float>(t + 1);
  }
  const auto offset = [&](const auto& member) {
    return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&table);
  };
  const StageRow<char> row{TapsStage::kRow, reinterpret_cast<char*>(table.row)};
  table.head.entries = 1, table.head.starts = offset(table.starts), table.head.rows = offset(table.row);
  table.head.block = kOut;
  row.head().out = reinterpret_cast<char*>(out.data()), row.head().positions = kOut;
  row.head().in[0] = reinterpret_cast<const char*>(in.data());
  LoopRow x{};
  x.extent = x.hi = kOut, x.out_stride = 1, x.in_stride[0] = 2;
  std::memcpy(&row.dim(0), &x, 5 * sizeof(int64_t));
  row.axis(0) = {kTaps, offset(table.first), offset(table.weight), 1};
  for (const bool indexed : {false, true}) {
    row.indexed() = indexed;
    sampled<TapsStage, StageTaps<TapsStage>>(reinterpret_cast<const char*>(&table));
    for (int i = 0; i < kOut; ++i) {
      const auto sample = [&](int t) { return static_cast<float>(in[static_cast<size_t>((table.first[i] + t) * 2)]); };
      float wanted = sample(0);
      if (!indexed) {
        wanted = 0;
        for (int t = 0; t < kTaps; ++t) wanted += table.weight[i * kTaps + t] * sample(t);
      }
      EXPECT_FLOAT_EQ(out[static_cast<size_t>(i)], wanted + 1) << i;
    }
  }
}

// A stage of images of bytes with three planes, with windows of three taps each way.
template <class T> struct WindowStage {
  typedef int32_t Index;
  typedef T Out;
  typedef float Number;
  typedef float SourceNumber;
  template <template <class> class F> using OfInputs = Each<F<uint8_t>>;
  template <int k> using In = typename Nth<k, uint8_t>::type;
  static constexpr RowLayout kRow{1, 2, 0, false, false, true, false, true, false, true};
  static constexpr int kPlanes = 3, kOutPlanes = 3, kWindowX = 3, kWindowY = 3;
  static constexpr int kFilterX = static_cast<int>(FilterKind::window), kFilterY = kFilterX;
  static constexpr bool kOneRow = false, kAverages = true, kResultWithin = std::is_same_v<T, uint8_t>;
  struct Coefs {
    explicit Coefs(const char*) {}
  };
  template <class Load>
  static void apply(const Coefs&, const Load&, const float (&source)[3], float (&made)[3], int32_t*, bool) {
    for (int p = 0; p < 3; ++p) made[p] = source[p];
  }
};

// What `kernel` makes of an image with the window 1/4, 1/2, 1/4, by tiles of 8 rows and `across` columns.
template <class T> std::vector<T> convolved(const std::vector<uint8_t>& in, int height, int width, int across,
                                            void (*kernel)(const char*)) {
  using Stage = WindowStage<T>;
  constexpr int kTileRows = 8;
  std::vector<T> out(in.size());
  alignas(16) static char shared[1 << 16];
  struct Table {
    TableHeader head{};
    int64_t row[Stage::kRow.bytes() / 8] = {};
    int32_t starts[2] = {};
    float window[3] = {0.25f, 0.5f, 0.25f};
  } table;
  const auto offset = [&](const auto& member) {
    return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&table);
  };
  const StageRow<char> row{Stage::kRow, reinterpret_cast<char*>(table.row)};
  table.starts[1] = (height + kTileRows - 1) / kTileRows * ((width + across - 1) / across);
  table.head.entries = 1, table.head.starts = offset(table.starts), table.head.rows = offset(table.row);
  row.head().out = reinterpret_cast<char*>(out.data()), row.head().in[0] = reinterpret_cast<const char*>(in.data());
  const auto put = [](LoopRow& to, int64_t extent, int64_t stride) {
    to.extent = to.hi = extent, to.lo = 0, to.out_stride = to.in_stride[0] = stride;
  };
  put(row.plane(), 3, 1), put(row.dim(0), height, width * 3), put(row.dim(1), width, 3);
  const auto axis = [&](int64_t n, int64_t extent, int64_t hop) {
    const auto* window = reinterpret_cast<const float*>(offset(table.window));
    const AxisTaps taps =
        axis_taps(FilterKind::window, false, 0, static_cast<double>(n), n, FilterBorder::reflect_101, window, 3, n);
    return TileAxisRow{taps, 0, 1, extent, hop};
  };
  row.tile() = {axis(width, across, 3), axis(height, kTileRows, width * 3), 1};
  penstock_shared = shared;
  for (blockIdx.x = 0; blockIdx.x < static_cast<unsigned>(table.starts[1]); ++blockIdx.x)
    kernel(reinterpret_cast<const char*>(&table));
  blockIdx.x = 0;
  return out;
}

TEST(Kernels, convolutions_slide_and_stream_to_every_pixel) {
  for (const int width : {2, 3, 45, 176})
    for (const int height : {2, 21}) {
      const size_t words = static_cast<size_t>(width * height * 3 + 3) / 4;  // kernels read whole words
      const auto in = random_bytes(words * 4, static_cast<unsigned>(width));
      const auto numbers = convolved<float>(in, height, width, 120, tile_sliding<WindowStage<float>>);
      const auto slid = convolved<uint8_t>(in, height, width, 120, tile_sliding<WindowStage<uint8_t>>);
      const auto streamed = convolved<uint8_t>(in, height, width, 160, tile_streaming<WindowStage<uint8_t>, 8>);
      const auto mirrored = [](int i, int n) { return i < 0 ? -i : i < n ? i : 2 * n - 2 - i; };
      for (int i = 0; i < width * height * 3; ++i) {
        const int p = i % 3, x = i / 3 % width, y = i / 3 / width;
        double sum = 0;
        for (int b = -1; b <= 1; ++b)
          for (int a = -1; a <= 1; ++a)
            sum += (a ? 0.25 : 0.5) * (b ? 0.25 : 0.5) *
                   in[static_cast<size_t>((mirrored(y + b, height) * width + mirrored(x + a, width)) * 3 + p)];
        const auto at = static_cast<size_t>(i);
        ASSERT_EQ(numbers[at], sum) << width << 'x' << height << ' ' << i;
        ASSERT_EQ(slid[at], std::nearbyint(sum)) << width << 'x' << height << ' ' << i;
        ASSERT_EQ(streamed[at], std::nearbyint(sum)) << width << 'x' << height << ' ' << i;
      }
    }
}

TEST(Kernels, neighbors_of_a_warps_row_change_places) {
  uint32_t own[3][kOwnLanes], to[3][kOwnLanes];
  for (int i = 0; i < 96; ++i) own[i % 3][i / 3] = static_cast<uint32_t>(i);
  turn_words(own, to);
  for (int i = 0; i < 96; ++i) EXPECT_EQ(to[i / 32][i % 32], static_cast<uint32_t>(i));
}

}  // namespace
}  // namespace penstock
