// SPDX-License-Identifier: Apache-2.0
// What a server does around a detector: frames of any size are letterboxed into the network's square; of the boxes
// that come back, non-maximum suppression keeps the best; they are moved back to the frames, drawn, and written as JPEG
// files. In place of a network, cells of the square are scored by their brightness. tests/test_examples.py makes the
// same calls in Python and compares the bytes.
#include <cstdio>

#include "crc_of_batch.h"
#include "drawn_frames.h"
#include "penstock/fn.h"

using namespace penstock;

namespace {

constexpr int64_t kSize = 128, kCell = 16, kCells = kSize / kCell, kBoxes = kCells * kCells;

// The score of a cell is the value in its middle; its box is wider than high. (left, top, right, bottom)
void network(const float* square, float* boxes, float* scores) {
  for (int64_t i = 0; i < kBoxes; ++i) {
    const int64_t y = i / kCells * kCell + kCell / 2;
    const int64_t x = i % kCells * kCell + kCell / 2;
    scores[i] = square[y * kSize + x];
    const int64_t corners[] = {x - 24, y - 16, x + 24, y + 16};
    for (int k = 0; k < 4; ++k) boxes[4 * i + k] = static_cast<float>(corners[k]);
  }
}

// The rows of a sample's boxes that were kept.
std::vector<float> taken(const float* boxes, const Tensor& rows) {
  std::vector<float> kept;
  for (int64_t k = 0; k < rows.size(); ++k) {
    const float* box = boxes + 4 * rows.as<int32_t>()[k];
    kept.insert(kept.end(), box, box + 4);
  }
  return kept;
}

}  // namespace

int main() {
  try {
    const std::vector<Shape> shapes{{480, 640, 3}, {300, 200, 3}, {96, 128, 3}};
    std::vector<std::vector<uint8_t>> memory;
    std::vector<int32_t> extents;
    for (const Shape& s : shapes) {
      memory.push_back(examples::drawn_frame(s[0], s[1], s[2]));
      extents.insert(extents.end(), {static_cast<int32_t>(s[0]), static_cast<int32_t>(s[1])});
    }
    const Batch frames = examples::over(memory, shapes);
    const auto n = static_cast<int64_t>(shapes.size());

    const Batch squares = fn::letterbox(frames, {.size = {kSize}});
    std::vector<float> input(static_cast<size_t>(n * 3 * kSize * kSize));  // the engine's
    CallOptions options;
    options.into = {Batch::wrap(input.data(), {n, 3, kSize, kSize}, "CHW")};
    fn::crop_mirror_normalize(squares, {.scale = 1.0 / 255}, options);

    std::vector<float> boxes(static_cast<size_t>(n * kBoxes * 4));
    std::vector<float> scores(static_cast<size_t>(n * kBoxes));
    for (int64_t i = 0; i < n; ++i)
      network(&input[static_cast<size_t>(i * 3 * kSize * kSize)], &boxes[static_cast<size_t>(i * kBoxes * 4)],
              &scores[static_cast<size_t>(i * kBoxes)]);

    fn::NmsArguments best;
    best.iou_threshold = 0.3;
    best.score_threshold = 0.4;
    best.max_detections = 5;
    const Batch rows =
        fn::nms(Batch::wrap(boxes.data(), {n, kBoxes, 4}), Batch::wrap(scores.data(), {n, kBoxes}), best);

    std::vector<std::vector<float>> kept;
    std::vector<float*> pointers;
    std::vector<Shape> counts;
    for (int64_t i = 0; i < n; ++i) {
      kept.push_back(taken(&boxes[static_cast<size_t>(i * kBoxes * 4)], rows[static_cast<int>(i)]));
      counts.push_back({static_cast<int64_t>(kept.back().size()) / 4, 4});
    }
    for (std::vector<float>& k : kept) pointers.push_back(k.data());
    const Batch placement = fn::letterbox_placement(Batch::wrap(extents.data(), {n, 2}), {.size = {kSize}});
    const Batch found = fn::unletterbox_boxes(Batch::wrap(pointers, counts), placement);
    fn::DrawBoxesArguments look;
    look.thickness = 3;
    look.color = {255, 64, 0};
    const Batch drawn = fn::draw_boxes(frames, found, look);
    const Batch files = fn::encoders::jpeg(drawn);

    for (int64_t i = 0; i < n; ++i)
      std::printf("frame %d: %d boxes, a file of %d bytes\n", static_cast<int>(i),
                  static_cast<int>(counts[static_cast<size_t>(i)][0]),
                  static_cast<int>(files[static_cast<int>(i)].size()));
    std::printf("boxes %08x\n", examples::crc_of(found, sizeof(float)));
    std::printf("drawn %08x\n", examples::crc_of(drawn, 1));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
