// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/feeds.h"

#include <vector>

#include "tensorflow/results.h"
#include "tensorflow/strings.h"

namespace penstock::tensorflow {

namespace {

// Where the samples lie, and their extents.
struct Samples {
  std::vector<void*> data;
  std::vector<int64_t> shapes;
  int rank = 0;
};

Samples strings(const TF_Tensor* tensor) {
  Samples samples;
  samples.rank = 1;
  const auto* texts = static_cast<const TF_TString*>(TF_TensorData(tensor));
  for (int64_t i = 0; i < TF_Dim(tensor, 0); ++i) {
    const std::string_view bytes = bytes_of(texts[i]);
    samples.data.push_back(const_cast<char*>(bytes.data()));
    samples.shapes.push_back(static_cast<int64_t>(bytes.size()));
  }
  return samples;
}

Samples stacked(const TF_Tensor* tensor, size_t size) {
  Samples samples;
  samples.rank = TF_NumDims(tensor) - 1;
  auto* data = static_cast<char*>(TF_TensorData(tensor));
  for (int64_t i = 0; i < TF_Dim(tensor, 0); ++i) {
    samples.data.push_back(data);
    size_t bytes = size;
    for (int k = 1; k <= samples.rank; ++k) {
      samples.shapes.push_back(TF_Dim(tensor, k));
      bytes *= static_cast<size_t>(TF_Dim(tensor, k));
    }
    data += bytes;
  }
  return samples;
}

Samples unlike(const TF_Tensor* tensor, const TF_Tensor* shapes, size_t size) {
  Samples samples;
  samples.rank = static_cast<int>(TF_Dim(shapes, 1));
  auto* data = static_cast<char*>(TF_TensorData(tensor));
  const auto* extents = static_cast<const int64_t*>(TF_TensorData(shapes));
  for (int64_t i = 0; i < TF_Dim(shapes, 0); ++i) {
    samples.data.push_back(data);
    size_t bytes = size;
    for (int k = 0; k < samples.rank; ++k) {
      samples.shapes.push_back(*extents);
      bytes *= static_cast<size_t>(*extents++);
    }
    data += bytes;
  }
  return samples;
}

void free_tensor(void* tensor) { TF_DeleteTensor(static_cast<TF_Tensor*>(tensor)); }

}  // namespace

BatchHandle fed(TensorHandle tensor, const TF_Tensor* shapes, const std::string& name, const std::string& layout) {
  const TF_DataType type = TF_TensorType(tensor.get());
  const penstock_dtype dtype = type == TF_STRING ? PENSTOCK_UINT8 : dtype_of(type);
  if (dtype == PENSTOCK_NONE)
    invalid("input '" + name + "': Penstock has no type number " + std::to_string(type) + " of TensorFlow");
  if (TF_NumDims(tensor.get()) < 1 || (type == TF_STRING && TF_NumDims(tensor.get()) != 1))
    invalid("input '" + name + "': the elements of its data set must be samples, or batches with batch=True");
  const Samples samples = type == TF_STRING ? strings(tensor.get())
                          : shapes          ? unlike(tensor.get(), shapes, size_of(dtype))
                                            : stacked(tensor.get(), size_of(dtype));
  if (samples.data.empty()) invalid("input '" + name + "': a batch has no samples");
  penstock_batch_description description{};
  description.struct_size = sizeof description;
  description.dtype = dtype;
  description.ndim = samples.rank;
  description.layout = layout.c_str();
  description.num_samples = static_cast<int>(samples.data.size());
  description.shapes = samples.shapes.data();
  description.data = samples.data.data();
  description.release = free_tensor;
  description.release_user = tensor.get();
  penstock_batch* made = nullptr;
  check(penstock_batch_create(&description, &made));
  tensor.release();  // the batch's now
  return BatchHandle(made);
}

}  // namespace penstock::tensorflow
