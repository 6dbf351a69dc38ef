// SPDX-License-Identifier: Apache-2.0
// What calls of fn.h take and give: enumerations, memory with strides, statuses of samples, arithmetic, graphs.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "capi/capi_test.h"
#include "penstock/fn.h"

namespace {

using namespace penstock;
using capi_test::ramp;

template <class T> std::vector<T> elements(const Tensor& t) {
  const T* p = t.as<const T>();
  return {p, p + t.size()};
}

std::string ppm(int value) { return "P6\n2 1\n255\n" + std::string(6, static_cast<char>(value)); }

TEST(CppCalls, ChoicesHaveNamesAndTextIsReadByThem) {
  EXPECT_STREQ(text_of(BorderMode::reflect_101), "reflect_101");
  EXPECT_EQ(parse<ColorFormat>("nv12"), ColorFormat::nv12);
  EXPECT_EQ(static_cast<int>(ColorFormat::rgba), 5);
  EXPECT_STREQ(text_of(JpegSubsampling::s420), "420");
  try {
    parse<ResizeMode>("notlarger");
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'notlarger' is none of default, stretch, not_larger"), std::string::npos);
  }
  static_assert(!std::is_constructible_v<Choice<BorderMode>, const char*>);
  static_assert(!std::is_constructible_v<Choice<BorderMode>, int>);
  static_assert(!std::is_constructible_v<Choice<BorderMode>, ResizeMode>);
  auto bytes = ramp(6 * 8 * 3);
  const Batch image = Batch::wrap(bytes.data(), {1, 6, 8, 3}, "HWC");
  EXPECT_EQ(fn::resize(image, {.size = {3, 3}, .mode = ResizeMode::not_larger})[0].shape, (Shape{2, 3, 3}));
  int32_t nearest = static_cast<int32_t>(Interpolation::nearest);
  const Batch one_each = fn::resize(image, {.size = {3, 3}, .interp_type = Batch::wrap(&nearest, {1})});
  EXPECT_EQ(elements<uint8_t>(one_each[0]),
            elements<uint8_t>(fn::resize(image, {.size = {3, 3}, .interp_type = Interpolation::nearest})[0]));
}

TEST(CppCalls, RegionsAndRowsWithPitchAreReadAndWritten) {
  auto canvas = ramp(10 * 32);
  const Shape shape{4, 5, 3}, strides{32, 3, 1};
  uint8_t* const corner = canvas.data() + 2 * 32 + 6;
  const Batch region = Batch::wrap({corner}, DType::uint8, {shape}, {strides}, "HWC");
  const Batch one = Batch::wrap(static_cast<void*>(corner), DType::uint8, {1, 4, 5, 3}, {0, 32, 3, 1}, "HWC");
  EXPECT_EQ(region[0].strides, strides);
  EXPECT_EQ(one[0].data, corner);
  std::vector<uint8_t> wanted;
  for (int y = 0; y < 4; ++y)
    for (int x = 4; x >= 0; --x)
      for (int c = 0; c < 3; ++c) wanted.push_back(corner[y * 32 + x * 3 + c]);
  EXPECT_EQ(elements<uint8_t>(fn::flip(region)[0]), wanted);

  std::vector<uint8_t> target(8 * 40, 77);
  uint8_t* const place = target.data() + 40 + 9;
  CallOptions options;
  options.into = {Batch::wrap({place}, DType::uint8, {shape}, {{40, 3, 1}}, "HWC")};
  for (const Batch& result : {fn::flip(region, {}, options), fn::transpose(fn::transpose(region, {.perm = {1, 0, 2}}),
                                                                           {.perm = {1, 0, 2}}, options)}) {
    EXPECT_EQ(result[0].data, place);
    EXPECT_EQ(result[0].strides, (Shape{40, 3, 1}));
  }
  const Tensor region_again = region[0];
  for (int i = 0; i < 8 * 40; ++i) {
    const int y = i / 40 - 1, x = i % 40 - 9;
    const bool inside = y >= 0 && y < 4 && x >= 0 && x < 15;
    EXPECT_EQ(target[static_cast<size_t>(i)], inside ? corner[y * 32 + x] : 77) << i;
  }
  EXPECT_THROW(Batch::wrap({corner}, DType::uint8, {shape}, {{32, 3}}), Error);
  EXPECT_THROW(Batch::wrap({corner}, DType::uint8, {shape}, {strides, strides}), Error);
  options.into = {Batch::wrap({static_cast<const uint8_t*>(place)}, DType::uint8, {shape}, {{40, 3, 1}}, "HWC")};
  EXPECT_THROW(fn::flip(region, {}, options), Error);
  // Side by side in one picture, as in an atlas, but not at one place.
  std::vector<uint8_t> atlas(4 * 30);
  options.into = {
      Batch::wrap({atlas.data(), atlas.data() + 15}, DType::uint8, {shape, shape}, {{30, 3, 1}, {30, 3, 1}}, "HWC")};
  const Batch two = Batch::wrap({corner, corner}, DType::uint8, {shape, shape}, {strides, strides}, "HWC");
  fn::flip(two, {}, options);
  for (size_t i = 0; i < atlas.size(); ++i) EXPECT_EQ(atlas[i], wanted[i / 30 * 15 + i % 15]) << i;
  options.into = {Batch::wrap({place, place}, DType::uint8, {shape, shape}, {{40, 3, 1}, {40, 3, 1}}, "HWC")};
  EXPECT_THROW(fn::flip(two, {}, options), Error);
  // Stride 0: read as one row for all, never written.
  const Batch repeated = Batch::wrap({corner}, DType::uint8, {shape}, {{0, 3, 1}}, "HWC");
  EXPECT_EQ(elements<uint8_t>(fn::flip(repeated)[0])[15 + 2], corner[12 + 2]);
  options.into = {Batch::wrap({place}, DType::uint8, {shape}, {{0, 3, 1}}, "HWC")};
  EXPECT_THROW(fn::flip(region, {}, options), Error);
}

struct MyHalf {
  uint16_t bits;
};

}  // namespace
template <> inline constexpr penstock::DType penstock::dtype_of<MyHalf> = penstock::DType::float16;
namespace {

TEST(CppCalls, AHalfOfAnyTypeIsAFloat16) {
  std::vector<MyHalf> input(3);
  CallOptions options;
  options.into = {Batch::wrap(input.data(), {1, 3})};
  float values[] = {1, 2, -0.5f};
  const Batch half = fn::cast(Batch::wrap(values, {1, 3}), {.dtype = DType::float16}, options);
  EXPECT_EQ(input[0].bits, 0x3c00);
  EXPECT_EQ(input[2].bits, 0xb800);
  EXPECT_EQ(half[0].as<MyHalf>()[1].bits, 0x4000);
  EXPECT_EQ(dtype_of<__half>, DType::float16);
}

TEST(CppCalls, ABFloat16IsTheUpperHalfOfAFloat) {
  float values[] = {1, -2.5f, 1.01171875f, std::numeric_limits<float>::max(), NAN, 1e-40f};
  const Batch made = fn::cast(Batch::wrap(values, {1, 6}), {.dtype = DType::bfloat16});
  ASSERT_EQ(made.dtype(), DType::bfloat16);
  ASSERT_EQ(size_of(DType::bfloat16), 2);
  const auto* elements = made[0].as<BFloat16>();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(elements[i].bits, BFloat16(values[i]).bits) << i;
  EXPECT_EQ(static_cast<float>(elements[1]), -2.5f);
  EXPECT_EQ(elements[2].bits, 0x3f82);  // a tie, to the even one
  EXPECT_EQ(elements[3].bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(elements[4])));
  // The program's own memory, in and out.
  std::vector<BFloat16> input{BFloat16(3.0f), BFloat16(-4.0f)}, result(2);
  CallOptions options;
  options.into = {Batch::wrap(result.data(), {1, 2})};
  fn::brightness(Batch::wrap(input.data(), {1, 2}), {.brightness = 0.5}, options);
  EXPECT_EQ(static_cast<float>(result[0]), 1.5f);
  EXPECT_EQ(static_cast<float>(result[1]), -2.0f);
  EXPECT_EQ(dtype_of<__nv_bfloat16>, DType::bfloat16);
  try {
    fn::median_blur(Batch::wrap(input.data(), {1, 2, 1, 1}, "HWC"));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), PENSTOCK_ERROR_TYPE);
    EXPECT_NE(std::string(e.what()).find("does not compute with bfloat16"), std::string::npos) << e.what();
  }
}

TEST(CppCalls, ADamagedPictureOfEightLeavesTheOthers) {
  std::vector<std::string> files;
  for (int i = 0; i < 8; ++i) files.push_back(i == 3 ? ppm(9).substr(0, 13) : ppm(i));
  std::vector<const char*> data;
  std::vector<Shape> shapes;
  for (const auto& f : files) data.push_back(f.data()), shapes.push_back({static_cast<int64_t>(f.size())});
  const Batch encoded = Batch::wrap(data, DType::uint8, shapes);
  try {
    fn::decoders::image(encoded);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("sample 3"), std::string::npos) << e.what();
  }
  std::vector<SampleStatus> statuses;
  CallOptions options;
  options.statuses = &statuses;
  const Batch pictures = fn::decoders::image(encoded, {}, options);
  ASSERT_EQ(statuses.size(), 8u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(pictures.status(i).ok(), i != 3);
    EXPECT_EQ(statuses[static_cast<size_t>(i)].ok(), i != 3);
    EXPECT_EQ(pictures[i].shape, i == 3 ? (Shape{0, 0, 0}) : (Shape{1, 2, 3}));
    if (i != 3) {
      EXPECT_EQ(pictures[i].as<uint8_t>()[5], i);
    }
  }
  EXPECT_EQ(pictures.status(3).status, PENSTOCK_ERROR_DATA);
  EXPECT_NE(pictures.status(3).message.find("sample 3"), std::string::npos) << pictures.status(3).message;
  EXPECT_TRUE(encoded.status(3).ok());
  EXPECT_THROW(pictures.status(8), Error);
}

TEST(CppCalls, APartOfAFileIsOkAndSaysWhatIsMissing) {
  std::vector<uint8_t> noise(64 * 48 * 3);
  uint32_t state = 1;
  for (uint8_t& v : noise) state = state * 1664525u + 1013904223u, v = static_cast<uint8_t>(state >> 24);
  const Batch whole = fn::encoders::png(Batch::wrap(noise.data(), {1, 64, 48, 3}, "HWC"));
  const Tensor file = whole[0];
  const std::vector<const uint8_t*> data{file.as<const uint8_t>(), file.as<const uint8_t>()};
  const Batch encoded = Batch::wrap(data, {{file.size()}, {file.size() / 2}});
  std::vector<SampleStatus> statuses;
  CallOptions options;
  options.statuses = &statuses;
  EXPECT_EQ(fn::decoders::image(encoded, {}, options).status(1).status, PENSTOCK_ERROR_DATA);
  const Batch pictures = fn::decoders::image(encoded, {.partial = true}, options);
  ASSERT_EQ(statuses.size(), 2u);
  EXPECT_TRUE(statuses[0].ok() && statuses[0].message.empty());
  EXPECT_TRUE(statuses[1].ok()) << statuses[1].message;
  EXPECT_NE(statuses[1].message.find("sample 1: PNG: the file ends at row"), std::string::npos) << statuses[1].message;
  EXPECT_EQ(pictures[1].shape, (Shape{64, 48, 3}));
  EXPECT_EQ(std::memcmp(pictures[1].as<uint8_t>(), noise.data(), 10 * 48 * 3), 0);
  EXPECT_EQ(pictures[1].as<uint8_t>()[64 * 48 * 3 - 1], 0);
  fn::decoders::image(encoded, {.partial = true});
  EXPECT_STREQ(penstock_sample_message(1), "");
}

TEST(CppCalls, StatusesOfShapesAndOfMemoryOfTheProgram) {
  std::vector<uint8_t> bytes = ramp(3 * 4);
  std::vector<int32_t> sizes{2, 2, 9, 9, 1, 4};
  const Batch images = Batch::wrap(bytes.data(), {3, 2, 2, 1}, "HWC");
  std::vector<SampleStatus> statuses;
  CallOptions options;
  options.statuses = &statuses;
  const Batch ends = Batch::wrap(sizes.data(), {3, 2});
  const Batch same = fn::reshape(images, {.shape = ends}, options);
  EXPECT_TRUE(same.status(0).ok() && !same.status(1).ok() && same.status(2).ok());
  EXPECT_EQ(same[2].shape, (Shape{1, 4}));
  EXPECT_EQ(same[1].size(), 0);
  statuses.clear();
  std::vector<penstock_status> few(2);
  auto o = capi_test::zeroed<penstock_call_options>();
  o.statuses = few.data(), o.num_statuses = few.size();
  penstock_batch* out = nullptr;
  const penstock_batch* in = images.handle();
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "statuses has room for 2 samples, but the call has 3",
               penstock_call("flip", &in, 1, nullptr, &o, &out, 1));
  EXPECT_EQ(out, nullptr);
}

TEST(CppCalls, ArithmeticOnBatches) {
  std::vector<float> a{1, 4, 9, -2}, b{2, 2, 0.5f, 7};
  const Batch x = Batch::wrap(a.data(), {2, 2}), y = Batch::wrap(b.data(), {2, 2});
  const auto value = [](const Batch& batch, int i) { return batch[i / 2].as<const float>()[i % 2]; };
  const auto truth = [](const Batch& batch, int i) { return batch[i / 2].as<const bool>()[i % 2]; };
  for (int i = 0; i < 4; ++i) {
    const float p = a[static_cast<size_t>(i)], q = b[static_cast<size_t>(i)];
    EXPECT_EQ(value(x * y + 1, i), p * q + 1);
    EXPECT_EQ(value(2.5 - x, i), 2.5f - p);
    EXPECT_EQ(value(-x / y, i), -p / q);
    EXPECT_EQ(truth(x < y, i), p < q);
    EXPECT_EQ(truth(3 >= x, i), 3 >= p);
    EXPECT_EQ(truth(x == x, i), true);
    EXPECT_EQ(truth(x != 4, i), p != 4);
    EXPECT_EQ(value(fn::math::max(x, y), i), std::max(p, q));
    EXPECT_EQ(value(fn::math::sqrt(fn::math::abs(x)), i), std::sqrt(std::abs(p)));
  }
  std::vector<int32_t> whole{7, -7};
  const Batch n = Batch::wrap(whole.data(), {1, 2});
  EXPECT_EQ((n * 2)[0].dtype, DType::int32);
  EXPECT_EQ((n * 2.0f)[0].dtype, DType::float32);
  EXPECT_EQ(elements<int32_t>(fn::math::quotient(n, 2)[0]), (std::vector<int32_t>{3, -3}));
  EXPECT_EQ(elements<int32_t>((n & 3)[0]), (std::vector<int32_t>{3, 1}));
  EXPECT_THROW(n + (int64_t{1} << 40), Error);
}

TEST(CppCalls, AGraphIsBuiltByTheSameCalls) {
  auto bytes = ramp(2 * 6 * 8 * 3);
  const Batch images = Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC");
  Graph graph(3);
  const Value in = fn::external_source(graph, {.layout = {"HWC"}}, {.name = "images"});
  const Value small = fn::resize(in, {.size = {4, 5}, .antialias = false});
  const Value mirror = fn::random::coin_flip(graph, {.probability = 1.0});
  const Value out = fn::cast(fn::flip(small, {.horizontal = mirror}) * 0.5 + 3, {.dtype = DType::float32});
  const Function f(graph, {out, fn::cat(std::vector<Value>{small, small}, {.axis = 0})});
  const auto got = f({images});
  const Batch resized = fn::resize(images, {.size = {4, 5}, .antialias = false});
  const Batch wanted = fn::cast(fn::flip(resized) * 0.5 + 3, {.dtype = DType::float32});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(elements<float>(got[0][i]), elements<float>(wanted[i]));
  EXPECT_EQ(got[1][0].shape, (Shape{8, 5, 3}));

  Graph other(3);
  const Value foreign = fn::external_source(other, {}, {.name = "images"});
  try {
    fn::math::max(in, foreign);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("another graph"), std::string::npos);
  }
  EXPECT_THROW(fn::flip(Value{}), Error);
}

// Runs tasks on threads of its own, and counts them.
struct CountingPool {
  std::atomic<int> ran{0};
  int threads() const { return 2; }
  void parallel_for(int64_t count, PoolTask task) {
    std::thread second([&] {
      for (int64_t i = 1; i < count; i += 2) task(i, 1), ++ran;
    });
    for (int64_t i = 0; i < count; i += 2) task(i, 0), ++ran;
    second.join();
  }
};

TEST(CppCalls, APoolOfTheProgramRunsTheSamples) {
  const auto pool = std::make_shared<CountingPool>();
  std::vector<uint8_t> bytes = ramp(4 * 256 * 256);
  const Batch images = Batch::wrap(bytes.data(), {4, 256, 256, 1}, "HWC");
  const Batch wanted = fn::flip(images);
  set_thread_pool(pool);
  const Batch got = fn::flip(images);
  reset_thread_pool();
  EXPECT_EQ(pool->ran, 4);
  EXPECT_EQ(pool.use_count(), 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(std::memcmp(got[i].data, wanted[i].data, 256 * 256), 0);
}

}  // namespace
