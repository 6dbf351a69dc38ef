// SPDX-License-Identifier: Apache-2.0
#include "exports.h"

#include "interop.h"
#include "numpy_abi.h"

namespace penstock::python {

nb::tuple shape_tuple(const Shape& s) {
  nb::object t = nb::steal(PyTuple_New(s.size()));
  for (int i = 0; i < s.size(); ++i) PyTuple_SetItem(t.ptr(), i, PyLong_FromLongLong(s[i]));
  return nb::cast<nb::tuple>(t);
}

namespace {

const char* typestr(DType t) {
  if (t == DType::bfloat16)
    throw nb::attribute_error("the array interface has no bfloat16: take DLPack, or NumPy's array with ml_dtypes");
  constexpr const char* text[] = {"|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8", "|b1"};
  return text[static_cast<int>(t)];
}

nb::dict interface_of(const Tensor& t) {
  nb::dict d;
  d["version"] = 3;
  d["typestr"] = typestr(t.view.dtype);
  d["shape"] = shape_tuple(t.view.shape);
  d["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(t.view.data), false);
  if (!t.view.dense()) {
    Shape bytes = t.view.strides;
    for (int i = 0; i < bytes.size(); ++i) bytes[i] *= static_cast<int64_t>(size_of(t.view.dtype));
    d["strides"] = shape_tuple(bytes);
  }
  return d;
}

// A copy in its own memory.
Tensor copied(const Tensor& t) {
  if (t.device.kind == DeviceKind::cpu) {
    Tensor own = Tensor::empty(t.view.dtype, t.view.shape, t.view.layout);
    copy_strided(copied_to_host(t).view, own.view);
    return own;
  }
  Batch one(t.view.dtype, t.view.shape.size(), t.view.layout, 1);
  one.sample(0).shape = t.view.shape;
  gather_on_gpu(Batch::from_tensors({t}), one);
  return one.tensor(0);
}

// As in the array API: stream None is the legacy default stream, -1 requests no ordering, 0 is ambiguous.
StreamHandle consumers_stream(nb::handle stream) {
  if (!stream.is_valid() || stream.is_none()) return kLegacyStream;
  const auto number = nb::cast<int64_t>(stream);
  if (number == -1) return nullptr;
  if (number <= 0)
    bad_argument("__dlpack__ needs a stream's handle, 1 or 2 for CUDA's default streams, or -1; got {}", number);
  return stream_of_number(static_cast<uintptr_t>(number));
}

}  // namespace

nb::dict array_interface(const Tensor& t) {
  if (t.device.kind == DeviceKind::gpu)
    throw nb::attribute_error("the memory is on a GPU: copy it to the host with .cpu()");
  return interface_of(copied_to_host(t));
}

// Consumers order their work after `stream` and keep this object. Nothing reports when they have read the memory, so
// they wait before they release it.
nb::dict cuda_array_interface(const Tensor& t) {
  if (t.device.kind == DeviceKind::cpu)
    throw nb::attribute_error("the memory is on the host: copy it to a GPU with .gpu()");
  nb::dict d = interface_of(t);
  if (t.stream) d["stream"] = number_of_stream(t.stream);
  else d["stream"] = nb::none();
  if (!t.stream) wait_on_host(t);
  return d;
}

nb::object numpy_array(Tensor t, nb::handle dtype, nb::handle copy) {
  nb::object array = nb::steal(numpy_from_tensor(std::move(t)));
  if (dtype.is_valid() && !dtype.is_none()) array = array.attr("astype")(dtype, nb::arg("copy") = false);
  if (copy.is_valid() && !copy.is_none() && nb::cast<bool>(copy)) array = array.attr("copy")();
  return array;
}

nb::tuple dlpack_device(Device d) {
  const DLDevice dl = dl_device(d);
  return nb::make_tuple(static_cast<int>(dl.device_type), dl.device_id);
}

nb::object export_dlpack(Tensor t, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) {
  const bool may_choose = !copy.is_valid() || copy.is_none();
  const bool wants_copy = !may_choose && nb::cast<bool>(copy);
  if (device.is_valid() && !device.is_none()) {
    DLTensor asked{};
    const auto pair = nb::cast<nb::tuple>(device);
    asked.device = {static_cast<DLDeviceType>(nb::cast<int>(pair[0])), nb::cast<int32_t>(pair[1])};
    const Device to = device_of(asked);
    if (to != t.device) {
      if (!may_choose && !wants_copy) throw nb::buffer_error("the tensor is on another device, and copy is False");
      t = to.kind == DeviceKind::cpu ? copied_to_host(t) : copy_to(t, to);
    } else if (wants_copy) {
      t = copied(t);
    }
  } else if (wants_copy) {
    t = copied(t);
  }
  const bool versioned =
      max_version.is_valid() && !max_version.is_none() && nb::cast<int>(nb::cast<nb::tuple>(max_version)[0]) >= 1;
  if (t.device.kind == DeviceKind::cpu) t = copied_to_host(t);
  else t = for_stream(std::move(t), consumers_stream(stream));
  return nb::steal(dlpack_capsule(std::move(t), versioned));
}

void copy_out(Tensor t, nb::handle to, nb::handle stream, bool non_blocking) {
  nb::object address = nb::hasattr(to, "value") ? nb::object(to.attr("value")) : nb::borrow(to);
  auto* p = reinterpret_cast<void*>(nb::cast<uintptr_t>(address));
  if (!p) bad_argument("copy_to_external() needs an address");
  if (t.device.kind == DeviceKind::cpu) {
    t = copied_to_host(t);
    View target = t.view;
    target.data = p;
    target.strides = dense_strides(target.shape);
    copy_strided(t.view, target);
    return;
  }
  if (!t.view.dense()) t = copied(t);
  const int gpu = t.device.id;
  DeviceRuntime& rt = runtime_of(gpu);
  nb::object number =
      stream.is_none() || !nb::hasattr(stream, "value") ? nb::borrow(stream) : nb::object(stream.attr("value"));
  const StreamHandle on = number.is_none() ? thread_stream(gpu) : stream_of_number(nb::cast<uintptr_t>(number));
  ReleaseGil release;
  order_before(t, on);
  rt.copy(gpu, p, t.view.data, static_cast<size_t>(t.view.volume()) * size_of(t.view.dtype), on);
  const auto done = rt.record(gpu, on);
  used_on(Batch::from_tensors({t}), on, *done);
  if (!non_blocking) done->synchronize();
}

}  // namespace penstock::python
