// SPDX-License-Identifier: Apache-2.0
#include "exec/call_into.h"

#include <algorithm>

namespace penstock {

void check_target(const Batch& out, const Batch& target) {
  if (target.dtype() != out.dtype())
    bad_type("the memory for the result has the type {}, but the result is {}", name_of(target.dtype()),
             name_of(out.dtype()));
  if (target.ndim() != out.ndim())
    bad_type("the memory for the result has {} dimensions, but the result has {}", target.ndim(), out.ndim());
  if (target.size() != out.size())
    bad_argument("the memory for the result has {} samples, but the result has {}", target.size(), out.size());
}

void use_memory(Batch& out, const Batch& target, int i) {
  const View view = target.view(i);
  Batch::Sample& sample = out.sample(i);
  if (!(view.shape == sample.shape))
    bad_argument("the memory for sample {} has the shape {}, but the result has {}", i, view.shape.text(),
                 sample.shape.text());
  if (!view.dense()) bad_argument("the memory for sample {} must be row-major without gaps", i);
  sample.data = view.data;
  sample.strides = {};
  sample.owner = target.sample(i).owner ? target.sample(i).owner : target.block;
}

void use_memory(Batch& out, const Batch& target) {
  for (int i = 0; i < out.size(); ++i) use_memory(out, target, i);
}

void check_overlap(std::span<const Batch> inputs, std::span<const Argument> args, std::span<const Batch* const> into) {
  struct Range {
    const char *begin, *end;
    bool written;
  };
  std::vector<Range> ranges;
  const auto add = [&](const Batch& b, bool written) {
    for (int i = 0; i < b.size(); ++i) {
      const View v = b.view(i);
      if (v.volume() == 0) continue;
      int64_t first = 0, last = 0;  // offsets of the outermost elements
      for (int d = 0; d < v.shape.size(); ++d) (v.strides[d] < 0 ? first : last) += (v.shape[d] - 1) * v.strides[d];
      const auto size = static_cast<int64_t>(size_of(v.dtype));
      ranges.push_back({v.as<char>() + first * size, v.as<char>() + (last + 1) * size, written});
    }
  };
  for (const Batch& b : inputs) add(b, false);
  for (const Argument& a : args)
    if (a.batch) add(*a.batch, false);
  for (const Batch* b : into)
    if (b) add(*b, true);
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  const char *end = nullptr, *written_end = nullptr;  // ends of all ranges so far, and of the written ones
  for (const Range& r : ranges) {
    if (r.begin < (r.written ? end : written_end))
      bad_argument("the memory for the result overlaps an input, an argument or another result");
    end = std::max(end, r.end);
    if (r.written) written_end = std::max(written_end, r.end);
  }
}

}  // namespace penstock
