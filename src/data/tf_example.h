// SPDX-License-Identifier: Apache-2.0
// tf.train.Example: named lists of byte strings, floats or 64-bit integers. A parser of our own that looks at nothing
// but what is asked for, and copies nothing but numbers.
#pragma once
#include "data/container.h"

namespace penstock {

struct ExampleValue {
  enum class Kind : uint8_t { absent, bytes, floats, integers } kind = Kind::absent;
  Bytes list;                   // the message BytesList, FloatList or Int64List
  std::vector<uint8_t> joined;  // where it came in several pieces: what `list` points to
};
const char* name_of(ExampleValue::Kind kind);

// Fills out[k] with the feature names[k] of the example; the last one counts where a name comes twice. Views point into
// `example`. Error (data) where it is damaged.
void read_example(Bytes example, std::span<const std::string> names, std::span<ExampleValue> out);

// Elements of the list; Error (data) where it is damaged.
std::vector<Bytes> strings_of(const ExampleValue& value);
void read_floats(const ExampleValue& value, std::vector<float>& out);
void read_integers(const ExampleValue& value, std::vector<int64_t>& out);

}  // namespace penstock
