// SPDX-License-Identifier: Apache-2.0
// The docstrings of the functions that make containers.
#pragma once

namespace penstock::python {

constexpr const char* kTensorText =
    "Makes a Tensor over the memory of an array.\n"
    "\n"
    "A torch tensor of 3 or 4 dimensions without a layout gets CHW or NCHW where only that extent is 1, 3 or 4.\n"
    "\n"
    "Args:\n"
    "    data: An array, a tensor of a framework, a picture of Pillow, bytes or a number.\n"
    "    layout: The layout, such as \"HWC\".\n"
    "    dtype: Another element type; then the elements are copied.\n"
    "\n"
    "Returns:\n"
    "    A Tensor.\n"
    "\n"
    "Raises:\n"
    "    TypeError: It is not an array.\n"
    "\n"
    "Example:\n"
    "    >>> penstock.tensor(np.zeros((2, 3), np.uint8), layout=\"HW\").shape()\n"
    "    [2, 3]";
constexpr const char* kBatchText =
    "Makes a Batch of a list of samples, or of one array whose first dimension counts the samples.\n"
    "\n"
    "Torch tensors without a layout get CHW where only that extent is 1, 3 or 4.\n"
    "\n"
    "Args:\n"
    "    data: A list of what tensor() takes, or one array.\n"
    "    layout: The layout of a sample, such as \"HWC\".\n"
    "    dtype: Another element type; then the elements are copied.\n"
    "\n"
    "Returns:\n"
    "    A Batch.\n"
    "\n"
    "Raises:\n"
    "    TypeError: It is not a list of arrays, or an array.\n"
    "\n"
    "Example:\n"
    "    >>> len(penstock.batch([np.zeros((2, 3), np.uint8), np.zeros((4, 5), np.uint8)]))\n"
    "    2";
constexpr const char* kPerSampleText =
    "Makes an argument of an operator with one value for each sample.\n"
    "\n"
    "Args:\n"
    "    values: A list of numbers, or of lists of them.\n"
    "\n"
    "Returns:\n"
    "    A Batch.\n"
    "\n"
    "Example:\n"
    "    >>> images = penstock.batch(np.zeros((2, 48, 64, 3), np.uint8), layout=\"HWC\")\n"
    "    >>> result = fn.rotate(images, angle=penstock.per_sample([10.0, 20.0]))";

}  // namespace penstock::python
