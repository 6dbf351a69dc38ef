// SPDX-License-Identifier: Apache-2.0
// tf.train.Example: named lists of byte strings, floats or 64-bit integers. This parser reads only the requested
// features and copies only numbers.
#pragma once
#include "data/container.h"

namespace penstock {

struct ExampleValue {
  enum class Kind : uint8_t { absent, bytes, floats, integers } kind = Kind::absent;
  Bytes list;                   // the message BytesList, FloatList or Int64List
  std::vector<uint8_t> joined;  // if it came in several pieces: the memory of `list`
};
const char* name_of(ExampleValue::Kind kind);

// Fills out[k] with the feature names[k] of the example; the last one wins if a name is repeated. Views point into
// `example`. Error (data) if it is damaged.
void read_example(Bytes example, std::span<const std::string> names, std::span<ExampleValue> out);

// The elements of the list; Error (data) if it is damaged.
std::vector<Bytes> strings_of(const ExampleValue& value);
void read_floats(const ExampleValue& value, std::vector<float>& out);
void read_integers(const ExampleValue& value, std::vector<int64_t>& out);

}  // namespace penstock
