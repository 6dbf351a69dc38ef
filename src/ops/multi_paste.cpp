// SPDX-License-Identifier: Apache-2.0
#include "operator/image_work.h"
#include "ops/shared/pasted_regions.h"

namespace penstock {

struct MultiPaste : WholeOperator {
  using Integers = PerFrame<std::vector<int64_t>>;
  using Fractions = PerFrame<std::vector<float>>;
  PerSample<std::vector<int64_t>> in_ids, output_size;
  Integers in_anchors, out_anchors, shapes_;
  Fractions in_anchors_rel, out_anchors_rel, shapes_rel;
  DType dtype = DType::none;

  static Schema<MultiPaste> schema() {
    using Op = MultiPaste;
    return Schema<Op>(
               "multi_paste",
               "Pastes regions of images onto a canvas of zeros, in the order of the regions.\n\nWithout in_ids each "
               "input gives one region of its own sample. Anchors and shapes are (n, 2) numbers, (y, x). Relative ones "
               "are fractions of the extents of the image or of the canvas; anchors round down, shapes round up. "
               "Layouts: HWC, FHWC, with the same number of frames in all; the output keeps the layout. Types: all.\n\n"
               "Example:\n"
               ">>> tiles = penstock.batch(np.zeros((4, 24, 32, 3), np.uint8))\n"
               ">>> result = fn.multi_paste(tiles, in_ids=[0, 1], out_anchors=[[0, 0], [0, 32]], output_size=[24, 64])")
        .inputs(1, 64)
        .arg("in_ids", &Op::in_ids,
             "The samples of the batch that the regions belong to; then the operator has one input.")
        .arg("output_size", &Op::output_size,
             "(height, width) of the canvas, or (height, width, channels); default: the size of the sample.")
        .arg("in_anchors", &Op::in_anchors, "Starts of the regions in their images; default: 0.")
        .arg("in_anchors_rel", &Op::in_anchors_rel, "in_anchors as fractions of the image.")
        .arg("out_anchors", &Op::out_anchors, "Starts of the regions on the canvas; default: 0.")
        .arg("out_anchors_rel", &Op::out_anchors_rel, "out_anchors as fractions of the canvas.")
        .arg("shapes", &Op::shapes_, "Extents of the regions; default: up to the end of the image.")
        .arg("shapes_rel", &Op::shapes_rel, "shapes as fractions of the image.")
        .arg("dtype", &Op::dtype, "Type of the result; default: the input's.")
        .batch_wide()
        .takes_bfloat16()
        .oracle("dali");
  }
  void ready() override {
    if ((in_anchors.given() && in_anchors_rel.given()) || (out_anchors.given() && out_anchors_rel.given()) ||
        (shapes_.given() && shapes_rel.given()))
      bad_argument("an argument and its relative form are mutually exclusive");
  }
  Layout input_layout(const ValueType& in) const override { return image_layout(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in_ids.given() && in.size() != 1) bad_argument("in_ids needs exactly one input, got {}", in.size());
    for (const ValueType& t : in) {
      const Layout layout = image_layout(t);
      if (t.ndim >= 0 && layout != Layout("HWC") && layout != Layout("FHWC"))
        bad_type("expected HWC or FHWC, got '{}'", layout.str());
      if (t.ndim != in[0].ndim || t.dtype != in[0].dtype) bad_type("the inputs must have the same type and layout");
    }
    out[0] = in[0];
    out[0].layout = image_layout(in[0]);
    if (dtype != DType::none) out[0].dtype = dtype;
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
    if (!output_size.given()) return;
    const auto size = output_size[s.index];
    if (size.size() != 2 && size.size() != 3) bad_argument("output_size must have 2 or 3 values, got {}", size.size());
    if (const int64_t channels = in[0][in[0].size() - 1]; size.size() == 3 && channels >= 0 && size[2] != channels)
      bad_argument("output_size requests {} channels, but the images have {}", size[2], channels);
    for (int d = 0; d < 2; ++d) {
      if (size[d] < 0) bad_argument("output_size must not be negative, got {}", size[d]);
      out[0][in[0].size() - 3 + d] = size[d];
    }
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    struct Kept {
      std::vector<Batch> batches;
      std::span<const Batch> all;
    };
    auto kept = std::make_shared<Kept>();
    kept->batches.assign(in.begin(), in.end());
    kept->all = kept->batches;
    return {kept, &kept->all};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const Batch& batch = (*static_cast<const std::span<const Batch>*>(s.batch_state))[0];
    std::vector<View> from(in.begin(), in.end());
    if (in_ids.given()) {
      from.clear();
      for (const int64_t id : in_ids[s.index]) {
        if (id < 0 || id >= batch.size()) bad_argument("in_ids has {} samples, but the batch has {}", id, batch.size());
        from.push_back(batch.view(static_cast<int>(id)));
      }
    }
    const int lead = out[0].shape.size() - 3;
    for (size_t k = 0; k < from.size(); ++k)
      if (from[k].shape[lead + 2] != out[0].shape[lead + 2] || (lead && from[k].shape[0] != out[0].shape[0]))
        bad_argument("region {} comes from an image {}, but the canvas is {}", k, from[k].shape.text(),
                     out[0].shape.text());
    const bool frames = lead && (in_anchors.frames() || in_anchors_rel.frames() || out_anchors.frames() ||
                                 out_anchors_rel.frames() || shapes_.frames() || shapes_rel.frames());
    for (int64_t f = 0; f < (frames ? out[0].shape[0] : 1); ++f) {
      const auto frame = [&](const View& v) { return frames ? part(v, 0, f, 1) : v; };
      std::vector<View> regions;
      std::vector<CanvasWindow> windows;
      for (size_t k = 0; k < from.size(); ++k) {
        regions.push_back(frame(from[k]));
        windows.push_back(place({s.index, f}, k, from.size(), lead, out[0].shape, regions.back()));
      }
      paste_regions(frame(out[0]), lead, regions, windows, to);
    }
  }

 private:
  // Where region k is on the canvas; `v`, its image, becomes the region.
  CanvasWindow place(SampleFrame at, size_t k, size_t count, int lead, const Shape& canvas, View& v) const {
    CanvasWindow w;
    for (int d = 0; d < 2; ++d) {
      const int64_t have = v.shape[lead + d], room = canvas[lead + d];
      const size_t i = 2 * k + static_cast<size_t>(d), n = 2 * count;
      const int64_t begin = number(in_anchors, in_anchors_rel, at, i, n, have, false).value_or(0);
      const int64_t start = number(out_anchors, out_anchors_rel, at, i, n, room, false).value_or(0);
      const int64_t extent = number(shapes_, shapes_rel, at, i, n, have, true).value_or(have - begin);
      if (begin < 0 || extent < 0 || begin > have || extent > have - begin)
        bad_argument("region {} is [{}, {}) on an axis of {}", k, begin, begin + extent, have);
      if (start < 0 || start > room || extent > room - start)
        bad_argument("region {} becomes [{}, {}) on an axis of {}", k, start, start + extent, room);
      v = part(v, lead + d, begin, extent);
      w.begin[d] = start, w.end[d] = start + extent;
    }
    return w;
  }
  static std::optional<int64_t> number(const Integers& absolute, const Fractions& relative, SampleFrame at, size_t i,
                                       size_t n, int64_t extent, bool up) {
    const auto check = [&](size_t have) {
      if (have != n) bad_argument("{} numbers do not match {} regions", have, n / 2);
    };
    if (absolute.given()) {
      const auto v = absolute[at];
      check(v.size());
      return v[i];
    }
    if (!relative.given()) return {};
    const auto v = relative[at];
    check(v.size());
    return pixels_of_fraction(v[i], extent, up);
  }
};
PENSTOCK_OPERATOR(MultiPaste);

}  // namespace penstock
