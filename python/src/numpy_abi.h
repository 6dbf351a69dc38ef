// SPDX-License-Identifier: Apache-2.0
// The part of NumPy's stable binary interface that a call needs, so that neither a build nor an import needs NumPy.
#pragma once
#include <nanobind/nanobind.h>

#include "batch/batch.h"

namespace penstock::python {

// Leading members of PyArrayObject and PyArray_Descr; the same in NumPy 1 and 2.
struct ArrayDescr {
  PyObject head;
  PyTypeObject* scalar_type;
  char kind, type, byteorder, unused;
  int type_num;
};
struct ArrayObject {
  PyObject head;
  char* data;
  int nd;
  Py_ssize_t* dimensions;
  Py_ssize_t* strides;  // in bytes
  PyObject* base;
  ArrayDescr* descr;
};

// Finds NumPy's function table; imports NumPy if necessary. Throws nb::python_error.
void load_numpy();
bool is_numpy_array_type(PyTypeObject* type);  // exactly ndarray, once loaded

// A view of the array that keeps it alive. Arrays with another byte order, of objects, or with strides that split
// elements are converted or refused.
Tensor tensor_from_numpy(PyObject* array);
// A new array over the tensor's memory.
PyObject* numpy_from_tensor(Tensor tensor);

}  // namespace penstock::python
