// SPDX-License-Identifier: Apache-2.0
// penstock.hpp and fn.h, as a C++ program sees them.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory_resource>

#include "capi/capi_test.h"
#include "penstock/fn.h"

namespace {

using namespace penstock;
using capi_test::ramp;

TEST(Cpp, CallsAreTyped) {
  auto bytes = ramp(2 * 6 * 8 * 3);
  const Batch images = Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC");
  EXPECT_EQ(images.size(), 2);
  EXPECT_EQ(images.ndim(), 3);
  EXPECT_EQ(images.dtype(), DType::uint8);
  EXPECT_EQ(images.layout(), "HWC");
  EXPECT_TRUE(images.is_dense());

  const int side = 4;  // lists of variables and of floats, one number for a list
  EXPECT_EQ(fn::resize(images, {.size = {side, side}})[0].shape, (Shape{4, 4, 3}));
  EXPECT_EQ(fn::resize(images, {.size = {4.0, 5}})[0].shape, (Shape{4, 5, 3}));
  EXPECT_EQ(fn::resize(images, {.size = side})[0].shape, (Shape{4, 4, 3}));
  EXPECT_EQ(
      fn::resize(images, {.resize_shorter = 3, .antialias = false, .interp_type = Interpolation::nearest})[1].shape,
      (Shape{3, 4, 3}));
  const Batch f = fn::brightness_contrast(images, {.brightness = 2, .dtype = DType::float32});
  EXPECT_EQ(f[0].as<float>()[3], 42.0f);
  EXPECT_THROW(f[0].as<uint8_t>(), Error);
  const Batch chw = fn::crop_mirror_normalize(images, {.mean = {1, 2, 3}, .mirror = 1, .output_layout = "CHW"});
  EXPECT_EQ(chw.layout(), "CHW");
  EXPECT_EQ(chw[0].as<float>()[0], bytes[7 * 3] - 1.0f);
}

TEST(Cpp, PerSampleValues) {
  auto bytes = ramp(2 * 6 * 8 * 3);
  const Batch images = Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC");
  std::vector<int32_t> mirror{0, 1};
  const Batch out = fn::flip(images, {.horizontal = Batch::wrap(mirror.data(), {2})});
  EXPECT_EQ(out[0].as<uint8_t>()[0], bytes[0]);
  EXPECT_EQ(out[1].as<uint8_t>()[0], bytes[6 * 8 * 3 + 7 * 3]);
}

TEST(Cpp, ErrorsHaveAStatus) {
  auto bytes = ramp(48);
  const Batch images = Batch::wrap(bytes.data(), {1, 4, 4, 3}, "HWC");
  const auto status_of = [](auto&& body) -> penstock_status {
    try {
      body();
    } catch (const Error& e) {
      EXPECT_STRNE(e.what(), "");
      return e.status();
    }
    return PENSTOCK_OK;
  };
  EXPECT_EQ(status_of([&] { call("flipp", {images}); }), PENSTOCK_ERROR_KEY);
  EXPECT_EQ(status_of([&] { fn::resize(images, {.size = {1, 2, 3, 4}}); }), PENSTOCK_ERROR_ARGUMENT);
  EXPECT_EQ(status_of([&] { fn::flip(Batch()); }), PENSTOCK_ERROR_ARGUMENT);
  EXPECT_EQ(status_of([&] { fn::decoders::image(images); }), PENSTOCK_ERROR_TYPE);
  EXPECT_EQ(status_of([&] { Batch().size(); }), PENSTOCK_ERROR_ARGUMENT);
  EXPECT_EQ(status_of([&] { Batch::allocate(DType::uint8, {{2, 3}, {4}}); }), PENSTOCK_ERROR_TYPE);
  EXPECT_EQ(status_of([&] { Batch::allocate(DType::uint8, {}); }), PENSTOCK_ERROR_ARGUMENT);
  EXPECT_EQ(status_of([&] { Pipeline::load("{}"); }), PENSTOCK_ERROR_ARGUMENT);
  EXPECT_EQ(status_of([&] { Pipeline::load_file("/no/such/file"); }), PENSTOCK_ERROR_FILE_MISSING);
  Arguments list;
  list.set("horizontal", "yes");
  EXPECT_EQ(status_of([&] { call("flip", {images}, list); }), PENSTOCK_ERROR_TYPE);
}

// Before anything is computed from a shape, or allocated for each of its samples.
TEST(Cpp, ArraysThatNoMemoryHoldsAreRefused) {
  uint8_t bytes[48] = {};
  const int64_t most = std::numeric_limits<int64_t>::max();
  const auto refused = [&](const Shape& shape, const Shape& strides, const std::string& words) {
    try {
      Batch::wrap(bytes, DType::uint8, shape, strides);
      ADD_FAILURE() << "no error of: " << words;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), PENSTOCK_ERROR_ARGUMENT);
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  refused({1, most, most, 3}, {}, "larger than the address space");
  refused({2, most / 2, 5, 3}, {}, "larger than the address space");
  refused({2, 1, 3}, {most, 3, 1}, "larger than the address space");
  refused({2, 1, 3}, {-most, 3, 1}, "larger than the address space");
  refused({most, 0, 3}, {}, "at most 2147483647 samples");
  refused({1, -4, 3}, {}, "extent -4");
  refused({2, 0, most, 3}, {}, "2^63 elements or more");
  refused({2, most, 3, 0}, {}, "2^63 elements or more");
  EXPECT_EQ(Batch::wrap(bytes, {2, 0, most / 3, 3})[1].size(), 0);
  EXPECT_EQ(Batch::wrap(bytes + 24, DType::uint8, {2, 8, 3}, {-24, 3, 1})[1].data, bytes);
}

TEST(Cpp, NullPointersOfTheProgramAreRefused) {
  struct Pool {
    static int threads() { return 1; }
    static void parallel_for(int64_t, const PoolTask&) {}
  };
  EXPECT_THROW(Allocator(std::shared_ptr<std::pmr::memory_resource>()), Error);
  EXPECT_THROW(set_thread_pool(std::shared_ptr<Pool>()), Error);
}

// A negative number of samples reaches the library, which names it.
TEST(Cpp, StatusesOfANegativeBatchAreRefused) {
  std::vector<SampleStatus> statuses;
  CallOptions options;
  options.batch_size = -3;
  options.statuses = &statuses;
  EXPECT_THROW(fn::random::coin_flip({}, options), Error);
}

TEST(Cpp, OwnersAndAllocatorsLiveAsLongAsNeeded) {
  auto owner = std::make_shared<std::vector<uint8_t>>(ramp(48));
  const std::weak_ptr<void> watch = owner;
  Batch out, kept;
  Tensor tensor;
  {
    const Batch images = Batch::wrap(owner->data(), {1, 4, 4, 3}, "HWC", owner);
    owner = nullptr;
    EXPECT_FALSE(watch.expired());
    out = fn::flip(images, {}, {.allocator = Allocator(std::make_shared<std::pmr::synchronized_pool_resource>())});
    tensor = images[0];
  }
  EXPECT_FALSE(watch.expired());
  tensor = {};
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(out[0].as<uint8_t>()[2], static_cast<uint8_t>(11 * 7));
}

TEST(Cpp, SamplesGoThroughDlpack) {
  auto bytes = ramp(2 * 3);
  Batch images = Batch::wrap(bytes.data(), {2, 3}, "W");
  const Batch again = Batch::from_dlpack({images.to_dlpack(1), images.to_dlpack(0)}, "W");
  images = {};
  EXPECT_EQ(again.layout(), "W");
  EXPECT_EQ(again[0].as<uint8_t>(), bytes.data() + 3);
  EXPECT_EQ(again[1].as<uint8_t>(), bytes.data());
  EXPECT_THROW(again.to_dlpack(2), Error);
}

TEST(Cpp, InputsOfEachNumber) {
  auto bytes = ramp(2 * 6 * 8 * 3);
  const Batch images = Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC");
  EXPECT_EQ(fn::cat({images, images, images})[1].shape, (Shape{18, 8, 3}));
  CallOptions options;
  options.batch_size = 5, options.seed = 9;
  const Batch drawn = fn::random::uniform({.range = {2, 3}}, options);
  EXPECT_EQ(drawn.size(), 5);
  EXPECT_EQ(drawn.ndim(), 0);
  const Batch again = fn::random::uniform({.range = {2, 3}}, options);
  options.seed = 10;
  const Batch other = fn::random::uniform({.range = {2, 3}}, options);
  for (int i = 0; i < 5; ++i) {
    EXPECT_GE(*drawn[i].as<float>(), 2.0f);
    EXPECT_LT(*drawn[i].as<float>(), 3.0f);
    EXPECT_EQ(*drawn[i].as<float>(), *again[i].as<float>());
    EXPECT_NE(*drawn[i].as<float>(), *other[i].as<float>());
  }
  EXPECT_EQ(fn::random::normal(images)[1].shape, (Shape{6, 8, 3}));

  std::vector<float> mine(5);
  options.seed = 9;
  options.into = {Batch::wrap(mine.data(), {5})};
  fn::random::uniform({.range = {2, 3}}, options);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(mine[static_cast<size_t>(i)], *drawn[i].as<float>());
}

TEST(Cpp, PipelinesAreBuilt) {
  auto bytes = ramp(2 * 6 * 8 * 3);
  const Batch images = Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC");
  Graph graph(7);
  const Value in = graph.add("external_source", {}, fn::ExternalSourceArguments{.layout = {"HWC"}}.list(), "images")[0];
  const Value mirror = graph.add("random.coin_flip", {})[0];
  const Value out = graph.add("flip", {in}, fn::FlipArguments{.horizontal = mirror}.list())[0];
  Pipeline pipeline(graph, {out, mirror}, {.batch_size = 2, .threads = 2});
  Pipeline copy = Pipeline::load(pipeline.save());
  pipeline.trace();
  for (int round = 0; round < 3; ++round) {
    pipeline.feed("images", {images});
    copy.feed("images", {images});
    const auto a = pipeline.run(), b = copy.run();
    for (int i = 0; i < 2; ++i) {
      const int flipped = *a[1][i].as<int32_t>();
      EXPECT_EQ(flipped, *b[1][i].as<int32_t>());
      EXPECT_EQ(a[0][i].as<uint8_t>()[0], bytes[static_cast<size_t>(i * 144 + flipped * 21)]);
      EXPECT_EQ(std::memcmp(a[0][i].data, b[0][i].data, 144), 0);
    }
  }
  EXPECT_NE(pipeline.trace().find("flip"), std::string::npos);
  const auto refused = [&](const char* text, auto&& body) {
    try {
      body();
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  };
  refused("did you mean 'flip'", [&] { graph.add("flop", {in}); });
  refused("does not exist", [&] { graph.add("flip", {Value{9, 0}}); });
  refused("does not exist", [&] { graph.add("flip", {Value{0, -1}}); });
  refused("same for all samples", [&] {
    graph.add("cast", {in}, [&] {
      Arguments a;
      a.set("dtype", mirror);
      return a;
    }());
  });
  refused("a graph takes values", [&] { graph.add("flip", {in}, fn::FlipArguments{.horizontal = images}.list()); });
  refused("a call takes batches", [&] { fn::flip(images, {.horizontal = mirror}); });
  // One more than it has is the size of its input, for operators that move pixels alone.
  refused("has 1 outputs, not 3", [&] { graph.add("flip", {in}, {}, "", 3); });
  refused("has 1 outputs, not 2", [&] { graph.add("invert", {in}, {}, "", 2); });
  refused("'cpu', 'gpu' or 'mixed', got 'tpu'", [&] { graph.add("flip", {in}, {}, "", 1, "tpu"); });
  refused("two operators have the name", [&] { graph.add("flip", {in}, {}, "images"); });
  refused("batch size", [&] { Pipeline(graph, {out}, {}); });
  refused("at least one output", [&] { Pipeline(graph, {}, {.batch_size = 1}); });
  refused("not a value of this pipeline", [&] { Pipeline(graph, {Value{0, 7}}, {.batch_size = 1}); });
}

// Rows of at most ten elements from a reader, as attention of variable length takes them.
TEST(Cpp, SamplesOfAReaderAreInOneRow) {
  Graph graph(7);
  const Value index =
      fn::readers::indices(graph, {.size = 6, .lengths = {{6, 5, 3, 1, 2, 4}}, .max_cost = 10.0, .packing_window = 6});
  const Value row = fn::expand_dims(index, {.axes = {0}});
  Pipeline pipeline(graph, {row}, {.batch_size = 4, .threads = 1});
  const std::vector<std::vector<int64_t>> rows{{0, 5}, {1, 2, 4}, {3}};
  for (const auto& wanted : rows) {
    const PackedSamples p = pipeline.run()[0].packed();
    const Tensor values = p.values[0], offsets = p.offsets[0], positions = p.positions[0];
    ASSERT_EQ(values.shape, Shape{static_cast<int64_t>(wanted.size())});
    ASSERT_EQ(offsets.shape, Shape{static_cast<int64_t>(wanted.size()) + 1});
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(values.as<int64_t>()[i], wanted[i]);
      EXPECT_EQ(offsets.as<int32_t>()[i], static_cast<int32_t>(i));
      EXPECT_EQ(positions.as<int32_t>()[i], 0);
    }
    EXPECT_EQ(p.longest, 1);
  }
}

TEST(Cpp, APipelineSaysWhichSampleIsLost) {
  const auto file = [](uint8_t value) {
    const std::string header = "P5 2 2 255\n";
    std::vector<uint8_t> bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), 4, value);
    return bytes;
  };
  std::vector<std::vector<uint8_t>> files;
  for (uint8_t k = 0; k < 8; ++k) files.push_back(k == 3 || k == 5 ? std::vector<uint8_t>(9) : file(k));
  std::vector<uint8_t*> data;
  std::vector<Shape> shapes;
  for (auto& f : files) data.push_back(f.data()), shapes.push_back({static_cast<int64_t>(f.size())});
  const Batch encoded = Batch::wrap(data, shapes);
  Graph graph;
  const Value in = graph.add("external_source", {}, {}, "files")[0];
  const Value out = graph.add("decoders.image", {in})[0];
  for (const OnError policy : {OnError::skip, OnError::replace}) {
    Pipeline pipeline(graph, {out}, {.batch_size = 8, .threads = 2, .on_error = policy});
    EXPECT_TRUE(pipeline.left_out().empty());
    for (int64_t batch = 0; batch < 2; ++batch) {
      pipeline.feed("files", {encoded});
      const Batch pictures = pipeline.run()[0];
      std::vector<int> values;
      for (const Tensor& picture : pictures) values.push_back(picture.as<uint8_t>()[0]);
      if (policy == OnError::skip) {
        EXPECT_EQ(values, (std::vector<int>{0, 1, 2, 4, 6, 7}));
      }
      ASSERT_EQ(pipeline.left_out().size(), 2u);
      const LeftOut lost = pipeline.left_out()[1];
      EXPECT_EQ(pipeline.left_out()[0].number, 3);
      EXPECT_EQ(lost.number, 5);
      EXPECT_EQ(lost.batch, batch);
      EXPECT_EQ(lost.position, 8 * batch + 5);
      EXPECT_NE(lost.message, "");
    }
  }
}

TEST(Cpp, DrawsOfAPipelineAreReplayed) {
  auto bytes = ramp(3 * 2 * 2 * 3);
  const Batch images = Batch::wrap(bytes.data(), {3, 2, 2, 3}, "HWC");
  const auto made = [](uint64_t seed) {
    Graph graph(seed);
    const Value in = graph.add("external_source", {}, {}, "images")[0];
    const Value drawn = fn::random::uniform(graph, {.range = {0, 1}});
    return Pipeline(graph, {drawn, in}, {.batch_size = 3, .threads = 2});
  };
  const auto numbers = [&images](Pipeline& pipeline) {
    pipeline.feed("images", {images});
    const Batch drawn = pipeline.run()[0];
    std::vector<float> all;
    for (const Tensor& t : drawn) all.push_back(t.as<float>()[0]);
    return all;
  };
  const auto refused = [](Pipeline& pipeline, const std::string& text, const std::string& words) {
    try {
      pipeline.replay(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  };
  Pipeline first = made(7), second = made(7), third = made(7), other = made(8);
  EXPECT_EQ(first.params(), "[]");  // nothing has run
  const std::vector<float> before = numbers(first), later = numbers(first);
  const std::string params = first.params();
  EXPECT_NE(before, later);
  second.replay(params);
  EXPECT_EQ(numbers(second), later);
  EXPECT_EQ(second.params(), params);
  EXPECT_EQ(numbers(second), later);  // again from the first entry
  third.replay(params), third.replay("[]");
  EXPECT_EQ(numbers(third), before);
  refused(first, params, "before the first run");
  refused(other, params, "of the seed 7, and this pipeline has 8");
  refused(other, "{}", "JSON list");
  refused(other, "[{\"seed\": 8, \"epoch\": -1}]", "no 'epoch'");
}

// On the GPU if there is one, with the same bytes.
TEST(Cpp, OperatorsOfAPipelineHaveADevice) {
  auto bytes = ramp(2 * 6 * 8 * 3);
  Graph graph;
  const Value in = graph.add("external_source", {}, fn::ExternalSourceArguments{.layout = {"HWC"}}.list(), "images")[0];
  const Value there = graph.add("flip", {in}, {}, "", 0, "gpu")[0];
  const Value back = graph.add("copy", {there}, {}, "", 0, "cpu")[0];
  Pipeline pipeline(graph, {back}, {.batch_size = 2, .device = 0});
  EXPECT_NE(pipeline.save().find("\"device\": \"gpu\""), std::string::npos);
  pipeline.feed("images", {Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC")});
  const auto out = pipeline.run();
  EXPECT_EQ(out[0][1].as<uint8_t>()[0], bytes[144 + 21]);
}

TEST(Cpp, AnArgumentMayAddAnOutput) {
  auto bytes = ramp(2 * 6 * 8 * 3);
  const Batch images = Batch::wrap(bytes.data(), {2, 6, 8, 3}, "HWC");
  const Arguments both = fn::ResizeArguments{.size = {3, 4}, .save_attrs = true}.list();
  const auto r = call("resize", {images}, both);
  ASSERT_EQ(r.size(), 2u);
  EXPECT_EQ(r[0][1].shape, (Shape{3, 4, 3}));
  EXPECT_EQ(r[1][1].shape, (Shape{2}));
  EXPECT_EQ(r[1][1].as<int32_t>()[0], 6);
  EXPECT_EQ(r[1][1].as<int32_t>()[1], 8);
  EXPECT_EQ(call("resize", {images}, fn::ResizeArguments{.size = {3, 4}, .save_attrs = false}.list()).size(), 1u);
  EXPECT_EQ(fn::resize(images, {.size = {3, 4}, .save_attrs = true})[0].shape, (Shape{3, 4, 3}));
  int32_t into[4] = {};
  CallOptions options;
  options.into = {Batch(), Batch::wrap(into, {2, 2})};
  call("resize", {images}, both, options);
  EXPECT_EQ(into[2], 6);
  EXPECT_EQ(into[3], 8);
  penstock_batch* one = nullptr;
  const penstock_batch* in = images.handle();
  EXPECT_EQ(penstock_call("resize", &in, 1, both.handle(), nullptr, &one, 1), PENSTOCK_ERROR_ARGUMENT);
  EXPECT_NE(std::string(penstock_last_error()).find("has 2 outputs"), std::string::npos) << penstock_last_error();

  Graph graph;
  const Value source =
      graph.add("external_source", {}, fn::ExternalSourceArguments{.layout = {"HWC"}}.list(), "images")[0];
  const auto values = graph.add("resize", {source}, both);
  ASSERT_EQ(values.size(), 2u);
  Pipeline pipeline = Pipeline::load(Pipeline(graph, {values[1], values[0]}, {.batch_size = 2}).save());
  pipeline.feed("images", {images});
  const auto out = pipeline.run();
  EXPECT_EQ(out[0][1].as<int32_t>()[1], 8);
  EXPECT_EQ(std::memcmp(out[1][1].data, r[0][1].data, 36), 0);
}

TEST(Cpp, NamesOfOperators) {
  const auto names = operator_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "flip"), names.end());
}

}  // namespace
