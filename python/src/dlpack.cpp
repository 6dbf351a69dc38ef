// SPDX-License-Identifier: Apache-2.0
#include "interop.h"
#include "torch_layout.h"

namespace penstock::python {
namespace {

template <class Managed> Tensor adopt(Managed* m, Where where) {
  std::shared_ptr<void> owner(m, [](void* p) {
    auto* managed = static_cast<Managed*>(p);
    if (!managed->deleter || !Py_IsInitialized()) return;
    const HoldGil gil;
    managed->deleter(managed);
  });
  Tensor t;
  t.view = view_of(m->dl_tensor);
  t.device = device_of(m->dl_tensor);
  t.owner = std::move(owner);
  check_where(t.device, where);
  return t;
}

template <class Managed> void delete_unused(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // consumed: renamed
  auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (m && m->deleter) m->deleter(m);
}

bool torch_used = false;  // whether torch tensors have been imported; guarded by the GIL

// torch's C table for exchanging tensors, if its version has one.
const DLPackExchangeAPI* torch_exchange() {
  torch_used = true;
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

StreamHandle current_stream(Kind kind, int gpu) {
  if (kind == Kind::torch) {
    void* stream = nullptr;
    if (const auto* api = torch_exchange(); api && api->current_work_stream) {
      if (api->current_work_stream(kDLCUDA, gpu, &stream) == 0)
        return stream_of_number(reinterpret_cast<uintptr_t>(stream));
      PyErr_Clear();
      return nullptr;
    }
    nb::object now = nb::module_::import_("torch").attr("cuda").attr("current_stream")(gpu);
    return stream_of_number(nb::cast<uintptr_t>(now.attr("cuda_stream")));
  }
  if (kind == Kind::cupy)
    return stream_of_number(
        nb::cast<uintptr_t>(nb::module_::import_("cupy").attr("cuda").attr("get_current_stream")().attr("ptr")));
  return nullptr;
}

bool is_torchs_stream(StreamHandle stream, int gpu) {
  return torch_used && stream && current_stream(Kind::torch, gpu) == stream;
}

static Tensor adopt_capsule(PyObject* capsule, Where where) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto* m = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    PyCapsule_SetName(capsule, "used_dltensor_versioned");
    return adopt(m, where);
  }
  auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  if (!m) throw nb::python_error();
  PyCapsule_SetName(capsule, "used_dltensor");
  return adopt(m, where);
}

// A torch tensor, or a CuPy array: its framework's current stream has written it and frees it in order.
static Tensor written_on_current_stream(Tensor t, Kind kind) {
  if (t.device.kind == DeviceKind::gpu) t.stream = current_stream(kind, t.device.id);
  return t;
}

// Operators have no gradients: those of a program must not end here unseen. torch's own numpy() refuses likewise.
static void refuse_gradients(nb::handle tensor) {
  if (!nb::cast<bool>(tensor.attr("requires_grad"))) return;
  if (!nb::cast<bool>(nb::module_::import_("torch").attr("is_grad_enabled")())) return;
  bad_type("the tensor requires gradients, and Penstock's operators have none: pass tensor.detach()");
}

// What torch says of a tensor that has no dense memory, such as a sparse one: the first line, without its C++ frames.
[[noreturn]] static void refuse_as_torch_does() {
  const nb::python_error e;
  const std::string said = nb::str(e.value()).c_str();
  bad_type("torch does not give the memory of this tensor: {}", said.substr(0, said.find('\n')));
}

static Tensor tensor_from_torch(PyObject* object, Where where) {
  refuse_gradients(object);
  if (const auto* api = torch_exchange(); api && api->managed_tensor_from_py_object_no_sync) {
    DLManagedTensorVersioned* m = nullptr;
    if (api->managed_tensor_from_py_object_no_sync(object, &m) != 0) refuse_as_torch_does();
    return adopt(m, where);
  }
  const nb::object detached = nb::handle(object).attr("detach")();
  nb::object capsule = nb::module_::import_("torch.utils.dlpack").attr("to_dlpack")(detached);
  return adopt_capsule(capsule.ptr(), where);
}

// The GPU of a producer's memory, -1 for the host.
static int gpu_of_producer(nb::handle producer, Where where) {
  if (!PyObject_HasAttrString(producer.ptr(), "__dlpack_device__")) return -1;
  const auto pair = nb::cast<nb::tuple>(producer.attr("__dlpack_device__")());
  const auto kind = nb::cast<int>(pair[0]);
  DLTensor t{};
  t.device = {static_cast<DLDeviceType>(kind), nb::cast<int32_t>(pair[1])};
  const Device device = device_of(t);
  check_where(device, where);
  return device.kind == DeviceKind::gpu ? device.id : -1;
}

Tensor tensor_from_dlpack(PyObject* object, Where where) {
  const Kind kind = kind_of(object);
  if (kind == Kind::torch) {
    Tensor t = written_on_current_stream(tensor_from_torch(object, where), kind);
    t.view.layout = remembered_layout(object, t.view);
    return t;
  }
  nb::handle h(object);
  StreamHandle ours = nullptr;
  nb::object capsule;
  if (PyCapsule_CheckExact(object)) {
    capsule = nb::borrow(object);
  } else if (const int gpu = gpu_of_producer(h, where); gpu >= 0) {
    ours = kind == Kind::cupy ? current_stream(kind, gpu) : thread_stream(gpu);
    capsule = h.attr("__dlpack__")(nb::arg("stream") = number_of_stream(ours));
  } else {
    capsule = h.attr("__dlpack__")();
  }
  Tensor t = adopt_capsule(capsule.ptr(), where);
  if (t.device.kind == DeviceKind::cpu || kind == Kind::cupy) {
    t.stream = t.device.kind == DeviceKind::gpu ? ours : nullptr;
    return t;
  }
  // The order in which the producer frees memory is not known: its memory is kept until our stream is done with it. A
  // bare capsule was made for the legacy default stream.
  t.stream = ours ? ours : kLegacyStream;
  t.owner = owner_until_done(std::move(t.owner), t.device.id, t.stream);
  return t;
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

PyObject* cupy_from_tensor(Tensor tensor) {
  return nb::module_::import_("cupy").attr("from_dlpack")(nb::cast(std::move(tensor))).release().ptr();
}

static PyObject* as_torch(Tensor tensor, StreamHandle torchs) {
  if (tensor.device.kind == DeviceKind::gpu) {
    if (!torchs) torchs = current_stream(Kind::torch, tensor.device.id);
    if (tensor.stream != torchs || tensor.ready) tensor = for_stream(std::move(tensor), torchs);
  } else {
    tensor = copied_to_host(tensor);
  }
  if (const auto* api = torch_exchange(); api && api->managed_tensor_to_py_object_no_sync) {
    void* result = nullptr;
    if (api->managed_tensor_to_py_object_no_sync(managed_tensor<DLManagedTensorVersioned>(std::move(tensor)),
                                                 &result) != 0)
      throw nb::python_error();
    return static_cast<PyObject*>(result);
  }
  nb::object capsule = nb::steal(dlpack_capsule(std::move(tensor), false));
  return nb::module_::import_("torch.utils.dlpack").attr("from_dlpack")(capsule).release().ptr();
}

PyObject* torch_from_tensor(Tensor tensor, StreamHandle torchs) {
  const View view = tensor.view;
  nb::object made = nb::steal(as_torch(std::move(tensor), torchs));
  remember_layout(made.ptr(), view);
  return made.release().ptr();
}

}  // namespace penstock::python
