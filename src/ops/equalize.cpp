// SPDX-License-Identifier: Apache-2.0
#include "families/table/counts.h"

namespace penstock {

// A plane is one channel of one image. Slices of it are counted separately, then added.
struct CountRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t positions, inner, slices;
        int32_t* counts;
      };
      template <class In>
      PENSTOCK_HD static void group(const In* in, int64_t g, const Coef& c, const GroupLanes& lanes, char* memory) {
        int32_t* counts = reinterpret_cast<int32_t*>(memory);
        for (int i = lanes.index; i < 256; i += lanes.count) counts[i] = 0;
        lanes.sync();
        const int64_t plane = g / c.slices;
        const int64_t slice = g % c.slices;
        const int64_t end = (slice + 1) * c.positions / c.slices;
        const In* from = in + plane / c.inner * c.inner * c.positions + plane % c.inner;
        for (int64_t i = slice * c.positions / c.slices + lanes.index; i < end; i += lanes.count)
          lanes.add(counts + from[i * c.inner]);
        lanes.sync();
        for (int i = lanes.index; i < 256; i += lanes.count) c.counts[g * 256 + i] = counts[i];
      });
};
struct TableRule {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t positions, slices;
        const int32_t* counts;
        uint8_t* tables;
        int64_t pillow;
      };
      PENSTOCK_HD static void steps(const int32_t* counts, int64_t positions, uint8_t* table) {
        int last = 255;
        while (counts[last] == 0) --last;
        const int32_t step = (static_cast<int32_t>(positions) - counts[last]) / 255;
        int32_t sum = step / 2;
        for (int i = 0; i < 256; ++i) {
          const int32_t to = step == 0 ? i : i == 0 ? 0 : sum / step;
          table[i] = static_cast<uint8_t>(to < 255 ? to : 255);
          sum += counts[i];
        }
      } template <class In>
      PENSTOCK_HD static void group(const In*, int64_t g, const Coef& c, const GroupLanes& lanes, char* memory) {
        int32_t* counts = reinterpret_cast<int32_t*>(memory);
        for (int i = lanes.index; i < 256; i += lanes.count) {
          counts[i] = 0;
          for (int64_t k = 0; k < c.slices; ++k) counts[i] += c.counts[(g * c.slices + k) * 256 + i];
        }
        lanes.sync();
        if (lanes.index > 0) return;
        uint8_t* table = c.tables + g * 256;
        if (c.pillow) {
          steps(counts, c.positions, table);
          return;
        }
        int least = 0;
        while (counts[least] == 0) table[least++] = 0;
        const int64_t others = c.positions - counts[least];
        table[least] = others == 0 ? static_cast<uint8_t>(least) : 0;
        const float scale = 255.0f / static_cast<float>(others);
        int32_t sum = 0;
        for (int i = least + 1; i < 256; ++i) {
          sum += counts[i];
          table[i] = others == 0 ? 0 : stored<uint8_t>(static_cast<float>(sum) * scale);
        }
      });
};
struct EqualizedRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        const uint8_t* tables;
      };
      template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const int64_t plane = p.outer * c.out.inner + p.inner;
        const int value = static_cast<int>(in[offset_of(c.out, p.outer, p.z, p.y, p.x, p.inner)]);
        return static_cast<Out>(c.tables[plane * 256 + (value & 255)]);
      });
};

struct Equalize : ImageOperator {
  std::string rule = "opencv";

  static Schema<Equalize> schema() {
    return Schema<Equalize>("equalize",
                            "Equalizes the histogram of each channel, so that it fills the range evenly.\n\nEach "
                            "value becomes 255 * (elements <= the value, without those of the smallest value) / "
                            "(elements > the smallest value), rounded; a constant channel stays the same, as in "
                            "OpenCV's equalizeHist. With rule=\"pillow\", as in Pillow and torchvision, it becomes "
                            "(elements < the value + step / 2) / step, both rounded down and at most 255, where step "
                            "is (elements < the largest value) / 255, rounded down; a channel whose step is 0 stays "
                            "the same. The results differ by the share of the elements that have the value or the "
                            "smallest one. Each channel and frame is by itself. Layouts: HW, "
                            "HWC, CHW, each also with a leading F; the output keeps the layout. Types: uint8.")
        .arg("rule", &Equalize::rule, "How values are made of counts: \"opencv\" or \"pillow\".")
        .keeps_positions()
        .oracle("dali, opencv");
  }
  void ready() override {
    if (rule != "opencv" && rule != "pillow") bad_argument("rule must be \"opencv\" or \"pillow\", got \"{}\"", rule);
  }
  void check(std::span<const ValueType> in) override { check_bytes(in[0]); }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (in[0].volume() == 0) return;
    const ImageRule::Extents e = image_extents(in[0].shape, in[0].layout);
    const int64_t planes = e.outer * e.inner, positions = e.depth * e.height * e.width;
    if (positions > INT32_MAX) bad_argument("an image of {} pixels is too large", positions);
    const int64_t slices = std::clamp<int64_t>(positions >> 14, 1, 64);
    auto* counts = static_cast<int32_t*>(to.scratch(static_cast<size_t>(planes) * 256 * (4 * slices + 1)));
    auto* tables = reinterpret_cast<uint8_t*>(counts + planes * slices * 256);
    const bool pillow = rule == "pillow";
    const View from = in[0], made = out[0];
    const auto count = [=] { table::count_on_host(from.as<const uint8_t>(), e, positions, slices, counts); };
    const auto equalized = [=] {
      table::equalize_on_host(from.as<const uint8_t>(), made.as<uint8_t>(), e, positions, tables);
    };
    if (e.inner <= table::kMostChannels) {
      const table::Counting counting{
          from.as<const uint8_t>(), made.as<uint8_t>(), counts, tables, positions, slices, pillow};
      const auto make = [=] {
        for (int64_t g = 0; g < planes; ++g) {
          int32_t sums[256];
          TableRule::group<uint8_t>(nullptr, g, {positions, slices, counts, tables, pillow}, {},
                                    reinterpret_cast<char*>(sums));
        }
      };
      return table::equalize(counting, e, to, count, make, equalized);
    }
    to.groups(from, {&group_rule_text<CountRule>, coef_bytes_of(CountRule::Coef{positions, e.inner, slices, counts}),
                     planes * slices, 1024, count});
    group_image<TableRule>(in[0], planes, 1024, {positions, slices, counts, tables, pillow}, to);
    to.map(
        from, made,
        {&image_rule_text<EqualizedRule>, coef_bytes_of(EqualizedRule::Coef{e, tables}), nullptr, nullptr, equalized});
  }
};
PENSTOCK_OPERATOR(Equalize);

}  // namespace penstock
