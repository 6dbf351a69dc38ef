// SPDX-License-Identifier: Apache-2.0
// What the operators that fill tensors with random numbers share.
#pragma once
#include "ops/machine/operator.h"
#include "ops/machine/stored.h"

namespace penstock {

// The shape and type of the result: given, or those of an input, or a scalar.
struct RandomValues {
  PerSample<std::vector<int64_t>> shape;
  DType dtype = DType::float32;

  static constexpr const char* kAbout =
      "\n\nAn input gives its shape to the result; without one and without `shape` the result is one scalar a sample. The numbers "
      "are Philox4x32-10 keyed on seed, epoch, sample and operator: the same on any number of threads and any device.";
  static constexpr const char* kShape = "Extents of the result.";
  static constexpr const char* kType = "Type of the result; integers are rounded half to even and saturated.";

  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    if (shape.given() && !in.empty()) bad_argument("shape and an input that gives its shape exclude each other");
    int ndim = !in.empty() ? in[0].ndim : 0;
    if (shape.given()) {
      ndim = shape.constant() ? static_cast<int>(shape.one().size())
             : shape.batch()->size() ? static_cast<int>(shape.batch()->shape(0).volume()) : -1;
    }
    out[0] = {dtype, ndim, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>, std::span<Shape> out) const {
    if (!in.empty()) {
      out[0] = in[0];
      return;
    }
    out[0] = {};
    if (!shape.given()) return;
    for (int64_t e : shape[s.index]) {
      if (e < 0) bad_argument("shape must not be negative, got {}", e);
      out[0].push_back(e);
    }
  }
  RandomStream stream(const SampleContext& s) const {
    return random_stream({s.seed, static_cast<uint32_t>(s.epoch), s.sample, s.node, 0});
  }
};

// A float64 in [0, 1) of 53 bits.
constexpr double uniform01_wide(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// out[i] = stored(f(draw i)), 32-bit draws.
template <class F> void fill_from_draws(const View& out, const RandomStream& stream, F&& f) {
  const int64_t n = out.volume();
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = out.as<T>();
    for (int64_t i = 0; i < n; i += 4) {
      const PhiloxBlock b = stream.block(static_cast<uint64_t>(i) >> 2);
      for (int k = 0; k < 4 && i + k < n; ++k) to[i + k] = stored<T>(f(b.word[k]));
    }
  });
}

}  // namespace penstock
