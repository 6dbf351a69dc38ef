// SPDX-License-Identifier: Apache-2.0
// Operators with a pixel part as BoundOps: coefficients, tile functions, text for GPUs.
#pragma once
#include <cstring>

#include "operator/stage_adaptor.h"

namespace penstock {

// What all of them have.
template <class Op> class PixelAdaptor : public StageAdaptor<Op> {
 public:
  using Adaptor<Op>::op;

  StageTraits traits() const override {
    StageTraits t = StageAdaptor<Op>::traits();
    t.pixels = true;
    t.mixes_channels = mixes_channels<Op, float>;
    t.per_channel = HasTypedChannelCoef<Op, float> || HasChannelCoef<Op>;
    t.operands = Op::operands;
    t.faults = NamesRefuses<Op>;
    if constexpr (requires { Op::keeps_values; }) t.keeps_values = Op::keeps_values;
    return t;
  }
  Lane lane(std::span<const DType> in, DType out) const final { return op.lane(in, out); }
  size_t coef_bytes(Lane lane) const final {
    size_t n = 0;
    with_lane<Op>(lane, [&](auto tag) { n = sizeof(typename Op::template Coef<typename decltype(tag)::type>); });
    return n;
  }
  TileFn tile(Target t, Lane lane) const final { return tile_of<Op>(t, lane); }
  TileFn dense_loop(Target t, DType operands) const final {
    if constexpr (requires { typename Op::Dense; })
      return op.dense(operands) ? dense_loop_of<Op>(t, operands) : nullptr;
    else return nullptr;
  }
  std::string device_text() const final { return op.base_text() + Op::pixel_text + "\n"; }
  const char* fault() const final {
    if constexpr (NamesRefuses<Op>) return Op::fault;
    else return "";
  }
  int fused_multiply_adds(const std::byte* coef, float* mul_adds) const final {
    if constexpr (HasFused<Op>) {
      typename Op::template Coef<float> c;
      std::memcpy(&c, coef, sizeof c);
      return op.fused_multiply_adds(c, mul_adds);
    } else {
      return 0;
    }
  }
  bool moves_channels(Lane lane, const std::byte* coef, int* from) const final {
    bool moves = false;
    with_lane<Op>(lane, [&](auto tag) {
      typename Op::template Coef<typename decltype(tag)::type> c;
      if constexpr (requires { Op::moves_channels(c, from); }) {
        std::memcpy(&c, coef, sizeof c);
        moves = Op::moves_channels(c, from);
      }
    });
    return moves;
  }
  bool color_matrix([[maybe_unused]] const std::byte* coef, [[maybe_unused]] float* m) const final {
    if constexpr (requires(typename Op::template Coef<float> c) { Op::color_matrix(c, m); }) {
      typename Op::template Coef<float> c;
      std::memcpy(&c, coef, sizeof c);
      Op::color_matrix(c, m);
      return true;
    } else {
      return false;
    }
  }

 protected:
  template <class C> static void put(const C& c, std::byte* out, int plane = 0) {
    std::memcpy(out + plane * sizeof(C), &c, sizeof(C));
  }
};

// Coefficients by coef(); those by fold() are in folded_adaptor.h.
template <class Op> class CoefAdaptor final : public PixelAdaptor<Op> {
 public:
  using Adaptor<Op>::op;

  void coef(const SampleContext& s, Lane lane, int planes, std::byte* out) const override {
    with_lane<Op>(lane, [&, &own = op](auto tag) {
      using V = typename decltype(tag)::type;
      if constexpr (HasTypedChannelCoef<Op, V>) {
        for (int p = 0; p < planes; ++p) this->put(own.template coef<V>(s.values(), p), out, p);
      } else if constexpr (HasTypedCoef<Op, V>) {
        this->put(own.template coef<V>(s.values()), out);
      } else {
        [&](const auto& o) {  // generic, for Clang compiles what names Op alone where V is not float too
          if constexpr (HasChannelCoef<Op>) {
            for (int p = 0; p < planes; ++p) this->put(o.coef(s.values(), p), out, p);
          } else {
            this->put(o.coef(s.values()), out);
          }
        }(own);
      }
    });
  }
  bool coefs_vary() const override { return (this->per_sample() || this->info->random) && op.coefs_vary(); }
};

}  // namespace penstock
