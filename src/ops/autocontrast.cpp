// SPDX-License-Identifier: Apache-2.0
#include "families/table/counts.h"
#include "ops/shared/value_range.h"

namespace penstock {

struct AutocontrastRule : ImageRule {
  PENSTOCK_PIXEL(
      struct Coef {
        Extents out;
        const void* least;  // of each plane, as is `most`
        const void* most;
        float full;
      };
      template <class Out, class In> PENSTOCK_HD static Out stretched(In value, In least, In most, float full) {
        const float low = static_cast<float>(least);
        const float range = static_cast<float>(most) - low;
        const float v = range > 0.0f ? (static_cast<float>(value) - low) * (full / range) : static_cast<float>(value);
        return stored<Out>(clamp(v, 0.0f, full));
      } template <class Out, class In>
      PENSTOCK_HD static Out at(const In* in, const Place& p, const Coef& c, const char*) {
        const int64_t plane = p.outer * c.out.inner + p.inner;
        return stretched<Out>(in[offset_of(c.out, p.outer, p.z, p.y, p.x, p.inner)],
                              static_cast<const In*>(c.least)[plane], static_cast<const In*>(c.most)[plane], c.full);
      });

  // On the host: the same by tables of bytes.
  static void map_bytes(const uint8_t* in, uint8_t* out, const Coef& c) {
    const int64_t planes = c.out.outer * c.out.inner;
    std::vector<uint8_t> tables(static_cast<size_t>(planes) * 256);
    for (int64_t k = 0; k < planes; ++k)
      for (int v = 0; v < 256; ++v)
        tables[k * 256 + v] = stretched<uint8_t>(static_cast<uint8_t>(v), static_cast<const uint8_t*>(c.least)[k],
                                                 static_cast<const uint8_t*>(c.most)[k], c.full);
    table::equalize_on_host(in, out, c.out, c.out.depth * c.out.height * c.out.width, tables.data());
  }
};

struct Autocontrast : ImageOperator {
  static Schema<Autocontrast> schema() {
    return Schema<Autocontrast>(
               "autocontrast",
               "Stretches the values of each channel over the whole range.\n\nout = (in - least) * full / (most - "
               "least), where least and most are those of the channel and full is the largest value of the type, 1 for "
               "floating point. A constant channel stays the same. Layouts: HW, HWC, CHW, each also with a leading F; "
               "the output keeps the layout. Types: uint8, uint16, float16, float32.\n\n"
               "Example:\n"
               ">>> fn.autocontrast(np.uint8([[100, 125, 150]])).tolist()\n"
               "[[0, 128, 255]]")
        .keeps_positions()
        .oracle("torchvision");
  }
  void check(std::span<const ValueType> in) override { check_image_values(in[0]); }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const View from = in[0], made = out[0];
    if (from.volume() == 0) return;
    std::vector<int> over;
    for (int d = 0; d < from.layout.size(); ++d)
      if (from.layout[d] == 'H' || from.layout[d] == 'W' || from.layout[d] == 'D') over.push_back(d);
    const ReductionPlan plan(from.shape, over);
    const size_t bytes = static_cast<size_t>(plan.results) * size_of(from.dtype);
    const size_t apart = (bytes + 15) / 16 * 16;
    char* const memory = static_cast<char*>(to.scratch(2 * apart));
    View least = reshaped(from, Shape{plan.results}), most = least;
    least.data = memory, most.data = memory + apart;
    to.reduce(from, plan, {Statistic::min, 0, {}}, least);
    to.reduce(from, plan, {Statistic::max, 0, {}}, most);
    to.then();
    const AutocontrastRule::Coef c{image_extents(from.shape, from.layout), least.data, most.data,
                                   static_cast<float>(full_range(from.dtype))};
    if (from.dtype != DType::uint8) return map_image<AutocontrastRule>(from, made, c, to);
    to.map(from, made, {&image_rule_text<AutocontrastRule>, coef_bytes_of(c), nullptr, nullptr, [=] {
                          AutocontrastRule::map_bytes(from.as<const uint8_t>(), made.as<uint8_t>(), c);
                        }});
  }
};
PENSTOCK_OPERATOR(Autocontrast);

}  // namespace penstock
