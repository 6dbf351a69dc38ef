// SPDX-License-Identifier: Apache-2.0
// The background of a call is blurred: the mask of a small network is brought to the size of each frame, gets the edges
// of the frame by a joint bilateral filter, and lays the frame over its blurred self. In place of a network, a
// threshold makes the mask. tests/test_examples.py makes the same calls in Python and compares the bytes.
#include <cstdio>

#include "crc_of_batch.h"
#include "drawn_frames.h"
#include "penstock/fn.h"

using namespace penstock;

namespace {

constexpr int64_t kSize = 32;  // of the network's input and mask

void network(const uint8_t* pixels, uint8_t* mask) {
  for (int64_t i = 0; i < kSize * kSize; ++i) mask[i] = pixels[3 * i] >= 128 ? 255 : 0;
}

}  // namespace

int main() {
  try {
    const std::vector<Shape> shapes{{240, 320, 3}, {150, 100, 3}};
    std::vector<std::vector<uint8_t>> memory;
    std::vector<double> sizes;
    for (const Shape& s : shapes) {
      memory.push_back(examples::drawn_frame(s[0], s[1], s[2]));
      sizes.insert(sizes.end(), {static_cast<double>(s[0]), static_cast<double>(s[1])});
    }
    const Batch frames = examples::over(memory, shapes);
    const auto n = static_cast<int64_t>(shapes.size());

    const Batch small = fn::resize(frames, {.size = {kSize, kSize}});
    std::vector<uint8_t> masks(static_cast<size_t>(n * kSize * kSize));
    for (int64_t i = 0; i < n; ++i)
      network(small[static_cast<int>(i)].as<uint8_t>(), &masks[static_cast<size_t>(i * kSize * kSize)]);

    const Batch coarse = Batch::wrap(masks.data(), {n, kSize, kSize, 1}, "HWC");
    const Batch large = fn::resize(coarse, {.size = Batch::wrap(sizes.data(), {n, 2})});  // each to its own frame
    fn::JointBilateralFilterArguments edges;
    edges.diameter = 9;
    edges.sigma_color = 20;
    edges.sigma_space = 5;
    const Batch refined = fn::joint_bilateral_filter(large, frames, edges);
    const Batch blurred = fn::gaussian_blur(frames, {.sigma = 6});
    const Batch result = fn::composite(frames, blurred, refined);
    std::printf("mask %08x\n", examples::crc_of(refined, 1));
    std::printf("result %08x\n", examples::crc_of(result, 1));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
