// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "cuda/stages/stage.h"
#include "gpu_room/device_batch.h"

namespace penstock {

// What a stage makes of a batch of bytes, sample after sample.
inline std::vector<char> bytes_of(Driver& driver, BatchStageRunner& runner, const Batch& in) {
  BatchStageCall call;
  call.size = in.size(), call.inputs = {&in, 1}, call.memory = driver.memory(0), call.stream = stream_of(driver);
  call.context = [](int) { return SampleContext{}; };
  Batch out[1];
  std::vector<SampleError> errors;
  runner.run(call, out, errors);
  std::vector<char> all;
  for (int i = 0; i < in.size(); ++i) {
    const size_t n = all.size(), more = out[0].shape(i).volume();
    all.resize(n + more);
    driver.copy(0, all.data() + n, out[0].sample(i).data, more, stream_of(driver));
    driver.synchronize(0, stream_of(driver));
  }
  return all;
}

}  // namespace penstock
