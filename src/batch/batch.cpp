// SPDX-License-Identifier: Apache-2.0
#include "batch/batch.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/fixed_vector.h"
#include "batch/copy_boxes.h"
#include "batch/joined_samples.h"
#include "batch/transfer.h"

namespace penstock {

bool View::dense() const {
  int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

Tensor Tensor::empty(DType dtype, const Shape& shape, Layout layout, const std::shared_ptr<MemoryResource>& memory) {
  Tensor t;
  t.owner = allocate_shared(memory, checked_bytes(shape.volume(), size_of(dtype)));
  t.view = {t.owner.get(), dtype, layout, shape, dense_strides(shape)};
  t.device = memory->device();
  return t;
}

Batch::Batch(DType dtype, int ndim, Layout layout, int size)
    : dtype_(dtype), ndim_(ndim), layout_(layout), samples_(size) {}

Batch Batch::uniform(DType dtype, const Shape& s, Layout layout, int size,
                     const std::shared_ptr<MemoryResource>& memory) {
  Batch b(dtype, s.size(), layout, size);
  for (auto& x : b.samples_) x.shape = s;
  b.allocate(memory);
  return b;
}

Batch Batch::from_tensors(std::vector<Tensor> tensors) {
  if (tensors.empty()) bad_argument("a batch needs at least one sample");
  const View& first = tensors[0].view;
  Batch b(first.dtype, first.shape.size(), first.layout, static_cast<int>(tensors.size()));
  b.device_ = tensors[0].device;
  for (int i = 0; i < b.size(); ++i) {
    auto& t = tensors[i];
    if (t.view.dtype != b.dtype_)
      bad_type("all samples of a batch must have one dtype: sample 0 is {}, sample {} is {}", name_of(b.dtype_), i,
               name_of(t.view.dtype));
    if (t.view.shape.size() != b.ndim_)
      bad_type("all samples of a batch must have the same rank: sample 0 has {}, sample {} has {}", b.ndim_, i,
               t.view.shape.size());
    if (!t.view.layout.empty() && !first.layout.empty() && !(t.view.layout == first.layout))
      bad_argument("all samples of a batch must have one layout: sample 0 has '{}', sample {} has '{}'",
                   first.layout.str(), i, t.view.layout.str());
    if (t.device != b.device_)
      bad_type("all samples of a batch must be on one device: sample 0 on {}, sample {} on {}", name_of(b.device_), i,
               name_of(t.device));
    b.samples_[i] = {t.view.data, t.view.shape, t.view.dense() ? Shape{} : t.view.strides, std::move(t.owner),
                     std::move(t.source)};
  }
  b.join_streams(tensors);
  return b;
}

// One stream represents all samples: it waits for the others, and their memory is freed after the work on it.
void Batch::join_streams(std::span<const Tensor> tensors) {
  stream = tensors[0].stream, ready = tensors[0].ready;
  if (device_.kind == DeviceKind::cpu) {
    for (const auto& t : tensors)
      if (t.ready && t.ready != ready) wait_on_host(t);
    return;
  }
  const auto alike = [&](const Tensor& t) { return t.stream == stream && t.ready == ready; };
  if (std::all_of(tensors.begin(), tensors.end(), alike)) return;
  if (!stream) stream = thread_stream(device_.id);
  for (int i = 0; i < size(); ++i) {
    order_before(tensors[i], stream);
    if (tensors[i].stream != stream)
      samples_[i].owner = owner_used_on(std::move(samples_[i].owner), device_.id, tensors[i].stream, stream);
  }
  ready = runtime_of(device_.id).record(device_.id, stream);
}

void Batch::set_layout(Layout l) {
  if (!l.empty() && l.size() != ndim_)
    bad_argument("layout '{}' has {} letters for {} dimensions", l.str(), l.size(), ndim_);
  layout_ = l;
}

View Batch::view(int i) const {
  const Sample& s = samples_[i];
  return {s.data, dtype_, layout_, s.shape, s.strides.empty() ? dense_strides(s.shape) : s.strides};
}

Tensor Batch::tensor(int i) const {
  const Sample& s = samples_[i];
  return {s.owner ? s.owner : block, view(i), device_, s.source, stream, ready};
}

void Batch::allocate(const std::shared_ptr<MemoryResource>& memory, StreamHandle on) {
  device_ = memory->device();
  stream = on;
  ready = nullptr;
  const auto forget = [](Sample& s) {
    if (!s.strides.empty()) s.strides = {};
    if (s.owner) s.owner = nullptr;
  };
  if (has_uniform_shapes()) {
    const size_t each = samples_.empty() ? 0 : checked_bytes(samples_[0].shape.volume(), size_of(dtype_));
    const size_t total = checked_bytes(static_cast<int64_t>(each), samples_.size());
    block = allocate_shared(memory, total ? total : 1, on);
    char* at = static_cast<char*>(block.get());
    for (Sample& s : samples_) {
      s.data = at, at += each;
      forget(s);
    }
    return;
  }
  const auto bytes_of = [&](const Sample& s) {
    return (checked_bytes(s.shape.volume(), size_of(dtype_)) + 63) / 64 * 64;
  };
  size_t total = 0;
  for (const Sample& s : samples_) total += bytes_of(s);
  checked_bytes(static_cast<int64_t>(total), 1);
  block = allocate_shared(memory, total ? total : 1, on);
  char* at = static_cast<char*>(block.get());
  for (Sample& s : samples_) {
    s.data = at, at += bytes_of(s);
    forget(s);
  }
}

namespace {
// Whether all samples have the n extents of the first one.
template <int n> bool have_same_extents(std::span<const Batch::Sample> samples) {
  int64_t first[n + 1] = {};
  for (int d = 0; d < n; ++d) first[d] = samples[0].shape[d];
  for (const Batch::Sample& s : samples) {
    if (s.shape.size() != n) return false;
    for (int d = 0; d < n; ++d)
      if (s.shape[d] != first[d]) return false;
  }
  return true;
}
}  // namespace

bool Batch::has_uniform_shapes() const {
  if (samples_.empty()) return true;
  switch (samples_[0].shape.size()) {
    case 0: return have_same_extents<0>(samples_);
    case 1: return have_same_extents<1>(samples_);
    case 2: return have_same_extents<2>(samples_);
    case 3: return have_same_extents<3>(samples_);
  }
  const Shape first = samples_[0].shape;
  return std::all_of(samples_.begin(), samples_.end(), [&](const Sample& s) { return s.shape == first; });
}

bool Batch::is_dense_tensor() const {
  if (samples_.empty() || !has_uniform_shapes()) return false;
  return lies_in_a_row(*this);
}

Tensor Batch::as_tensor() const {
  if (samples_.empty()) bad_argument("an empty batch cannot become a tensor");
  if (!has_uniform_shapes())
    for (int i = 1; i < size(); ++i)
      if (!(shape(i) == shape(0)))
        bad_type(
            "the samples differ in shape ({} and {} at sample {}): a ragged batch is not one tensor; "
            "pad or resize the samples, or take them one by one",
            shape(0).text(), shape(i).text(), i);
  Shape s{size()};
  for (int64_t e : shape(0)) s.push_back(e);
  Layout l;
  if (!layout_.empty() && layout_.size() < 8) l = Layout("N" + layout_.str());
  if (is_dense_tensor()) {
    Tensor t;
    t.owner = block ? block : samples_[0].owner;
    t.view = {samples_[0].data, dtype_, l, s, dense_strides(s)};
    t.device = device_, t.stream = stream, t.ready = ready;
    return t;
  }
  if (device_.kind == DeviceKind::gpu) {
    Batch together(dtype_, s.size(), l, 1);
    together.sample(0).shape = s;
    gather_on_gpu(*this, together);
    return together.tensor(0);
  }
  wait_on_host(*this);
  Tensor t = Tensor::empty(dtype_, s, l);
  const int64_t step = shape(0).volume() * static_cast<int64_t>(size_of(dtype_));
  for (int i = 0; i < size(); ++i) {
    View to{t.view.as<char>() + i * step, dtype_, layout_, shape(i), dense_strides(shape(i))};
    copy_strided(view(i), to);
  }
  return t;
}

size_t Batch::bytes() const {
  size_t n = 0;
  for (const auto& s : samples_) n += static_cast<size_t>(s.shape.volume()) * size_of(dtype_);
  return n;
}

namespace {
// Rounds half to even and saturates; NaN becomes 0 in an integer.
template <class T> T fill_value(float v) {
  if constexpr (std::is_same_v<T, bool>) {
    return v != 0;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::lowest());
    const double r = __builtin_rint(v);
    if (!(r == r)) return T(0);
    if (r <= least) return std::numeric_limits<T>::lowest();
    return r >= most ? std::numeric_limits<T>::max() : static_cast<T>(r);
  } else {
    return static_cast<T>(v);
  }
}

template <class T>
void fill_dims(T* to, std::span<const CopyDim> dims, T value) {
  if (dims.empty()) {
    *to = value;
  } else if (dims.size() == 1) {
    const CopyDim d = dims[0];
    if (d.to == 1) std::fill(to, to + d.extent, value);
    else
      for (int64_t i = 0; i < d.extent; ++i) to[i * d.to] = value;
  } else {
    for (int64_t i = 0; i < dims[0].extent; ++i) fill_dims(to + i * dims[0].to, dims.subspan(1), value);
  }
}
// One value; neighbors that are one run in memory are filled together.
template <class T>
void fill_view(T* to, const Shape& shape, const Shape& strides, T value) {
  FixedVector<CopyDim, Shape::kMaxDims> dims;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const CopyDim next{shape[d], 0, strides[d]};
    if (!dims.empty() && dims.back().to == next.to * next.extent)
      dims.back() = {dims.back().extent * next.extent, 0, next.to};
    else dims.push_back(next);
  }
  fill_dims<T>(to, std::span(dims.begin(), dims.end()), value);
}
// Innermost channels with values of their own: a row of pixels is filled once, then copied to all rows.
template <class T>
void fill_pixels(const View& to, std::span<const T> values) {
  const int last = to.shape.size() - 1, around = std::max(0, last - 1);
  const int64_t channels = to.shape[last];
  const auto bytes = static_cast<int64_t>(sizeof(T));
  std::vector<T> row;
  for (int64_t i = 0; i < (last > 0 ? to.shape[around] : 1); ++i) row.insert(row.end(), values.begin(), values.end());
  CopyDim dims[Shape::kMaxDims];
  for (int d = 0; d <= last; ++d)
    dims[d] = {to.shape[d], d == last ? bytes : d == around ? channels * bytes : 0, to.strides[d] * bytes};
  copy_boxes(row.data(), to.data, std::span(dims, static_cast<size_t>(last) + 1), bytes);
}
}  // namespace

void fill_strided(const View& to, std::span<const float> values, int channel_dim) {
  if (to.volume() == 0) return;
  dispatch_stored(to.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = to.as<T>();
    if (values.size() <= 1 || channel_dim < 0)
      return fill_view(p, to.shape, to.strides, fill_value<T>(values.empty() ? 0.0f : values[0]));
    const int64_t channels = to.shape[channel_dim];
    const auto value = [&](int64_t c) {
      return fill_value<T>(c < static_cast<int64_t>(values.size()) ? values[static_cast<size_t>(c)] : 0.0f);
    };
    if constexpr (!std::is_same_v<T, bool>) {
      if (channel_dim == to.shape.size() - 1) {
        std::vector<T> pixel;
        for (int64_t c = 0; c < channels; ++c) pixel.push_back(value(c));
        return fill_pixels<T>(to, pixel);
      }
    }
    Shape one = to.shape;
    one[channel_dim] = 1;
    for (int64_t c = 0; c < channels; ++c) fill_view(p + c * to.strides[channel_dim], one, to.strides, value(c));
  });
}

static int64_t offset_of(const View& v, int64_t flat) {
  int64_t offset = 0;
  for (int d = v.shape.size() - 1; d >= 0; --d) {
    offset += flat % v.shape[d] * v.strides[d];
    flat /= v.shape[d];
  }
  return offset;
}

double element_as_double(const View& v, int64_t flat) {
  return dispatch_stored(v.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return static_cast<double>(v.as<T>()[offset_of(v, flat)]);
  });
}

int64_t element_as_int(const View& v, int64_t flat) {
  return dispatch_stored(v.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return static_cast<int64_t>(v.as<T>()[offset_of(v, flat)]);
  });
}

}  // namespace penstock
