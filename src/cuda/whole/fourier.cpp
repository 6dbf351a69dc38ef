// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cuda/whole/kernels/transform.h"
#include "cuda/whole/device_work.h"

namespace penstock {
namespace {

constexpr size_t kSharedBytes = 40 * 1024;
constexpr int64_t kMostLines = 16;   // at a time
constexpr int64_t kLongBlocks = 64;  // that work on long lines, in addition to one per entry

}  // namespace

void enqueue_transforms(std::span<const TransformStep> steps, Launches& to) {
  if (steps.empty()) return;
  for (const bool in_shared : {true, false}) {
    EntryTable<whole::TransformRow> entries;
    size_t largest = 0;
    int64_t total = 0;
    std::vector<const TransformStep*> taken;
    const auto line_bytes = [](const TransformStep& s) {
      const auto n = static_cast<size_t>(s.transform->length());
      return ((n % 2 ? n : n / 2) + 1) * 2 * 2 * sizeof(float);
    };
    for (const TransformStep& s : steps) {
      if ((line_bytes(s) <= kSharedBytes) != in_shared) continue;
      taken.push_back(&s);
      total += s.lines.count;
      largest = std::max(largest, line_bytes(s));
    }
    if (taken.empty()) continue;
    const int64_t lines =
        in_shared ? std::clamp<int64_t>(static_cast<int64_t>(kSharedBytes / largest), 1, kMostLines) : 1;
    const int64_t granule = in_shared ? lines : std::max<int64_t>(1, total / kLongBlocks);
    auto* buffers =
        static_cast<whole::Pair*>(in_shared ? nullptr : to.scratch(largest * (kLongBlocks * 2 + taken.size())));
    for (const TransformStep* s : taken) {
      const FourierLines& l = s->lines;
      whole::TransformRow& row = entries.add(l.count);
      row.in = s->in.as<const float>(), row.out = s->out.as<float>();
      row.elements = s->in.volume(), row.inner = l.inner, row.begin = l.begin;
      row.in_outer = l.in_outer, row.in_inner = l.in_inner, row.in_stride = l.in_stride;
      row.out_outer = l.out_outer, row.out_inner = l.out_inner, row.out_stride = l.out_stride;
      row.length = l.length, row.mirrored = l.mirrored, row.squared = l.squared;
      row.windowed = s->window != nullptr;
      if (s->window) row.window = entries.data.once(s->window.get(), [&] { return entries.data.add(*s->window); });
      row.plan = entries.data.once(s->transform.get(),
                                   [&] { return entries.data.add_bytes<FourierPlan>(*s->transform->packed()); });
      row.lines = lines, row.buffers = buffers;
    }
    to.add({"transform.h", "transform_lines"}, entries, granule, in_shared ? static_cast<size_t>(lines) * largest : 0);
  }
}

}  // namespace penstock
