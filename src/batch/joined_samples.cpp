// SPDX-License-Identifier: Apache-2.0
#include "batch/joined_samples.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "batch/transfer.h"

namespace penstock {

bool lies_in_a_row(const Batch& b) {
  const auto& owner = b.sample(0).owner;
  const char* at = static_cast<const char*>(b.sample(0).data);
  for (int i = 0; i < b.size(); ++i) {  // memory of several owners can be adjacent by chance
    const Batch::Sample& s = b.sample(i);
    const bool other = !b.block && (s.owner.owner_before(owner) || owner.owner_before(s.owner));
    if (!s.strides.empty() || s.data != at || other) return false;
    at += static_cast<size_t>(s.shape.volume()) * size_of(b.dtype());
  }
  return true;
}

static Shape joined_shape(const Batch& b) {
  if (b.size() == 0) bad_argument("an empty batch cannot become a tensor");
  if (b.ndim() < 1) bad_type("samples without dimensions cannot follow each other; use as_tensor()");
  Shape s = b.shape(0);
  for (int i = 1; i < b.size(); ++i) {
    for (int d = 1; d < b.ndim(); ++d)
      if (b.shape(i)[d] != s[d])
        bad_type("samples that follow each other may differ in their first extent alone; got {} and {} at sample {}",
                 b.shape(0).text(), b.shape(i).text(), i);
    s[0] += b.shape(i)[0];
  }
  return s;
}

Tensor joined_samples(const Batch& b) {
  const Shape s = joined_shape(b);
  if (lies_in_a_row(b)) {
    Tensor t;
    t.owner = b.block ? b.block : b.sample(0).owner;
    t.view = {b.sample(0).data, b.dtype(), b.layout(), s, dense_strides(s)};
    t.device = b.device(), t.stream = b.stream, t.ready = b.ready;
    return t;
  }
  if (b.device().kind == DeviceKind::gpu) {
    Batch together(b.dtype(), b.ndim(), b.layout(), 1);
    together.sample(0).shape = s;
    gather_on_gpu(b, together);
    return together.tensor(0);
  }
  wait_on_host(b);
  Tensor t = Tensor::empty(b.dtype(), s, b.layout());
  char* at = t.view.as<char>();
  for (int i = 0; i < b.size(); ++i) {
    copy_strided(b.view(i), {at, b.dtype(), b.layout(), b.shape(i), dense_strides(b.shape(i))});
    at += b.shape(i).volume() * static_cast<int64_t>(size_of(b.dtype()));
  }
  return t;
}

PackedSamples packed_samples(const Batch& b) {
  const int64_t entries = joined_shape(b)[0];
  if (entries > INT32_MAX) bad_argument("a row of {} entries is too long: offsets are int32", entries);
  PackedSamples p;
  Tensor offsets = Tensor::empty(DType::int32, Shape{b.size() + 1});
  Tensor positions = Tensor::empty(DType::int32, Shape{entries});
  auto* const to = offsets.view.as<int32_t>();
  to[0] = 0;
  for (int i = 0; i < b.size(); ++i) {
    const auto length = static_cast<int32_t>(b.shape(i)[0]);
    int32_t* const place = positions.view.as<int32_t>() + to[i];
    std::iota(place, place + length, 0);
    to[i + 1] = to[i] + length;
    p.longest = std::max<int64_t>(p.longest, length);
  }
  p.values = joined_samples(b);
  p.offsets = copy_to(offsets, b.device(), b.stream), p.positions = copy_to(positions, b.device(), b.stream);
  return p;
}

}  // namespace penstock
