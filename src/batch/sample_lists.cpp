// SPDX-License-Identifier: Apache-2.0
#include "batch/sample_lists.h"

#include "base/error.h"

namespace penstock {

Batch gathered(const Batch& from, std::span<const int> chosen) {
  Batch b(from.dtype(), from.ndim(), from.layout(), static_cast<int>(chosen.size()));
  b.block = from.block;
  b.stream = from.stream, b.ready = from.ready;
  b.set_device(from.device());
  for (size_t i = 0; i < chosen.size(); ++i) b.sample(static_cast<int>(i)) = from.sample(chosen[i]);
  return b;
}

void scatter(const Batch& from, int i, Batch& into, int to) {
  Batch::Sample& s = into.sample(to);
  s = from.sample(i);
  if (!s.owner) s.owner = from.block;
}

Batch empty_like(const Batch& like, int size) {
  Batch b(like.dtype(), like.ndim(), like.layout(), size);
  b.set_device(like.device());
  b.stream = like.stream, b.ready = like.ready;
  return b;
}

Batch spread(const Batch& from, std::span<const int> places, int size) {
  Batch b = empty_like(from, size);
  for (size_t i = 0; i < places.size(); ++i) scatter(from, static_cast<int>(i), b, places[i]);
  return b;
}

static bool has_value(const Batch& b, int i) {
  const Batch::Sample& s = b.sample(i);
  return b.dtype() != DType::none && (s.data || (s.shape.size() == b.ndim() && s.shape.volume() == 0));
}

std::vector<int> samples_with_values(const Batch& b) {
  std::vector<int> found;
  for (int i = 0; i < b.size(); ++i)
    if (has_value(b, i)) found.push_back(i);
  return found;
}

bool every_sample_has_a_value(const Batch& b) {
  for (int i = 0; i < b.size(); ++i)
    if (!has_value(b, i)) return false;
  return true;
}

int64_t scalar(const Batch& b, int i, const char* what) {
  const View v = b.view(i);
  if (v.volume() != 1) bad_argument("{} must be one number, got one of shape {}", what, v.shape.text());
  if (v.dtype == DType::bool_ || is_integer(v.dtype)) return element_as_int(v, 0);
  return element_as_double(v, 0) != 0;
}

}  // namespace penstock
