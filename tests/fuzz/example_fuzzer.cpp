// SPDX-License-Identifier: Apache-2.0
// Messages: tf.train.Example, and what Caffe and Caffe2 keep.
#include "data/caffe_records.h"
#include "data/tf_example.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<uint8_t> exact(data, data + size);
  static const std::vector<std::string> names{"a", "label", ""};
  fuzz::may_refuse([&] {
    ExampleValue values[3];
    read_example(exact, names, values);
    for (const auto& v : values) {
      std::vector<float> floats;
      std::vector<int64_t> integers;
      fuzz::may_refuse([&] { strings_of(v); });
      fuzz::may_refuse([&] { read_floats(v, floats); });
      fuzz::may_refuse([&] { read_integers(v, integers); });
    }
  });
  fuzz::may_refuse([&] {
    const CaffeDatum d = read_datum(exact);
    if (d.shape.volume() != static_cast<int64_t>(d.data.size())) std::abort();
  });
  fuzz::may_refuse([&] { read_tensors(exact); });
  return 0;
}
