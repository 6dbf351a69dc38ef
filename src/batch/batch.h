// SPDX-License-Identifier: Apache-2.0
// The two containers of data. A Tensor is one sample; a Batch is N samples of one dtype, rank, layout and device,
// each with its own shape. Every batch may be ragged: "uniform" is a property that it can report.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <span>
#include <string>
#include <vector>

#include "base/device_runtime.h"
#include "base/dtype.h"
#include "base/layout.h"
#include "base/memory.h"
#include "base/shape.h"

namespace penstock {

// A view of elements in memory; owns nothing. Strides count elements and may be zero or negative.
struct View {
  void* data = nullptr;
  DType dtype = DType::none;
  Layout layout;
  Shape shape;
  Shape strides;
  bool dense() const;  // row-major without holes
  int64_t volume() const { return shape.volume(); }
  template <class T> T* as() const { return static_cast<T*>(data); }
};

struct Tensor {
  std::shared_ptr<void> owner;  // keeps the memory of `data` alive
  View view;
  Device device;
  std::string source;                  // the file or record that it came from, if known
  StreamHandle stream = nullptr;       // see Batch
  std::shared_ptr<DeviceEvent> ready;  // see Batch

  static Tensor empty(DType dtype, const Shape& shape, Layout layout = {},
                      const std::shared_ptr<MemoryResource>& memory = default_memory());
};

class Batch {
 public:
  struct Sample {
    void* data = nullptr;
    Shape shape;
    Shape strides;                // empty = dense
    std::shared_ptr<void> owner;  // empty = the batch's own block
    std::string source;
    Sample() {}  // does not clear the fields: a batch has many samples
    Sample(void* at, const Shape& extents, const Shape& steps, std::shared_ptr<void> held_by, std::string from)
        : data(at), shape(extents), strides(steps), owner(std::move(held_by)), source(std::move(from)) {}
  };

  Batch() = default;
  // Samples without memory yet: set shapes, then allocate().
  Batch(DType dtype, int ndim, Layout layout, int size);
  static Batch uniform(DType dtype, const Shape& sample_shape, Layout layout, int size,
                       const std::shared_ptr<MemoryResource>& memory = default_memory());
  static Batch from_tensors(std::vector<Tensor> tensors);  // checks that dtype, rank, device agree

  int size() const { return static_cast<int>(samples_.size()); }
  DType dtype() const { return dtype_; }
  int ndim() const { return ndim_; }
  const Layout& layout() const { return layout_; }
  void set_layout(Layout l);
  Device device() const { return device_; }
  void set_device(Device d) { device_ = d; }  // where memory that others allocated for the samples lies

  const Shape& shape(int i) const { return samples_[i].shape; }
  Sample& sample(int i) { return samples_[i]; }
  const Sample& sample(int i) const { return samples_[i]; }
  View view(int i) const;  // strides always filled in
  Tensor tensor(int i) const;

  // One block for all samples, in order. A uniform batch is then one dense (N, ...) array.
  // Samples in a ragged batch start at multiples of 64 bytes.
  // Allocates on the device of `memory`; on a GPU, for work on `stream`.
  void allocate(const std::shared_ptr<MemoryResource>& memory = default_memory(), StreamHandle stream = nullptr);
  bool has_uniform_shapes() const;
  bool is_dense_tensor() const;  // uniform and contiguous
  // The batch as a dense (N, ...) tensor; no copy if the samples are contiguous. Throws
  // ErrorKind::type if their shapes differ.
  Tensor as_tensor() const;
  size_t bytes() const;

  std::shared_ptr<void> block;  // owner of the common memory
  // On a GPU: the stream that wrote the memory and that frees it; null if nobody needs to wait for one.
  StreamHandle stream = nullptr;
  // What every other stream, and above all the host, must wait for; null if all is written, or if
  // work on `stream` was enqueued just now. batch/transfer.h does the waiting.
  std::shared_ptr<DeviceEvent> ready;

 private:
  void join_streams(std::span<const Tensor> tensors);
  DType dtype_ = DType::none;
  int ndim_ = 0;
  Layout layout_;
  Device device_;
  std::vector<Sample> samples_;
};

// Copies n-dimensional strided elements of `element_bytes` each.
void copy_strided(const View& from, const View& to);
// Sets every element to the value; or to values[c] if `channel_dim` >= 0 and there are several values.
// Rounds half to even and saturates.
void fill_strided(const View& to, std::span<const float> values, int channel_dim = -1);
// The element at `index` of a dense or strided view, converted by static_cast.
double element_as_double(const View& v, int64_t flat_index);
int64_t element_as_int(const View& v, int64_t flat_index);

}  // namespace penstock
