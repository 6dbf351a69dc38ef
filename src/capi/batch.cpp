// SPDX-License-Identifier: Apache-2.0
#include "batch/batch.h"

#include <cstdlib>
#include <limits>

#include "batch/joined_samples.h"
#include "capi/edge.h"

namespace penstock {
namespace {

DType checked_dtype(int t) {
  if (!is_type(t)) bad_type("{} is not an element type", t);
  return static_cast<DType>(t);
}

void check_strides(const Shape& shape, const Shape& strides) {
  int64_t farthest = 0;
  for (int d = 0; d < shape.size(); ++d) {
    int64_t reach = 0;
    if (strides[d] == INT64_MIN || __builtin_mul_overflow(shape[d], std::abs(strides[d]), &reach) ||
        __builtin_add_overflow(farthest, reach, &farthest) || farthest > (int64_t{1} << 46))
      bad_argument("the strides {} of a sample of shape {} exceed the address space", strides.text(), shape.text());
  }
}

void set_shape(Batch& b, int i, const int64_t* extents, int ndim) {
  Shape shape;
  int64_t room = std::numeric_limits<int64_t>::max();
  for (int k = 0; k < ndim; ++k) {
    if (extents[k] < 0) bad_argument("sample {} has the extent {}", i, extents[k]);
    shape.push_back(extents[k]);
    // As in NumPy an extent of 0 does not make the others harmless: strides are their products.
    if (extents[k] > 0 && (room /= extents[k]) == 0) bad_argument("sample {} has 2^63 elements or more", i);
  }
  checked_bytes(shape.volume(), size_of(b.dtype()));
  b.sample(i).shape = shape;
}

// In the caller's memory; the shape is set.
void set_place(Batch::Sample& s, int i, void* data, const int64_t* given) {
  if (!data && s.shape.volume() > 0) bad_argument("the data of sample {} is NULL", i);
  Shape strides;
  if (given) {
    strides = Shape(std::span(given, static_cast<size_t>(s.shape.size())));
    check_strides(s.shape, strides);
    if (strides == dense_strides(s.shape)) strides = {};
  }
  s.data = data, s.strides = strides;
}

Batch make_batch(const penstock_batch_description& d, std::shared_ptr<Release>& release) {
  const DType dtype = checked_dtype(d.dtype);
  if (d.ndim < 0 || d.ndim > PENSTOCK_MAX_DIMS) bad_argument("ndim must be 0 to {}, got {}", PENSTOCK_MAX_DIMS, d.ndim);
  if (d.num_samples < 1) bad_argument("a batch needs at least one sample, got {}", d.num_samples);
  if (!d.shapes && d.ndim > 0) bad_argument("shapes is NULL");
  if (d.strides && !d.data) bad_argument("strides are only for the caller's memory");
  if (d.release && !d.data) bad_argument("release is only for the caller's memory");
  const Device device = device_of(d.device_kind, d.device_id);
  const bool on_gpu = device.kind == DeviceKind::gpu;
  if (on_gpu && d.allocator) bad_argument("memory on a GPU comes from penstock_set_device_allocator's functions");
  Batch b(dtype, d.ndim, {}, d.num_samples);
  if (d.layout) b.set_layout(Layout(d.layout));
  for (int i = 0; i < d.num_samples; ++i) {
    const size_t row = static_cast<size_t>(i) * static_cast<size_t>(d.ndim);
    set_shape(b, i, d.shapes + row, d.ndim);
    if (d.data) set_place(b.sample(i), i, d.data[i], d.strides ? d.strides + row : nullptr);
  }
  if (!d.data && on_gpu) {
    b.allocate(runtime_of(device.id).memory(device.id), stream_of(d.stream));
  } else if (!d.data) {
    b.allocate(memory_of(d.allocator));
  } else {
    b.set_device(device);
    if (on_gpu) b.stream = stream_of(d.stream);
    if (d.release) release = std::make_shared<Release>(), b.block = release;
  }
  return b;
}

}  // namespace

void give_batches(std::vector<Batch> batches, penstock_batch** outputs) {
  std::vector<std::unique_ptr<penstock_batch>> handles;
  handles.reserve(batches.size());
  for (Batch& b : batches) handles.push_back(std::make_unique<penstock_batch>(penstock_batch{std::move(b)}));
  for (size_t i = 0; i < handles.size(); ++i) outputs[i] = handles[i].release();
}

std::vector<Batch> take_batches(const penstock_batch* const* batches, size_t count, const char* what) {
  std::vector<Batch> v;
  if (count > 4096) bad_argument("{} has {} batches", what, count);
  if (count > 0) required(batches, what);
  v.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (!batches[i]) bad_argument("{}[{}] is NULL", what, i);
    v.push_back(batches[i]->batch);
  }
  return v;
}

}  // namespace penstock

using namespace penstock;

penstock_status penstock_batch_create(const penstock_batch_description* description, penstock_batch** batch) {
  return guarded([&] {
    required(batch, "batch");
    const auto d = read_struct(description, "description");
    std::shared_ptr<Release> release;
    auto handle = std::make_unique<penstock_batch>(penstock_batch{make_batch(d, release)});
    if (release) release->function = d.release, release->user = d.release_user;
    *batch = handle.release();
  });
}

void penstock_batch_destroy(penstock_batch* batch) { delete batch; }

penstock_status penstock_batch_get_info(const penstock_batch* batch, penstock_batch_info* info) {
  return guarded([&] {
    const Batch& b = required(batch, "batch").batch;
    penstock_batch_info i{};
    i.dtype = static_cast<penstock_dtype>(b.dtype());
    i.ndim = b.ndim();
    i.num_samples = b.size();
    i.is_dense = b.is_dense_tensor();
    i.device_kind = static_cast<penstock_device_kind>(b.device().kind);
    i.device_id = b.device().id;
    std::memcpy(i.layout, b.layout().view().data(), static_cast<size_t>(b.layout().size()));
    write_struct(info, i, "info");
  });
}

penstock_status penstock_batch_get_sample(const penstock_batch* batch, int index, penstock_sample* sample) {
  return guarded([&] {
    const Batch& b = required(batch, "batch").batch;
    if (index < 0 || index >= b.size()) bad_argument("there is no sample {} in a batch of {}", index, b.size());
    const View v = b.view(index);
    penstock_sample s{};
    s.data = v.data;
    s.bytes = static_cast<size_t>(v.volume()) * size_of(v.dtype);
    s.ndim = v.shape.size();
    for (int d = 0; d < s.ndim; ++d) s.shape[d] = v.shape[d], s.strides[d] = v.strides[d];
    s.source = b.sample(index).source.c_str();
    write_struct(sample, s, "sample");
  });
}

penstock_status penstock_batch_set_sample(penstock_batch* batch, int index, void* data, const int64_t* shape,
                                          const int64_t* strides) {
  return guarded([&] {
    Batch& b = required(batch, "batch").batch;
    if (index < 0 || index >= b.size()) bad_argument("there is no sample {} in a batch of {}", index, b.size());
    Batch::Sample& s = b.sample(index);
    if (b.block || s.owner)
      bad_argument("the batch owns its memory: only one over the caller's memory, without `release`, can be moved");
    if (b.ndim() > 0) required(shape, "shape");
    const Shape before = s.shape;
    set_shape(b, index, shape, b.ndim());
    try {
      set_place(s, index, data, strides);
    } catch (...) {
      s.shape = before;
      throw;
    }
  });
}

penstock_status penstock_batch_pack(const penstock_batch* batch, penstock_batch** values, penstock_batch** offsets,
                                    penstock_batch** positions, int64_t* longest) {
  return guarded([&] {
    PackedSamples p = packed_samples(required(batch, "batch").batch);
    std::vector<Batch> made;
    std::vector<penstock_batch**> to;
    const auto give = [&](penstock_batch** where, Tensor& part) {
      if (where) made.push_back(Batch::from_tensors({std::move(part)})), to.push_back(where);
    };
    give(values, p.values), give(offsets, p.offsets), give(positions, p.positions);
    std::vector<penstock_batch*> handles(made.size());
    give_batches(std::move(made), handles.data());
    for (size_t k = 0; k < handles.size(); ++k) *to[k] = handles[k];
    if (longest) *longest = p.longest;
  });
}
