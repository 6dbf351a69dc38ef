// SPDX-License-Identifier: Apache-2.0
#include "families/gather/field.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/crew.h"
#include "base/error.h"
#include "base/intrinsics.h"
#include "base/target.h"
#include "operator/kernel_step.h"
#include "pixel/gaussian_windows.h"
#include "pixel/philox_blocks.h"

namespace penstock::gather {
namespace {

#define PENSTOCK_LOOPS field
#define PENSTOCK_LOOPS_TEXT "families/gather/field.inc.h"
#include "base/foreach_target.h"

constexpr int kMargin = kFieldRows - 1;  // zeros before and after the weights
constexpr int kMore = 8 * 16;            // numbers after a row that vectors may read or write

std::vector<float> padded_window(float sigma, int32_t radius) {
  std::vector<float> all(static_cast<size_t>(2 * (radius + kMargin) + 1), 0.0f);
  if (radius > 0) gaussian_windows(std::span(&sigma, 1), 2 * radius + 1, all.data() + kMargin);
  else all[kMargin] = 1;
  return all;
}

// The noise of a row of both planes, up to the end of a group.
void draw_row(const RandomStream& draws, int64_t row, int32_t groups, float* to) {
  static_assert(kGroupBlocks == kStreamsTogether);
  // Counters that differ in the block where those of streams differ in the sample.
  const RandomStream stream{draws.key0, draws.key1, 0};
  uint64_t blocks[kStreamsTogether];
  PhiloxColumns words;
  for (int32_t g = 0; g < groups; ++g, to += kGroup) {
    const uint64_t first =
        (static_cast<uint64_t>(row) * static_cast<uint64_t>(groups) + static_cast<uint64_t>(g)) * kGroupBlocks;
    for (size_t i = 0; i < kStreamsTogether; ++i) blocks[i] = first + i;
    philox_blocks(stream, blocks, draws.sample, words);
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < kGroupBlocks; ++i) to[kGroupBlocks * k + i] = noise_of(words.word[k][i]);
  }
}

void smooth_rows_across(const FieldRow& r, const float* weights) {
  const int32_t groups = groups_of(r.width), radius = r.radius;
  const Target target = best_target();
  const int64_t bytes = int64_t{2} * r.height * r.width * static_cast<int64_t>(sizeof(float));
  Crew::share(int64_t{2} * r.height, bytes, [&](int64_t first, int64_t end) {
    std::vector<float> seen(static_cast<size_t>(groups) * kGroup + 2 * static_cast<size_t>(radius) + kMore);
    std::vector<float> made(static_cast<size_t>(r.width) + kMore);
    float* const row = seen.data() + radius;
    for (int64_t y = first; y < end; ++y) {
      draw_row(r.draws, y, groups, row);
      for (int32_t k = 1; k <= radius; ++k) {
        row[-k] = row[bordered(-k, r.width, kReflect101)];
        row[r.width - 1 + k] = row[bordered(r.width - 1 + k, r.width, kReflect101)];
      }
      PENSTOCK_FOR_TARGET(target, field, across(seen.data(), weights, 2 * radius + 1, r.width, made.data()));
      std::memcpy(r.to + y * r.width, made.data(), static_cast<size_t>(r.width) * sizeof(float));
    }
  });
}

void smooth_rows_down(const FieldRow& r, const float* weights) {
  const int32_t taps = 2 * r.radius + 1, parts = (r.height - 1) / kFieldRows + 1;
  const Target target = best_target();
  const int64_t bytes = int64_t{2} * r.height * r.width * static_cast<int64_t>(sizeof(float));
  Crew::share(int64_t{2} * parts, bytes, [&](int64_t first, int64_t end) {
    std::vector<const float*> rows(static_cast<size_t>(taps + kMargin));
    std::vector<float> spare(static_cast<size_t>(r.width));  // for rows after the last one
    for (int64_t part = first; part < end; ++part) {
      const int64_t plane = part / parts;
      const auto y = static_cast<int32_t>(part - plane * parts) * kFieldRows;
      for (int32_t k = 0; k < taps + kMargin; ++k) {
        const int32_t seen = bordered(y - r.radius + k, r.height, kReflect101);
        rows[static_cast<size_t>(k)] = r.from + (plane * r.height + seen) * r.width;
      }
      float* out[kFieldRows];
      for (int j = 0; j < kFieldRows; ++j)
        out[j] = y + j < r.height ? r.to + (plane * r.height + y + j) * r.width : spare.data();
      PENSTOCK_FOR_TARGET(target, field, down(rows.data(), weights, taps, r.width, r.scale, out));
    }
  });
}

KernelStep step_of(const char* name, const FieldRow& row, int64_t work, const std::vector<float>& weights) {
  KernelStep step;
  step.kernel.header = "families/gather/kernels/field.h", step.kernel.name = name;
  step.row = row_bytes(row), step.work = work;
  const auto bytes = std::as_bytes(std::span(weights));
  step.data = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  step.data_member = offsetof(FieldRow, weights);
  return step;
}

}  // namespace

Field random_field(const RandomStream& draws, int32_t height, int32_t width, float sigma, float scale, SampleWork& to) {
  const auto radius = static_cast<int32_t>(std::ceil(4 * static_cast<double>(sigma)));
  if (radius > kMostRadius) bad_argument("sigma must be at most {}, got {}", kMostRadius / 4, sigma);
  const int64_t plane = int64_t{height} * width;
  auto* const across = static_cast<float*>(to.scratch(4 * static_cast<size_t>(plane) * sizeof(float)));
  float* const field = across + 2 * plane;
  const auto window = std::make_shared<const std::vector<float>>(padded_window(sigma, radius));
  const FieldRow first{nullptr, across, draws, height, width, radius, 1, {}};
  const FieldRow then{across, field, draws, height, width, radius, scale, {}};
  const int64_t parts = (width - 1) / kFieldColumns + 1;
  KernelStep rows = step_of("gather::smooth_across", first, 2 * height * parts * whole::kThreads, *window);
  rows.shared_bytes = static_cast<size_t>(kFieldColumns + 2 * radius) * sizeof(float);
  rows.host = [=] { smooth_rows_across(first, window->data() + kMargin); };
  to.kernel(std::move(rows));
  to.then();
  KernelStep columns =
      step_of("gather::smooth_down", then, 2 * int64_t{(height - 1) / kFieldRows + 1} * width, *window);
  columns.host = [=] { smooth_rows_down(then, window->data() + kMargin); };
  to.kernel(std::move(columns));
  to.then();
  return {field, field + plane};
}

}  // namespace penstock::gather
