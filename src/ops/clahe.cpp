// SPDX-License-Identifier: Apache-2.0
#include "families/table/tile_rows.h"
#include "families/table/tiles.h"

namespace penstock {

struct Clahe : ImageOperator {
  int tiles_x = 0, tiles_y = 0, bins = 256;
  PerSample<float> clip_limit = 0.0f;
  bool luma_only = true;

  static Schema<Clahe> schema() {
    return Schema<Clahe>(
               "clahe",
               "Equalizes the histogram of each tile of an image with limited contrast.\n\n"
               "The results are interpolated between the nearest tiles. Images of three channels are RGB; only their "
               "lightness (of CIE Lab) changes. The operator works as OpenCV's CLAHE does on a gray image, and on L of "
               "8-bit Lab. Layouts: HWC, FHWC, HW, with one or three channels; the output keeps the layout. Types: "
               "uint8. Source: K. Zuiderveld, \"Contrast limited adaptive histogram equalization\", 1994.")
        .required("tiles_x", &Clahe::tiles_x, "Number of tiles along the width.", within(1, 1024))
        .required("tiles_y", &Clahe::tiles_y, "Number of tiles along the height.", within(1, 1024))
        .required("clip_limit", &Clahe::clip_limit,
                  "A bin holds at most this many times (pixels of a tile / bins); the excess is spread over all bins. "
                  "0: no limit.",
                  at_least(0))
        .arg("bins", &Clahe::bins, "Bins of a histogram, a power of two; more than 256 mean 256.", within(1, 65536))
        .arg("luma_only", &Clahe::luma_only,
             "Three channels: equalize the lightness only; otherwise each channel on its own.")
        .keeps_positions()
        .oracle("dali, opencv");
  }
  void ready() override {
    if ((bins & (bins - 1)) != 0) bad_argument("bins must be a power of two, got {}", bins);
  }
  void check(std::span<const ValueType> in) override {
    check_bytes(in[0]);
    const Layout layout = check_image(in[0]);
    if (layout.find('C') >= 0 && layout.find('C') != layout.size() - 1)
      bad_type("expected channels last, got '{}'", layout.str());
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const ImageRule::Extents e = image_extents(in[0].shape, in[0].layout);
    if (e.inner != 1 && e.inner != 3) bad_argument("expected 1 or 3 channels, got {}", e.inner);
    if (in[0].volume() == 0) return;
    TileTableRule::Coef c{};
    c.height = e.height, c.width = e.width, c.inner = e.inner, c.tiles_y = tiles_y, c.tiles_x = tiles_x;
    const bool even = e.height % tiles_y == 0 && e.width % tiles_x == 0;
    const auto tile = [&](int64_t n, int64_t tiles) { return even ? n / tiles : n / tiles + 1; };
    c.tile_height = tile(e.height, tiles_y), c.tile_width = tile(e.width, tiles_x);
    c.light = e.inner == 3 && luma_only;
    c.bins = std::min(bins, 256);
    while ((256 >> c.shift) > c.bins) ++c.shift;
    const int64_t area = c.tile_height * c.tile_width;
    if (area > INT32_MAX) bad_argument("tiles of {} pixels are too large", area);
    if (const float limit = clip_limit[s.index]; limit > 0)
      c.limit = static_cast<int>(std::clamp(limit * static_cast<double>(area) / c.bins, 1.0, 2147483647.0));
    c.scale = 255.0f / static_cast<float>(area);
    if (c.light) c.colors = color_tables();
    const int64_t groups = e.outer * (c.light ? 1 : e.inner) * tiles_y * tiles_x;
    c.tables = static_cast<uint8_t*>(to.scratch(static_cast<size_t>(groups) * c.bins));
    const View from = in[0], made = out[0];
    const LightnessRule::TileMix mix{
        c.tables, tiles_y, tiles_x, 1.0f / static_cast<float>(c.tile_height), 1.0f / static_cast<float>(c.tile_width),
        c.bins,   c.shift};
    const auto host = [=] {
      table::equalize_tiles(best_target(), from.as<const uint8_t>(), made.as<uint8_t>(), e, c, mix);
    };
    if (table::has_tile_kernels(e, c))
      return table::equalize_by_tiles(from.as<const uint8_t>(), made.as<uint8_t>(), e, c, mix, to, host);
    to.groups(from, {&group_rule_text<TileTableRule>, coef_bytes_of(c), groups, 1024, [] {}});
    if (c.light) {
      const LightMixRule::Coef lines{mix, e.height, e.width, made.as<uint8_t>(), c.colors};
      to.groups(from, {&group_rule_text<LightMixRule>, coef_bytes_of(lines), e.outer * e.height, 0, host});
    } else {
      to.map(from, made,
             {&image_rule_text<TileMixRule>, coef_bytes_of(TileMixRule::Coef{e, mix}), nullptr, nullptr, host});
    }
  }

 private:
  static const LightnessRule::ColorTables& color_tables() {
    static const LightnessRule::ColorTables tables = [] {
      LightnessRule::ColorTables t;
      const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); };
      for (int i = 0; i < 256; ++i) t.linear[i] = stored<uint16_t>(2040 * linear(i / 255.0));
      for (int i = 0; i < 3072; ++i) {
        const double x = static_cast<float>(i) * (1.0f / 2040);  // as in OpenCV's table
        t.root[i] = stored<uint16_t>(32768 * (x < 0.008856 ? x * 7.787 + 0.13793103448275862 : cbrt(x)));
      }
      // The least 2^-20ths that give more than k. No two are in one cell.
      const auto next = [&](int k) {
        return k < 255 ? static_cast<int>(ceil(linear((k + 0.5) / 255) * 1048576)) : 1 << 30;
      };
      for (int i = 0, k = 0; i < 4100; ++i) {
        while (i * 256 >= next(k)) ++k;
        t.cells[i] = static_cast<uint16_t>(k * 256 + std::max(0, (i + 1) * 256 - next(k)));
      }
      return t;
    }();
    return tables;
  }
};
PENSTOCK_OPERATOR(Clahe);

}  // namespace penstock
