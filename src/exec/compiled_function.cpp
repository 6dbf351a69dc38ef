// SPDX-License-Identifier: Apache-2.0
#include "exec/compiled_function.h"

#include "base/memory.h"

namespace penstock {

CompiledFunction::CompiledFunction(CompiledCode code) : code_(std::move(code)) {}

std::vector<Batch> CompiledFunction::shapes(const CallRequest& request) const {
  const size_t outs = code_.out_types.size(), ins = code_.in_types.size();
  if (request.inputs.size() != ins)
    bad_argument("in_types has {} types, but there are {} inputs", ins, request.inputs.size());
  for (size_t k = 0; k < ins; ++k) {
    const Batch& b = request.inputs[k];
    if (b.dtype() != code_.in_types[k])
      bad_type("input {} is {}, in_types says {}", k, name_of(b.dtype()), name_of(code_.in_types[k]));
    if (b.ndim() != code_.ins_ndim[k])
      bad_type("input {} has {} dimensions, ins_ndim says {}", k, b.ndim(), code_.ins_ndim[k]);
  }
  const auto n = static_cast<size_t>(request.size);
  std::vector<Batch> results;
  for (size_t k = 0; k < outs; ++k)
    results.emplace_back(code_.out_types[k], code_.outs_ndim[k], Layout{}, request.size);
  if (!code_.setup) {
    for (size_t k = 0; k < outs; ++k) {
      if (k >= ins || code_.outs_ndim[k] != code_.ins_ndim[k])
        bad_argument("output {} needs setup_fn: there is no input of {} dimensions whose shapes it could take", k,
                     code_.outs_ndim[k]);
      for (int i = 0; i < request.size; ++i) results[k].sample(i).shape = request.inputs[k].shape(i);
      if (request.inputs[k].layout().size() == code_.outs_ndim[k]) results[k].set_layout(request.inputs[k].layout());
    }
    return results;
  }
  std::vector<int64_t> extents;
  for (int ndim : code_.outs_ndim) extents.resize(extents.size() + n * static_cast<size_t>(ndim), -1);
  for (const Batch& b : request.inputs)
    for (int i = 0; i < request.size; ++i) extents.insert(extents.end(), b.shape(i).begin(), b.shape(i).end());
  code_.setup(extents.data(), request.size);
  const int64_t* e = extents.data();
  for (size_t k = 0; k < outs; ++k)
    for (int i = 0; i < request.size; ++i) {
      Shape s;
      for (int d = 0; d < code_.outs_ndim[k]; ++d, ++e) {
        if (*e < 0)
          bad_argument("setup_fn did not set the extent of axis {} of output {} of sample {}, or set a negative one", d,
                       k, i);
        s.push_back(*e);
      }
      checked_bytes(s.volume(), size_of(code_.out_types[k]));
      results[k].sample(i).shape = s;
    }
  return results;
}

void CompiledFunction::run(const CallRequest& request, std::span<Batch> outputs, int first, int count) const {
  std::vector<void*> addresses;
  std::vector<int64_t> extents;
  std::vector<Tensor> copies;
  const auto add = [&](const Batch& b, bool input) {
    for (int i = first; i < first + count; ++i) {
      View v = b.view(i);
      if (input && !v.dense()) {
        copies.push_back(Tensor::empty(v.dtype, v.shape, v.layout));
        copy_strided(v, copies.back().view);
        v = copies.back().view;
      }
      addresses.push_back(v.data);
      extents.insert(extents.end(), v.shape.begin(), v.shape.end());
    }
  };
  for (const Batch& b : outputs) add(b, false);
  for (const Batch& b : request.inputs) add(b, true);
  if (code_.run(addresses.data(), extents.data(), count) == 0) return;
  if (code_.batches) bad_argument("the compiled function raised an exception");
  const SampleOrigin& o = request.origin[static_cast<size_t>(first)];
  bad_argument("the compiled function raised an exception for sample {} of the batch (position {} of epoch {})",
               request.places[static_cast<size_t>(first)], o.position, o.epoch);
}

void CompiledFunction::run_sample(const CallRequest& request, std::span<Batch> outputs, int sample) const {
  run(request, outputs, sample, 1);
}
void CompiledFunction::run_batch(const CallRequest& request, std::span<Batch> outputs) const {
  run(request, outputs, 0, request.size);
}

std::vector<Batch> CompiledFunction::call(const CallRequest& request, std::vector<SampleError>&) {
  std::vector<Batch> outputs = shapes(request);
  for (Batch& b : outputs) b.allocate(default_memory());
  if (code_.batches) run_batch(request, outputs);
  else
    for (int i = 0; i < request.size; ++i) run_sample(request, outputs, i);
  return outputs;
}

}  // namespace penstock
