// SPDX-License-Identifier: Apache-2.0
// The kernels of whole operators as ordinary C++: compiled here for the host, with fibers for threads, and compared
// with plain loops.
#include "emulated_gpu/launch_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>
#include <random>

#include "base/dtype.h"
#include "cuda/whole/kernels/arguments.h"
#include "cuda/whole/kernels/fill.h"
#include "cuda/whole/kernels/folds.h"
#include "cuda/whole/kernels/interleave.h"
#include "cuda/whole/kernels/normalize.h"
#include "cuda/whole/kernels/rules.h"
#include "cuda/whole/kernels/signals.h"
#include "cuda/whole/kernels/sums.h"
#include "cuda/whole/kernels/tile.h"
#include "cuda/whole/kernels/transform.h"
#include "cuda/whole/kernels/turned.h"
#include "numerics/fourier.h"

namespace penstock::whole {

namespace {

template <class T> std::vector<T> random_numbers(size_t n, int least, int most) {
  std::mt19937 random(7);
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(std::uniform_int_distribution<int>(least, most)(random));
  return v;
}

TEST(WholeKernels, ArgumentTypesAreThoseOfArrays) {
  for (const DType t : {DType::uint8, DType::int8, DType::int64, DType::uint64, DType::float32, DType::float64}) {
    const auto type = static_cast<ArgumentType>(t);
    dispatch(t, [&]<class T>(TypeTag<T>) {
      const T values[2] = {T(3), T(100)};
      EXPECT_EQ(argument_at(values, type, 1), 100.0f) << static_cast<int>(t);
    });
  }
  const float given[3] = {3, 0, 4};
  double out[2][3] = {};
  launch<GivenRow>(
      {{given, ArgumentType::float32, 1, out[0], false, 0, 0}, {given, ArgumentType::float32, 1, out[1], true, 9, 10}},
      {3, 3}, kThreads, given_numbers);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(out[0][i], given[i]);
    EXPECT_EQ(out[1][i], 10 / std::sqrt(given[i] * given[i] + 9.0));
  }
}

TEST(WholeKernels, FillsAllOfABoxAndNothingElse) {
  const float values[3] = {1, 300, -5};
  for (const int64_t channel : {-1, 0}) {  // a 5 x 21 box in rows of 40 elements
    std::vector<uint8_t> to(5 * 40, 77);
    FillRow row{to.data(), nullptr, ArgumentType::float32, {}, channel < 0 ? 1 : 3, channel, 2, {{21, 1}, {5, 40}}};
    launch<FillRow>({row}, {2 * 5}, 3, fill<uint8_t>, values, sizeof values);
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 40; ++x) {
        const int value = channel < 0 ? 1 : x < 3 ? std::array{1, 255, 0}[x] : 0;
        ASSERT_EQ(to[y * 40 + x], x < 21 ? value : 77) << y << " " << x;
      }
  }
}

TEST(WholeKernels, CopiesTilesTransposed) {
  constexpr int kWidth = 70, kHeight = 65, kFrames = 2;
  const auto from = random_numbers<uint16_t>(size_t{kWidth} * kHeight * kFrames, 0, 65535);
  std::vector<uint16_t> to(from.size());
  const TileRow row{from.data(), to.data(), kWidth, kHeight,
                    kWidth,      kHeight,   1,      {{kFrames, kWidth * kHeight, kWidth * kHeight}}};
  launch<TileRow>({row}, {2 * 2 * kFrames}, 3, copy_tiles<uint16_t, 1>);
  for (int f = 0; f < kFrames; ++f)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        ASSERT_EQ(to[(f * kWidth + x) * kHeight + y], from[(f * kHeight + y) * kWidth + x]);
}

template <int unit, int part> void expect_turned(int64_t width, int64_t height, size_t shift) {
  constexpr int64_t kFrames = 2, kPlanes = unit / part;
  const auto from = random_numbers<uint8_t>(static_cast<size_t>(width * height * kFrames * unit) + shift, 0, 255);
  std::vector<uint8_t> to(from.size(), 7);
  const int64_t size = width * height, side = turned_side(unit);
  const TurnedRow row{from.data() + shift,
                      to.data() + shift,
                      width,
                      height,
                      width * unit,
                      height * part,
                      size * part,
                      1,
                      {{kFrames, size * unit, size * unit}}};
  launch<TurnedRow>({row}, {((width + side - 1) / side) * ((height + side - 1) / side) * kFrames}, 3,
                    copy_turned<unit, part>);
  for (int64_t f = 0; f < kFrames; ++f)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int64_t b = 0; b < unit; ++b) {
          const int64_t at = f * size * unit + (kPlanes > 1 ? b / part * size * part : 0) + (x * height + y) * part +
                             (kPlanes > 1 ? b % part : b);
          ASSERT_EQ(to[static_cast<size_t>(at) + shift],
                    from[static_cast<size_t>(((f * height + y) * width + x) * unit + b) + shift])
              << unit << " " << part << " at " << f << " " << y << " " << x << " " << b << " shift " << shift;
        }
}

TEST(WholeKernels, CopiesShortElementsTransposed) {
  for (const size_t shift : {0, 1}) {
    for (const int64_t width : {1, 63, 64, 70}) {
      expect_turned<1, 1>(width, 65, shift);
      expect_turned<3, 3>(width, 130, shift);
      expect_turned<3, 1>(width, 66, shift);
      expect_turned<6, 2>(width, 9, shift);
      expect_turned<12, 4>(width, 33, shift);
      expect_turned<32, 8>(width, 33, shift);
    }
  }
}

TEST(WholeKernels, InterleavesRuns) {
  for (const std::vector<int>& sizes : {std::vector{3, 3}, {1, 1}, {3, 1, 4}, {2, 5, 1, 1, 7}})
    for (const size_t shift : {0, 1}) {
      const int pitch = std::accumulate(sizes.begin(), sizes.end(), 0);
      constexpr int64_t kCount = 1000;
      std::vector<std::vector<uint8_t>> from;
      std::vector<uint8_t> to(kCount * static_cast<size_t>(pitch) + shift);
      InterleaveRow row{to.data() + shift, kCount, pitch, 48, static_cast<int64_t>(sizes.size()), {}};
      int at = 0;
      for (size_t k = 0; k < sizes.size(); ++k) {
        const auto bytes = static_cast<uint32_t>(sizes[k]);
        from.push_back(random_numbers<uint8_t>(kCount * bytes + shift, 0, 255));
        row.source[k] = {from[k].data() + shift, sizes[k], at,
                         static_cast<uint32_t>(((uint64_t{1} << 32) + bytes - 1) / bytes), 0};
        at += sizes[k];
      }
      launch<InterleaveRow>({row}, {(kCount + row.tile - 1) / row.tile}, 2, interleave);
      for (int64_t i = 0; i < kCount; ++i)
        for (size_t k = 0; k < sizes.size(); ++k)
          for (int b = 0; b < sizes[k]; ++b)
            ASSERT_EQ(to[shift + static_cast<size_t>(i * pitch + row.source[k].at + b)],
                      from[k][shift + static_cast<size_t>(i * sizes[k] + b)])
                << i << " " << k << " " << b;
    }
}

TEST(WholeKernels, NormalizesByTheNumbersOfEachResult) {
  const auto in = random_numbers<uint8_t>(7 * 3, 0, 255);
  std::vector<float> out(in.size());
  const double numbers[6] = {1, 2, 3, 0.5, 2, 4};
  const NumbersRow mean{nullptr, {0}, 1}, factor{nullptr, {3 * sizeof(double)}, 1};
  const NormalizeRow row{in.data(), out.data(), 10, mean, factor, 7 * 3, 1, {{3, 1}}};  // channels last
  NormalizeRow cycled = row;
  cycled.dims = 2, cycled.dim[1] = {7, 0};
  launch<NormalizeRow>({cycled}, {6}, kThreads, normalize<uint8_t, float, int32_t>, numbers, sizeof numbers);
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i], static_cast<float>((in[i] - numbers[i % 3]) * numbers[3 + i % 3] + 10)) << i;
}

// Sums of integers are exact: the order does not matter here. tests/gpu compares the order.
TEST(WholeKernels, SumsAndFolds) {
  constexpr int64_t kCount = 5000, kWidth = 3, kChunks = 2;
  const auto in = random_numbers<int16_t>(kCount * kWidth, -30000, 30000);
  double sums[kChunks * kWidth], expected[kWidth] = {}, out[kWidth];
  for (size_t i = 0; i < in.size(); ++i) expected[i % kWidth] += in[i];
  SumRow row{};
  row.result.count = kCount, row.in = in.data(), row.sums = sums, row.chunks = kChunks, row.width = kWidth;
  row.summed = 1, row.summed_loop[0] = {kCount, kWidth};
  using Numbers = Summed<int16_t, double, Fold::numbers>;
  const auto check = [&](const char* what) {
    const Segment segment{sums, kChunks};
    launch<FoldRow>({{{kCount, out, 0, 0, 0}, 1, {}, kWidth}}, {kWidth}, kUnits,
                    fold_chunks<Folded<double, Fold::numbers>, AsMean>, &segment, sizeof segment);
    for (int k = 0; k < kWidth; ++k) EXPECT_EQ(out[k], expected[k] / kCount) << what;
    std::fill_n(sums, std::size(sums), -1.0);
  };
  launch<SumRow>({row}, {kChunks}, kUnits, sum_channels<Numbers, kWidth>), check("channels");
  launch<SumRow>({row}, {kChunks}, 1, sum_columns<Numbers>), check("columns");
  launch<SumRow>({row}, {kChunks * kWidth}, kUnits, sum_lines<Numbers>), check("lines");
}

// Loads of several elements, aligned or not, and what is left of a chunk.
template <class T, Fold fold> void compare_small_sums(int64_t shift) {
  constexpr int64_t kCount = 5003, kChunks = 2;
  using F = Summed<T, double, fold>;
  constexpr bool kSquared = fold == Fold::squares;
  const auto in = random_numbers<T>(kCount * 72 + 16, 0, 255);
  const double about = 0;
  for (const int64_t width : {1, 3, 72}) {
    std::vector<double> sums(static_cast<size_t>(kChunks * width)), expected(sums.size());
    for (int64_t i = 0; i < kCount * width; ++i) {
      const double v = static_cast<double>(in[static_cast<size_t>(i + shift)]);
      expected[static_cast<size_t>(i / width / kReductionChunk * width + i % width)] += kSquared ? v * v : v;
    }
    SumRow row{};
    row.result.count = kCount, row.in = in.data() + shift, row.sums = sums.data(), row.chunks = kChunks;
    row.width = width, row.summed = 1, row.summed_loop[0] = {kCount, width}, row.about.there = &about;
    if (width == 1) launch<SumRow>({row}, {kChunks}, kUnits, sum_lines<F>);
    else if (width == 3) launch<SumRow>({row}, {kChunks}, kUnits, sum_channels<F, 3>);
    else launch<SumRow>({row}, {kChunks * 3}, 1, sum_columns<F>);
    EXPECT_EQ(sums, expected) << "width " << width << ", from element " << shift;
  }
}
TEST(WholeKernels, SumsOfSmallIntegers) {
  for (const int64_t shift : {0, 1, 4}) {
    compare_small_sums<uint8_t, Fold::numbers>(shift), compare_small_sums<uint8_t, Fold::squares>(shift);
    compare_small_sums<uint16_t, Fold::numbers>(shift);
  }
}

TEST(WholeKernels, FinishesFewElements) {
  const auto in = random_numbers<int16_t>(9 * 4, -3000, 3000);
  int16_t least[9];
  float deviation[9];
  const double about = 5;
  SumRow row{};
  row.result = {4, least, 0, 0, 0}, row.in = in.data(), row.width = 1;
  row.kept = row.summed = 1, row.kept_loop[0] = {9, 4}, row.summed_loop[0] = {4, 1};
  launch<SumRow>({row}, {9}, kThreads,
                 sum_few<Summed<int16_t, int16_t, Fold::least>, AsStatistic<int16_t, Statistic::min>, int32_t, 4>);
  row.result = {4, deviation, 1, 0, 0};
  launch<SumRow>({row}, {9}, kThreads,
                 sum_few<Summed<int16_t, double, Fold::squares>, AsStatistic<float, Statistic::std_dev>, int32_t, 4>,
                 &about, sizeof about);
  for (int r = 0; r < 9; ++r) {
    const int16_t* x = &in[r * 4];
    EXPECT_EQ(least[r], *std::min_element(x, x + 4));
    const double squares = std::accumulate(x, x + 4, 0.0, [&](double s, int v) { return s + (v - 5.0) * (v - 5.0); });
    EXPECT_EQ(deviation[r], static_cast<float>(std::sqrt(squares / 3)));
  }
}

// An operator's rule for each kernel that takes one.
struct Difference {
  struct Coef {
    int64_t step;
  };
  template <class In> static double number(const In& in, int64_t j, const Coef& c) { return in[j + c.step] - in[j]; }
  template <class Out, class In> static Out value(const In* in, int64_t i, const Coef& c, const char* table) {
    return static_cast<Out>(in[i] * c.step + *reinterpret_cast<const int32_t*>(table));
  }
  static double number(const PhiloxBlock& bits, int k, const Coef& c) { return bits.word[k] % c.step; }
};
struct Count {
  struct Coef {
    int32_t* counts;
  };
  static void group(const uint8_t* in, int64_t g, const Coef& c, const GroupLanes& lanes, char* memory) {
    auto* count = reinterpret_cast<int32_t*>(memory);
    if (lanes.index == 0) *count = 0;
    lanes.sync();
    for (int i = lanes.index; i < 1000; i += lanes.count)
      if (in[g * 1000 + i] > 99) lanes.add(count);
    lanes.sync();
    if (lanes.index == 0) c.counts[g] = *count;
  }
};

TEST(WholeKernels, RunTheRulesOfOperators) {
  const auto in = random_numbers<int16_t>(2 * 6 * 5, -99, 99);
  const struct {
    Difference::Coef coef;
    int32_t table;
  } data{{2}, 11};
  float moved[2 * 4 * 5];
  launch<AxisRow>({{in.data(), moved, 6, 4, 5, {}}}, {40}, kThreads, map_axis<int16_t, float, Difference>, &data, 8);
  for (int i = 0; i < 40; ++i) {
    const int at = i / 20 * 30 + i % 20;
    EXPECT_EQ(moved[i], in[at + 10] - in[at]);
  }
  int32_t mapped[60];
  launch<MapRow>({{in.data(), mapped, {}, {8}}}, {60}, kThreads, map<int16_t, int32_t, Difference>, &data, sizeof data);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(mapped[i], in[i] * 2 + 11);
  uint8_t drawn[7];
  const RandomStream stream{1, 2, 3};
  launch<DrawRow>({{drawn, 7, stream, {}}}, {2}, kThreads, draw<uint8_t, 4, Difference>, &data, 8);
  for (uint64_t i = 0; i < 7; ++i) EXPECT_EQ(drawn[i], stream.draw(i) % 2);
  const auto image = random_numbers<uint8_t>(3000, 0, 255);
  int32_t counts[3];
  const Count::Coef coef{counts};
  launch<GroupRow>({{image.data(), {}}}, {3}, 2, run_groups<Count>, &coef, sizeof coef);
  for (int g = 0; g < 3; ++g)
    EXPECT_EQ(counts[g], std::count_if(&image[g * 1000], &image[g * 1000] + 1000, [](int v) { return v > 99; }));
}

TEST(WholeKernels, FindsTheLargestAndTheAudible) {
  std::vector<float> in(9000, 0.001f);
  std::fill(in.begin() + 3000, in.begin() + 7000, 0.5f);
  float top = 0;
  launch<MaximumRow>({{in.data(), &top, 9000}}, {1}, 1, maximum);
  EXPECT_EQ(top, 0.5f);
  constexpr int64_t kWindow = 100, kSize = 1024, kChunks = 9;
  ASSERT_EQ(Loudness::chunk_length(kWindow), kSize);
  double tops[kChunks];
  int32_t begin = -1, length = -1;
  const RegionRow row{in.data(), 9000, kWindow, tops, kChunks, 0, 0.5, &begin, &length};
  launch<RegionRow>({row}, {kChunks}, 4, chunk_tops<float>);
  launch<RegionRow>({row}, {1}, 1, heard_region<float>);
  // The mean over a window passes the half of the largest in its middle.
  EXPECT_EQ(begin, 3000 + kWindow / 2 - kWindow);
  EXPECT_EQ(begin + length, 7000 + kWindow / 2);
}

TEST(WholeKernels, TransformsLines) {
  for (const int64_t n : {12, 15, 14}) {  // radices 2, 3, 4, 5 and 7
    const auto in = random_numbers<float>(static_cast<size_t>(2 * n), -9, 9);
    const auto packed = RealFourier(static_cast<int>(n)).packed();
    const int64_t bins = n / 2 + 1;
    std::vector<float> out(static_cast<size_t>(2 * bins));
    TransformRow row{};
    row.in = in.data(), row.out = out.data(), row.elements = 2 * n, row.inner = 1, row.in_outer = n, row.in_stride = 1;
    row.out_outer = bins, row.out_stride = 1, row.length = n, row.squared = true, row.lines = 2;
    launch<TransformRow>({row}, {2}, 2, transform_lines, packed->data(), packed->size());
    for (int64_t l = 0; l < 2; ++l)
      for (int64_t f = 0; f < bins; ++f) {
        std::complex<double> sum;
        for (int64_t i = 0; i < n; ++i)
          sum += std::polar<double>(in[l * n + i], -2 * M_PI * static_cast<double>(f * i) / static_cast<double>(n));
        EXPECT_NEAR(out[l * bins + f], std::norm(sum), 1e-4 * n * 81) << n << " " << f;
      }
  }
}

// The host reads arguments by way of float64: kernels give the same bits without it.
TEST(WholeArguments, WideNumbersBecomeFloatsAsOnTheHost) {
  std::mt19937_64 random(7);
  std::vector<uint64_t> words = {0, 1, ~uint64_t{0}, uint64_t{1} << 63, 0x7FF0000000000000u, 0xFFF8000000000001u};
  for (int i = 0; i < 100000; ++i) {
    const uint64_t word = random();
    words.push_back(word);
    words.push_back(word >> (word & 63));
    words.push_back((word & 0x800FFFFFFFFFFFFFu) | (860 + word % 310) << 52);  // near the range of float32
    words.push_back((word & 0x800FFFFFC0000000u) | (860 + word % 310) << 52 | 0x10000000u);  // near halves
  }
  for (const uint64_t& word : words) {
    const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
    const auto real = static_cast<float>(std::bit_cast<double>(word));
    ASSERT_EQ(bits(argument_at(&word, ArgumentType::float64, 0)), bits(real)) << word;
    ASSERT_EQ(argument_at(&word, ArgumentType::uint64, 0), static_cast<float>(static_cast<double>(word))) << word;
    const auto number = static_cast<double>(static_cast<int64_t>(word));
    ASSERT_EQ(argument_at(&word, ArgumentType::int64, 0), static_cast<float>(number)) << word;
  }
}

}  // namespace
}  // namespace penstock::whole
