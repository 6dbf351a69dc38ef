// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"

namespace penstock {

// Elements as `outer` times channels, `inner` elements each. The table has the numbers of the channels.
struct ReorderRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t channels;
        int64_t made;  // channels of the output
        int64_t inner;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out value(const In* in, int64_t i, const Coef& c, const char* table) {
        const auto* from = reinterpret_cast<const int32_t*>(table);
        const int64_t row = i / c.inner;
        const int64_t outer = row / c.made;
        return in[(outer * c.channels + from[row - outer * c.made]) * c.inner + (i - row * c.inner)];
      });

  template <class Word, class Count>
  static void pixels(const Word* in, Word* out, int64_t n, int64_t channels, const int32_t* from, Count made) {
    for (int64_t i = 0; i < n; ++i, in += channels, out += made)
      for (int64_t k = 0; k < made; ++k) out[k] = in[from[k]];
  }
  // On the host. `Word` has the size of an element.
  template <class Word> static void run(const Word* in, Word* out, int64_t outer, const Coef& c, const int32_t* from) {
    if (c.inner == 1) {
      int32_t fixed[4] = {};
      std::copy_n(from, std::min<int64_t>(c.made, 4), fixed);
      if (c.made == 3) return pixels(in, out, outer, c.channels, fixed, std::integral_constant<int64_t, 3>{});
      if (c.made == 4) return pixels(in, out, outer, c.channels, fixed, std::integral_constant<int64_t, 4>{});
      return pixels(in, out, outer, c.channels, from, c.made);
    }
    for (int64_t i = 0; i < outer; ++i, in += c.channels * c.inner)
      for (int64_t k = 0; k < c.made; ++k, out += c.inner)
        std::memcpy(out, in + from[k] * c.inner, static_cast<size_t>(c.inner) * sizeof(Word));
  }
};

struct ChannelReorder : WholeOperator {
  PerSample<std::vector<int64_t>> order;

  static Schema<ChannelReorder> schema() {
    return Schema<ChannelReorder>("channel_reorder",
                                  "Puts the channels of images in another order.\n\nChannel k of the result is channel "
                                  "order[k] of the input; a channel may come several times, or not at all. Layouts: "
                                  "any with C; without a layout the last axis has the channels. The output keeps the "
                                  "layout. Types: all.\n\n"
                                  "Example:\n"
                                  ">>> fn.channel_reorder(np.uint8([[[1, 2, 3]]]), order=[2, 1, 0]).tolist()\n"
                                  "[[[3, 2, 1]]]")
        .required("order", &ChannelReorder::order, "The numbers of the input's channels, from 0, at most 64.")
        .keeps_positions()
        .takes_bfloat16()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (in[0].ndim >= 0) channel_axis(in[0].layout, in[0].ndim);
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    out[0] = in[0];
    const int axis = channel_axis(types[0].layout, in[0].size());
    const auto channels = order[s.index];
    if (channels.empty() || channels.size() > 64)
      bad_argument("order must have 1 to 64 numbers, got {}", channels.size());
    for (const int64_t c : channels)
      if (c < 0 || (in[0][axis] >= 0 && c >= in[0][axis]))
        bad_argument("order names channel {}, but the input has {} channels", c, in[0][axis]);
    out[0][axis] = static_cast<int64_t>(channels.size());
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    if (out[0].volume() == 0) return;
    const AxisExtents e(in[0].shape, out[0].shape, channel_axis(in[0].layout, in[0].shape.size()));
    const auto channels = order[s.index];
    const ImageTable table = image_table(std::vector<int32_t>(channels.begin(), channels.end()));
    const ReorderRule::Coef c{e.n, e.m, e.inner};
    const View from = in[0], made = out[0];
    const auto host = [=] {
      const auto* numbers = reinterpret_cast<const int32_t*>(table->data());
      const auto run = [&]<class Word>(Word* words) {
        ReorderRule::run(from.as<const Word>(), words, e.outer, c, numbers);
      };
      switch (size_of(made.dtype)) {
        case 1: return run(made.as<uint8_t>());
        case 2: return run(made.as<uint16_t>());
        case 4: return run(made.as<uint32_t>());
        default: return run(made.as<uint64_t>());
      }
    };
    to.map(from, made,
           {[] { return std::string(ReorderRule::pixel_text); }, coef_bytes_of(c), table, [table] { return *table; },
            host});
  }

 private:
  static int channel_axis(const Layout& layout, int ndim) {
    const int axis = layout.empty() ? ndim - 1 : layout.find('C');
    if (axis < 0) bad_type("expected a layout with C, such as HWC, got '{}'", layout.str());
    return axis;
  }
};
PENSTOCK_OPERATOR(ChannelReorder);

}  // namespace penstock
