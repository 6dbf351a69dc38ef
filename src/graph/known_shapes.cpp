// SPDX-License-Identifier: Apache-2.0
#include "graph/known_shapes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error_of.h"

namespace penstock {
namespace {

// Arguments that never decide a shape: an operator may have others for each sample, which leave its shape unknown.
constexpr std::array<std::string_view, 11> kNoShape{"mirror",     "horizontal", "vertical",   "depthwise",
                                                    "mean",       "std",        "crop_pos_x", "crop_pos_y",
                                                    "crop_pos_z", "sigma",      "matrix"};

class Finder {
 public:
  Finder(const Graph& g, KnownShapes shapes) : graph_(g), shapes_(std::move(shapes)) {}
  KnownShapes all() {
    for (const Node& n : graph_.nodes()) find(n);
    return std::move(shapes_);
  }

 private:
  std::optional<Shape> of(ValueRef v) const {
    const auto found = shapes_.find({v.node, v.output});
    if (found != shapes_.end()) return found->second;
    const int ndim = v.node < 0 ? -1 : graph_.type({v.node, v.output}).ndim;
    return ndim < 0 ? std::nullopt : std::optional(Shape::filled(ndim, -1));
  }
  void put(const Node& n, size_t k, const std::optional<Shape>& shape) {
    const int ndim = n.types[k].ndim;
    if (shape && (ndim < 0 || shape->size() == ndim)) shapes_[{n.id, static_cast<int>(k)}] = *shape;
  }

  void find(const Node& n) {
    if (n.control == Control::branch) return join_sides(n);
    if (changes_samples(n.control)) return pass_on(n);
    if (n.control != Control::none || calls_back(n) || info_of(n).family == Family::source) return;
    if (auto refused = error_of([&] { ask(n); })) return;  // it says so when it runs
  }

  static bool takes_part(const std::string& name) {
    return std::find(kNoShape.begin(), kNoShape.end(), name) == kNoShape.end();
  }

  // Without the arguments for each sample, whose values are not there yet, where they do not decide the shape.
  std::optional<Node> without_values(const Node& n) const {
    Node bare = n;
    std::erase_if(bare.per_sample, [](const auto& a) { return !takes_part(a.first); });
    if (bare.per_sample.empty()) return bare;
    if (info_of(n).family != Family::stage) return std::nullopt;
    bare.per_sample.clear();
    const auto op = bind_op(info_of(bare), graph_.arguments(bare, [](ValueRef) -> const Batch* { return nullptr; }));
    const StageTraits t = op->traits();
    if (t.maps || t.own_shapes || t.decodes) return std::nullopt;
    return bare;
  }

  void ask(const Node& n) {
    const OpInfo& info = info_of(n);
    if (info.batch_wide) return;
    const auto bare = without_values(n);
    if (!bare) return;
    const auto op = bind_op(info, graph_.arguments(*bare, [](ValueRef) -> const Batch* { return nullptr; }));
    std::vector<ValueType> types, out_types(n.types.size());
    std::vector<Shape> in;
    for (const ValueRef v : n.inputs) {
      auto shape = of(v);
      if (!shape) return;
      ValueType t = graph_.type({v.node, v.output});
      t.layout = op->input_layout(t);
      types.push_back(t), in.push_back(*shape);
    }
    if (info.family == Family::stage && op->traits().decodes) {
      const ImageType type = op->decode_params().type;
      in[0] = Shape{-1, -1, type == ImageType::any_data ? -1 : type == ImageType::gray ? 1 : 3};
    }
    if (info.random)  // what it draws may decide where the input's size is known
      for (size_t k = 0; k < in.size(); ++k)
        forget_sizes(in[k], info.family == Family::stage ? types[k].layout : Layout{});
    op->infer(types, out_types);
    std::vector<Shape> out(n.types.size());
    op->shapes(SampleContext{}, in, types, out);
    for (size_t k = 0; k < out.size(); ++k) put(n, k, out[k]);
  }

  static void forget_sizes(Shape& s, const Layout& layout) {  // but the channels
    const int channels = layout.size() == s.size() ? layout.find('C') : -1;
    for (int i = 0; i < s.size(); ++i)
      if (i != channels) s[i] = -1;
  }

  static std::optional<Shape> joined(const std::optional<Shape>& a, const std::optional<Shape>& b) {
    if (!a || !b || a->size() != b->size()) return std::nullopt;
    Shape both = *a;
    for (int i = 0; i < both.size(); ++i)
      if (both[i] != (*b)[i]) both[i] = -1;
    return both;
  }
  void join_sides(const Node& n) {
    const size_t count = n.results.size() / 2;
    for (size_t k = 0; k < count; ++k)
      if (n.results[k].node >= 0 && n.results[count + k].node >= 0)
        put(n, k, joined(of(n.results[k]), of(n.results[count + k])));
  }
  void pass_on(const Node& n) {
    const size_t first = deciding_inputs(n);
    const auto parts = n.control == Control::flatten ? static_cast<size_t>(constant_of(n, "flattened", 1)) : 0;
    for (size_t k = first; k < n.inputs.size(); ++k) {
      auto shape = of(n.inputs[k]);
      if (shape && k < parts) shape = Shape(std::span(shape->begin() + (shape->size() > 0), shape->end()));
      put(n, k - first, shape);
    }
  }

  const Graph& graph_;
  KnownShapes shapes_;
};

}  // namespace

KnownShapes known_shapes(const Graph& g, KnownShapes shapes) { return Finder(g, std::move(shapes)).all(); }

}  // namespace penstock
