// SPDX-License-Identifier: Apache-2.0
// DLPack: other libraries' tensors as views of their memory, ours as managed tensors.
#pragma once
#include "batch/batch.h"
#include "dlpack/dlpack.h"

namespace penstock {

void check_extents(const Shape& shape, DType dtype);  // of another library's array; throws if they are impossible
// Rejects element types that Penstock does not have, and memory that is neither on the host nor on a CUDA device.
View view_of(const DLTensor& tensor);
Device device_of(const DLTensor& tensor);
DLDataType dl_dtype(DType t);
DLDevice dl_device(Device device);

// For another library that works on `stream`: work that it enqueues there from now on may read the memory. The memory
// is freed after the work that is there when the library releases it. Null: for a library that waits by itself.
Tensor for_stream(Tensor tensor, StreamHandle stream);

template <class Managed> struct Exported {
  Managed managed{};
  Tensor tensor;
};

// Managed: DLManagedTensor or DLManagedTensorVersioned. Its deleter releases the tensor's owner.
template <class Managed> Managed* managed_tensor(Tensor tensor) {
  auto* e = new Exported<Managed>;
  e->tensor = std::move(tensor);
  View& v = e->tensor.view;
  DLTensor& d = e->managed.dl_tensor;
  d.data = v.data;
  d.device = dl_device(e->tensor.device);
  d.ndim = v.shape.size();
  d.dtype = dl_dtype(v.dtype);
  d.shape = &v.shape[0];
  d.strides = &v.strides[0];
  d.byte_offset = 0;
  if constexpr (requires { e->managed.version; }) e->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  e->managed.manager_ctx = e;
  e->managed.deleter = [](Managed* m) { delete static_cast<Exported<Managed>*>(m->manager_ctx); };
  return &e->managed;
}

}  // namespace penstock
