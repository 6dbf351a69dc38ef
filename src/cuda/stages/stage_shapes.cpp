// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage_shapes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "batch/batch.h"

namespace penstock {
namespace {

uint64_t hash_of(std::span<const Batch> inputs, int sample, const WindowSizes& windows) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const Batch& b : inputs)
    for (int64_t e : b.shape(sample)) h = (h ^ static_cast<uint64_t>(e)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
  for (int size : windows) h = (h ^ static_cast<uint64_t>(size)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
  return h;
}

bool same(const KnownShape& known, std::span<const Batch> inputs, int sample, const WindowSizes& windows) {
  if (!std::equal(known.windows.begin(), known.windows.end(), windows.begin(), windows.end())) return false;
  for (size_t k = 0; k < inputs.size(); ++k)
    if (!(known.in[static_cast<int>(k)] == inputs[k].shape(sample))) return false;
  return true;
}

}  // namespace

KnownShape* KnownShapes::find(std::span<const Batch> inputs, int sample, const WindowSizes& windows) {
  if (last_ && same(*last_, inputs, sample, windows)) return last_;
  const auto [begin, end] = known_.equal_range(hash_of(inputs, sample, windows));
  for (auto it = begin; it != end; ++it)
    if (same(it->second, inputs, sample, windows)) return last_ = &it->second;
  return nullptr;
}

KnownShape& KnownShapes::add(std::span<const Batch> inputs, int sample, const WindowSizes& windows) {
  KnownShape& known = known_.emplace(hash_of(inputs, sample, windows), KnownShape{})->second;
  known.windows = windows;
  for (const Batch& b : inputs) known.in.push_back(b.shape(sample));
  return known;
}

bool has_constant_arguments(const StageCode& code) {
  if (code.has_frames || code.program.inputs.empty()) return false;
  for (const auto& node : code.program.nodes)
    if (node.op->per_sample() || node.op->info->random) return false;
  return true;
}

bool ignores_arguments(const StageCode& code) {
  if (code.has_frames || code.maps || code.program.inputs.empty()) return false;
  return std::none_of(code.traits.begin(), code.traits.end(), [](const StageTraits& t) { return t.own_shapes; });
}

int convolving_node(const StageCode& code) {
  if (code.has_frames || code.program.inputs.size() != 1) return -1;
  int node = -1;
  for (size_t i = 0; i < code.traits.size(); ++i) {
    const StageTraits& t = code.traits[i];
    if (t.own_shapes || (t.maps && (node >= 0 || !t.convolves))) return -1;
    if (t.maps) node = static_cast<int>(i);
  }
  return node;
}

int resampling_node(const StageCode& code, std::vector<const Batch*>& choices) {
  choices.clear();
  if (code.has_frames || code.program.inputs.size() != 1) return -1;
  const Layout& layout = code.program.inputs[0].layout;
  if (layout != Layout("HWC") && layout != Layout("HW")) return -1;
  int node = -1;
  for (size_t i = 0; i < code.traits.size(); ++i) {
    const StageTraits& t = code.traits[i];
    const BoundOp& op = *code.program.nodes[i].op;
    if (t.own_shapes || t.decodes || (t.maps && node < 0 && !t.filters)) return -1;
    if (!t.maps) continue;
    if (node < 0) {
      node = static_cast<int>(i);
      continue;
    }
    if (t.filters || t.warps || op.info->random) return -1;
    for (const auto& [argument, batch] : op.sample_arguments) {
      if (argument->type != ArgType::integer && argument->type != ArgType::boolean) return -1;
      if (batch->device().kind != DeviceKind::cpu) return -1;
      choices.push_back(batch);
    }
  }
  return node;
}

void join_windows(AxisWindows& windows) {
  if (windows.same) return;
  const int size = windows.sizes.empty() ? 0 : windows.sizes[0];
  const float* first = windows.weights.data();
  for (int k = 1; k < windows.sizes.size(); ++k)
    if (windows.sizes[k] != size || std::memcmp(first, first + k * size, size * sizeof(float)) != 0) return;
  windows.weights.resize(static_cast<size_t>(size));
}

bool are_plain(const AxisWindows& windows) {
  std::span<const float> left = windows.weights;
  for (int size : windows.sizes) {
    if (left.empty()) break;
    if (!are_plain(left.first(static_cast<size_t>(size)), size)) return false;
    left = left.subspan(static_cast<size_t>(size));
  }
  return true;
}

namespace {
// `kSize` 0: windows of `size`, else of that size, which the compiler knows.
template <int kSize> bool are_plain_windows(std::span<const float> weights, int size) {
  if (kSize > 0) size = kSize;
  bool plain = true;
  for (const float *w = weights.data(), *end = w + weights.size(); w != end; w += size) {
    double sum = 0;
    float least = w[0];
    for (int i = 0; i < size; ++i) sum += w[i], least = w[i] < least ? w[i] : least;
    plain &= (least >= 0x1p-60f) & (std::fabs(sum - 1) < 1e-4);  // a sum with a NaN is one
  }
  return plain;
}
}  // namespace

bool are_plain(std::span<const float> weights, int size) {
  switch (size) {
    case 3: return are_plain_windows<3>(weights, size);
    case 5: return are_plain_windows<5>(weights, size);
    case 7: return are_plain_windows<7>(weights, size);
    default: return are_plain_windows<0>(weights, size);
  }
}

}  // namespace penstock
