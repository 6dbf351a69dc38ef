// SPDX-License-Identifier: Apache-2.0
// Tells which operators work on images, by the layout of their inputs.
#pragma once
#include "operator/bound_op.h"

namespace penstock {

// True for operators that take an input without a layout as an image (BoundOp::input_layout), and for those that
// declare it.
bool reads_images(const OpInfo& info);
bool say_reads_images(const char* name);  // for operators that also work without a layout; true
#define PENSTOCK_READS_IMAGES(Op, name) \
  [[maybe_unused]] static const bool says_images_##Op = ::penstock::say_reads_images(name)

}  // namespace penstock
