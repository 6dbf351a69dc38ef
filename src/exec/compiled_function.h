// SPDX-License-Identifier: Apache-2.0
// numba_function: calls machine code that the program has compiled, by address.
#pragma once
#include "exec/callback.h"

namespace penstock {

struct CompiledCode {
  // Extents: for each array, outputs first, a table of samples × its number of dimensions.
  using Setup = void (*)(int64_t* extents, int64_t samples);
  // Addresses: for each array, outputs first, of its samples. Nonzero: the function raised an exception. Called for one
  // sample, or, if `batches`, for all of them.
  using Run = int32_t (*)(void* const* addresses, const int64_t* extents, int64_t samples);
  Run run = nullptr;
  Setup setup = nullptr;  // null: output k has the shapes of input k
  bool batches = false;
  std::vector<DType> out_types, in_types;
  std::vector<int> outs_ndim, ins_ndim;
  std::shared_ptr<void> owner;  // keeps the code alive
};

class CompiledFunction final : public CompiledCallback {
 public:
  explicit CompiledFunction(CompiledCode code);
  std::vector<Batch> call(const CallRequest& request, std::vector<SampleError>& bad) override;
  std::vector<Batch> shapes(const CallRequest& request) const override;
  bool per_sample() const override { return !code_.batches; }
  void run_sample(const CallRequest& request, std::span<Batch> outputs, int sample) const override;
  void run_batch(const CallRequest& request, std::span<Batch> outputs) const override;

 private:
  void run(const CallRequest& request, std::span<Batch> outputs, int first, int count) const;
  CompiledCode code_;
};

}  // namespace penstock
