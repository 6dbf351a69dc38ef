// SPDX-License-Identifier: Apache-2.0
#include "function/function.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "codecs/test_images.h"
#include "graph/batch_operators.h"

// The thread sanitizer else ends a child of a process with threads that begins one.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace penstock {
namespace {

// A new operator that sees all samples at once must be judged: whether a sample by itself gives the same
// (mixes_samples), as functions with an `if` or a loop need it.
TEST(Function, KnowsWhichOperatorsMixSamples) {
  const std::set<std::string> alone{"_assign_where",
                                    "_displace_boxes",
                                    "_mask_boxes",
                                    "_same_extents",
                                    "_select_where",
                                    "_shuffle_boxes",
                                    "bbox_rotate",
                                    "decoders.audio",
                                    "decoders.numpy",
                                    "io.file.read",
                                    "segmentation.select_masks",
                                    "decoders.video",
                                    "experimental.decoders.video",
                                    "encoders.jpeg",
                                    "encoders.png",
                                    "encoders.webp",
                                    "find_contours",
                                    "get_property",
                                    "hough_circles",
                                    "hough_lines",
                                    "hough_lines_p",
                                    "random_bbox_crop",
                                    "readers.numpy@values",
                                    "label",
                                    "match",
                                    "nms",
                                    "sift",
                                    "ssd_random_crop",
                                    "transform_boxes"};
  for (const OpInfo* info : all_ops())
    if (info->batch_wide) {
      EXPECT_NE(mixes_samples(info->name), alone.count(info->name) > 0) << info->name;
    }
}

Node node_of(const std::string& op, std::vector<ValueRef> inputs,
             std::vector<std::pair<std::string, Value>> constants) {
  Node n;
  n.op = op, n.inputs = std::move(inputs), n.constants = std::move(constants);
  return n;
}

Batch ramp(const std::vector<Shape>& shapes, DType dtype) {
  Batch b(dtype, shapes[0].size(), {}, static_cast<int>(shapes.size()));
  for (int i = 0; i < b.size(); ++i) b.sample(i).shape = shapes[static_cast<size_t>(i)];
  b.allocate();
  for (int i = 0; i < b.size(); ++i)
    for (int64_t k = 0; k < b.shape(i).volume(); ++k) {
      if (dtype == DType::uint8) b.view(i).as<uint8_t>()[k] = static_cast<uint8_t>(k + i);
      else b.view(i).as<float>()[k] = static_cast<float>(k + i);
    }
  return b;
}

// Sizes, types and numbers of samples change from call to call: what a call keeps fits none of the next.
TEST(Function, KeepsNothingOfTheLastCall) {
  Graph g;
  const int x = g.add(node_of("external_source", {}, {{"layout", std::vector<std::string>{"HWC"}}}));
  const int flipped = g.add(node_of("flip", {{x, 0}}, {}));
  const int mean = g.add(node_of("reductions.mean", {{flipped, 0}}, {}));
  g.set_outputs({{flipped, 0}, {mean, 0}});
  const Function f(g);
  for (const DType dtype : {DType::uint8, DType::float32, DType::uint8})
    for (const int width : {1, 9, 0, 40, 2})
      for (const size_t n : {size_t{1}, size_t{5}, size_t{2}}) {
        const Batch in = ramp(std::vector<Shape>(n, {3, width, 2}), dtype);
        const Batch* inputs[] = {&in};
        Batch out[2];
        FunctionCall call;
        call.inputs = inputs;
        f.call(call, out);
        ASSERT_EQ(out[0].size(), static_cast<int>(n));
        ASSERT_EQ(out[0].dtype(), dtype);
        for (int i = 0; i < out[0].size(); ++i) {
          ASSERT_EQ(out[0].shape(i), (Shape{3, width, 2}));
          double sum = 0;
          for (int64_t k = 0; k < in.shape(i).volume(); ++k) {
            const int64_t row = k / (2 * width), column = k / 2 % width,
                          mirrored = (row * width + width - 1 - column) * 2;
            ASSERT_EQ(element_as_double(out[0].view(i), k), element_as_double(in.view(i), mirrored + k % 2));
            sum += element_as_double(in.view(i), k);
          }
          if (width > 0) {
            ASSERT_NEAR(element_as_double(out[1].view(i), 0), sum / in.shape(i).volume(), 1e-3);
          }
        }
      }
}

// Each of many threads gets the results of its own inputs, also where more threads come than have called before.
TEST(Function, ManyThreadsCallOne) {
  Graph g;
  const int x = g.add(node_of("external_source", {}, {{"layout", std::vector<std::string>{"HWC"}}}));
  const int flipped = g.add(node_of("flip", {{x, 0}}, {}));
  const int twice = g.add(node_of("flip", {{flipped, 0}}, {}));
  g.set_outputs({{flipped, 0}, {twice, 0}});
  const Function f(g);
  std::atomic<int> wrong{0};
  const auto call_often = [&](int seed) {
    for (int round = 0; round < 40; ++round) {
      const Batch in = ramp({{2 + seed % 3, 3 + round % 5, 1}}, DType::uint8);
      const Batch* inputs[] = {&in};
      Batch out[2];
      FunctionCall call;
      call.inputs = inputs;
      f.call(call, out);
      const int64_t width = in.shape(0)[1];
      for (int64_t k = 0; k < in.shape(0).volume(); ++k) {
        const int64_t mirrored = k / width * width + width - 1 - k % width;
        wrong += element_as_int(out[0].view(0), k) != element_as_int(in.view(0), mirrored);
        wrong += element_as_int(out[1].view(0), k) != element_as_int(in.view(0), k);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) threads.emplace_back(call_often, t);
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Decoded, resized and as floats.
Graph tensors() {
  Graph g;
  const int files = g.add(node_of("external_source", {}, {}));
  const int images = g.add(node_of("decoders.image", {{files, 0}}, {}));
  const int small = g.add(node_of("resize", {{images, 0}}, {{"size", std::vector<double>{160, 224}}}));
  g.set_outputs({{g.add(node_of("cast", {{small, 0}}, {{"dtype", int64_t(DType::float32)}})), 0}, {images, 0}});
  return g;
}

// What a call gives: the bytes of all outputs, or the error.
std::vector<uint8_t> bytes_of_call(const Function& f, const test::File& file) {
  Batch in(DType::uint8, 1, {}, 1);
  in.sample(0).shape = Shape{static_cast<int64_t>(file.size())};
  in.allocate();
  std::memcpy(in.view(0).data, file.data(), file.size());
  const Batch* inputs[] = {&in};
  Batch out[2];
  FunctionCall call;
  call.inputs = inputs;
  std::vector<uint8_t> all;
  try {
    f.call(call, out);
    for (const Batch& b : out) all.insert(all.end(), b.view(0).as<uint8_t>(), b.view(0).as<uint8_t>() + b.bytes());
  } catch (const Error& e) {
    const std::string text = e.what();
    all.assign(text.begin(), text.end());
  }
  return all;
}

test::JpegRecipe random_recipe(std::mt19937& random) {
  test::JpegRecipe r;
  r.height = 60 + static_cast<int>(random() % 400), r.width = 60 + static_cast<int>(random() % 400);
  r.components = random() % 5 ? 3 : 1;
  r.stored = r.components == 3 ? JCS_YCbCr : JCS_GRAYSCALE;
  r.h = 1 + static_cast<int>(random() % 2), r.v = 1 + static_cast<int>(random() % 2);
  r.quality = 30 + static_cast<int>(random() % 69);
  if (random() % 4 == 0) r.restart_mcus = 1 + static_cast<int>(random() % 60);
  r.optimized = random() % 3 == 0;
  r.progressive = random() % 10 == 0;
  r.seed = random();
  return r;
}

TEST(FunctionThreads, GiveTheBytesAndTheErrorsOfOne) {
  const Function one(tensors());
  const Function two(tensors(), {.num_threads = 2}), five(tensors(), {.num_threads = 5});
  std::mt19937 random(21);
  for (int round = 0; round < 40; ++round) {
    const test::JpegRecipe r = random_recipe(random);
    test::File file = test::make_jpeg(r);
    const size_t at = file.size() / 4 + random() % (file.size() * 3 / 4);
    if (round % 4 == 0) file[at] ^= static_cast<uint8_t>(1 << random() % 8);
    if (round % 8 == 1) file.resize(at);
    const auto want = bytes_of_call(one, file);
    ASSERT_TRUE(bytes_of_call(two, file) == want) << r.text() << ", round " << round;
    ASSERT_TRUE(bytes_of_call(five, file) == want) << r.text() << ", round " << round;
  }
}

TEST(FunctionThreads, HelpOneOfManyCallers) {
  const Function one(tensors()), three(tensors(), {.num_threads = 3});
  std::mt19937 random(22);
  std::vector<test::File> files;
  std::vector<std::vector<uint8_t>> want;
  for (int i = 0; i < 4; ++i) {
    files.push_back(test::make_jpeg(random_recipe(random)));
    want.push_back(bytes_of_call(one, files.back()));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (size_t t = 0; t < files.size(); ++t)
    callers.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) wrong += bytes_of_call(three, files[t]) != want[t];
    });
  for (auto& c : callers) c.join();
  EXPECT_EQ(wrong, 0);
}

TEST(FunctionThreads, ComeAgainInAForkedChild) {
  const Function f(tensors(), {.num_threads = 3});
  std::mt19937 random(23);
  const test::File file = test::make_jpeg(random_recipe(random));
  const auto want = bytes_of_call(f, file);
  const pid_t child = fork();
  if (child == 0) _exit(bytes_of_call(f, file) == want ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(bytes_of_call(f, file) == want);
}

TEST(FunctionThreads, RefuseNumbersThatAreNone) {
  for (const int threads : {-1, 1 << 20}) EXPECT_THROW(Function(tensors(), {.num_threads = threads}), Error);
}

}  // namespace
}  // namespace penstock
