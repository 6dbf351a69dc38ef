// SPDX-License-Identifier: Apache-2.0
// The kernels of images' affine maps, compiled by the host's compiler, against the map of single elements.
#include "emulated_gpu/one_thread.h"

#include "cuda/kernels/image_boxes.h"
#include "cuda/kernels/image_warp.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace penstock {
namespace {

// A stage that makes its source's value an element, as the emitter would print it.
template <class InType, class OutType, int planes, int dims, bool bytes, bool fills, bool nearest = false>
struct WarpStage {
  typedef int32_t Index;
  typedef OutType Out;
  typedef float Number;
  typedef float SourceNumber;
  template <template <class> class F> using OfInputs = Each<F<InType>>;
  template <int k> using In = typename Nth<k, InType>::type;
  static constexpr RowLayout kRow{1, dims, 0, fills, false, false, false, true, true, false};
  static constexpr int kPlanes = planes, kOutPlanes = planes, kGroup = kWarpGroup, kWarpX = dims - 1, kWarpY = dims - 2;
  static constexpr bool kNearest = nearest;
  static constexpr bool kOneRow = false, kTable = false, kCopies = false, kSourceStaysBytes = bytes,
                        kResultWithin = bytes && std::is_same_v<OutType, uint8_t>;
  struct Coefs {
    explicit Coefs(const char*) {}
  };
  template <class Load>
  static void apply(const Coefs&, const Load&, const float (&source)[planes], float (&made)[planes], int32_t*, bool) {
    for (int p = 0; p < planes; ++p) made[p] = source[p];
  }
};

struct WarpCase {
  std::vector<double> m;
  int in_width, in_height, width, height;
  int frames = 1;
  bool border_fill = true, near = true, planar = false;
  int lo = 0;  // outputs before this column are fill
};

// Images whose planes are beside each other, warped by `kernel`, and by one element after the other.
template <class Stage> class WarpTest {
 public:
  using In = typename Stage::template In<0>;
  using Out = typename Stage::Out;
  static constexpr int kPlanes = Stage::kPlanes, kDims = Stage::kRow.dims;

  explicit WarpTest(const WarpCase& of)
      : c_(of), in_(size(c_.in_width, c_.in_height) + 16), out_(size(c_.width, c_.height)) {
    std::mt19937 random(7);
    for (In& v : in_) v = static_cast<In>(random() % 200);
  }
  template <class Kernel> void run(int64_t positions, int64_t block, const Kernel& kernel) {
    const auto blocks = static_cast<int32_t>((positions + block - 1) / block);
    table_.starts[1] = blocks;
    table_.head.entries = 1, table_.head.starts = offset(table_.starts), table_.head.rows = offset(table_.row);
    table_.head.block = block;
    row_.head().out = reinterpret_cast<char*>(out_.data()), row_.head().positions = positions;
    row_.head().in[0] = reinterpret_cast<const char*>(in());
    if constexpr (Stage::kRow.fills) row_.fill() = offset(table_.fill);
    put_loops();
    put_map();
    for (int32_t b = 0; b < blocks; ++b) {
      blockIdx.x = static_cast<unsigned>(b);
      kernel(reinterpret_cast<const char*>(&table_));
    }
    blockIdx.x = 0;
    check();
  }

 private:
  struct Table {
    TableHeader head{};
    int64_t row[Stage::kRow.bytes() / 8] = {};
    int32_t starts[2] = {0, 1};
    float outside = 77;
    Out fill[4] = {Out(1), Out(2), Out(3), Out(4)};
  };
  const WarpCase c_;
  std::vector<In> in_;
  std::vector<Out> out_;
  Table table_;
  const StageRow<char> row_{Stage::kRow, reinterpret_cast<char*>(table_.row)};

  const In* in() const { return in_.data() + 5; }  // words begin before
  size_t size(int width, int height) const { return static_cast<size_t>(width) * height * c_.frames * kPlanes; }
  int64_t offset(const auto& member) const {
    return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&table_);
  }
  int64_t plane_out() const { return c_.planar ? int64_t{c_.frames} * c_.height * c_.width : 1; }
  int64_t column_out() const { return c_.planar ? 1 : kPlanes; }
  void put(LoopRow& to, int64_t extent, int64_t lo, int64_t out, int64_t in) {
    const LoopRow from{extent, lo, extent, out, {in}};
    std::memcpy(&to, &from, 5 * sizeof(int64_t));
  }
  void put_loops() {
    const int64_t in_row = int64_t{c_.in_width} * kPlanes, out_row = c_.width * column_out();
    put(row_.plane(), kPlanes, 0, plane_out(), 1);
    put(row_.dim(kDims - 1), c_.width, c_.lo, column_out(), kPlanes);
    put(row_.dim(kDims - 2), c_.height, 0, out_row, in_row);
    if (kDims > 2) put(row_.dim(0), c_.frames, 0, out_row * c_.height, in_row * c_.in_height);
  }
  void put_map() {
    const WarpSource source{
        {c_.in_width, c_.in_height, 1}, offset(table_.outside), Stage::kNearest, c_.border_fill, c_.near};
    WarpRow& warp = row_.warp();
    std::copy_n(c_.m.data(), 6, warp.m);
    warp.source = source;
  }
  float expected(int frame, int x, int y, int p) const {
    const int64_t extent[] = {c_.in_width, c_.in_height}, stride[] = {kPlanes, c_.in_width * kPlanes};
    const In* from = in() + int64_t{frame} * c_.in_width * c_.in_height * kPlanes + p;
    const auto load = [from](int64_t at) { return static_cast<float>(from[at]); };
    const AffineChannel<2, float, decltype(load)> channel{extent, stride, c_.border_fill, table_.outside, load};
    const AffinePoint<2> point = affine_point<2>(c_.m.data(), x, y, 0, Stage::kNearest);
    if (Stage::kNearest) return channel.tap(point, 0);
    return Stage::kSourceStaysBytes ? channel.linear_bytes(point) : channel.linear(point);
  }
  void check() const {
    for (int f = 0; f < c_.frames; ++f)
      for (int y = 0; y < c_.height; ++y)
        for (int x = 0; x < c_.width; ++x)
          for (int p = 0; p < kPlanes; ++p) {
            const int64_t at = ((int64_t{f} * c_.height + y) * c_.width + x) * column_out() + p * plane_out();
            const Out wanted = x < c_.lo ? table_.fill[p] : element_of<float, Out>(expected(f, x, y, p));
            ASSERT_EQ(out_[static_cast<size_t>(at)], wanted) << f << ' ' << y << ' ' << x << ' ' << p;
          }
  }

 public:
  void warp() {
    const auto tiles = [](int extent, int of) { return (extent + of - 1) / of; };
    const int64_t rectangles =
        tiles(c_.width, kWarpAcross * kWarpGroup) * tiles(c_.height, kWarpDown * kWarpStack) * kWarpStack * c_.frames;
    std::vector<Out> shared(size_t{kWarpDown} * kExchangePitch * kPlanes);  // one thread is one warp
    penstock_shared = reinterpret_cast<char*>(shared.data());
    run(rectangles * 32, 96, image_warp<Stage>);
    penstock_shared = nullptr;
  }
  void boxes() {
    const auto tiles = [](int extent) { return (extent + kBoxTile - 1) / kBoxTile; };
    constexpr int kThreads = 256;
    std::vector<BoxStart> shared(kBoxTile + (kBoxPitch * kBoxRows + kThreads / 32 * 4 * kExchangePitch) / 4);
    penstock_shared = reinterpret_cast<char*>(shared.data());
    const int across = tiles(c_.width), down = tiles(c_.height);
    run(int64_t{across} * down * c_.frames, 1, [&](const char* table) {
      BoxRow& box = row_.box();
      box.step_x = affine_step(c_.m[0]), box.step_y = affine_step(c_.m[3]);
      box.tiles_across = 1.0f / static_cast<float>(across), box.tiles_down = 1.0f / static_cast<float>(down);
      image_boxes<Stage, kThreads>(table);
    });
    penstock_shared = nullptr;
  }
};

const std::vector<double> kTurned = {0.8, 0.45, -6.5, -0.45, 0.8, 19.25};

TEST(ImageWarp, rectangles_are_all_positions_once) {
  constexpr int kWidth = 71, kHeight = 49, kFrames = 3, kAcross = kWarpAcross * kWarpGroup;
  constexpr int kStack = kWarpDown * kWarpStack;
  const int rectangles = (kWidth + kAcross - 1) / kAcross * ((kHeight + kStack - 1) / kStack) * kWarpStack * kFrames;
  std::set<std::tuple<int, int, int>> all;
  const WarpTiles<int> tiles(kWidth, kHeight);
  for (int i = 0; i < rectangles; ++i) {
    int x, y, outer;
    tiles.place(i, x, y, outer);
    EXPECT_TRUE(x % kAcross == 0 && y >= 0 && outer < kFrames);
    EXPECT_TRUE(all.emplace(outer, x, y).second) << i;
  }
  for (int f = 0; f < kFrames; ++f)
    for (int y = 0; y < kHeight; y += kWarpDown)
      for (int x = 0; x < kWidth; x += kAcross) EXPECT_TRUE(all.contains({f, x, y})) << f << ' ' << y << ' ' << x;
}

template <bool nearest> void warp_three(bool border_fill) {
  WarpTest<WarpStage<float, float, 2, 2, false, false, nearest>>(
      {.m = kTurned, .in_width = 40, .in_height = 33, .width = 67, .height = 35, .border_fill = border_fill})
      .warp();
  WarpTest<WarpStage<float, float, 3, 3, false, false, nearest>>({.m = kTurned,
                                                                  .in_width = 61,
                                                                  .in_height = 50,
                                                                  .width = 39,
                                                                  .height = 41,
                                                                  .frames = 2,
                                                                  .border_fill = border_fill})
      .warp();
  WarpTest<WarpStage<uint8_t, uint8_t, 3, 3, true, false, nearest>>({.m = kTurned,
                                                                     .in_width = 41,
                                                                     .in_height = 30,
                                                                     .width = 50,
                                                                     .height = 21,
                                                                     .frames = 3,
                                                                     .border_fill = border_fill})
      .warp();
}

TEST(ImageWarp, blends_are_those_of_single_elements) {
  for (const bool border_fill : {true, false}) warp_three<false>(border_fill), warp_three<true>(border_fill);
  WarpTest<WarpStage<uint8_t, float, 3, 2, false, false>>(
      {.m = kTurned, .in_width = 41, .in_height = 30, .width = 50, .height = 21, .planar = true})
      .warp();
  WarpTest<WarpStage<uint8_t, uint8_t, 4, 2, true, false>>(
      {.m = {3e9, 0.1, 3, -0.1, 0.9, 4}, .in_width = 20, .in_height = 9, .width = 33, .height = 7, .near = false})
      .warp();
}

TEST(ImageWarp, what_is_no_output_of_the_map_is_fill) {
  WarpTest<WarpStage<int16_t, int16_t, 3, 2, false, true>>(
      {.m = kTurned, .in_width = 40, .in_height = 33, .width = 37, .height = 12, .lo = 6})
      .warp();
}

TEST(ImageWarp, boxes_make_the_same_pixels) {
  using Packed = WarpStage<uint8_t, uint8_t, 3, 2, true, false>;
  using Video = WarpStage<uint8_t, uint8_t, 3, 3, true, false>;
  using Planes = WarpStage<uint8_t, float, 3, 2, true, false>;
  for (const bool border_fill : {true, false}) {
    const WarpCase several{
        .m = kTurned, .in_width = 90, .in_height = 80, .width = 131, .height = 70, .border_fill = border_fill};
    WarpTest<Packed>(several).boxes();
    WarpTest<WarpStage<uint8_t, uint8_t, 3, 2, true, false, true>>(several).boxes();
    WarpTest<Packed>({.m = kTurned,
                      .in_width = 9,
                      .in_height = 1,
                      .width = 66,
                      .height = 3,
                      .border_fill = border_fill,
                      .planar = true})
        .boxes();
  }
  WarpTest<Packed>({.m = {0.5, 0, 1, 0, 0.5, 1}, .in_width = 84, .in_height = 60, .width = 128, .height = 64}).boxes();
  WarpTest<Video>({.m = kTurned, .in_width = 64, .in_height = 48, .width = 70, .height = 65, .frames = 3}).boxes();
  WarpTest<Planes>({.m = kTurned, .in_width = 90, .in_height = 80, .width = 67, .height = 30, .planar = true}).boxes();
}

}  // namespace
}  // namespace penstock
