// SPDX-License-Identifier: Apache-2.0
// Functions as C and C++ programs call them.
#include <cmath>
#include <cstring>
#include <thread>

#include "capi/capi_test.h"
#include "codecs/test_images.h"
#include "penstock/fn.h"

namespace {

using namespace penstock::api;
using capi_test::zeroed;
using penstock::test::JpegRecipe;

constexpr int kSide = 24;

std::vector<uint8_t> photo(int i) {
  JpegRecipe r;
  r.height = 60 + 7 * i, r.width = 90 - 5 * i, r.seed = static_cast<uint32_t>(i);
  const auto file = penstock::test::make_jpeg(r);
  return {file.begin(), file.end()};
}

// JPEG bytes to normalized NCHW.
struct Photos {
  Graph graph{7};
  std::vector<Value> outputs;
  std::vector<std::vector<uint8_t>> files;

  explicit Photos(int n = 4) {
    const auto jpegs =
        graph.add("external_source", {}, fn::ExternalSourceArguments{.dtype = 0, .ndim = 1}.list(), "jpegs");
    const auto images = graph.add("decoders.image", jpegs);
    const auto small = graph.add("resize", images, fn::ResizeArguments{.size = {kSide, kSide}}.list());
    outputs = graph.add(
        "crop_mirror_normalize", small,
        fn::CropMirrorNormalizeArguments{
            .dtype = DType::float32, .mean = {123.7, 116.3, 103.5}, .output_layout = "CHW", .std = {58.4, 57.1, 57.4}}
            .list());
    for (int i = 0; i < n; ++i) files.push_back(photo(i));
  }
  Function function() const { return Function(graph, outputs); }
  Batch batch() {
    std::vector<uint8_t*> data;
    std::vector<Shape> shapes;
    for (auto& f : files) data.push_back(f.data()), shapes.push_back({static_cast<int64_t>(f.size())});
    return Batch::wrap(data, shapes);
  }
  std::vector<float> of_pipeline() {
    Pipeline p(graph, outputs, {.batch_size = static_cast<int>(files.size()), .threads = 2});
    p.feed("jpegs", {batch()});
    const Batch out = p.run()[0];
    std::vector<float> all;
    for (const Tensor t : out) all.insert(all.end(), t.as<float>(), t.as<float>() + t.size());
    return all;
  }
};

TEST(FunctionApi, WritesTheBytesOfThePipelineIntoTheCallersMemory) {
  Photos photos;
  const Function f = photos.function();
  EXPECT_EQ(f.num_inputs(), 1);
  EXPECT_EQ(f.inputs()[0].name, "jpegs");
  EXPECT_EQ(f.inputs()[0].dtype, DType::uint8);
  EXPECT_EQ(f.outputs()[0].dtype, DType::float32);
  EXPECT_EQ(f.outputs()[0].layout, "CHW");
  EXPECT_NE(f.plan().find("decoders.image %2 resize %3 crop_mirror_normalize"), std::string::npos) << f.plan();
  const auto expected = photos.of_pipeline();
  std::vector<float> dense(expected.size());
  f({photos.batch()}, {Batch::wrap(dense.data(), {4, 3, kSide, kSide})});
  EXPECT_EQ(dense, expected);
  const Batch made = f({photos.batch()})[0];
  EXPECT_TRUE(made.is_dense());
  EXPECT_EQ(std::memcmp(made[0].as<float>(), expected.data(), expected.size() * 4), 0);
  const Function saved = Function::load(Pipeline(photos.graph, photos.outputs, {.batch_size = 1}).save());
  const Batch again = saved({photos.batch()})[0];
  EXPECT_EQ(std::memcmp(again[0].as<float>(), expected.data(), expected.size() * 4), 0);
}

// Rows with padding, as pitched frames and an atlas have them; what lies between stays.
TEST(FunctionApi, WritesIntoStridedMemory) {
  Photos photos;
  const Function f = photos.function();
  const auto expected = photos.of_pipeline();
  constexpr int64_t kRow = kSide + 5, kPlane = kRow * (kSide + 2), kSample = 3 * kPlane + 11;
  std::vector<float> atlas(4 * kSample, -1.0f);
  std::vector<int64_t> shapes, strides;
  std::vector<void*> data;
  for (int i = 0; i < 4; ++i) {
    shapes.insert(shapes.end(), {3, kSide, kSide}), strides.insert(strides.end(), {kPlane, kRow, 1});
    data.push_back(atlas.data() + i * kSample);
  }
  auto d = zeroed<penstock_batch_description>();
  d.dtype = PENSTOCK_FLOAT32, d.ndim = 3, d.num_samples = 4;
  d.shapes = shapes.data(), d.strides = strides.data(), d.data = data.data();
  penstock_batch* into = nullptr;
  EXPECT_OK(penstock_batch_create(&d, &into));
  f({photos.batch()}, {Batch(into)});
  int64_t k = 0, between = 0;
  for (int i = 0; i < 4; ++i)
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x)
          ASSERT_EQ(atlas[i * kSample + c * kPlane + y * kRow + x], expected[k++]) << i << c << y << x;
  for (const float v : atlas) between += v == -1.0f;
  EXPECT_EQ(between, static_cast<int64_t>(atlas.size() - expected.size()));
  const Shape one{3, kSide, kSide};
  const std::vector<Shape> same(4, one), repeated(4, Shape{kPlane, 0, 1}), rows(4, Shape{kPlane, kRow, 1});
  EXPECT_THROW(f({photos.batch()}, {Batch::wrap(data, DType::float32, same, repeated)}), Error);
  data[2] = data[1];
  EXPECT_THROW(f({photos.batch()}, {Batch::wrap(data, DType::float32, same, rows)}), Error);
}

TEST(FunctionApi, ADamagedFileFailsAlone) {
  Photos photos;
  const Function f = photos.function();
  const auto expected = photos.of_pipeline();
  photos.files[1].resize(150), photos.files[2] = {1, 2, 3};
  std::vector<float> out(expected.size(), -1.0f);
  const Batch into = Batch::wrap(out.data(), {4, 3, kSide, kSide});
  std::vector<SampleStatus> statuses;
  f({photos.batch()}, {into}, &statuses);
  const size_t sample = expected.size() / 4;
  ASSERT_EQ(statuses.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const bool good = i == 0 || i == 3;
    EXPECT_EQ(statuses[i].ok(), good);
    EXPECT_EQ(statuses[i].message.empty(), good) << statuses[i].message;
    EXPECT_EQ(statuses[i].status, good ? PENSTOCK_OK : PENSTOCK_ERROR_DATA);
    for (size_t k = i * sample; k < (i + 1) * sample; ++k) ASSERT_EQ(out[k], good ? expected[k] : -1.0f) << i;
  }
  EXPECT_NE(statuses[2].message.find("[decoders.image]"), std::string::npos);
  EXPECT_NE(statuses[2].message.find("sample 2"), std::string::npos);
  const auto made = f({photos.batch()}, {.statuses = &statuses});
  EXPECT_EQ(made[0][1].size(), 0);
  EXPECT_EQ(std::memcmp(made[0][3].as<float>(), &expected[3 * sample], sample * 4), 0);
  EXPECT_THROW(f({photos.batch()}), Error);
}

TEST(FunctionApi, ThreadsShareAFunction) {
  Photos photos(6);
  const Function f = photos.function();
  const auto expected = photos.of_pipeline();
  const size_t sample = expected.size() / 6;
  std::vector<std::thread> threads;
  std::vector<int> wrong(6, 0);
  for (size_t t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> out(sample);
      const Batch into = Batch::wrap(out.data(), {1, 3, kSide, kSide});
      for (size_t round = 0; round < 24; ++round) {
        const size_t i = (t + round) % 6;
        auto& file = photos.files[i];
        f({Batch::wrap(file.data(), {1, static_cast<int64_t>(file.size())})}, {into});
        wrong[t] += std::memcmp(out.data(), &expected[i * sample], sample * 4) != 0;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(6, 0));
}

TEST(FunctionApi, WrongCallsSayWhatToWrite) {
  Photos photos;
  const Function f = photos.function();
  std::vector<float> out(4 * 3 * kSide * kSide);
  const Batch jpegs = photos.batch();
  const auto fails = [&](penstock_status status, const char* text, auto&& call) {
    try {
      call();
      ADD_FAILURE() << "no error: " << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), status) << e.what();
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  };
  fails(PENSTOCK_ERROR_ARGUMENT, "takes 1 inputs, got 2", [&] { f({jpegs, jpegs}); });
  fails(PENSTOCK_ERROR_TYPE, "is float32, but dtype=uint8 was declared", [&] { f({Batch::wrap(out.data(), {1, 9})}); });
  fails(PENSTOCK_ERROR_ARGUMENT, "has 3 samples, but the call has 4",
        [&] { f({jpegs}, {Batch::wrap(out.data(), {3, 3, kSide, kSide})}); });
  fails(PENSTOCK_ERROR_ARGUMENT, "has the shape (3, 24, 12), but the output has (3, 24, 24)",
        [&] { f({jpegs}, {Batch::wrap(out.data(), {4, 3, kSide, kSide / 2})}); });
  fails(PENSTOCK_ERROR_TYPE, "has the type uint8, but the output is float32",
        [&] { f({jpegs}, {Batch::allocate(DType::uint8, std::vector<Shape>(4, {3, kSide, kSide}))}); });
  const Batch same = Batch::wrap(std::vector<float*>(4, out.data()), std::vector<Shape>(4, {3, kSide, kSide}));
  fails(PENSTOCK_ERROR_ARGUMENT, "overlaps", [&] { f({jpegs}, {same}); });
  fails(PENSTOCK_ERROR_ARGUMENT, "this is not a saved pipeline", [&] { Function::load("{}"); });
  Graph reads;
  const auto files = reads.add("readers.file", {}, fn::readers::FileArguments{.files = {"a.jpg"}}.list());
  fails(PENSTOCK_ERROR_ARGUMENT, "external_source", [&] { Function(reads, {files[0]}); });
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "output 0 has no memory", ({
                 const penstock_batch* in[] = {jpegs.handle()};
                 penstock_function_call(f.handle(), in, 1, nullptr, nullptr, 1);
               }));
  EXPECT_FAILS(PENSTOCK_ERROR_ARGUMENT, "input 1 does not exist", ({
                 auto v = zeroed<penstock_function_value>();
                 penstock_function_get_input(f.handle(), 1, &v);
               }));
}

TEST(FunctionApi, ABatchServesManyCalls) {
  Graph g;
  const auto x = g.add("external_source", {}, fn::ExternalSourceArguments{.layout = {"HWC"}}.list(), "images");
  const Function f(g, g.add("flip", x));
  std::vector<uint8_t> a{1, 2, 3, 4, 5, 6}, b{7, 8, 9}, out(6);
  Batch in = Batch::wrap(a.data(), {1, 1, 2, 3}), into = Batch::wrap(out.data(), {1, 1, 2, 3});
  f({in}, {into});
  EXPECT_EQ(out, (std::vector<uint8_t>{4, 5, 6, 1, 2, 3}));
  in.set_sample(0, b.data(), {1, 1, 3}), into.set_sample(0, out.data() + 3, {1, 1, 3});
  f({in}, {into});
  EXPECT_EQ(out, (std::vector<uint8_t>{4, 5, 6, 7, 8, 9}));
  EXPECT_THROW(in.set_sample(1, b.data(), {1, 1, 3}), Error);
  EXPECT_THROW(in.set_sample(0, b.data(), {3}), Error);
  Batch own = Batch::allocate(DType::uint8, {{1, 1, 3}});
  EXPECT_THROW(own.set_sample(0, b.data(), {1, 1, 3}), Error);
}

}  // namespace
