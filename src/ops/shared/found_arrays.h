// SPDX-License-Identifier: Apache-2.0
// What operators share that find things in images: how many there are is known when they are found. So on the CPU
// batch_state() finds those of the batch, with all threads that are idle, and the rest takes the results.
#pragma once
#include <cstring>
#include <exception>

#include "base/crew.h"
#include "operator/dense_inputs.h"
#include "operator/operator.h"

namespace penstock {

struct FoundArray {
  std::vector<std::byte> bytes;
  Shape shape;
};
template <class T> FoundArray found_array(const std::vector<T>& numbers, const Shape& shape) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {{bytes.begin(), bytes.end()}, shape};
}

// What is found in each sample of a batch on the CPU.
struct FindingOperator : WholeOperator {
  // An array for each output.
  virtual std::vector<FoundArray> find(const View& image, int sample) const = 0;

  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    auto found = std::make_shared<std::vector<Found>>(in[0].size());
    const auto search = [&](int64_t i) { (*found)[static_cast<size_t>(i)] = found_in(in, static_cast<int>(i)); };
    if (Crew* const crew = Crew::of_thread()) crew->run(in[0].size(), search);
    else
      for (int i = 0; i < in[0].size(); ++i) search(i);
    return found;
  }

 protected:
  // Throws what was wrong with the sample.
  static const std::vector<FoundArray>& found_in(const SampleContext& s) {
    const Found& found = (*static_cast<const std::vector<Found>*>(s.batch_state))[static_cast<size_t>(s.index)];
    if (found.error) std::rethrow_exception(found.error);
    return found.arrays;
  }
  static void give_found(const std::vector<FoundArray>& arrays, std::span<const View> out) {
    for (size_t k = 0; k < out.size(); ++k)
      if (!arrays[k].bytes.empty()) std::memcpy(out[k].data, arrays[k].bytes.data(), arrays[k].bytes.size());
  }

 private:
  struct Found {
    std::vector<FoundArray> arrays;
    std::exception_ptr error = nullptr;  // of this sample alone: the others go on
  };
  Found found_in(std::span<const Batch> in, int sample) const {
    try {
      const DenseInputs dense(in, sample);
      return {find(dense.views[0], sample)};
    } catch (...) {
      return {{}, std::current_exception()};
    }
  }
};

// On the CPU alone.
struct FindOperator : FindingOperator {
  // The extents of outputs where they are known before.
  virtual std::vector<Shape> unknown_shapes() const = 0;

  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const std::vector<Shape> unknown = unknown_shapes();
    std::copy(unknown.begin(), unknown.end(), out.begin());
    if (!s.batch_state) return;
    const std::vector<FoundArray>& arrays = found_in(s);
    for (size_t k = 0; k < out.size(); ++k) out[k] = arrays[k].shape;
  }
  void run(const SampleContext& s, std::span<const View>, std::span<const View> out) const override {
    give_found(found_in(s), out);
  }
};

// The height and width of an image of one channel: HW, or HWC and CHW with C = 1.
inline std::pair<int64_t, int64_t> plane_extents(const View& image) {
  int64_t extents[2] = {1, 1};
  for (int d = 0; d < image.shape.size(); ++d) {
    const char axis = image.layout.empty() ? "HWC"[d] : image.layout[d];
    if (axis == 'H' || axis == 'W') extents[axis == 'W'] = image.shape[d];
    else if (image.shape[d] != 1)
      bad_argument("expected an image of one channel, got the shape {}", image.shape.text());
  }
  if (extents[0] > 0 && extents[1] > INT32_MAX / 8 / extents[0])
    bad_argument("an image of the shape {} is too large", image.shape.text());
  return {extents[0], extents[1]};
}

}  // namespace penstock
