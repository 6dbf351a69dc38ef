// SPDX-License-Identifier: Apache-2.0
// Frames of a sequence: the parts along its first dimension.
#pragma once
#include "batch/view_part.h"
#include "operator/operator.h"

namespace penstock {

inline void check_sequence(const ValueType& in) {
  if (!in.layout.empty() && in.layout[0] != 'F')
    bad_type("a sequence must have a layout that starts with F, got '{}'", in.layout.str());
  if (in.ndim == 0 || in.ndim == 1)
    bad_type("frames must have at least one dimension, but the sequence has {}", in.ndim);
}
inline void check_frame(int64_t frame, int64_t frames, const char* name) {
  if (frame < 0 || frame >= frames) bad_argument("{} names frame {}, but there are {}", name, frame, frames);
}

}  // namespace penstock
