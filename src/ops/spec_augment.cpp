// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "operator/any_number.h"
#include "ops/shared/random_streams.h"
#include "ops/shared/signal.h"

namespace penstock {

struct SpecAugment : WholeOperator {
  PerSample<int> freq_masks = 2, freq_width = 27, time_masks = 2, time_width = 100;
  PerSample<float> time_fraction = 1.0f, fill_value = 0.0f;

  static Schema<SpecAugment> schema() {
    using Op = SpecAugment;
    return Schema<Op>(
               "spec_augment",
               "Masks random bands of frequencies and stretches of time in a spectrogram (SpecAugment).\n\n"
               "They are drawn for each sample. The width of a mask is drawn uniformly from 0 to the largest one, then "
               "its start from all positions where it fits. Masks may overlap. The defaults are policy LD of the "
               "paper. Layouts: those with f and t (features and frames); without a layout the last two dimensions are "
               "(features, frames). Types: all. Source: D. S. Park et al., \"SpecAugment: A Simple Data Augmentation "
               "Method for Automatic Speech Recognition\", 2019, without its time warping.\n\n"
               "Example:\n"
               ">>> result = fn.spec_augment(np.ones((80, 100), np.float32))")
        .arg("freq_masks", &Op::freq_masks, "Number of masks over frequencies; 0: none.", at_least(0))
        .arg("freq_width", &Op::freq_width, "Largest width of such a mask, in features.", at_least(0))
        .arg("time_masks", &Op::time_masks, "Number of masks over time; 0: none.", at_least(0))
        .arg("time_width", &Op::time_width, "Largest width of such a mask, in frames.", at_least(0))
        .arg("time_fraction", &Op::time_fraction,
             "A mask over time covers at most this fraction of the frames of the sample.", within(0, 1))
        .arg("fill_value", &Op::fill_value, "Value of masked elements; 0 is the mean of normalized features.",
             any_number)
        .random()
        .takes_bfloat16()
        .oracle("torch");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim >= 0) SpectrogramAxes{in[0].layout, in[0].ndim};
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const SpectrogramAxes axes(in[0].layout, in[0].shape.size());
    const RandomStream draws = stream_of(s);
    const int64_t features = in[0].shape[axes.features], frames = in[0].shape[axes.frames];
    const auto most = static_cast<int64_t>(std::floor(time_fraction[s.index] * static_cast<double>(frames)));
    const auto bands = masks(draws, 0, freq_masks[s.index], freq_width[s.index], features);
    const auto stretches = masks(draws, 1, time_masks[s.index], std::min<int64_t>(time_width[s.index], most), frames);
    const SampleNumbers fill{{fill_value[s.index]}, {}};
    to.copy(in[0], out[0]);
    to.then();
    // The fills of one step must not overlap: stretches of time omit the bands.
    int64_t free = 0;
    for (size_t i = 0; i <= bands.size(); ++i) {
      const int64_t end = i < bands.size() ? bands[i].begin : features;
      for (const Mask& m : stretches)
        if (free < end)
          to.fill(part(part(out[0], axes.features, free, end - free), axes.frames, m.begin, m.end - m.begin), fill);
      if (i == bands.size()) break;
      to.fill(part(out[0], axes.features, bands[i].begin, bands[i].end - bands[i].begin), fill);
      free = bands[i].end;
    }
  }

 private:
  struct Mask {
    int64_t begin, end;
  };
  // Sorted, disjoint, not empty. Mask k uses draws 4k + 2 axis and the next.
  static std::vector<Mask> masks(const RandomStream& draws, uint64_t axis, int count, int64_t width, int64_t extent) {
    std::vector<Mask> found, apart;
    width = std::min(width, extent);
    for (int k = 0; k < count; ++k) {
      const auto below = [&](uint64_t draw, int64_t n) {  // n equally likely numbers
        return static_cast<int64_t>(
            (draws.draw(4 * static_cast<uint64_t>(k) + 2 * axis + draw) * static_cast<uint64_t>(n)) >> 32);
      };
      const int64_t w = below(0, width + 1), begin = below(1, extent - w + 1);
      if (w > 0) found.push_back({begin, begin + w});
    }
    std::sort(found.begin(), found.end(), [](const Mask& a, const Mask& b) { return a.begin < b.begin; });
    for (const Mask& m : found) {
      if (!apart.empty() && m.begin <= apart.back().end) apart.back().end = std::max(apart.back().end, m.end);
      else apart.push_back(m);
    }
    return apart;
  }
};
PENSTOCK_OPERATOR(SpecAugment);

}  // namespace penstock
