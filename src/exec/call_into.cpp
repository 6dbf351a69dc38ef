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

namespace {

void check_shape(const Shape& result, const Shape& memory, int i) {
  if (!(memory == result))
    bad_argument("the memory for sample {} has the shape {}, but the result has {}", i, memory.text(), result.text());
}

std::shared_ptr<void> held_by(const Batch& target, int i) {
  return target.sample(i).owner ? target.sample(i).owner : target.block;
}

}  // namespace

void use_memory(Batch& out, const Batch& target, int i) {
  const View view = target.view(i);
  Batch::Sample& sample = out.sample(i);
  check_shape(sample.shape, view.shape, i);
  if (!view.dense()) bad_argument("the memory for sample {} must be row-major without gaps", i);
  sample.data = view.data;
  sample.strides = {};
  sample.owner = held_by(target, i);
}

void use_strided_memory(Batch& out, const Batch& target) {
  for (int i = 0; i < out.size(); ++i) {
    const View view = target.view(i);
    check_shape(out.shape(i), view.shape, i);
    Batch::Sample& sample = out.sample(i);
    sample = Batch::Sample(view.data, view.shape, target.sample(i).strides, held_by(target, i), sample.source);
  }
}

CallTargets::CallTargets(std::span<const Batch* const> into) : into_(into), direct_(into.begin(), into.end()) {
  for (const Batch*& target : direct_)
    for (int i = 0; target && target->device().kind == DeviceKind::cpu && i < target->size(); ++i)
      if (!target->view(i).dense()) {
        target = nullptr;
        break;
      }
}

void CallTargets::fill(std::vector<Batch>& results) const {
  for (size_t k = 0; k < direct_.size() && k < results.size(); ++k) {
    if (!into_[k] || direct_[k]) continue;
    const Batch& target = *into_[k];
    check_target(results[k], target);
    Batch written(target.dtype(), target.ndim(), results[k].layout(), target.size());
    for (int i = 0; i < target.size(); ++i) {
      const View from = results[k].view(i), to = target.view(i);
      if (from.volume() == 0 && to.volume() > 0) {  // a sample that has failed
        written.sample(i) = results[k].sample(i);
        continue;
      }
      check_shape(from.shape, to.shape, i);
      copy_strided(from, to);
      written.sample(i) = Batch::Sample(to.data, to.shape, target.sample(i).strides, held_by(target, i), {});
    }
    results[k] = std::move(written);
  }
}

MemoryRange range_of(const View& v, bool written, int i) {
  int64_t first = 0, last = 0;  // offsets of the outermost elements
  for (int d = 0; d < v.shape.size(); ++d) {
    // PyTorch refuses this for a result, too.
    if (written && v.strides[d] == 0 && v.shape[d] > 1)
      bad_argument("the memory for sample {} has one place for all {} elements of dimension {}: its stride is 0", i,
                   v.shape[d], d);
    (v.strides[d] < 0 ? first : last) += (v.shape[d] - 1) * v.strides[d];
  }
  const auto size = static_cast<int64_t>(size_of(v.dtype));
  return {v.as<char>() + first * size, v.as<char>() + (last + 1) * size, written};
}

bool overlap(std::span<MemoryRange> ranges, bool gaps) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  const char *written = nullptr, *written_end = nullptr, *read_end = nullptr;  // of all ranges so far
  for (const MemoryRange& r : ranges) {
    if (r.begin < (r.written ? read_end : written_end)) return true;
    if (r.written && (gaps ? r.begin == written : r.begin < written_end)) return true;
    if (r.written) written = r.begin;
    auto& end = r.written ? written_end : read_end;
    end = std::max(end, r.end);
  }
  return false;
}

void check_overlap(std::span<const Batch> inputs, std::span<const Argument> args, std::span<const Batch* const> into) {
  std::vector<MemoryRange> ranges;
  bool gaps = false;
  const auto add = [&](const Batch& b, bool written) {
    for (int i = 0; i < b.size(); ++i) {
      const View v = b.view(i);
      if (v.volume() == 0) continue;
      ranges.push_back(range_of(v, written, i));
      gaps |= written && !v.dense();
    }
  };
  for (const Batch& b : inputs) add(b, false);
  for (const Argument& a : args)
    if (a.batch) add(*a.batch, false);
  for (const Batch* b : into)
    if (b) add(*b, true);
  if (overlap(ranges, gaps)) bad_argument("the memory for the result overlaps an input, an argument or another result");
}

}  // namespace penstock
