// SPDX-License-Identifier: Apache-2.0
#include "interop.h"

namespace penstock::python {
namespace {

template <class Managed> Tensor adopt(Managed* m) {
  std::shared_ptr<void> owner(m, [](void* p) {
    auto* managed = static_cast<Managed*>(p);
    if (!managed->deleter || !Py_IsInitialized()) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    managed->deleter(managed);
    PyGILState_Release(state);
  });
  Tensor t;
  t.view = view_of(m->dl_tensor);
  t.owner = std::move(owner);
  return t;
}

template <class Managed> void delete_unused(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // consumed: renamed
  auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (m && m->deleter) m->deleter(m);
}

// torch's C table for exchanging tensors, where its version has one.
const DLPackExchangeAPI* torch_exchange() {
  static const DLPackExchangeAPI* api = [] {
    nb::object type = nb::module_::import_("torch").attr("Tensor");
    const DLPackExchangeAPI* found = nullptr;
    if (PyObject* c = PyObject_GetAttrString(type.ptr(), "__dlpack_c_exchange_api__")) {
      found = static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(c, "dlpack_exchange_api"));
      if (found && found->header.version.major != DLPACK_MAJOR_VERSION) found = nullptr;
    }
    PyErr_Clear();
    return found;
  }();
  return api;
}

}  // namespace

Tensor tensor_from_dlpack(PyObject* object) {
  const bool torch = kind_of(object) == Kind::torch;
  if (torch) {
    if (const auto* api = torch_exchange(); api && api->managed_tensor_from_py_object_no_sync) {
      DLManagedTensorVersioned* m = nullptr;
      if (api->managed_tensor_from_py_object_no_sync(object, &m) != 0) throw nb::python_error();
      return adopt(m);
    }
  }
  nb::handle h(object);
  nb::object capsule;
  if (PyCapsule_CheckExact(object)) capsule = nb::borrow(object);
  else if (torch) capsule = nb::module_::import_("torch.utils.dlpack").attr("to_dlpack")(h.attr("detach")());
  else capsule = h.attr("__dlpack__")();
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto* m = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    return adopt(m);
  }
  auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (!m) throw nb::python_error();
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return adopt(m);
}

PyObject* dlpack_capsule(Tensor tensor, bool versioned) {
  PyObject* capsule;
  if (versioned)
    capsule = PyCapsule_New(managed_tensor<DLManagedTensorVersioned>(std::move(tensor)), "dltensor_versioned",
                            [](PyObject* c) { delete_unused<DLManagedTensorVersioned>(c, "dltensor_versioned"); });
  else
    capsule = PyCapsule_New(managed_tensor<DLManagedTensor>(std::move(tensor)), "dltensor",
                            [](PyObject* c) { delete_unused<DLManagedTensor>(c, "dltensor"); });
  if (!capsule) throw nb::python_error();
  return capsule;
}

PyObject* torch_from_tensor(Tensor tensor) {
  if (const auto* api = torch_exchange(); api && api->managed_tensor_to_py_object_no_sync) {
    void* result = nullptr;
    if (api->managed_tensor_to_py_object_no_sync(managed_tensor<DLManagedTensorVersioned>(std::move(tensor)), &result) != 0)
      throw nb::python_error();
    return static_cast<PyObject*>(result);
  }
  nb::object capsule = nb::steal(dlpack_capsule(std::move(tensor), false));
  return nb::module_::import_("torch.utils.dlpack").attr("from_dlpack")(capsule).release().ptr();
}

}  // namespace penstock::python
