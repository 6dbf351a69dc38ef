// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include "torch_layout.h"

namespace penstock::python {
namespace {

std::string class_of(nb::handle h) { return nb::cast<std::string>(h.type().attr("__name__")); }

// Exchange by DLPack and by addresses loses that an array is read-only.
void check_writable(PyObject* o) {
  const Kind kind = kind_of(o);
  const nb::handle h(o);
  if (kind == Kind::pillow || kind == Kind::bytes || kind == Kind::number || kind == Kind::text || kind == Kind::none)
    bad_type("out must be an array that can be written, got {}", class_of(h));
  if (kind == Kind::numpy && !nb::cast<bool>(h.attr("flags").attr("writeable")))
    bad_argument("the array that out names is read-only: give a writable copy");
  for (const char* name : {"__cuda_array_interface__", "__array_interface__"}) {
    if (kind != Kind::other || !PyObject_HasAttrString(o, name)) continue;
    const nb::object data = h.attr(name)["data"];
    if (!nb::isinstance<nb::tuple>(data) || nb::cast<bool>(data[1]))
      bad_argument("the array that out names is read-only: give a writable copy");
  }
}

Batch place_from(PyObject* o, bool batched) {
  const Kind kind = kind_of(o);
  if (kind == Kind::node) bad_type("out is for calls outside pipelines: a pipeline's run() takes into");
  if (kind == Kind::batch) {
    if (!batched) bad_type("out is a Batch, but the call has one sample: give an array");
    return *nb::inst_ptr<Batch>(nb::handle(o));
  }
  if (kind == Kind::sequence) {
    if (!batched) bad_type("out is a list, but the call has one sample: give an array");
    const Py_ssize_t n = length_of(o);
    for (Py_ssize_t i = 0; i < n; ++i) check_writable(item_of(o, i).ptr());
    return batch_from_sequence(o, Where::anywhere);
  }
  check_writable(o);
  Tensor t = tensor_from(o, Where::anywhere);
  if (!batched) {
    std::vector<Tensor> one;
    one.push_back(std::move(t));
    return Batch::from_tensors(std::move(one));
  }
  if (t.view.shape.empty() || t.view.shape[0] == 0) bad_argument("out has no samples");
  t.view.layout = {};
  return split_samples(t);
}

StreamHandle stream_of_object(PyObject* o, int gpu) {
  const Kind kind = kind_of(kind_of(o) == Kind::sequence && length_of(o) > 0 ? item_of(o, 0).ptr() : o);
  if (const StreamHandle current = current_stream(kind, gpu)) return current;
  return kLegacyStream;
}

}  // namespace

std::span<const Batch* const> CallTargets::places(int results, bool batched) {
  if (PyTuple_Check(given_)) {
    const Py_ssize_t n = PyTuple_Size(given_);
    if (n != results) bad_argument("out has {} entries for {} results", n, results);
    for (Py_ssize_t k = 0; k < n; ++k) objects_.push_back(PyTuple_GetItem(given_, k));
  } else {
    if (results != 1) bad_argument("the call has {} results: out must be a tuple with an entry for each", results);
    objects_.push_back(given_);
  }
  batches_.reserve(objects_.size());
  for (PyObject*& o : objects_) {
    if (o == Py_None) {
      o = nullptr;
      pointers_.push_back(nullptr);
      continue;
    }
    batches_.push_back(place_from(o, batched));
    pointers_.push_back(&batches_.back());
  }
  return pointers_;
}

Kind CallTargets::kind() const {
  for (PyObject* o : objects_)
    if (o) return kind_of(kind_of(o) == Kind::sequence && length_of(o) > 0 ? item_of(o, 0).ptr() : o);
  return Kind::numpy;
}

void CallTargets::order(std::span<const Batch> results) const {
  for (size_t k = 0; k < results.size(); ++k) {
    PyObject* o = object(k);
    if (!o || results[k].device().kind != DeviceKind::gpu) continue;
    if (kind_of(o) == Kind::batch) {
      Batch& b = *nb::inst_ptr<Batch>(nb::handle(o));
      b.stream = results[k].stream, b.ready = results[k].ready;
    } else if (kind_of(o) == Kind::tensor) {
      Tensor& t = *nb::inst_ptr<Tensor>(nb::handle(o));
      t.stream = results[k].stream, t.ready = results[k].ready;
    } else {
      order_before(results[k], stream_of_object(o, results[k].device().id));
    }
  }
}

StreamHandle stream_of_user(PyObject* object) {
  const nb::handle h(object);
  if (PyLong_Check(object)) return stream_of_number(nb::cast<uintptr_t>(h));
  for (const char* name : {"cuda_stream", "ptr", "handle"})  // torch, CuPy, CV-CUDA
    if (PyObject_HasAttrString(object, name) && PyLong_Check(nb::object(h.attr(name)).ptr()))
      return stream_of_number(nb::cast<uintptr_t>(h.attr(name)));
  if (PyObject_HasAttrString(object, "__cuda_stream__"))  // a pair: the version of this protocol, the stream
    return stream_of_number(nb::cast<uintptr_t>(nb::object(h.attr("__cuda_stream__")())[1]));
  bad_type("stream must be a number or an object with a CUDA stream, as torch.cuda.Stream, got {}", class_of(h));
}

}  // namespace penstock::python
