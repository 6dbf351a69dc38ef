// SPDX-License-Identifier: Apache-2.0
// Constants over boxes, from values on the host or on the device.
#include <algorithm>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/given_numbers.h"
#include "cuda/whole/kernels/fill.h"

namespace penstock {

namespace {

struct FillDim {
  int64_t extent, stride;
  bool channel;
};

}  // namespace

void enqueue_fills(std::span<const FillStep> steps, Launches& to) {
  if (steps.empty()) return;
  const auto same = [&](const FillStep& s) { return s.to.dtype == steps[0].to.dtype; };
  if (!std::ranges::all_of(steps, same)) {  // results of an operator may have several types
    std::vector<FillStep> first, others;
    for (const FillStep& s : steps) (same(s) ? first : others).push_back(s);
    enqueue_fills(first, to);
    return enqueue_fills(others, to);
  }
  EntryTable<whole::FillRow> entries;
  const int64_t group = whole::kFillBytes / static_cast<int64_t>(size_of(steps[0].to.dtype));
  for (const FillStep& step : steps) {
    FixedVector<FillDim, Shape::kMaxDims> dims;  // innermost first
    const View& v = step.to;
    const bool each = step.channel_dim >= 0 && step.values.size() > 1;
    for (int d = v.shape.size() - 1; d >= 0; --d) {
      const bool channel = each && d == step.channel_dim;
      if (v.shape[d] == 1 && !channel) continue;
      if (!dims.empty() && !channel && !dims.back().channel && v.strides[d] == dims.back().stride * dims.back().extent)
        dims.back().extent *= v.shape[d];
      else dims.push_back({v.shape[d], v.strides[d], channel});
    }
    if (dims.empty()) dims.push_back({1, 1, false});
    int64_t work = (dims[0].extent + group - 1) / group;
    for (int d = 1; d < dims.size(); ++d) work *= dims[d].extent;
    whole::FillRow& row = entries.add(work);
    row.out = v.data;
    row.there = step.values.there.data;
    row.type = argument_type(step.values.there.dtype);
    if (!step.values.on_gpu()) row.here = entries.data.add(step.values.here.data(), step.values.here.size());
    row.count = each ? step.values.size() : 1;
    row.channel = -1;
    row.dims = dims.size();
    for (int d = 0; d < dims.size(); ++d) {
      row.dim[d] = {dims[d].extent, dims[d].stride};
      if (dims[d].channel) row.channel = d;
    }
  }
  to.add({"fill.h", fmt::format("fill<{}>", element(steps[0].to.dtype))}, entries, kStageThreads);
}

}  // namespace penstock
