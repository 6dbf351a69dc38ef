// SPDX-License-Identifier: Apache-2.0
// Tensors in the forms that other libraries read.
#pragma once
#include <nanobind/nanobind.h>

#include "batch/batch.h"

namespace nb = nanobind;

namespace penstock::python {

nb::tuple shape_tuple(const Shape& s);
nb::dict array_interface(const Tensor& t);  // __array_interface__
nb::dict cuda_array_interface(const Tensor& t);
nb::object numpy_array(Tensor t, nb::handle dtype, nb::handle copy);  // __array__
nb::tuple dlpack_device(Device d);
nb::object export_dlpack(Tensor t, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy);
// The elements, row by row, at the address `to`. On a GPU the copy is enqueued on `stream`, or on one of ours, and the
// host waits for it unless non_blocking.
void copy_out(Tensor t, nb::handle to, nb::handle stream, bool non_blocking);

}  // namespace penstock::python
