// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/interleaves.h"

#include <optional>

#include "base/fixed_vector.h"

namespace penstock {
namespace {

constexpr int64_t kMostPitch = 256;  // longer runs are copied by rows

// `count` runs that are dense in the source and `pitch` bytes apart in the target.
struct Runs {
  int64_t count, bytes, pitch;
};
std::optional<Runs> runs_of(const CopyStep& step) {
  struct Dim {
    int64_t extent, from, to;
  };
  FixedVector<Dim, Shape::kMaxDims> dims;
  for (int d = 0; d < step.to.shape.size(); ++d) {
    const Dim dim{step.to.shape[d], step.from.strides[d], step.to.strides[d]};
    if (dim.extent == 1) continue;
    if (dims.size() > 0 && dims.back().from == dim.extent * dim.from && dims.back().to == dim.extent * dim.to)
      dims.back() = {dims.back().extent * dim.extent, dim.from, dim.to};
    else dims.push_back(dim);
  }
  const int64_t size = static_cast<int64_t>(size_of(step.to.dtype));
  Runs r{};
  if (dims.size() == 1 && dims[0].from == 1 && dims[0].to > 1) {
    r = {dims[0].extent, size, dims[0].to * size};
  } else if (dims.size() == 2 && dims[1].from == 1 && dims[1].to == 1 && dims[0].from == dims[1].extent) {
    r = {dims[0].extent, dims[1].extent * size, dims[0].to * size};
  } else {
    return {};
  }
  if (r.count < 1 || r.bytes < 1 || r.bytes >= r.pitch || r.pitch > kMostPitch) return {};
  return r;
}

}  // namespace

size_t add_interleaved(std::span<const CopyStep> steps, EntryTable<whole::InterleaveRow>& entries) {
  whole::InterleaveRow row{};
  int64_t at = 0;
  for (size_t k = 0; k < steps.size() && k < whole::kMostSources; ++k) {
    const auto runs = runs_of(steps[k]);
    if (!runs) return 0;
    if (k == 0) {
      row.to = steps[k].to.data, row.count = runs->count, row.pitch = static_cast<int32_t>(runs->pitch);
      row.tile = static_cast<int32_t>(whole::kInterleavedBytes / runs->pitch / 16 * 16);
    }
    if (runs->count != row.count || runs->pitch != row.pitch || at + runs->bytes > runs->pitch ||
        steps[k].to.as<char>() != static_cast<char*>(row.to) + at)
      return 0;
    const auto bytes = static_cast<uint64_t>(runs->bytes);
    row.source[k] = {steps[k].from.data, static_cast<int32_t>(bytes), static_cast<int32_t>(at),
                     static_cast<uint32_t>(((uint64_t{1} << 32) + bytes - 1) / bytes), 0};
    at += runs->bytes, row.sources = static_cast<int64_t>(k) + 1;
    if (at < row.pitch) continue;
    entries.add((row.count + row.tile - 1) / row.tile) = row;
    return k + 1;
  }
  return 0;
}

}  // namespace penstock
