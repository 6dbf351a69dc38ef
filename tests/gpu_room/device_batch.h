// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>

#include "batch/batch.h"
#include "cuda/runtime/driver.h"

namespace penstock {

// One of its own: page-locked memory of work on no stream is used again at once.
inline StreamHandle stream_of(Driver& driver) {
  static std::map<Driver*, StreamHandle> streams;
  StreamHandle& stream = streams[&driver];
  if (!stream) stream = driver.take_stream(0);
  return stream;
}

inline Batch on_device(Driver& driver, const Batch& b) {
  Batch d(b.dtype(), b.ndim(), b.layout(), b.size());
  for (int i = 0; i < b.size(); ++i) d.sample(i).shape = b.shape(i);
  d.allocate(driver.memory(0), stream_of(driver));
  for (int i = 0; i < b.size(); ++i)
    if (const size_t bytes = b.shape(i).volume() * size_of(b.dtype()))
      driver.copy(0, d.sample(i).data, b.sample(i).data, bytes, stream_of(driver));
  return d;
}

}  // namespace penstock
