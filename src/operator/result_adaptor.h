// SPDX-License-Identifier: Apache-2.0
// The result of an operator of the stage families: its type, layout, shape and channels, before anything is computed.
#pragma once
#include "operator/adaptor.h"

namespace penstock {

template <class Op> class ResultAdaptor : public Adaptor<Op> {
 protected:
  static constexpr bool kDecodes = requires { typename Op::DecodeFamily; };
  static constexpr bool kMaps = std::derived_from<Op, MapOperator>;
  static constexpr bool kJoins = [] {  // joins operands of several shapes
    if constexpr (HasPixelPart<Op>) return Op::operands > 1;
    else return false;
  }();
  static constexpr bool kChangesChannels = [] {
    if constexpr (HasPixelPart<Op>) return overrides(&Op::channels, &Op::PixelFamily::channels);
    else return false;
  }();

 private:
  static constexpr bool kReorders = overrides(&Op::output_layout, &StageOperator::output_layout);
  static constexpr bool kChecksChannels = [] {
    if constexpr (HasPixelPart<Op>) return overrides(&Op::check_channels, &Op::PixelFamily::check_channels);
    else return false;
  }();
  static constexpr bool kHasDtype = requires(const Op& o) {
    { o.dtype } -> std::convertible_to<DType>;
  };
  static_assert(kDecodes || kJoins || !kHasDtype || overrides(&Op::output_dtype, &StageOperator::output_dtype),
                "an operator with an argument dtype says that its result has this type: "
                "`DType output_dtype(std::span<const ValueType>) const override { return dtype; }`");

 public:
  using Adaptor<Op>::op;

  void infer(std::span<const ValueType> in, std::span<ValueType> out) override {
    op.check(in);
    ValueType& o = out[0];
    if constexpr (kJoins) {
      op.infer(in, out);
    } else if constexpr (kDecodes) {
      o = {op.decode_params().dtype, 3, "HWC"};
    } else {
      o = in[0];
      o.layout = op.input_layout(in[0]);
      if (const DType t = op.output_dtype(in); t != DType::none) o.dtype = t;
    }
    if constexpr (kReorders) {
      o.layout = op.output_layout(o.layout);
      if (!o.layout.empty()) o.ndim = o.layout.size();
    }
  }

  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    if constexpr (kJoins) {
      op.shapes(s, in, types, out);
    } else {
      const Layout layout = op.input_layout(types[0]);
      Shape shape = in[0];
      if constexpr (kMaps) {
        if (shape.known()) {
          Placement p(shape, layout);
          op.map(s, p);
          shape = p.shape();
        } else {
          for (int i = 0; i < shape.size(); ++i) shape[i] = op.out_extent(s, layout[i], shape[i]);
        }
      }
      if constexpr (kChangesChannels || kChecksChannels)
        if (const int c = layout.find('C'); c >= 0 && shape[c] >= 0)
          shape[c] = this->channels(static_cast<int>(shape[c]));
      if constexpr (kReorders) {
        const Layout to = op.output_layout(layout);
        Shape permuted = shape;
        for (int i = 0; i < to.size() && i < shape.size(); ++i)
          if (const int k = layout.find(to[i]); k >= 0) permuted[i] = shape[k];
        shape = permuted;
      }
      out[0] = shape;
    }
  }

  int channels(int in) const final {
    if constexpr (kChecksChannels) op.check_channels(in);
    if constexpr (kChangesChannels) return op.channels(in);
    else return in;
  }
};

}  // namespace penstock
