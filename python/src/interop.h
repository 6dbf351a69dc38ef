// SPDX-License-Identifier: Apache-2.0
// Python's objects as tensors and back, without copies where the memory allows.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "batch/batch.h"
#include "batch/dlpack.h"
#include "ops/machine/argument.h"

namespace nb = nanobind;

namespace penstock::python {

enum class Kind : uint8_t { numpy, torch, pillow, tensor, batch, node, bytes, sequence, number, text, none, other };
Kind kind_of(PyObject* object);
void set_node_type(nb::handle type);

// Shares the object's memory until the last copy of the pointer goes; that may be on any thread.
std::shared_ptr<void> keep(PyObject* object);

Tensor tensor_from(PyObject* object);                  // any kind but batch and node
bool is_number_list(PyObject* sequence);               // [1, 2.5], [[1, 0], [0, 1]]: one array rather than a batch
Tensor tensor_from_numbers(PyObject* object);          // numbers and (nested) lists of them: int32, int64, float32, bool
Batch batch_from_sequence(PyObject* sequence);         // one sample an item
Batch batch_from(PyObject* object);                    // a batch, a list of samples, or a single sample
PyObject* to_python(Tensor tensor, Kind like);         // new reference

// DLPack.
Tensor tensor_from_dlpack(PyObject* object);
PyObject* torch_from_tensor(Tensor tensor);
PyObject* dlpack_capsule(Tensor tensor, bool versioned);

// Arguments of operators.
DType dtype_from(PyObject* object);
Value value_from(PyObject* object, const ArgInfo& info);

// Sets Python's error from the C++ exception in flight; to be called in a catch (...) block.
void set_python_error() noexcept;
// Types of errors, made once by the module.
struct Errors { nb::object data, device_warning; };
Errors& errors();

}  // namespace penstock::python
