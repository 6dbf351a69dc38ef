// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "tensorflow/status.h"

namespace penstock::tensorflow {

// A batch over the memory of a tensor, which it keeps. Tensors of strings have one for each sample, which becomes bytes
// (n); others have the samples along their first axis. shapes: null, or that of samples of unlike shapes, int64
// (samples, rank), whose elements follow each other in `tensor`. name, layout: of the input.
BatchHandle fed(TensorHandle tensor, const TF_Tensor* shapes, const std::string& name, const std::string& layout);

}  // namespace penstock::tensorflow
