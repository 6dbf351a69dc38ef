// SPDX-License-Identifier: Apache-2.0
// The docstrings of the functions that make containers.
#pragma once

namespace penstock::python {

constexpr const char* kTensorText =
    "Makes a Tensor over the memory of an array.\n"
    "\n"
    "A torch tensor of 3 or 4 dimensions without a layout gets CHW or NCHW if only that extent is 1, 3 or 4.\n"
    "\n"
    "Args:\n"
    "    data: An array, a framework's tensor, a Pillow picture, bytes or a number.\n"
    "    layout: The layout, such as \"HWC\".\n"
    "    dtype: Another element type, to which the elements are copied.\n"
    "\n"
    "Returns:\n"
    "    A Tensor.\n"
    "\n"
    "Raises:\n"
    "    TypeError: data is not an array.\n"
    "\n"
    "Example:\n"
    "    >>> penstock.tensor(np.zeros((2, 3), np.uint8), layout=\"HW\").shape()\n"
    "    [2, 3]";
constexpr const char* kBatchText =
    "Makes a Batch from a list of samples, or from one array whose first dimension counts the samples.\n"
    "\n"
    "Torch tensors without a layout get CHW if only that extent is 1, 3 or 4.\n"
    "\n"
    "Args:\n"
    "    data: A list of what tensor() accepts, or one array.\n"
    "    layout: The layout of a sample, such as \"HWC\".\n"
    "    dtype: Another element type, to which the elements are copied.\n"
    "\n"
    "Returns:\n"
    "    A Batch.\n"
    "\n"
    "Raises:\n"
    "    TypeError: data is neither a list of arrays nor an array.\n"
    "\n"
    "Example:\n"
    "    >>> len(penstock.batch([np.zeros((2, 3), np.uint8), np.zeros((4, 5), np.uint8)]))\n"
    "    2";
constexpr const char* kPerSampleText =
    "Makes an operator argument with one value for each sample.\n"
    "\n"
    "Args:\n"
    "    values: A list of numbers, or of lists of numbers.\n"
    "\n"
    "Returns:\n"
    "    A Batch.\n"
    "\n"
    "Example:\n"
    "    >>> images = penstock.batch(np.zeros((2, 48, 64, 3), np.uint8), layout=\"HWC\")\n"
    "    >>> result = fn.rotate(images, angle=penstock.per_sample([10.0, 20.0]))";

}  // namespace penstock::python
