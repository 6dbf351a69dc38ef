// SPDX-License-Identifier: Apache-2.0
#include "batch/dlpack.h"

#include "batch/transfer.h"

namespace penstock {

void check_extents(const Shape& shape, DType dtype) {
  for (int64_t e : shape)
    if (e < 0) bad_type("an array with a negative extent: {}", shape.text());
  checked_bytes(shape.volume(), size_of(dtype));
}

static DType dtype_from_dl(const DLDataType& t) {
  if (t.lanes == 1) {
    const int bytes = t.bits / 8;
    const int log = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
    if (t.code == kDLBool && bytes == 1) return DType::bool_;
    if (t.code == kDLBfloat && bytes == 2) return DType::bfloat16;
    if (log >= 0 && t.code == kDLUInt) return static_cast<DType>(log);
    if (log >= 0 && t.code == kDLInt) return static_cast<DType>(4 + log);
    if (log >= 1 && t.code == kDLFloat) return static_cast<DType>(7 + log);
  }
  bad_type("a tensor of DLPack type (code {}, {} bits, {} lanes) is not supported", int(t.code), int(t.bits),
           int(t.lanes));
}

DLDataType dl_dtype(DType t) {
  const auto bits = static_cast<uint8_t>(size_of(t) * 8);
  const uint8_t code = t == DType::bool_      ? kDLBool
                       : t == DType::bfloat16 ? kDLBfloat
                       : is_float(t)          ? kDLFloat
                       : is_unsigned(t)       ? kDLUInt
                                              : kDLInt;
  return {code, bits, 1};
}

Device device_of(const DLTensor& d) {
  switch (d.device.device_type) {
    case kDLCPU:
    case kDLCUDAHost: return {};
    case kDLCUDA:
    case kDLCUDAManaged:
      if (d.device.device_id < 0 || d.device.device_id > INT16_MAX)
        bad_type("a DLPack tensor has the device number {}, which does not exist", d.device.device_id);
      return {DeviceKind::gpu, static_cast<int16_t>(d.device.device_id)};
    default:
      bad_type(
          "the tensor is on an unsupported device (DLPack device type {}): copy it to the CPU or a CUDA device first",
          static_cast<int>(d.device.device_type));
  }
}

DLDevice dl_device(Device d) { return {d.kind == DeviceKind::gpu ? kDLCUDA : kDLCPU, d.id}; }

Tensor for_stream(Tensor t, StreamHandle stream) {
  if (t.device.kind == DeviceKind::cpu) {
    wait_on_host(t);
  } else if (stream) {
    order_before(t, stream);
    t.owner = owner_used_on(std::move(t.owner), t.device.id, t.stream, stream);
  }
  return t;
}

View view_of(const DLTensor& d) {
  device_of(d);
  View v;
  v.dtype = dtype_from_dl(d.dtype);
  v.data = static_cast<char*>(d.data) + d.byte_offset;
  if (d.ndim < 0) bad_type("a DLPack tensor has {} dimensions", d.ndim);
  v.shape = Shape(std::span<const int64_t>(d.shape, d.ndim));
  check_extents(v.shape, v.dtype);
  v.strides = d.strides ? Shape(std::span<const int64_t>(d.strides, d.ndim)) : dense_strides(v.shape);
  return v;
}

}  // namespace penstock
