// SPDX-License-Identifier: Apache-2.0
// The protocol buffers that Caffe and Caffe2 keep in LMDB: Datum and TensorProtos.
#pragma once
#include "base/dtype.h"
#include "base/shape.h"
#include "data/container.h"

namespace penstock {

// Caffe: channels 1, height 2, width 3, data 4, label 5, encoded 7.
struct CaffeDatum {
  Bytes data;   // into the record
  Shape shape;  // (bytes,) of an encoded image, else (height, width, channels)
  int32_t label = 0;
};
CaffeDatum read_datum(Bytes record);

// Caffe2: dims 1, data_type 2, float_data 3, int32_data 4, byte_data 5, string_data 6.
struct CaffeTensor {
  enum class Kind : uint8_t { none, floats, integers, bytes, text } kind = Kind::none;
  Shape dims;
  std::vector<float> floats;
  std::vector<int32_t> integers;
  Bytes bytes;  // of kind bytes or text; into the record
};
std::vector<CaffeTensor> read_tensors(Bytes record);

}  // namespace penstock
