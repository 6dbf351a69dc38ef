// SPDX-License-Identifier: Apache-2.0
// The parts of the extension module; each file binds one.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace penstock::python {

void bind_file_tools(nb::module_& m);
void bind_row_packing(nb::module_& m);
void bind_checksum(nb::module_& m);
void bind_debug(nb::module_& m);
void bind_gpu(nb::module_& m);
void bind_machine(nb::module_& m);
void bind_device_memory(nb::module_& m);
void bind_containers(nb::module_& m);
void bind_operators(nb::module_& m);
void bind_pipeline(nb::module_& m);
void bind_function(nb::module_& m);
void bind_remote(nb::module_& m);
void bind_arrow(nb::module_& m);
void bind_warnings(nb::module_& m);

void tell_notices();  // as warnings of Python

}  // namespace penstock::python
