// SPDX-License-Identifier: Apache-2.0
// The inputs of a sample as whole operators get them: without holes.
#pragma once
#include "batch/batch.h"

namespace penstock {

struct DenseInputs {
  DenseInputs(std::span<const Batch> inputs, int sample) {
    for (const Batch& b : inputs) {
      View v = b.view(sample);
      if (!v.dense()) {
        copies.push_back(Tensor::empty(v.dtype, v.shape, v.layout));
        copy_strided(v, copies.back().view);
        v = copies.back().view;
      }
      views.push_back(v);
    }
  }
  std::vector<View> views;
  std::vector<Tensor> copies;
};

}  // namespace penstock
