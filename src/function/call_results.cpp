// SPDX-License-Identifier: Apache-2.0
// The caller's memory for results, and new memory.
#include <algorithm>

#include "batch/sample_lists.h"
#include "batch/transfer.h"
#include "function/function_run.h"

namespace penstock {
namespace {

// Rows without gaps, of memory that only grows, as in a region of a larger picture.
bool has_rows(const View& v) {
  const int last = v.shape.size() - 1;
  for (int d = 0; d <= last; ++d)
    if (v.strides[d] <= 0 && v.shape[d] > 1) return false;
  return last >= 0 && (v.strides[last] == 1 || v.shape[last] <= 1);
}

// How a step may write to the memory.
CallFrame::Writes writes_to(const Batch& b) {
  auto all = CallFrame::Writes::dense;
  if (b.device().kind != DeviceKind::cpu) return CallFrame::Writes::nothing;
  for (int i = 0; i < b.size(); ++i) {
    const View v = b.view(i);
    if (v.dense()) continue;
    if (!has_rows(v)) return CallFrame::Writes::nothing;
    all = CallFrame::Writes::rows;
  }
  return all;
}

}  // namespace

// A step may write before it has read everything: nothing that is written may be the memory of something else. Strided
// samples may lie between each other's rows, as pictures of an atlas do.
void FunctionRun::check_memory() {
  frame_.direct.assign(f_.outputs_.size(), CallFrame::Writes::nothing);
  auto& ranges = frame_.ranges;
  ranges.clear();
  bool gaps = false;
  for (size_t k = 0; k < f_.outputs_.size(); ++k) {
    const Batch* target = into(static_cast<int>(k));
    if (!target) {
      frame_.direct[k] = CallFrame::Writes::dense;
      continue;
    }
    if (target->size() != samples_)
      bad_argument("the memory for output {} has {} samples, but the call has {}", k, target->size(), samples_);
    frame_.direct[k] = writes_to(*target);
    gaps |= frame_.direct[k] != CallFrame::Writes::dense;
    for (int i = 0; i < target->size(); ++i)
      if (const View v = target->view(i); v.volume() > 0) ranges.push_back(range_of(v, true, i));
  }
  if (ranges.empty()) return;
  for (const Batch* b : call_.inputs)
    for (int i = 0; i < b->size(); ++i)
      if (const View v = b->view(i); v.volume() > 0) ranges.push_back(range_of(v, false, i));
  if (overlap(ranges, gaps)) bad_argument("the memory for an output overlaps an input or another output");
}

int FunctionRun::direct_output(int slot, CallFrame::Writes least) const {
  const auto& outputs = f_.compiled_.outputs;
  for (size_t k = 0; k < outputs.size(); ++k)
    if (outputs[k] == slot && frame_.direct[k] >= least) return static_cast<int>(k);
  return -1;
}

void FunctionRun::check_target(int output, DType dtype, int ndim) const {
  const Batch& target = *into(output);
  if (target.dtype() != dtype)
    bad_type("the memory for output {} has the type {}, but the output is {}", output, name_of(target.dtype()),
             name_of(dtype));
  if (target.ndim() != ndim)
    bad_type("the memory for output {} has {} dimensions, but the output has {}", output, target.ndim(), ndim);
}

View FunctionRun::target_of(int output, int sample, const Shape& shape) const {
  const int number = frame_.numbers[static_cast<size_t>(sample)];
  const View target = into(output)->view(number);
  if (!(target.shape == shape))
    bad_argument("the memory for sample {} of output {} has the shape {}, but the output has {}", number, output,
                 target.shape.text(), shape.text());
  return target;
}

void FunctionRun::give_results() {
  for (const bool written : {false, true})  // those that are moved come last: a value may be several outputs
    for (size_t k = 0; k < f_.outputs_.size(); ++k)
      if ((frame_.written[k] != 0) == written) into(static_cast<int>(k)) ? give_into(k) : give_new(k);
}

void FunctionRun::give_into(size_t k) {
  if (frame_.written[k] || size_ == 0) return;
  const Batch& from = value(f_.compiled_.outputs[k]);
  const Batch& target = *into(static_cast<int>(k));
  check_target(static_cast<int>(k), from.dtype(), from.ndim());
  if (target.device() != from.device())
    bad_argument("the memory for output {} is on {}, but the output is on {}", k, name_of(target.device()),
                 name_of(from.device()));
  if (from.device().kind == DeviceKind::gpu) return copy_on_gpu(from, target, static_cast<int>(k));
  for (int i = 0; i < size_; ++i) copy_strided(from.view(i), target_of(static_cast<int>(k), i, from.shape(i)));
}

// In one block where all shapes are equal; samples that have failed are there without elements.
void FunctionRun::give_new(size_t k) {
  Batch& from = value(f_.compiled_.outputs[k]);
  const bool whole = frame_.written[k] && size_ == samples_;
  if (whole) {
    results_[k] = std::move(from);
    return;
  }
  if (from.device().kind == DeviceKind::gpu) {
    results_[k] = size_ == samples_ ? from : spread(from, frame_.numbers, samples_);
    for (int i = 0; i < samples_; ++i)
      if (frame_.failed[static_cast<size_t>(i)]) results_[k].sample(i).shape = Shape::filled(from.ndim(), 0);
    return;
  }
  const ValueType& t = f_.outputs_[k].type;
  const int ndim = size_ > 0 ? from.ndim() : std::max(0, t.ndim);
  const DType dtype = size_ > 0 ? from.dtype() : t.dtype;
  Batch out(dtype, ndim, size_ > 0 ? from.layout() : t.layout.size() == ndim ? t.layout : Layout{}, samples_);
  for (int i = 0; i < samples_; ++i) out.sample(i).shape = Shape::filled(ndim, 0);
  for (int i = 0; i < size_; ++i) out.sample(frame_.numbers[static_cast<size_t>(i)]).shape = from.shape(i);
  if (dtype != DType::none) out.allocate(memory());
  for (int i = 0; i < size_; ++i) copy_strided(from.view(i), out.view(frame_.numbers[static_cast<size_t>(i)]));
  results_[k] = std::move(out);
}

}  // namespace penstock
