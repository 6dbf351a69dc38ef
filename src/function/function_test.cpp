// SPDX-License-Identifier: Apache-2.0
#include "function/function.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "graph/batch_operators.h"

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

}  // namespace
}  // namespace penstock
