// SPDX-License-Identifier: Apache-2.0
// What the axes of a torch tensor are: docs/reference/layouts.md states the rule, for all operators.
#pragma once
#include <span>

#include "interop.h"

namespace penstock::python {

// A torch tensor that Penstock returns carries its layout in an attribute, with the shape and the strides that it
// applies to: after transpose_() and similar functions it no longer applies.
void remember_layout(PyObject* tensor, const View& view);
Layout remembered_layout(PyObject* tensor, const View& view);

// The layout of torch tensors of 3 or 4 dimensions without a layout, which are samples of one batch. (N)CHW if only the
// extent of C is 1, 3 or 4 in all of them. For operators on images (`asks`) also (N)HWC, with a warning, and an error
// if the extents are ambiguous; else none.
Layout layout_by_extents(std::span<const Shape> shapes, bool asks);

// The samples of a tensor whose layout begins with N.
Batch split_samples(const Tensor& t);

}  // namespace penstock::python
