// SPDX-License-Identifier: Apache-2.0
// Which operators are about images: the layout of their inputs says what they do.
#pragma once
#include "ops/machine/bound_op.h"

namespace penstock {

// True for those that take an input without a layout for an image (BoundOp::input_layout), and for those that say so.
bool reads_images(const OpInfo& info);
bool say_reads_images(const char* name);  // for operators that do without a layout as well; true
#define PENSTOCK_READS_IMAGES(Op, name) \
  [[maybe_unused]] static const bool says_images_##Op = ::penstock::say_reads_images(name)

}  // namespace penstock
