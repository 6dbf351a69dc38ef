// SPDX-License-Identifier: Apache-2.0
// Shared by the operators that make matrices of affine maps: an optional input whose map is combined with theirs, and
// one matrix for each frame if an argument or the input has one per frame.
#pragma once
#include <algorithm>
#include <optional>
#include <tuple>

#include "families/team/team.h"
#include "operator/operator.h"

namespace penstock {

constexpr int kMostAffineDims = 16;
constexpr const char* kAffineInFloat64 = "a matrix is a few numbers, which float32 would round at every map";

// n rows of n + 1 numbers: x becomes m x + the last column.
struct AffineMatrix {
  int n;
  std::vector<double> m;
  explicit AffineMatrix(int n) : n(n), m(static_cast<size_t>(n) * (n + 1)) {
    for (int i = 0; i < n; ++i) at(i, i) = 1;
  }
  double& at(int row, int column) { return m[static_cast<size_t>(row) * (n + 1) + column]; }
  double at(int row, int column) const { return m[static_cast<size_t>(row) * (n + 1) + column]; }
  // Moves the fixed point of a linear map from 0 to `center`.
  void about(const std::vector<float>& center) {
    for (int i = 0; i < n; ++i) {
      at(i, n) = center[i];
      for (int k = 0; k < n; ++k) at(i, n) -= at(i, k) * center[k];
    }
  }
};
// Applies the maps of some matrices in turn, for each frame: the first of them alone, or after the identity.
struct AffineLink {
  const float* at;     // null: `own` of the table
  int64_t frame_step;  // numbers from one frame's to the next one's; 0: all frames have the same
  int64_t own;
};
void apply_in_turn(std::span<const AffineLink> links, const std::vector<double>& own, bool after_identity,
                   const View& out, SampleWork& to);
AffineLink link_of(const View& matrices);
void check_affine_type(const ValueType& in);
// The number of dimensions of matrices of this shape; throws if it is not a shape of matrices.
int affine_dims(const Shape& s);

// A list of n numbers; a single number is repeated.
std::vector<float> each_of(const std::vector<float>& list, int n, const char* name);

// Op has `int dims(SampleFrame, std::optional<int> input) const`, `AffineMatrix matrix(SampleFrame, int n) const` and
// `per_frame() const`, a tuple of those of its arguments that may have a value for each frame.
template <class Op> struct AffineTransform : WholeOperator {
  bool reverse_order = false;

  static constexpr const char* kAbout =
      "\n\nOutput: float32, n rows of n + 1 numbers, as warp_affine and coord_transform take them. The map of an "
      "optional input matrix is applied first, or last with reverse_order. If an argument or "
      "the input has frames, the output has one matrix for each frame, with the layout F**.";
  static Schema<Op>&& arguments(Schema<Op>&& s) {
    return std::move(s)
        .arg("reverse_order", &Op::reverse_order, "Apply the map of the input last instead of first.")
        .inputs(0, 1)
        .float64(kAffineInFloat64)
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (!in.empty()) check_affine_type(in[0]);
    // The shape of arguments is known only when their values are.
    const auto comes_later = [](const auto&... a) { return ((a.batch() && a.batch()->size() == 0) || ...); };
    const bool later = std::apply(comes_later, op().per_frame());
    if (later || (!in.empty() && in[0].ndim < 0)) out[0] = {DType::float32, -1, {}};
    else if (framed() || (!in.empty() && in[0].ndim == 3)) out[0] = {DType::float32, 3, "F**"};
    else out[0] = {DType::float32, 2, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    const int64_t f = frames(s.index, in.empty() ? nullptr : &in[0]);
    const int n = dims_of({s.index, 0}, in);
    out[0] = f < 0 ? Shape{n, n + 1} : Shape{f, n, n + 1};
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const int n = affine_dims(out[0].shape);
    std::vector<double> own;
    for (int64_t f = 0; f < (out[0].shape.size() == 3 ? out[0].shape[0] : 1); ++f) {
      const AffineMatrix m = op().matrix({s.index, f}, n);
      own.insert(own.end(), m.m.begin(), m.m.end());
    }
    const AffineLink here{nullptr, n * (n + 1), 0};
    if (in.empty()) return apply_in_turn({&here, 1}, own, false, out[0], to);
    const AffineLink other = link_of(in[0]), links[2] = {reverse_order ? here : other, reverse_order ? other : here};
    apply_in_turn(links, own, false, out[0], to);
  }

 private:
  const Op& op() const { return static_cast<const Op&>(*this); }
  bool framed() const {
    return std::apply([](const auto&... a) { return (a.frames() || ...); }, op().per_frame());
  }
  // -1: one matrix without frames.
  int64_t frames(int sample, const Shape* in) const {
    int64_t count = in && in->size() == 3 ? (*in)[0] : -1;
    const auto look = [&](const auto& a) {
      if (!a.frames()) return;
      const int64_t own = a.count(sample);  // one for all, or one for each
      if (count > 1 && own > 1 && own != count)
        bad_argument("an argument has {} frames, but another one has {}", own, count);
      count = count <= 1 ? own : count;
    };
    std::apply([&](const auto&... a) { (look(a), ...); }, op().per_frame());
    return count;
  }
  int dims_of(SampleFrame at, std::span<const Shape> in) const {
    std::optional<int> input;
    if (!in.empty() && in[0].known()) input = affine_dims(in[0]);
    const int n = op().dims(at, input);
    if (input && *input != n)
      bad_argument("the matrix of the input has {} dimensions, but the arguments have {}", *input, n);
    if (n < 1 || n > kMostAffineDims) bad_argument("a map must have 1 to {} dimensions, got {}", kMostAffineDims, n);
    return n;
  }
};

}  // namespace penstock
