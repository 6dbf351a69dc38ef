// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3: a magic, a length, a Python dict of type, order and shape, the elements.
#pragma once
#include "base/dtype.h"
#include "base/shape.h"
#include "data/container.h"

namespace penstock {

struct NpyHeader {
  DType dtype = DType::none;
  bool fortran_order = false;
  Shape shape;
  int64_t data = 0;  // offset of the elements
};

constexpr int64_t kLongestNpyHeader = 65536 + 12;

// Parses the first bytes of a file of file_bytes bytes: all of it, or at least kLongestNpyHeader. Error (data) if it
// is not an .npy file, its elements are not little-endian numbers, or it is too short for them.
NpyHeader read_npy_header(Bytes start, int64_t file_bytes);

}  // namespace penstock
