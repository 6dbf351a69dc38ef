// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/machine/axes.h"
#include "ops/machine/operator.h"

namespace penstock {

struct Reshape {
  PerSample<std::vector<int64_t>> shape;
  PerSample<std::vector<float>> rel_shape;
  PerSample<std::vector<int64_t>> src_dims;
  Optional<std::string> layout;

  static Schema<Reshape> schema() {
    return Schema<Reshape>("reshape",
                           "Gives the samples another shape with as many elements, in row-major order.\n\nLayouts: "
                           "any; kept where the number of dimensions stays the same. Types: all.")
        .arg("shape", &Reshape::shape,
             "The shape; one extent may be -1 and takes what is left. Also as a second input.")
        .arg("rel_shape", &Reshape::rel_shape, "Factors of the input's extents instead; -1 takes what is left.")
        .arg("src_dims", &Reshape::src_dims,
             "Dimension i of the output (or of what rel_shape multiplies) has the extent of input dimension "
             "src_dims[i]; -1 makes a new one of extent 1.")
        .arg("layout", &Reshape::layout, "Layout of the output.")
        .argument_inputs({"shape"})
        .oracle("numpy");
  }
  void ready() {
    if (shape.given() && rel_shape.given()) bad_argument("shape and rel_shape exclude each other");
    if (shape.given() && src_dims.given()) bad_argument("shape and src_dims exclude each other");
    if (!shape.given() && !rel_shape.given() && !src_dims.given() && !layout.given())
      bad_argument("one of shape, rel_shape, src_dims and layout must be given");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    out[0] = {in[0].dtype, ndim_of(in[0].ndim), {}};
    if (layout.given()) out[0].layout = Layout(*layout);
    else if (out[0].ndim == in[0].ndim && !src_dims.given()) out[0].layout = in[0].layout;
    else if (src_dims.constant() && src_dims.given() && !rel_shape.given()) out[0].layout = moved_layout(in[0].layout);
    if (out[0].ndim >= 0 && !out[0].layout.empty() && out[0].layout.size() != out[0].ndim)
      bad_argument("layout '{}' has {} letters for {} dimensions", out[0].layout.str(), out[0].layout.size(),
                   out[0].ndim);
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const {
    Shape result;
    const Shape source = source_of(s.index, in[0]);
    if (shape.given()) {
      result = Shape(std::span<const int64_t>(shape[s.index]));
    } else if (rel_shape.given()) {
      const std::vector<float> factors = rel_shape[s.index];
      for (size_t i = 0; i < factors.size(); ++i) {
        const int64_t extent = static_cast<int>(i) < source.size() ? source[static_cast<int>(i)] : 1;
        if (factors[i] >= 0 && extent < 0) {
          out[0] = Shape::filled(static_cast<int>(factors.size()), -1);
          return;
        }
        result.push_back(factors[i] < 0 ? -1 : std::llround(static_cast<double>(factors[i]) * extent));
      }
    } else {
      result = source;
    }
    if (in[0].known()) settle(result, in[0]);
    out[0] = result;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const {
    to.copy(reshaped(in[0], out[0].shape), out[0]);
  }

 private:
  template <class T> static int length(const PerSample<T>& p) {
    if (!p.batch()) return static_cast<int>(p.one().size());
    return p.batch()->size() > 0 ? static_cast<int>(p.batch()->shape(0).volume()) : -1;
  }
  int ndim_of(int in) const {
    if (shape.given()) return length(shape);
    if (rel_shape.given()) return length(rel_shape);
    return src_dims.given() ? length(src_dims) : in;
  }
  Layout moved_layout(const Layout& in) const {
    std::string letters;
    for (int64_t d : src_dims.one())
      if (d >= 0 && d < in.size()) letters += in[static_cast<int>(d)];
    return letters.size() == src_dims.one().size() ? Layout(letters) : Layout();
  }
  Shape source_of(int sample, const Shape& in) const {
    if (!src_dims.given()) return in;
    Shape s;
    for (int64_t d : src_dims[sample]) {
      if (d < -1 || d >= in.size()) bad_argument("src_dims names dimension {} of the shape {}", d, in.text());
      s.push_back(d < 0 ? 1 : in[static_cast<int>(d)]);
    }
    return s;
  }
  // Replaces the -1 and checks the number of elements.
  static void settle(Shape& s, const Shape& in) {
    int open = -1;
    int64_t rest = 1;
    for (int d = 0; d < s.size(); ++d) {
      if (s[d] >= 0) {
        if (__builtin_mul_overflow(rest, s[d], &rest)) bad_argument("the shape {} is too large", s.text());
      } else if (open >= 0) {
        bad_argument("only one extent may be -1, got two");
      } else {
        open = d;
      }
    }
    const int64_t volume = in.volume();
    if (open >= 0 && rest > 0 && volume % rest == 0) s[open] = volume / rest;
    else if (open >= 0 || rest != volume)
      bad_argument("{} elements of the shape {} do not fit into the shape {}", volume, in.text(), s.text());
  }
};
PENSTOCK_OPERATOR(Reshape);

}  // namespace penstock
