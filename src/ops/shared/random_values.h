// SPDX-License-Identifier: Apache-2.0
// Shared by the operators that fill tensors with random numbers.
#pragma once
#include "ops/shared/given_shape.h"
#include "ops/shared/random_streams.h"
#include "operator/stored.h"

namespace penstock {

// Checks the value of one sample; a value for all samples is checked by the range of the argument.
inline float checked_deviation(float stddev) {
  if (!(stddev >= 0)) bad_argument("stddev must be at least 0, got {}", stddev);
  return stddev;
}

// The shape and type of the result: given, or those of an input, or a scalar.
struct RandomValues : WholeOperator, GivenShape {
  DType dtype = DType::float32;

  static constexpr const char* kAbout =
      "\n\nAn input gives its shape to the result. Without an input and without `shape` the result is one scalar per "
      "sample. The random numbers come from Philox4x32-10, keyed on the seed, the epoch, the sample and, unless the "
      "operator has a seed of its own, the operator: they are the same on any number of threads and any device.";
  static constexpr const char* kType = "Type of the result; integers are rounded half to even and saturated.";

  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (shape.given() && !in.empty()) bad_argument("shape and an input that gives its shape are mutually exclusive");
    out[0] = {dtype, in.empty() ? given_ndim() : in[0].ndim, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in.empty() ? given_shape(s.index) : in[0];
  }
  static RandomStream stream(const SampleContext& s) { return stream_of(s); }
  // One number for each sample.
  static void draw_scalars_by(const DrawRule& rule, std::span<const std::byte> coef,
                              std::span<const SampleContext> contexts, DType t, void* out) {
    for_streams(contexts, [&](size_t first, const RandomStream& stream, std::span<const uint64_t> samples) {
      rule.scalars(t, static_cast<std::byte*>(out) + first * size_of(t), stream, samples, coef.data());
    });
  }
};

// Rule: Coef, per_block and `number(block, k, coef)` in PENSTOCK_PIXEL. Element i is number i % per_block of block i /
// per_block.
template <class Rule> void fill_from_draws(const View& out, const RandomStream& stream, const std::byte* coef) {
  const auto& c = *reinterpret_cast<const typename Rule::Coef*>(coef);
  const int64_t n = out.volume(), blocks = (n + Rule::per_block - 1) / Rule::per_block;
  constexpr auto kTogether = static_cast<int64_t>(kStreamsTogether);
  PhiloxColumns drawn;
  dispatch(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = out.as<T>();
    const auto put = [&](int64_t i, int64_t left) __attribute__((always_inline)) {
      const PhiloxBlock b = drawn.block(static_cast<size_t>(i));
      for (int k = 0; k < Rule::per_block && k < left; ++k) to[k] = stored<T>(Rule::number(b, k, c));
      to += Rule::per_block;
    };
    for (int64_t first = 0; first < blocks; first += kTogether) {
      const int64_t count = std::min(kTogether, blocks - first), whole = std::min(count, n / Rule::per_block - first);
      philox_run(stream, static_cast<uint64_t>(first), static_cast<size_t>(count), drawn);
      for (int64_t i = 0; i < whole; ++i) put(i, Rule::per_block);
      if (whole < count) put(whole, n - (first + whole) * Rule::per_block);
    }
  });
}
template <class Rule> void draw_one_each(DType dtype, void* out, const RandomStream& stream,
                                         std::span<const uint64_t> samples, const std::byte* coef) {
  const auto& c = *reinterpret_cast<const typename Rule::Coef*>(coef);
  PhiloxColumns blocks;
  philox_blocks(stream, samples, 0, blocks);
  dispatch(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(out);
    for (size_t i = 0; i < samples.size(); ++i) to[i] = stored<T>(Rule::number(blocks.block(i), 0, c));
  });
}
template <class Rule> DrawRule draw_rule() {
  return {Rule::per_block, [] { return std::string(Rule::pixel_text); }, &fill_from_draws<Rule>, &draw_one_each<Rule>};
}
template <class C> std::span<const std::byte> bytes_of(const C& coef) { return std::as_bytes(std::span(&coef, 1)); }

}  // namespace penstock
