// SPDX-License-Identifier: Apache-2.0
#include "batch/dlpack.h"

#include "capi/edge.h"

namespace penstock {
namespace {

// Calls the tensor's deleter with the last reference, after the batch was returned.
struct Adopted {
  DLManagedTensorVersioned* tensor = nullptr;
  ~Adopted() {
    if (tensor && tensor->deleter) tensor->deleter(tensor);
  }
};

}  // namespace
}  // namespace penstock

using namespace penstock;

penstock_status penstock_batch_to_dlpack(const penstock_batch* batch, int index, DLManagedTensorVersioned** tensor) {
  return penstock_batch_to_dlpack_on(batch, index, nullptr, tensor);
}

penstock_status penstock_batch_to_dlpack_on(const penstock_batch* batch, int index, void* stream,
                                            DLManagedTensorVersioned** tensor) {
  return guarded([&] {
    const Batch& b = required(batch, "batch").batch;
    required(tensor, "tensor");
    if (index < 0 || index >= b.size()) bad_argument("there is no sample {} in a batch of {}", index, b.size());
    *tensor = managed_tensor<DLManagedTensorVersioned>(for_stream(b.tensor(index), stream_of(stream)));
  });
}

penstock_status penstock_batch_from_dlpack(DLManagedTensorVersioned* const* tensors, size_t count, const char* layout,
                                           penstock_batch** batch) {
  return penstock_batch_from_dlpack_on(tensors, count, layout, nullptr, batch);
}

penstock_status penstock_batch_from_dlpack_on(DLManagedTensorVersioned* const* tensors, size_t count,
                                              const char* layout, void* stream, penstock_batch** batch) {
  return guarded([&] {
    required(batch, "batch");
    required(tensors, "tensors");
    constexpr size_t kMost = size_t{1} << 24;
    if (count < 1 || count > kMost) bad_argument("a batch must have 1 to {} samples, got {}", kMost, count);
    Batch b;
    std::vector<std::shared_ptr<Adopted>> owners;
    for (size_t i = 0; i < count; ++i) {
      if (!tensors[i]) bad_argument("tensors[{}] is NULL", i);
      if (tensors[i]->version.major != DLPACK_MAJOR_VERSION)
        bad_argument("tensors[{}] has the DLPack version {}, not {}", i, tensors[i]->version.major,
                     DLPACK_MAJOR_VERSION);
      const View v = view_of(tensors[i]->dl_tensor);
      const Device device = device_of(tensors[i]->dl_tensor);
      if (i == 0) {
        b = Batch(v.dtype, v.shape.size(), {}, static_cast<int>(count));
        if (layout) b.set_layout(Layout(layout));
        b.set_device(device);
        if (device.kind == DeviceKind::gpu) b.stream = stream_of(stream);
      } else if (v.dtype != b.dtype() || v.shape.size() != b.ndim()) {
        bad_type("tensors[{}] is {} with {} dimensions, but the first is {} with {}", i, name_of(v.dtype),
                 v.shape.size(), name_of(b.dtype()), b.ndim());
      }
      if (device != b.device())
        bad_type("tensors[{}] is on another device ({}) than the first ({})", i, name_of(device), name_of(b.device()));
      Batch::Sample& s = b.sample(static_cast<int>(i));
      owners.push_back(std::make_shared<Adopted>());
      s.data = v.data, s.shape = v.shape, s.owner = owners.back();
      if (!(v.strides == dense_strides(v.shape))) s.strides = v.strides;
    }
    auto handle = std::make_unique<penstock_batch>(penstock_batch{std::move(b)});
    for (size_t i = 0; i < count; ++i) owners[i]->tensor = tensors[i];
    *batch = handle.release();
  });
}
