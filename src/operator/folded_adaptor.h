// SPDX-License-Identifier: Apache-2.0
// Operators whose coefficients fold() makes of numbers (docs/decisions/0016) as BoundOps.
#pragma once
#include <tuple>

#include "operator/fold_samples.h"
#include "operator/pixel_adaptor.h"

namespace penstock {

template <class Op> class FoldedAdaptor final : public PixelAdaptor<Op> {
  using Numbers = FoldedNumbers<typename Op::Values, typename Op::Known>;

 public:
  using Adaptor<Op>::op;

  void infer(std::span<const ValueType> in, std::span<ValueType> out) override {
    PixelAdaptor<Op>::infer(in, out);
    op.know(known_);
  }
  void coef(const SampleContext& s, Lane lane, int, std::byte* out) const override {
    with_lane<Op>(lane, [&](auto tag) {
      this->put(Op::template fold<typename decltype(tag)::type>(values_of(s.values()), known_), out);
    });
  }
  void coefs(std::span<const SampleContext> samples, Lane lane, int, std::byte* out, size_t stride) const override {
    with_lane<Op>(lane, [&](auto tag) {
      using V = typename decltype(tag)::type;
      FoldRows<Op> values;
      FoldedRows<Op, V> folded;
      for (size_t first = 0; first < samples.size(); first += kFoldedTogether) {
        const auto part = samples.subspan(first, std::min(kFoldedTogether, samples.size() - first));
        size_t row = 0;
        std::apply([&](auto... m) { (number_row(op.*m, part, values.row[row++]), ...); }, Op::folded);
        fold_samples<Op, V>(values, known_, part.size(), folded);
        for (size_t i = 0; i < part.size(); ++i, out += stride)
          for (size_t k = 0; k < folded.count; ++k) std::memcpy(out + k * sizeof(V), &folded.row[k][i], sizeof(V));
      }
    });
  }
  bool coefs_vary() const override {
    return std::apply([&](auto... m) { return (!(op.*m).constant() || ...); }, Op::folded);
  }
  FoldedArguments folded() const override {
    FoldedArguments f;
    f.bytes = sizeof(Numbers);
    std::apply([&](auto... member) { (f.arguments.push_back((op.*member).batch()), ...); }, Op::folded);
    return f;
  }
  void values(const SampleContext& s, std::byte* out) const override {
    const Numbers numbers{values_of(s.values()), known_};
    std::memcpy(out, &numbers, sizeof numbers);
  }
  std::string fold_text() const override { return Op::fold_text; }

 private:
  // The host does not know the values of a GPU.
  template <class Argument> static bool is_known(const Argument& a) {
    return !a.batch() || a.batch()->device().kind != DeviceKind::gpu;
  }
  template <class Argument>
  static void number_row(const Argument& a, std::span<const SampleContext> samples, float* row) {
    if (!is_known(a)) std::fill_n(row, samples.size(), 0.0f);
    else if (a.constant()) std::fill_n(row, samples.size(), a.one());
    else if (a.frames())
      for (const SampleContext& s : samples) *row++ = a[s.values()];
    else
      for (const SampleContext& s : samples) *row++ = stored_number<float>(*a.batch(), s.index);
  }
  typename Op::Values values_of(SampleFrame at) const {
    const auto number = [&](const auto& argument) { return is_known(argument) ? argument[at] : 0.0f; };
    return std::apply([&](auto... member) { return typename Op::Values{number(op.*member)...}; }, Op::folded);
  }
  typename Op::Known known_{};
};

}  // namespace penstock
