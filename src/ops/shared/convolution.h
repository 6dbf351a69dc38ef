// SPDX-License-Identifier: Apache-2.0
// What teams do for a convolution (numerics/convolution_stages.h).
#pragma once
#include "families/team/team.h"
#include "numerics/convolution.h"

namespace penstock {

// The taps of a response times their scale, or its spectrum. A unit is a channel of the response.
struct ResponseRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t taps;
        int64_t channels;
        int64_t scale;
        int64_t size;
      };
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        double* const parts = reinterpret_cast<double*>(team.memory());
        const float scale = convolution::response_scale(a.from<float>(0), c.taps * c.channels, c.scale, parts, team);
        const float* const factors = reinterpret_cast<const float*>(table);
        for (int64_t k = team.begin; k < team.end; ++k) {
          const convolution::Signal response = {a.from<float>(0) + k, c.channels, c.taps};
          float* const to = a.to<float>(0) + k * (c.size > 0 ? 2 * c.size : c.taps);
          if (c.size > 0) {
            const convolution::Planes spectrum = {to, to + c.size};
            convolution::response_spectrum(response, scale, spectrum, c.size, factors, team);
          } else {
            for (int64_t i = team.index; i < c.taps; i += team.count) to[i] = response[i] * scale;
          }
        }
      });
};

// A unit is a pair of parts of a channel, or one result.
struct ConvolutionRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t length;
        int64_t channels;
        int64_t taps;
        int64_t responses;
        int64_t results;
        int64_t begin;
        int64_t size;
        int64_t step;
        int64_t pairs;
      };
      PENSTOCK_HD static void sum(const Arrays& a, const Coef& c, int64_t i) {
        const int64_t channel = i % c.channels;
        const int64_t at = c.begin + i / c.channels;
        const convolution::Signal in = {a.from<float>(0) + channel, c.channels, c.length};
        const float* const taps = a.from<float>(1) + (c.responses > 1 ? channel * c.taps : 0);
        float sum = 0;
        for (int64_t k = 0; k < c.taps; ++k) sum += taps[k] * in[at - k];
        a.to<float>(0)[i] = sum;
      } PENSTOCK_HD static void pair(const Arrays& a, const Coef& c, const float* factors, int64_t unit,
                                     const Team& team) {
        const int64_t channel = unit / c.pairs;
        const int64_t first = unit % c.pairs * 2 * c.step;
        const convolution::Signal in = {a.from<float>(0) + channel, c.channels, c.length};
        float* const response = a.to<float>(2) + (c.responses > 1 ? channel * 2 * c.size : 0);
        float* const own = a.to<float>(1) + unit * 2 * c.size;
        const convolution::Planes spectrum = {response, response + c.size};
        const convolution::Planes z = {own, own + c.size};
        convolution::convolve_parts(in, convolution::Parts{c.begin + first, c.step}, c.taps, spectrum, z, c.size,
                                    factors, team);
        for (int64_t i = team.index; i < 2 * c.step; i += team.count) {
          const float* const part = i < c.step ? z.re : z.im;
          const int64_t at = i < c.step ? i : i - c.step;
          if (first + i < c.results) a.to<float>(0)[(first + i) * c.channels + channel] = part[c.taps - 1 + at];
        }
        team.sync();
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        const float* const factors = reinterpret_cast<const float*>(table);
        if (c.size > 0) {
          for (int64_t k = team.begin; k < team.end; ++k) pair(a, c, factors, k, team);
        } else {
          for (int64_t i = team.begin + team.index; i < team.end; i += team.count) sum(a, c, i);
        }
      });
};

struct ConvolutionArrays {
  const float *signal, *response;
  float* out;
};
// The steps of a GPU: what a response becomes, then the results.
inline void enqueue_convolution(const ConvolutionArrays& arrays, const ConvolutionRule::Coef& c, int64_t scale,
                                SampleWork& to) {
  constexpr const char* kHeader = "families/team/kernels/convolution.h";
  const bool direct = c.size == 0;
  const TeamTable factors = direct ? nullptr : convolution_factors(c.size);
  const int64_t units = (direct ? c.results : c.pairs) * c.channels, numbers = direct ? c.taps : 2 * c.size;
  const auto memory = [&](int64_t count) {
    return static_cast<float*>(to.scratch(static_cast<size_t>(count) * sizeof(float)));
  };
  float* const response = memory(numbers * c.responses);
  float* const own = direct ? response : memory(units * numbers);
  run_team<ResponseRule>({.in = {arrays.response},
                          .out = {response},
                          .units = c.responses,
                          .header = kHeader,
                          .memory = convolution::kScaleParts * sizeof(double),
                          .unit_for_team = true,
                          .table = factors},
                         {c.taps, c.responses, scale, c.size}, to);
  to.then();
  run_team<ConvolutionRule>({.in = {arrays.signal, response},
                             .out = {arrays.out, own, response},
                             .units = units,
                             .header = kHeader,
                             .unit_for_team = !direct,
                             .table = factors},
                            c, to);
}

}  // namespace penstock
