// SPDX-License-Identifier: Apache-2.0
// Warnings of C++ that name the line of the program, whichever module of the package made the call.
#pragma once
#include <nanobind/nanobind.h>
#include <string>

namespace penstock::python {

void warn(const std::string& text, PyObject* category);

}  // namespace penstock::python
