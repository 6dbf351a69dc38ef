// SPDX-License-Identifier: Apache-2.0
// Stages on the emulated GPU give the bytes that the CPU gives.
#include "cpu/stage.h"
#include "cuda/stages/stage.h"

#include <gtest/gtest.h>

#include <cstring>

#include "cuda/kernels/emit.h"
#include "gpu_room/device_batch.h"
#include "gpu_room/equal_stages.h"
#include "gpu_room/random_batch.h"
#include "gpu_room/stage_bytes.h"
#include "gpu_room/stage_program.h"

namespace penstock {
namespace {

using Values = std::vector<double>;

const std::vector<Shape> kShapes{{7, 5, 3}, {1, 1, 3}, {33, 64, 3}, {48, 31, 3}, {0, 4, 3}, {120, 97, 3}};

TEST(GpuStage, PixelOperators) {
  for (DType t : {DType::uint8, DType::int16, DType::float16, DType::float32, DType::int32, DType::float64}) {
    const Batch in = random_batch(t, kShapes, "HWC", 1);
    SCOPED_TRACE(name_of(t));
    expect_equal({{"brightness_contrast", {{"brightness", 1.3}, {"contrast", 0.7}}}}, {in});
    expect_equal({{"hsv", {{"hue", 40.0}, {"saturation", 1.4}}}}, {in});
    expect_equal({{"color_twist", {{"hue", 20.0}, {"brightness", 0.7}}}, {"brightness", {{"brightness", 1.2}}}}, {in});
    expect_equal({{"cast", {{"dtype", int64_t(DType::int8)}}}}, {in});
    expect_equal({{"color_space_conversion", {{"image_type", int64_t(0)}, {"output_type", int64_t(2)}}}}, {in});
  }
}

TEST(GpuStage, TypedChainsThroughATable) {
  const Batch in = random_batch(DType::uint8, {{64, 65, 3}, {40, 3, 3}, {100, 100, 3}}, "HWC", 2);
  expect_equal({{"brightness", {{"brightness", 1.3}}},
                {"contrast", {{"contrast", 0.7}}},
                {"brightness", {{"brightness", 0.9}}},
                {"contrast", {{"contrast", 1.7}}}},
               {in});
  expect_equal({{"brightness", {{"brightness", 1.3}}},
                {"contrast", {{"contrast", 0.7}}},
                {"brightness", {{"brightness", 0.01}, {"dtype", int64_t(DType::float16)}}}},
               {in});
  // To planes: whole groups, also of a part of each row, and others.
  for (const auto& shapes : {std::vector<Shape>{{16, 24, 3}, {8, 8, 3}}, {{16, 25, 3}, {3, 3, 3}}})
    for (bool mirror : {false, true}) {
      const Batch images = random_batch(DType::uint8, shapes, "HWC", 5);
      const std::vector<std::pair<std::string, Value>> to_half{{"mean", Values{10, 20, 30}},
                                                               {"mirror", int64_t(mirror)},
                                                               {"dtype", int64_t(DType::float16)},
                                                               {"output_layout", std::string("CHW")}};
      expect_equal({{"brightness", {{"brightness", 1.3}}}, {"crop_mirror_normalize", to_half}}, {images});
      auto cut = to_half;
      cut.push_back({"crop", Values{3, 3}});
      expect_equal({{"brightness", {{"brightness", 1.3}}}, {"crop_mirror_normalize", cut}}, {images});
      cut.back().second = Values{8, 8};
      if (shapes[0][1] == 24)
        expect_equal({{"brightness", {{"brightness", 1.3}}}, {"crop_mirror_normalize", cut}}, {images});
    }
}

TEST(GpuStage, IntegerMaps) {
  for (DType t : {DType::uint8, DType::float64, DType::int32}) {
    const Batch in = random_batch(t, kShapes, "HWC", 3);
    expect_equal({{"flip", {{"horizontal", int64_t(1)}, {"vertical", int64_t(1)}}}}, {in});
    expect_equal(
        {{"crop",
          {{"crop", Values{8, 9}}, {"out_of_bounds_policy", std::string("pad")}, {"fill_values", Values{1, 2, 3}}}}},
        {in});
    expect_equal({{"flip", {{"horizontal", int64_t(1)}}},
                  {"crop", {{"crop", Values{5, 4}}, {"out_of_bounds_policy", std::string("trim_to_shape")}}},
                  {"flip", {{"vertical", int64_t(1)}, {"horizontal", int64_t(0)}}}},
                 {in});
    expect_equal({{"crop_mirror_normalize",
                   {{"crop", Values{20, 24}},
                    {"mirror", int64_t(1)},
                    {"mean", Values{10, 20, 30}},
                    {"std", Values{1, 2, 3}},
                    {"out_of_bounds_policy", std::string("pad")},
                    {"pad_output", true},
                    {"dtype", int64_t(DType::float16)}}}},
                 {in});
    expect_equal(
        {{"brightness", {{"brightness", 1.3}}}, {"crop_mirror_normalize", {{"mean", Values{10}}, {"std", Values{3}}}}},
        {in});
  }
}

// What a group computes beside its row is no division by zero.
TEST(GpuStage, DivisorsOfWholeRowsAlone) {
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{3, 5, 1}, Shape{2, 13, 3}}) {
    Batch in = random_batch(DType::uint8, {shape}, "HWC", 8), divisor = random_batch(DType::uint8, {shape}, "HWC", 9);
    for (int64_t k = 0; k < shape.volume(); ++k) divisor.view(0).as<uint8_t>()[k] |= 1;
    expect_equal({{"_mod", {}}, {"flip", {{"horizontal", int64_t(1)}}}}, {in, divisor});
    expect_equal({{"_mod", {}}}, {in, divisor});
  }
}

TEST(GpuStage, Resampling) {
  for (DType t : {DType::uint8, DType::float32, DType::uint16, DType::float64}) {
    SCOPED_TRACE(name_of(t));
    const Batch in = random_batch(t, kShapes, "HWC", 4);
    for (const char* kind : {"linear", "cubic", "lanczos", "nearest", "gaussian"}) {
      const int64_t number = std::string(kind) == "nearest"   ? 0
                             : std::string(kind) == "linear"  ? 1
                             : std::string(kind) == "cubic"   ? 2
                             : std::string(kind) == "lanczos" ? 3
                                                              : 5;
      for (bool antialias : {false, true})
        expect_equal({{"resize", {{"size", Values{20, 11}}, {"interp_type", number}, {"antialias", antialias}}}}, {in});
    }
    expect_equal(
        {{"resize", {{"size", Values{9, 70}}, {"dtype", int64_t(DType::float32)}}},
         {"crop_mirror_normalize", {{"mean", Values{10, 20, 30}}, {"std", Values{1, 2, 3}}, {"mirror", int64_t(1)}}}},
        {in});
    expect_equal({{"gaussian_blur", {{"window_size", std::vector<int64_t>{5}}}}}, {in});
    expect_equal({{"gaussian_blur", {{"sigma", Values{3}}}}, {"flip", {{"horizontal", int64_t(1)}}}}, {in});
  }
}

// Wide images of fewer rows than the window has, and tall ones of fewer columns.
TEST(GpuStage, ImagesSmallerThanTheWindow) {
  for (DType t : {DType::uint8, DType::int16})
    for (const Shape& shape : {Shape{2, 67, 3}, Shape{67, 2, 3}, Shape{2, 300, 1}, Shape{1, 1, 3}}) {
      const Batch in = random_batch(t, {shape}, "HWC", 7);
      for (int64_t size : {3, 7, 31})
        expect_equal({{"gaussian_blur", {{"window_size", std::vector<int64_t>{size}}}}}, {in});
    }
}

// Images of several tiles, some away from every border.
TEST(GpuStage, LargeImages) {
  for (DType t : {DType::uint8, DType::float32}) {
    SCOPED_TRACE(name_of(t));
    const Batch in = random_batch(t, {{150, 411, 3}, {97, 300, 3}}, "HWC", 6);
    for (int64_t size : {3, 5, 31})
      expect_equal({{"gaussian_blur", {{"window_size", std::vector<int64_t>{size}}}}}, {in});
    expect_equal(
        {{"gaussian_blur", {{"window_size", std::vector<int64_t>{7, 3}}}},
         {"crop_mirror_normalize", {{"mean", Values{10}}, {"std", Values{3}}, {"dtype", int64_t(DType::float16)}}}},
        {in});
    expect_equal({{"resize", {{"size", Values{77, 201}}}}, {"flip", {{"horizontal", int64_t(1)}}}}, {in});
    expect_equal(
        {{"resize", {{"size", Values{277, 201}}, {"antialias", false}}}, {"flip", {{"horizontal", int64_t(1)}}}}, {in});
    expect_equal({{"flip", {{"horizontal", int64_t(1)}}}, {"brightness", {{"brightness", 1.5}}}}, {in});
    const Batch gray = random_batch(t, {{150, 411, 1}, {97, 300, 1}}, "HWC", 7);
    expect_equal({{"gaussian_blur", {{"window_size", std::vector<int64_t>{9}}}}}, {gray});
    expect_equal({{"resize", {{"size", Values{50, 100}}}}}, {gray});
    const Batch planar = random_batch(t, {{3, 100, 411}, {3, 97, 300}}, "CHW", 8);
    expect_equal({{"gaussian_blur", {{"window_size", std::vector<int64_t>{9}}}}}, {planar});
    expect_equal({{"resize", {{"size", Values{50, 100}}}}}, {planar});
  }
}

// Convolutions of few taps, of bytes: strips at borders and away from them, rows that begin at words and others, tiny
// images among large ones, parts of what was filtered.
TEST(GpuStage, SmallWindows) {
  const Values mean{10, 20, 30, 40}, std{1, 2, 3, 4};
  for (int planes : {1, 3, 4}) {
    SCOPED_TRACE(planes);
    const Batch in =
        random_batch(DType::uint8, {{40, 480, planes}, {31, 261, planes}, {3, 4, planes}, {290, 10, planes}}, "HWC", 9);
    for (const auto& size : {std::vector<int64_t>{5}, {1, 5}, {5, 1}})
      expect_equal_with("compiled", {{"gaussian_blur", {{"window_size", size}}}}, {in});
    expect_equal_with("compiled",
                      {{"gaussian_blur", {{"sigma", Values{0.1}}, {"window_size", std::vector<int64_t>{5}}}}}, {in});
    OpCall normalize{
        "crop_mirror_normalize",
        {{"mean", Values(mean.begin(), mean.begin() + planes)}, {"std", Values(std.begin(), std.begin() + planes)}}};
    expect_equal_with("compiled", {{"gaussian_blur", {{"window_size", std::vector<int64_t>{3, 5}}}}, normalize}, {in});
    const Batch whole = random_batch(DType::uint8, {{391, 352, planes}, {13, 512, planes}}, "HWC", 11);  // by vectors
    expect_equal_with("compiled", {{"gaussian_blur", {{"window_size", std::vector<int64_t>{5, 3}}}}}, {whole});
    expect_equal_with(
        "compiled",
        {{"gaussian_blur", {{"window_size", std::vector<int64_t>{5}}}}, {"crop", {{"crop", Values{12, 304}}}}},
        {whole});
    const Batch large = random_batch(DType::uint8, {{70, 402, planes}, {50, 401, planes}}, "HWC", 10);
    expect_equal_with(
        "compiled",
        {{"gaussian_blur", {{"window_size", std::vector<int64_t>{5}}}}, {"crop", {{"crop", Values{33, 311}}}}},
        {large});
  }
}

// Bytes, planes side by side, made larger and smaller in one batch.
TEST(GpuStage, ResampledBytes) {
  for (int planes : {1, 3}) {
    SCOPED_TRACE(planes);
    const Batch in = random_batch(
        DType::uint8,
        {{40, 180, planes}, {31, 61, planes}, {3, 4, planes}, {290, 10, planes}, {75, 70, planes}, {1, 1, planes}},
        "HWC", 9);
    for (int64_t kind : {1, 2, 3, 5})
      for (const auto& size : {Values{37, 71}, {70, 65}})
        expect_equal_with("compiled",
                          {{"resize", {{"size", size}, {"interp_type", kind}}},
                           {"flip", {{"horizontal", int64_t(1)}, {"vertical", int64_t(kind == 2)}}}},
                          {in});
  }
}

// Made so much smaller that most columns have no tap, beside others of which all have one; also backward.
TEST(GpuStage, ImagesMadeMuchSmaller) {
  for (DType t : {DType::uint8, DType::float32, DType::float16, DType::int16})
    for (int planes : {1, 3}) {
      SCOPED_TRACE(name_of(t));
      const Batch in =
          random_batch(t, {{150, 700, planes}, {60, 1003, planes}, {90, 70, planes}, {3, 2, planes}}, "HWC", planes);
      for (int64_t kind : {0, 1, 2, 3})
        for (bool mirror : {false, true})
          expect_equal_with("compiled",
                            {{"resize", {{"size", Values{31, 70}}, {"interp_type", kind}, {"antialias", false}}},
                             {"flip", {{"horizontal", int64_t(mirror)}}}},
                            {in});
    }
}

TEST(GpuStage, Warps) {
  for (DType t : {DType::uint8, DType::float32, DType::int32}) {
    SCOPED_TRACE(name_of(t));
    const Batch in = random_batch(t, {{7, 5, 3}, {33, 64, 3}, {48, 31, 3}, {120, 97, 3}}, "HWC", 5);
    for (int64_t kind : {0, 1})
      for (bool fill : {false, true}) {
        OpCall s{"rotate", {{"angle", 33.0}, {"interp_type", kind}}};
        if (fill) s.args.push_back({"fill_value", 7.0});
        expect_equal({s}, {in});
      }
  }
}

// One value, or a list of them, for each sample.
Batch each_of(DType t, const std::vector<Values>& values) {
  const auto n = static_cast<int64_t>(values[0].size());
  Batch b = Batch::uniform(t, n == 1 ? Shape{} : Shape{n}, {}, static_cast<int>(values.size()));
  for (int i = 0; i < b.size(); ++i)
    dispatch(t, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t k = 0; k < n; ++k) b.view(i).as<T>()[k] = static_cast<T>(static_cast<float>(values[i][k]));
    });
  return b;
}

// Pictures of several tiles: turned, sheared, moved far outside, larger (few samples a tile), smaller (more than a tile
// has room for); rows that begin at words, and others.
TEST(GpuStage, WarpsOfSeveralTiles) {
  const Batch in = random_batch(DType::uint8, {{150, 212, 3}, {97, 131, 3}, {2, 300, 3}, {300, 1, 3}}, "HWC", 12);
  const std::vector<Values> matrices{{1, 0, 0, 0, 1, 0},
                                     {1, 0, 0.5, 0, 1, -3.25},
                                     {0, -1, 130, 1, 0, -7},
                                     {0.7, 0.7, -20, -0.7, 0.7, 90},
                                     {0.3, 0.1, 40, -0.1, 0.3, 30},
                                     {4, 1, -99, -1, 4, 50},
                                     {-1, 0, 200, 0, -1, 149},
                                     {1, 0, 1e12, 0, 1, -1e12},
                                     {1.3, 0, -60, 0.4, 1.3, -40}};
  for (const auto& m : matrices) {
    SCOPED_TRACE(fmt::format("{}", m[0]));
    expect_equal({{"warp_affine", {{"matrix", m}, {"fill_value", 99.0}}}}, {in});
    expect_equal({{"warp_affine", {{"matrix", m}}}}, {in});
  }
  const Values size{100, 170};
  expect_equal({{"warp_affine", {{"matrix", matrices[3]}, {"size", size}, {"dtype", int64_t(DType::float32)}}}}, {in});
  expect_equal(
      {{"warp_affine", {{"matrix", matrices[3]}, {"fill_value", 7.0}}},
       {"crop_mirror_normalize", {{"mean", Values{10}}, {"std", Values{3}}, {"dtype", int64_t(DType::float16)}}}},
      {in});
  expect_equal({{"warp_affine", {{"matrix", matrices[3]}}}}, {random_batch(DType::uint8, {{70, 131, 1}}, "HWC", 13)});
  expect_equal({{"warp_affine", {{"matrix", matrices[3]}}}}, {random_batch(DType::uint8, {{3, 70, 131}}, "CHW", 13)});
  expect_equal({{"warp_affine", {{"matrix", matrices[3]}}}},
               {random_batch(DType::uint8, {{2, 70, 131, 3}}, "FHWC", 13)});
}

// The CPU alone has stages in which windows follow a warp.
TEST(GpuStage, RefusesAWindowAfterAWarp) {
  const auto driver = make_driver();
  const std::vector<Batch> in{on_device(*driver, random_batch(DType::uint8, {{9, 8, 3}}, "HWC", 12))};
  const StageProgram program =
      program_of({{"warp_affine", {{"matrix", Values{1, 0, 0, 0, 1, 0}}}}, {"flip", {{"horizontal", int64_t(1)}}}},
                 {{DType::uint8, 3, "HWC"}});
  BatchStageCall call;
  call.size = 1, call.context = [](int) { return SampleContext{}; }, call.inputs = in;
  call.memory = driver->memory(0), call.stream = stream_of(*driver);
  Batch out[1];
  std::vector<SampleError> errors;
  make_gpu_stage(program, *driver)->run(call, out, errors);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].error.kind(), ErrorKind::internal);
}

// Rows of every length modulo the eight threads of four pixels that store them, from addresses of every kind.
TEST(GpuStage, WarpsToRowsOfAnyLength) {
  std::vector<Shape> shapes;
  for (int64_t width = 55; width < 75; ++width) shapes.push_back(Shape{9, width, 3});
  const Batch in = random_batch(DType::uint8, shapes, "HWC", 15);
  for (const double shift : {0.25, -3.0}) {
    const Values m{0.9, 0.2, shift, -0.2, 0.9, 2};
    expect_equal({{"warp_affine", {{"matrix", m}, {"fill_value", 99.0}}}}, {in});
    expect_equal({{"warp_affine", {{"matrix", m}, {"interp_type", int64_t(0)}}}}, {in});
    expect_equal({{"warp_affine", {{"matrix", m}}}, {"brightness", {{"brightness", 1.5}}}}, {in});
  }
}

// Two taps each way of pixels of bytes, a few columns a thread.
TEST(GpuStage, ResamplingWithoutAntialias) {
  const Batch in =
      random_batch(DType::uint8, {{150, 211, 3}, {97, 132, 3}, {1, 40, 3}, {40, 1, 3}, {2, 2, 3}}, "HWC", 14);
  const Batch mirror = each_of(DType::int32, {{0}, {1}, {1}, {0}, {1}});
  for (const auto& size : {Values{70, 65}, {64, 96}, {33, 31}, {1, 1}, {201, 224}}) {
    SCOPED_TRACE(fmt::format("{} x {}", size[0], size[1]));
    const OpCall resize{"resize", {{"size", size}, {"antialias", false}}};
    expect_equal({resize}, {in});
    expect_equal({resize,
                  {"crop_mirror_normalize",
                   {{"mean", Values{10, 20, 30}}, {"std", Values{1, 2, 3}}, {"dtype", int64_t(DType::float16)}},
                   {{"mirror", &mirror}}}},
                 {in});
  }
  expect_equal({{"flip", {{"horizontal", int64_t(1)}}}, {"resize", {{"size", Values{64, 64}}, {"antialias", false}}}},
               {in});
  expect_equal({{"flip", {{"horizontal", int64_t(0)}, {"vertical", int64_t(1)}}},
                {"resize", {{"size", Values{64, 64}}, {"antialias", false}}}},
               {in});
}

TEST(GpuStage, ArgumentsOfEachSample) {
  const Batch start = each_of(DType::float32, {{0, 0}, {0, 0}, {3, 40}, {10, 2}, {0, 0}, {100, 5}});
  const Batch end = each_of(DType::float64, {{7, 5}, {1, 1}, {30, 9}, {48, 20}, {0, 4}, {110.5, 90}});
  const Batch mirror = each_of(DType::int32, {{0}, {1}, {1}, {0}, {0}, {1}});
  const Batch brightness = each_of(DType::float16, {{0.5}, {1}, {1.5}, {2}, {0}, {0.3}});
  const Batch angle = each_of(DType::float32, {{10}, {90}, {33}, {-7}, {45}, {180}});
  const Batch sigma = each_of(DType::float32, {{1}, {2}, {1}, {1.5}, {3}, {1}});
  const Batch in = random_batch(DType::uint8, kShapes, "HWC", 6);
  const OpCall cmn{"crop_mirror_normalize",
                   {{"mean", Values{10, 20, 30}}, {"dtype", int64_t(DType::float16)}},
                   {{"mirror", &mirror}}};
  for (bool antialias : {false, true})
    expect_equal(
        {{"resize", {{"size", Values{20, 11}}, {"antialias", antialias}}, {{"roi_start", &start}, {"roi_end", &end}}},
         cmn},
        {in});
  expect_equal({{"brightness_contrast", {{"contrast", 0.7}}, {{"brightness", &brightness}}}}, {in});
  const Batch hue = each_of(DType::float32, {{10}, {90}, {33}, {-7}, {45}, {180}});
  expect_equal(
      {{"hsv", {}, {{"hue", &hue}}}, {"brightness_contrast", {{"contrast", 0.7}}, {{"brightness", &brightness}}}},
      {in});
  expect_equal({{"random_resized_crop", {{"size", std::vector<int64_t>{16}}}}, cmn}, {in});
  expect_equal({{"rotate", {{"fill_value", 3.0}}, {{"angle", &angle}}}}, {in});
  expect_equal({{"gaussian_blur", {}, {{"sigma", &sigma}}}}, {in});
}

TEST(GpuStage, UniformBatches) {
  for (DType t : {DType::uint8, DType::float32}) {
    const Batch in = random_batch(t, std::vector<Shape>(7, Shape{9, 7, 3}), "HWC", 7);
    const Batch brightness = each_of(DType::float32, {{0.5}, {1}, {1.5}, {2}, {0}, {0.3}, {1}});
    expect_equal({{"brightness_contrast", {{"contrast", 0.7}}}}, {in});
    expect_equal({{"brightness_contrast", {{"contrast", 0.7}}, {{"brightness", &brightness}}}}, {in});
    expect_equal({{"flip", {{"horizontal", int64_t(1)}}}, {"crop_mirror_normalize", {{"crop", Values{4, 5}}}}}, {in});
    expect_equal({{"resize", {{"size", Values{20, 11}}}}}, {in});
    const Batch sigma = each_of(DType::float32, {{0.5}, {0.6}, {0.7}, {0.8}, {0.9}, {0.55}, {0.65}});
    const OpCall blur{"gaussian_blur", {{"window_size", std::vector<int64_t>{3}}}, {{"sigma", &sigma}}};
    expect_equal({blur}, {in});
    expect_equal({blur, {"brightness", {}, {{"brightness", &brightness}}}}, {in});
    expect_equal({{"hsv", {{"saturation", 1.2}}, {{"hue", &brightness}}}}, {in});
    expect_equal({{"brightness", {}, {{"brightness", &brightness}}}, {"contrast", {}, {{"contrast", &sigma}}}}, {in});
  }
  const Batch dividend = random_batch(DType::int32, std::vector<Shape>(7, Shape{9, 7}), "HW", 7);
  Batch divisor = random_batch(DType::int32, std::vector<Shape>(7, Shape{9, 7}), "HW", 8);
  for (int i = 0; i < 7; ++i)
    for (int k = 0; k < 63; ++k) divisor.view(i).as<int32_t>()[k] |= 1;
  divisor.view(4).as<int32_t>()[62] = 0;  // of which the sample's error is told
  expect_equal({{"_mod", {}}}, {dividend, divisor});
}

// Every operator that folds numbers, with each of its arguments on the device.
TEST(GpuStage, ArgumentsOnTheDevice) {
  constexpr DType kNumbers[] = {DType::float32, DType::float64, DType::float16, DType::int32, DType::uint8};
  int cases = 0;
  for (const OpInfo* info : all_ops()) {
    if (info->make()->folded().bytes == 0) continue;
    const bool narrow = info->name == "threshold";  // takes what float32 holds, and needs its first argument
    for (DType t : {DType::uint8, DType::int16, DType::float16, DType::float32, DType::int32}) {
      if (narrow && t == DType::int32) continue;
      const Batch in = random_batch(t, kShapes, "HWC", 8);
      std::vector<Batch> values;
      for (size_t k = 0; k < info->gpu_arguments.size(); ++k)
        values.push_back(each_of(kNumbers[(k + static_cast<size_t>(t)) % std::size(kNumbers)],
                                 {{0.5 + static_cast<double>(k)}, {1}, {1.5}, {2}, {0}, {0.25}}));
      OpCall all{info->name, {}, {}, true};
      for (size_t k = 0; k < values.size(); ++k) {
        all.each.push_back({info->gpu_arguments[k], &values[k]});
        OpCall one{info->name, {}, {all.each.back()}, true};
        if (narrow && k > 0) one.each.push_back(all.each.front());
        expect_equal({one}, {in});
        ++cases;
      }
      expect_equal({all}, {in});
    }
  }
  EXPECT_GE(cases, 5 * 17);
  const Batch in = random_batch(DType::uint8, kShapes, "HWC", 9);
  const Batch a = each_of(DType::float32, {{0.5}, {1}, {1.5}, {2}, {0}, {0.3}}),
              b = each_of(DType::float32, {{10}, {90}, {33}, {-7}, {45}, {180}});
  expect_equal({{"hsv", {{"saturation", 1.3}}, {{"hue", &b}}, true},
                {"contrast", {{"contrast", 0.5}}},
                {"brightness", {}, {{"brightness", &a}}, true},
                {"color_twist", {}, {{"hue", &b}}}},
               {in});
  expect_equal({{"resize", {{"size", Values{20, 11}}}},
                {"brightness", {}, {{"brightness", &a}}, true},
                {"crop_mirror_normalize", {{"mean", Values{10, 20, 30}}, {"dtype", int64_t(DType::float16)}}}},
               {in});
}

TEST(GpuStage, ArgumentsOfFramesOnTheDevice) {
  const Batch in = random_batch(DType::uint8, {{3, 8, 5, 3}, {2, 4, 4, 3}}, "FHWC", 10);
  Batch brightness(DType::float32, 1, "F", 2);
  brightness.sample(0).shape = {3}, brightness.sample(1).shape = {1};
  brightness.allocate();
  for (int i = 0; i < 2; ++i)
    for (int64_t k = 0; k < brightness.shape(i)[0]; ++k)
      brightness.view(i).as<float>()[k] = 0.5f + static_cast<float>(i + k);
  expect_equal({{"brightness", {}, {{"brightness", &brightness}}, true}}, {in});
  expect_equal({{"brightness", {}, {{"brightness", &brightness}}, true}, {"hsv", {{"hue", 20.0}}}}, {in});
}

// The interpreter calls all of them from one text.
TEST(GpuStage, EveryPixelFunctionInterpreted) {
  int cases = 0;
  for (const OpInfo* info : all_ops()) {
    const StageTraits t = info->make()->traits();
    if (!t.pixels || t.positional || t.decodes) continue;
    for (const DType type : {DType::uint8, DType::int16, DType::int32, DType::uint32, DType::int64, DType::uint64,
                             DType::float16, DType::float32, DType::float64, DType::bool_}) {
      std::vector<Batch> inputs;
      for (int k = 0; k < t.operands; ++k)
        inputs.push_back(random_batch(type, {{9, 7, 3}, {1, 1, 3}}, "HWC", static_cast<unsigned>(k)));
      const std::vector<ValueType> types(inputs.size(), {type, 3, "HWC"});
      OpCall step{info->name, {}};
      if (error_of([&] { program_of({step}, types); })) {  // one operand and a constant, or not for this type
        step.args = {{"std", Values{3}}, {"dtype", int64_t(DType::int16)}};
        std::erase_if(step.args, [&](const auto& a) { return !info->arg(a.first); });
        if (error_of([&] { program_of({step}, types); })) continue;
      }
      SCOPED_TRACE(name_of(type));
      expect_equal_with("generic", {step}, inputs);
      ++cases;
    }
  }
  EXPECT_GT(cases, 250);
}

// What is known of a shape refers to nothing of the call that found it: a sanitizer of addresses sees more of this.
TEST(GpuStage, ConstantWindowsOfShapesThatComeAgain) {
  const auto driver = make_driver();
  std::vector<Batch> batches;
  for (int64_t k = 0; k < 3; ++k)
    batches.push_back(on_device(
        *driver, random_batch(DType::uint8, {{30 + k, 40, 3}, {9, 11 + k, 3}}, "HWC", static_cast<unsigned>(k))));
  for (double sigma : {0.5, 3.0}) {
    const StageProgram program =
        program_of({{"gaussian_blur", {{"sigma", Values{sigma}}}}}, {{DType::uint8, 3, "HWC"}});
    const auto runner = make_gpu_stage(program, *driver);
    for (int turn = 0; turn < 3; ++turn)
      for (const Batch& in : batches) {
        const std::vector<std::vector<float>> others(64, std::vector<float>(static_cast<size_t>(sigma * 6 + 3), -1e9f));
        EXPECT_EQ(bytes_of(*driver, *runner, in), bytes_of(*driver, *make_gpu_stage(program, *driver), in)) << sigma;
      }
  }
}

TEST(GpuStage, OtherConstantsAndShapesAfterACall) {
  const auto driver = make_driver();
  const auto program = [&](double crop, double brightness) {
    return program_of({{"crop", {{"crop", Values{crop, crop}}, {"out_of_bounds_policy", std::string("pad")}}},
                       {"brightness", {{"brightness", brightness}}}},
                      {{DType::uint8, 3, "HWC"}});
  };
  std::vector<Batch> batches;
  for (unsigned k = 0; k < 3; ++k) {
    std::vector<Shape> shapes = kShapes;
    for (Shape& s : shapes) s[0] += k;
    batches.push_back(on_device(*driver, random_batch(DType::uint8, shapes, "HWC", k)));
  }
  std::unique_ptr<BatchStageRunner> runner = make_gpu_stage(program(8, 1.3), *driver);
  for (const auto& [crop, brightness] : {std::pair{8.0, 1.3}, {8.0, 0.5}, {11.0, 0.5}}) {
    auto other = runner->rebound(program(crop, brightness));
    for (int turn = 0; turn < 2; ++turn)
      for (const Batch& in : batches)
        EXPECT_EQ(bytes_of(*driver, *other, in),
                  bytes_of(*driver, *make_gpu_stage(program(crop, brightness), *driver), in))
            << crop << " " << brightness;
    runner = std::move(other);
  }
}

// What a stage keeps of convolutions is all but their weights.
TEST(GpuStage, OtherWindowsAfterACall) {
  for (DType t : {DType::uint8, DType::float32}) {
    const Batch in =
        random_batch(t, {{17, 9, 3}, {17, 9, 3}, {5, 40, 3}, {2, 2, 3}, {60, 70, 3}, {17, 9, 3}}, "HWC", 11);
    const auto driver = make_driver();
    const Batch there = on_device(*driver, in);
    std::vector<Batch> sigmas, sizes;
    for (int turn = 0; turn < 3; ++turn) {
      sigmas.push_back(
          each_of(DType::float32, {{0.5 + turn}, {0.7}, {turn == 1 ? 1e-3 : 0.9}, {1.0}, {3.0 - turn}, {0.6}}));
      sizes.push_back(each_of(DType::int32, {{3}, {3. + 2 * turn}, {5}, {3}, {7}, {turn == 2 ? 9. : 3.}}));
    }
    std::unique_ptr<BatchStageRunner> first;
    for (int turn = 0; turn < 3; ++turn) {
      const std::vector<OpCall> steps{{"gaussian_blur", {}, {{"sigma", &sigmas[turn]}, {"window_size", &sizes[turn]}}},
                                      {"brightness", {{"brightness", 1.25}}}};
      const StageProgram program = program_of(steps, {{t, 3, "HWC"}});
      const auto fresh = make_gpu_stage(program, *driver);
      if (!first) first = make_gpu_stage(program, *driver);
      Batch out[2];
      const auto rebound = first->rebound(program);
      for (int k = 0; k < 2; ++k) {
        BatchStageCall call;
        call.size = in.size(), call.inputs = {&there, 1}, call.memory = driver->memory(0),
        call.stream = stream_of(*driver);
        call.context = [](int) { return SampleContext{}; };
        std::vector<SampleError> errors;
        (k == 0 ? *fresh : *rebound).run(call, {&out[k], 1}, errors);
        ASSERT_TRUE(errors.empty());
      }
      for (int i = 0; i < in.size(); ++i) {
        const size_t n = static_cast<size_t>(in.shape(i).volume()) * size_of(t);
        std::vector<char> a(n), b(n);
        driver->copy(0, a.data(), out[0].sample(i).data, n, stream_of(*driver));
        driver->copy(0, b.data(), out[1].sample(i).data, n, stream_of(*driver));
        driver->synchronize(0, stream_of(*driver));
        EXPECT_EQ(a, b) << name_of(t) << ", turn " << turn << ", sample " << i;
      }
      expect_equal(steps, {in});
    }
  }
}

}  // namespace
}  // namespace penstock
