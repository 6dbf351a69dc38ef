// SPDX-License-Identifier: Apache-2.0
// Operators that compute each element of an image from elements around it: the rule is compiled here, and kept as text
// for a GPU. Views are dense.
#pragma once
#include <cstring>
#include <type_traits>

#include "batch/view_part.h"
#include "operator/image_layout.h"
#include "operator/operator.h"
#include "operator/signal_work.h"
#include "pixel/float32.h"
#include "pixel/stored.h"
#include "pixel/transcendental.h"

namespace penstock {

// Bases of rules. An image is `outer` images of (depth, height, width) positions with `inner` elements each: leading
// channels count as outer ones.
struct ImageRule {
  PENSTOCK_TEXT(
      image_text, struct Extents { int64_t outer, depth, height, width, inner; };
      struct Place { int64_t outer, z, y, x, inner; };
      PENSTOCK_HD static int64_t offset_of(const Extents& e, int64_t outer, int64_t z, int64_t y, int64_t x,
                                           int64_t inner) {
        return (((outer * e.depth + z) * e.height + y) * e.width + x) * e.inner + inner;
      }
      // The element that is read at `at`, which may be outside n elements; -1: the constant of the border.
      PENSTOCK_HD static int64_t bordered(int64_t at, int64_t n, int border) {
        if (at >= 0 && at < n) return at;
        if (border == 0) return -1;
        if (border == 1) return at < 0 ? 0 : n - 1;
        if (border == 4) return (at % n + n) % n;
        const int64_t period = border == 2 ? (n > 1 ? 2 * (n - 1) : 1) : 2 * n;
        const int64_t r = (at % period + period) % period;
        return r < n ? r : border == 2 ? period - r : period - 1 - r;
      });
};
enum ImageBorder : int { kBorderConstant, kBorderClamp, kBorderReflect101, kBorderReflect1001, kBorderWrap };
// By the names that DALI and OpenCV use.
int image_border(const char* argument, const std::string& name);

// A rule as ImageRule with `Coef`, whose first member is `Extents out`, and
//   template <class Out, class In> static Out at(const In* in, const Place&, const Coef&, const char* table)
// in PENSTOCK_PIXEL.
template <class Rule> std::string image_rule_text() {
  std::string text = ImageRule::image_text;
  if constexpr (requires { Rule::base_text; }) text += Rule::base_text;  // members between the two
  return text + Rule::pixel_text + R"(
template <class Out, class In> __device__ static Out value(const In* in, int64_t i, const Coef& c, const char* table) {
  Place p;
  uint64_t rest = i;
  const auto take = [&](int64_t n) {
    const uint64_t by = n;
    const uint64_t q = (rest | by) >> 32 ? rest / by : static_cast<uint32_t>(rest) / static_cast<uint32_t>(by);
    const int64_t r = rest - q * by;
    rest = q;
    return r;
  };
  p.inner = take(c.out.inner), p.x = take(c.out.width), p.y = take(c.out.height), p.z = take(c.out.depth);
  p.outer = rest;
  return at<Out>(in, p, c, table);
}
)";
}
template <class Rule, class Out, class In>
void run_image_rule(const In* in, Out* out, const typename Rule::Coef& c, const char* table) {
  ImageRule::Place p;
  for (p.outer = 0; p.outer < c.out.outer; ++p.outer)
    for (p.z = 0; p.z < c.out.depth; ++p.z)
      for (p.y = 0; p.y < c.out.height; ++p.y)
        for (p.x = 0; p.x < c.out.width; ++p.x)
          for (p.inner = 0; p.inner < c.out.inner; ++p.inner) *out++ = Rule::template at<Out>(in, p, c, table);
}

// Data that a rule reads besides the coefficients; samples with the same data share it.
using ImageTable = std::shared_ptr<const std::vector<std::byte>>;
template <class T> ImageTable image_table(const std::vector<T>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

// The result is of the input's type.
template <class Rule>
void map_image(const View& in, const View& out, const typename Rule::Coef& coef, SampleWork& to,
               ImageTable table = nullptr) {
  if (out.volume() == 0) return;
  const auto host = [=] {
    const char* bytes = table ? reinterpret_cast<const char*>(table->data()) : nullptr;
    dispatch(in.dtype, [&]<class T>(TypeTag<T>) { run_image_rule<Rule>(in.as<const T>(), out.as<T>(), coef, bytes); });
  };
  ElementStep step{&image_rule_text<Rule>, coef_bytes_of(coef), table, nullptr, host};
  if (table) step.table = [table] { return *table; };
  to.map(in, out, std::move(step));
}

// Positions that a group of threads processes together, with its own memory: on the host one thread.
struct GroupLanes {
  int index = 0, count = 1;
  void sync() const {}
  void add(int32_t* to) const { ++*to; }
};
// `Coef` and `template <class In> static void group(const In* in, int64_t g, const Coef&, const GroupLanes&, char*
// memory)` in PENSTOCK_PIXEL: group g writes where the coefficients say.
struct GroupStep {
  std::string (*text)();
  std::vector<std::byte> coef;
  int64_t groups;
  size_t memory;
  std::function<void()> host;
};
template <class Rule> std::string group_rule_text() {
  if constexpr (requires { Rule::base_text; }) return std::string(Rule::base_text) + Rule::pixel_text;
  else return Rule::pixel_text;
}
// For inputs of uint8.
template <class Rule> void group_image(const View& in, int64_t groups, size_t memory, const typename Rule::Coef& coef,
                                       SampleWork& to) {
  if (groups == 0) return;
  const auto host = [=] {
    std::vector<int64_t> own((memory + 7) / 8);
    for (int64_t g = 0; g < groups; ++g)
      Rule::group(in.as<const uint8_t>(), g, coef, GroupLanes{}, reinterpret_cast<char*>(own.data()));
  };
  to.groups(in, {&group_rule_text<Rule>, coef_bytes_of(coef), groups, memory, host});
}

// The extents of a layout with H and W, channels and frames anywhere before them, optionally channels last.
inline ImageRule::Extents image_extents(const Shape& shape, const Layout& layout) {
  ImageRule::Extents e{1, 1, 1, 1, 1};
  for (int d = 0; d < layout.size(); ++d) {
    const char letter = layout[d];
    if (letter == 'H') e.height = shape[d];
    else if (letter == 'W') e.width = shape[d];
    else if (letter == 'D') e.depth = shape[d];
    else if (e.height == 1 && layout.find('H') > d && layout.find('W') > d) e.outer *= shape[d];
    else e.inner *= shape[d];
  }
  return e;
}
// Images whose H and W are adjacent, after frames.
inline Layout check_image(const ValueType& in) {
  const Layout layout = image_layout(in);
  if (layout.empty()) return layout;
  if (layout.find('W') != layout.find('H') + 1 || (layout.has('F') && layout.find('F') != 0))
    bad_type("expected a layout such as HWC, CHW or FHWC, got '{}'", layout.str());
  return layout;
}
// The part of a view that is one frame; all of it if there are no frames.
inline int64_t frames_in(const View& v) { return !v.layout.empty() && v.layout[0] == 'F' ? v.shape[0] : 1; }
inline View frame_of(const View& v, int64_t frame) {
  if (v.layout.empty() || v.layout[0] != 'F') return v;
  return entry(v, frame);
}
// Calls f(frame, in, out) for each frame if arguments may differ between them (`split`), else once for all.
template <class F> void each_frame(bool split, const View& in, const View& out, F&& f) {
  if (!split) return f(int64_t{0}, in, out);
  for (int64_t i = 0; i < frames_in(in); ++i) f(i, frame_of(in, i), frame_of(out, i));
}

inline void check_bytes(const ValueType& in) {
  if (in.dtype != DType::none && in.dtype != DType::uint8) bad_type("expected uint8, got {}", name_of(in.dtype));
}

// Operators on images that keep the shape and the type.
struct ImageOperator : WholeOperator {
  Layout input_layout(const ValueType& in) const override { return check_image(in); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    out[0].layout = check_image(in[0]);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
};

}  // namespace penstock
