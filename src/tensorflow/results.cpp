// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/results.h"

#include <algorithm>
#include <cstring>

namespace penstock::tensorflow {

namespace {

// By the numbers of penstock_dtype; 12 is none.
constexpr TF_DataType kTypes[] = {TF_UINT8, TF_UINT16, TF_UINT32, TF_UINT64, TF_INT8, TF_INT16,       TF_INT32,
                                  TF_INT64, TF_HALF,   TF_FLOAT,  TF_DOUBLE, TF_BOOL, TF_DataType(0), TF_BFLOAT16};
constexpr size_t kSizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 1, 0, 2};

penstock_batch_info info_of(const penstock_batch* batch) {
  penstock_batch_info info{};
  info.struct_size = sizeof info;
  check(penstock_batch_get_info(batch, &info));
  return info;
}

std::vector<penstock_sample> samples_of(const penstock_batch* batch, int count) {
  std::vector<penstock_sample> samples(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    samples[i].struct_size = sizeof samples[i];
    check(penstock_batch_get_sample(batch, i, &samples[i]));
  }
  return samples;
}

// The batch on the host, written.
BatchHandle on_host(BatchHandle batch) {
  if (info_of(batch.get()).device_kind == PENSTOCK_CPU) return batch;
  penstock_batch* copy = nullptr;
  check(penstock_batch_copy_to(batch.get(), PENSTOCK_CPU, 0, nullptr, &copy));
  return BatchHandle(copy);
}

// Copies the elements of a sample in row-major order; returns where the next ones go.
char* copy(const penstock_sample& sample, size_t size, int axis, const char* from, char* to) {
  int64_t packed = 1;
  bool dense = true;
  for (int k = sample.ndim - 1; k >= axis; --k) {
    dense = dense && (sample.shape[k] == 1 || sample.strides[k] == packed);
    packed *= sample.shape[k];
  }
  if (packed == 0) return to;
  if (dense) {
    std::memcpy(to, from, static_cast<size_t>(packed) * size);
    return to + static_cast<size_t>(packed) * size;
  }
  for (int64_t i = 0; i < sample.shape[axis]; ++i)
    to = copy(sample, size, axis + 1, from + i * sample.strides[axis] * static_cast<int64_t>(size), to);
  return to;
}

TensorHandle copied(const std::vector<penstock_sample>& samples, penstock_dtype dtype,
                    const std::vector<int64_t>& extents) {
  size_t bytes = size_of(dtype);
  for (const int64_t extent : extents) bytes *= static_cast<size_t>(extent);
  TensorHandle made(TF_AllocateTensor(type_of(dtype), extents.data(), static_cast<int>(extents.size()), bytes));
  if (!made)
    throw Fault{TF_RESOURCE_EXHAUSTED, "there is no memory for a tensor of " + std::to_string(bytes) + " bytes"};
  char* to = static_cast<char*>(TF_TensorData(made.get()));
  for (const penstock_sample& sample : samples)
    to = copy(sample, size_of(dtype), 0, static_cast<const char*>(sample.data), to);
  return made;
}

std::string text_of(const penstock_sample& sample) {
  std::string text = "(";
  for (int k = 0; k < sample.ndim; ++k) text += (k ? ", " : "") + std::to_string(sample.shape[k]);
  return text + ")" + (*sample.source ? std::string(" of ") + sample.source : "");
}

bool same_shape(const penstock_sample& a, const penstock_sample& b) {
  return std::equal(a.shape, a.shape + a.ndim, b.shape, b.shape + b.ndim);
}

void free_batch(void*, size_t, void* batch) { penstock_batch_destroy(static_cast<penstock_batch*>(batch)); }

std::vector<TensorHandle> one(TensorHandle tensor) {
  std::vector<TensorHandle> made;
  made.push_back(std::move(tensor));
  return made;
}

}  // namespace

TF_DataType type_of(penstock_dtype dtype) { return kTypes[dtype]; }

size_t size_of(penstock_dtype dtype) { return kSizes[dtype]; }

penstock_dtype dtype_of(TF_DataType type) {
  const auto* found = std::find(std::begin(kTypes), std::end(kTypes), type);
  return found == std::end(kTypes) ? PENSTOCK_NONE : static_cast<penstock_dtype>(found - kTypes);
}

std::vector<TensorHandle> dense(BatchHandle batch, int rank, const std::string& what) {
  batch = on_host(std::move(batch));
  const penstock_batch_info info = info_of(batch.get());
  std::vector<int64_t> extents{info.num_samples};
  if (info.num_samples == 0) extents.resize(static_cast<size_t>(1 + std::max(rank, 0)), 0);
  const auto samples = samples_of(batch.get(), info.num_samples);
  for (const penstock_sample& sample : samples)
    if (!same_shape(sample, samples[0]))
      invalid(what + ": the samples of this batch differ in shape: " + text_of(samples[0]) + " and " + text_of(sample) +
              ". Give them one shape (fn.resize, fn.crop, fn.pad), or say ragged=True");
  if (!samples.empty()) extents.insert(extents.end(), samples[0].shape, samples[0].shape + samples[0].ndim);
  if (!info.is_dense || samples.empty() || samples[0].bytes == 0) return one(copied(samples, info.dtype, extents));
  penstock_sample first = samples[0];
  penstock_batch* held = batch.release();
  return one(TensorHandle(TF_NewTensor(type_of(info.dtype), extents.data(), static_cast<int>(extents.size()),
                                       first.data, first.bytes * samples.size(), free_batch, held)));
}

std::vector<TensorHandle> ragged(BatchHandle batch, int rank) {
  batch = on_host(std::move(batch));
  const penstock_batch_info info = info_of(batch.get());
  const auto samples = samples_of(batch.get(), info.num_samples);
  const int64_t extents[] = {info.num_samples, samples.empty() ? std::max(rank, 0) : info.ndim};
  const size_t bytes = static_cast<size_t>(extents[0] * extents[1]) * sizeof(int64_t);
  TensorHandle shapes(TF_AllocateTensor(TF_INT64, extents, 2, bytes));
  if (!shapes) throw Fault{TF_RESOURCE_EXHAUSTED, "there is no memory for the extents of a batch"};
  auto* to = static_cast<int64_t*>(TF_TensorData(shapes.get()));
  int64_t elements = 0;
  for (const penstock_sample& sample : samples) {
    to = std::copy(sample.shape, sample.shape + sample.ndim, to);
    elements += static_cast<int64_t>(sample.bytes / size_of(info.dtype));
  }
  std::vector<TensorHandle> made;
  made.push_back(copied(samples, info.dtype, {elements}));
  made.push_back(std::move(shapes));
  return made;
}

}  // namespace penstock::tensorflow
