// SPDX-License-Identifier: Apache-2.0
// Recursive filters of signals: out[t] depends on the results before it, so a channel is the work of one thread.
#pragma once
#include <cmath>

#include "families/team/team.h"
#include "ops/shared/signal.h"

namespace penstock {

constexpr int kMostOrder = 32;  // of a recursive filter

// The transposed direct form II in float64. The table has b[0] .. b[order], then a[1] .. a[order], divided by a[0].
struct RecursionRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t length;
        int64_t channels;
        int64_t order;
        int64_t clamps;
      };
      PENSTOCK_HD static float result(double y, const Coef& c) {
        const float v = static_cast<float>(y);
        return c.clamps ? clamp(v, -1.0f, 1.0f) : v;
      }
      // The numbers of a low order stay in registers.
      template <int order>
      PENSTOCK_HD static void low_order(const float* in, float* out, const double* b, const double* a, const Coef& c) {
        double state[order + 1] = {};
        double own_b[order + 1];
        double own_a[order + 1];
        for (int k = 0; k <= order; ++k) own_b[k] = b[k];
        for (int k = 1; k <= order; ++k) own_a[k] = a[k];
        for (int64_t t = 0; t < c.length; ++t) {
          const double x = static_cast<double>(in[t * c.channels]);
          const double y = state[0] + own_b[0] * x;
          for (int k = 1; k <= order; ++k) state[k - 1] = (state[k] + own_b[k] * x) - own_a[k] * y;
          out[t * c.channels] = result(y, c);
        }
      } PENSTOCK_HD static void any_order(const float* in, float* out, const double* b, const double* a,
                                          const Coef& c) {
        double state[34] = {};
        for (int64_t t = 0; t < c.length; ++t) {
          const double x = static_cast<double>(in[t * c.channels]);
          const double y = state[0] + b[0] * x;
          for (int64_t k = 1; k <= c.order; ++k) state[k - 1] = (state[k] + b[k] * x) - a[k] * y;
          out[t * c.channels] = result(y, c);
        }
      } PENSTOCK_HD static void run(const Arrays& arrays, const Coef& c, const char* table, const Team& team,
                                    Refusal&) {
        const double* const b = reinterpret_cast<const double*>(table);
        const double* const a = b + c.order;
        for (int64_t k = team.begin + team.index; k < team.end; k += team.count) {
          const float* const in = arrays.from<float>(0) + k;
          float* const out = arrays.to<float>(0) + k;
          if (c.order <= 2) low_order<2>(in, out, b, a, c);
          else if (c.order <= 4) low_order<4>(in, out, b, a, c);
          else if (c.order <= 8) low_order<8>(in, out, b, a, c);
          else any_order(in, out, b, a, c);
        }
      });
};

struct Recursion : WholeOperator {
  bool clamp = false;

  static constexpr const char* kSignals =
      "Input: (n) or (n, channels), float32; each channel is filtered by itself. Output: float32 of the same shape. A "
      "GPU gives each channel to one thread. ";
  static constexpr const char* kClamp = "Limit results to -1 .. 1, as torchaudio does by default.";

  void check(std::span<const ValueType> in) override { check_float32(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    if (in[0].size() < 1 || in[0].size() > 2)
      bad_argument("expected (samples) or (samples, channels), got {} dimensions", in[0].size());
    out[0] = in[0];
  }

 protected:
  // b and a of the same length; a[0] is not 0.
  void filter(const View& in, const View& out, std::vector<double> b, std::vector<double> a, SampleWork& to) const {
    if (in.volume() == 0) return;
    size_t order = b.size() - 1;
    for (const size_t low : {8, 4, 2})
      if (b.size() - 1 <= low) order = low;
    b.resize(order + 1), a.resize(order + 1);  // zeros change no result
    std::vector<double> table;
    for (const double v : b) table.push_back(v / a[0]);
    for (size_t k = 1; k < a.size(); ++k) table.push_back(a[k] / a[0]);
    const int64_t channels = in.shape.size() > 1 ? in.shape[1] : 1;
    run_team<RecursionRule>(
        {.in = {in.data}, .out = {out.data}, .units = channels, .table = team_table(std::span<const double>(table))},
        {in.shape[0], channels, static_cast<int64_t>(order), clamp}, to);
  }
};

}  // namespace penstock
