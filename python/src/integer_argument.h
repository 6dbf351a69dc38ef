// SPDX-License-Identifier: Apache-2.0
// A whole number that every operator takes by name, such as its seed.
#pragma once
#include <algorithm>
#include <climits>

#include "interop.h"

namespace penstock::python {

inline long long integer_of(const char* name, PyObject* value) {
  const long long given = PyIndex_Check(value) ? PyLong_AsLongLong(value) : -1;
  if (!PyIndex_Check(value) || PyErr_Occurred()) {
    PyErr_Clear();
    bad_type("{}: expected an integer of 64 bits, got {}", name, nb::repr(value).c_str());
  }
  return given;
}

}  // namespace penstock::python
