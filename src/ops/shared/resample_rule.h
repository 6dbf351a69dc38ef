// SPDX-License-Identifier: Apache-2.0
// The kernel of audio_resample.
#pragma once
#include "ops/shared/sample_range.h"

namespace penstock {

// Resampler::run in a kernel, in the same order, with the scales of the element types.
struct ResampleRule : SampleRange {
  PENSTOCK_PIXEL(
      struct Coef {
        uint64_t step_whole, step_rest;
        int64_t n, channels, reach;
        int32_t even, last;
        float scale, gain;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out value(const In* in, int64_t i, const Coef& c, const char* table) {
        const auto place = static_cast<uint64_t>(i / c.channels);
        const uint64_t rest = place * c.step_rest;
        const auto whole = static_cast<int64_t>(place * c.step_whole + upper_half(place, c.step_rest));
        const float fraction = static_cast<float>(static_cast<uint32_t>(rest >> 40)) * 0x1p-24f;
        const int64_t low_end = whole + ((c.even | (rest != 0)) ? 1 : 0) - c.reach, high_end = whole + c.reach;
        const int64_t first = low_end > 0 ? low_end : 0, last = high_end < c.n - 1 ? high_end : c.n - 1;
        const float* sinc = reinterpret_cast<const float*>(table);
        const float place_in_step = fraction * c.scale;  // of a filter that is not stretched: exact, as is the part
        const int step = static_cast<int>(place_in_step);
        const float between = place_in_step - static_cast<float>(step);
        const auto shared_part = [&](int32_t neighbor) {
          const int32_t near = neighbor * static_cast<int32_t>(c.scale) - step;
          const int32_t far = near - 1;
          const float low = sinc[near < 0 ? -near : near];
          return low + between * (sinc[far < 0 ? -far : far] - low);
        };
        const auto own_part = [&](int32_t neighbor) {
          const float x = abs(static_cast<float>(neighbor) - fraction) * c.scale;
          const int low = static_cast<int>(x);
          const float part = x - static_cast<float>(low);
          return low > c.last ? 0.0f : (sinc[low] + part * (sinc[low + 1] - sinc[low])) * c.gain;
        };
        const auto product = [&](int64_t k) {
          const int32_t neighbor = static_cast<int32_t>(k - whole);
          const float weight = c.even ? own_part(neighbor) : shared_part(neighbor);
          return weight * from_range(in[k * c.channels + i % c.channels]);
        };
        float part[8] = {};
        int64_t k = first;
        for (; k + 8 <= last + 1; k += 8)
          for (int j = 0; j < 8; ++j) part[j] += product(k + j);
        float sum = ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
        for (; k <= last; ++k) sum += product(k);
        return to_range<Out>(sum);
      });
};

}  // namespace penstock
