// SPDX-License-Identifier: Apache-2.0
// Converts Python objects to tensors and back, without copies if the memory allows it.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "batch/batch.h"
#include "batch/dlpack.h"
#include "batch/transfer.h"
#include "gil.h"
#include "operator/argument.h"

namespace nb = nanobind;

namespace penstock::python {

enum class Kind : uint8_t {
  numpy,
  torch,
  cupy,
  pillow,
  tensor,
  batch,
  node,
  bytes,
  sequence,
  number,
  text,
  none,
  other
};
Kind kind_of(PyObject* object);
void set_node_type(nb::handle type);

// A text that may quote a damaged file or its name, which need not be UTF-8: invalid bytes become \\xNN.
nb::str readable(std::string_view text);

// Shares the object's memory until the last copy of the pointer goes, which may be on any thread.
std::shared_ptr<void> keep(PyObject* object);

// Whether GPU memory is accepted, or refused with a message that says what to do.
enum class Where : bool { host, anywhere };
void check_where(Device device, Where where);
Tensor tensor_from(PyObject* object, Where where = Where::host);  // any kind except batch and node
// A class derived from list may count its items and give them by functions of its own, which may fail.
inline Py_ssize_t length_of(PyObject* sequence) {
  const Py_ssize_t n = PySequence_Size(sequence);
  if (n < 0) throw nb::python_error();
  return n;
}
inline nb::object item_of(PyObject* sequence, Py_ssize_t i) {
  nb::object item = nb::steal(PySequence_GetItem(sequence, i));
  if (!item.is_valid()) throw nb::python_error();
  return item;
}
bool is_number_list(PyObject* sequence);       // [1, 2.5], [[1, 0], [0, 1]]: one array rather than a batch
Tensor tensor_from_numbers(PyObject* object);  // numbers and (nested) lists of them: int32, int64, float32, bool
Batch batch_from_sequence(PyObject* sequence, Where where = Where::host);  // one sample per item
Batch batch_from(PyObject* object, Where where = Where::host);  // a batch, a list of samples, or a single sample
PyObject* to_python(Tensor tensor, Kind like);                  // new reference

// DLPack.
Tensor tensor_from_dlpack(PyObject* object, Where where = Where::host);
// `torchs`: the current stream of torch, if it is known.
PyObject* torch_from_tensor(Tensor tensor, StreamHandle torchs = nullptr);
PyObject* dlpack_capsule(Tensor tensor, bool versioned);
PyObject* cupy_from_tensor(Tensor tensor);
// The stream that the framework of this kind of array is using; null: it has none, or is not loaded.
StreamHandle current_stream(Kind kind, int gpu);
// Whether it is the current stream of torch, and torch has been used.
bool is_torchs_stream(StreamHandle stream, int gpu);
inline Device place_of(const Tensor& t) { return t.device; }
inline Device place_of(const Batch& b) { return b.device(); }
// Releases the GIL while the host waits.
template <class T> T copied_to_host(const T& t) {
  if (place_of(t).kind == DeviceKind::cpu && !t.ready) return t;
  ReleaseGil release;
  return on_host(t);
}

// Arguments of operators.
DType dtype_from(PyObject* object);
Value value_from(PyObject* object, const ArgInfo& info);

// Sets Python's error from the C++ exception in flight; call it in a catch (...) block.
void set_python_error() noexcept;
// Types of errors, made once by the module.
struct Errors {
  nb::object data, device_warning;
};
Errors& errors();

}  // namespace penstock::python
