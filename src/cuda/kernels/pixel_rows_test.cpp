// SPDX-License-Identifier: Apache-2.0
// Rows of pixels, by the host's compiler: one thread stands for all lanes of a warp.
#include "emulated_gpu/one_thread.h"

#include "cuda/kernels/pixel_rows.h"

#include "cuda/kernels/moved_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace penstock {
namespace {

// As the emitter prints it. Not moved: three channels through their sum with the place of the channel, or one.
template <bool copies, bool reverses, int made> struct RowsStage {
  typedef int32_t Index;
  typedef uint8_t Out;
  typedef float Number;
  template <template <class> class F> using OfInputs = Each<F<uint8_t>>;
  template <int k> using In = typename Nth<k, uint8_t>::type;
  static constexpr RowLayout kRow{1, 2, 0, false, false, false, false, true, false, false};
  static constexpr int kPlanes = 3, kOutPlanes = made, kGroup = kRowPixels;
  static constexpr bool kOneRow = false, kTable = false, kCopies = copies, kReverses = reverses, kResultWithin = false;
  struct Coefs {
    explicit Coefs(const char*) {}
  };
  static float result(const uint8_t* p, int k) {
    return 0.5f * static_cast<float>(p[0]) + 0.25f * static_cast<float>(p[1]) + 0.5f * static_cast<float>(p[2]) +
           static_cast<float>(k);
  }
  template <class Load> static void apply(const Coefs&, const Load& load, Number (&to)[made], int32_t*, bool) {
    uint8_t p[3];
    for (int k = 0; k < 3; ++k) p[k] = static_cast<uint8_t>(number_of<uint8_t, float>(load(Known<0>(), k)));
    for (int k = 0; k < made; ++k) to[k] = result(p, k);
  }
  static uint8_t wanted(const uint8_t* p, int k) {
    if (copies) return p[reverses ? 2 - k : k];
    return element_of<float, uint8_t>(result(p, k));
  }
};

template <class Stage> void compare(std::mt19937& random) {
  constexpr int kMade = Stage::kOutPlanes;
  const int height = 1 + static_cast<int>(random() % 4), width = 1 + static_cast<int>(random() % 1300);
  const bool forward = random() % 2 != 0;
  const size_t shift = random() % 17, past = random() % 17;
  const int pitch = width * 3 + static_cast<int>(random() % 5),
            row_out = width * kMade + static_cast<int>(random() % 5);
  // Words are read whole.
  std::vector<uint8_t> in((shift + static_cast<size_t>(height * pitch) + 3) / 4 * 4);
  std::vector<uint8_t> out(past + static_cast<size_t>(height * row_out));
  for (uint8_t& v : in) v = static_cast<uint8_t>(random());
  const std::vector<uint8_t> before = [&] {
    for (uint8_t& v : out) v = static_cast<uint8_t>(random());
    return out;
  }();
  struct Table {
    TableHeader head{};
    int64_t row[Stage::kRow.bytes() / 8] = {};
    int32_t starts[2] = {0, 2};
  } table;
  const auto offset = [&](const auto& member) {
    return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&table);
  };
  const StageRow<char> row{Stage::kRow, reinterpret_cast<char*>(table.row)};
  const int64_t parts = int64_t{(width + kRowPixels - 1) / kRowPixels} * height;
  table.head.entries = 1, table.head.starts = offset(table.starts), table.head.rows = offset(table.row);
  table.head.block = (parts + 1) / 2;
  row.head().out = reinterpret_cast<char*>(out.data() + past), row.head().positions = parts;
  row.head().in[0] = reinterpret_cast<const char*>(in.data() + shift + (forward ? 0 : (width - 1) * 3));
  LoopRow plane{}, y{}, x{};
  plane.extent = plane.hi = kMade, plane.out_stride = 1, plane.in_stride[0] = 1;
  y.extent = y.hi = height, y.out_stride = row_out, y.in_stride[0] = pitch;
  x.extent = x.hi = width, x.out_stride = kMade, x.in_stride[0] = forward ? 3 : -3;
  const auto put = [](LoopRow& to, const LoopRow& from) { std::memcpy(&to, &from, 5 * sizeof(int64_t)); };
  put(row.plane(), plane), put(row.dim(0), y), put(row.dim(1), x);
  alignas(16) char shared[kRowBytes];
  penstock_shared = shared;
  for (unsigned block = 0; block < 2; ++block) {
    blockIdx.x = block;
    pixel_rows<Stage>(reinterpret_cast<const char*>(&table));
  }
  blockIdx.x = 0;
  std::vector<uint8_t> wanted = before;
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j)
      for (int k = 0; k < kMade; ++k) {
        const uint8_t* const p = in.data() + shift + i * pitch + (forward ? j : width - 1 - j) * 3;
        wanted[past + static_cast<size_t>(i * row_out + j * kMade + k)] = Stage::wanted(p, k);
      }
  ASSERT_EQ(out, wanted) << height << " x " << width << ' ' << forward << ' ' << shift << ' ' << past;
}

TEST(PixelRows, AreMovedAndMappedAtAnyAddress) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    compare<RowsStage<true, false, 3>>(random);
    compare<RowsStage<true, true, 3>>(random);
    compare<RowsStage<false, false, 3>>(random);
    compare<RowsStage<false, false, 1>>(random);
  }
}

// Wide elements, which are only moved.
template <class T, int planes> struct MovedStage {
  typedef int32_t Index;
  typedef T Out;
  template <template <class> class F> using OfInputs = Each<F<T>>;
  template <int k> using In = typename Nth<k, T>::type;
  static constexpr RowLayout kRow{1, 2, 0, false, false, false, false, true, false, false};
  static constexpr int kPlanes = planes, kOutPlanes = planes;
  static constexpr bool kOneRow = false;
};

template <class T, int planes> void move_rows(std::mt19937& random) {
  using Stage = MovedStage<T, planes>;
  const int height = 1 + static_cast<int>(random() % 4), width = 1 + static_cast<int>(random() % 400);
  const bool forward = random() % 2 != 0;
  const int row_in = width * planes + static_cast<int>(random() % 5),
            row_out = width * planes + static_cast<int>(random() % 5);
  std::vector<T> in(static_cast<size_t>(height * row_in)), out(static_cast<size_t>(height * row_out));
  for (T& v : in) v = static_cast<T>(random());
  for (T& v : out) v = static_cast<T>(random());
  std::vector<T> wanted = out;
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j)
      for (int p = 0; p < planes; ++p)
        wanted[static_cast<size_t>(i * row_out + j * planes + p)] =
            in[static_cast<size_t>(i * row_in + (forward ? j : width - 1 - j) * planes + p)];
  struct Table {
    TableHeader head{};
    int64_t row[Stage::kRow.bytes() / 8] = {};
    int32_t starts[2] = {0, 2};
  } table;
  const auto offset = [&](const auto& member) {
    return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&table);
  };
  const StageRow<char> row{Stage::kRow, reinterpret_cast<char*>(table.row)};
  const int64_t parts = int64_t{(width + kMovedPixels - 1) / kMovedPixels} * height;
  table.head.entries = 1, table.head.starts = offset(table.starts), table.head.rows = offset(table.row);
  table.head.block = (parts + 1) / 2;
  row.head().out = reinterpret_cast<char*>(out.data()), row.head().positions = parts;
  row.head().in[0] = reinterpret_cast<const char*>(in.data() + (forward ? 0 : (width - 1) * planes));
  LoopRow plane{}, y{}, x{};
  plane.extent = plane.hi = planes, plane.out_stride = 1, plane.in_stride[0] = 1;
  y.extent = y.hi = height, y.out_stride = row_out, y.in_stride[0] = row_in;
  x.extent = x.hi = width, x.out_stride = planes, x.in_stride[0] = forward ? planes : -planes;
  const auto put = [](LoopRow& to, const LoopRow& from) { std::memcpy(&to, &from, 5 * sizeof(int64_t)); };
  put(row.plane(), plane), put(row.dim(0), y), put(row.dim(1), x);
  for (unsigned block = 0; block < 2; ++block) {
    blockIdx.x = block;
    moved_rows<Stage>(reinterpret_cast<const char*>(&table));
  }
  blockIdx.x = 0;
  ASSERT_EQ(out, wanted) << height << " x " << width << " x " << planes << ' ' << forward;
}

TEST(MovedRows, pixels_of_wide_elements_go_forward_and_backward) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    move_rows<float, 2>(random);
    move_rows<float, 3>(random);
    move_rows<float, 4>(random);
    move_rows<double, 3>(random);
  }
}

}  // namespace
}  // namespace penstock
