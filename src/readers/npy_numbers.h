// SPDX-License-Identifier: Apache-2.0
// A whole .npy file as float32: lengths of samples, sizes of pictures.
#pragma once
#include <string>
#include <vector>

#include "base/shape.h"

namespace penstock {

struct NpyNumbers {
  Shape shape;
  std::vector<float> values;
};
// Error, with the path, if it is not such a file or its elements are in Fortran's order.
NpyNumbers read_npy_numbers(const std::string& path);

}  // namespace penstock
