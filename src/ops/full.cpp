// SPDX-License-Identifier: Apache-2.0
#include "operator/broadcast.h"
#include "ops/shared/given_shape.h"

namespace penstock {

namespace {

constexpr const char* kLayout = "Layout of the result.";

// The value, which is broadcast to the result and converted to its type.
void fill_from(const View& value, const View& out, SampleWork& to) {
  to.copy(penstock::broadcast(value, out.shape), out);
}

void check_layout(const Optional<std::string>& layout, ValueType& t) {
  if (!layout.given()) return;
  t.layout = Layout(*layout);
  if (t.ndim >= 0 && !layout->empty() && t.layout.size() != t.ndim)
    bad_argument("layout '{}' has {} letters for {} dimensions", *layout, layout->size(), t.ndim);
}

}  // namespace

struct Full : WholeOperator, GivenShape {
  Optional<std::string> layout;

  static Schema<Full> schema() {
    return Schema<Full>("full",
                        "Repeats a value to a shape by NumPy's rules of broadcasting.\n\nWithout `shape` the result is "
                        "the value itself. Layouts: any; the result has the given one. Types: all; the output keeps "
                        "the type.\n\n"
                        "Example:\n"
                        ">>> fn.full(np.int32([7]), shape=[2, 3]).tolist()\n"
                        "[[7, 7, 7], [7, 7, 7]]")
        .input_names({"fill_value"})
        .arg("shape", &Full::shape, kShape)
        .arg("layout", &Full::layout, kLayout)
        .takes_bfloat16()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = {in[0].dtype, shape.given() ? given_ndim() : in[0].ndim, {}};
    check_layout(layout, out[0]);
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = shape.given() ? given_shape(s.index) : in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    fill_from(in[0], out[0], to);
  }
};
PENSTOCK_OPERATOR(Full);

struct FullLike : WholeOperator {
  static Schema<FullLike> schema() {
    return Schema<FullLike>("full_like",
                            "Repeats a value to the shape of the first input by NumPy's rules of broadcasting.\n\n"
                            "The value is converted to the type of that input as `cast` does. Layouts: any; the output "
                            "has that of the first input. Types: all.\n\n"
                            "Example:\n"
                            ">>> fn.full_like(np.zeros((2, 3), np.uint8), np.int32([7])).tolist()\n"
                            "[[7, 7, 7], [7, 7, 7]]")
        .inputs(2)
        .input_names({"data_like", "fill_value"})
        .takes_bfloat16()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override { out[0] = in[0]; }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    fill_from(in[1], out[0], to);
  }
};
PENSTOCK_OPERATOR(FullLike);

template <int kValue> struct Filled : WholeOperator, GivenShape {
  DType dtype = DType::int32;
  Optional<std::string> layout;

  static Schema<Filled> schema() {
    return Schema<Filled>(kValue ? "ones" : "zeros", std::string(kValue ? "Ones" : "Zeros") +
                                                         " of a shape; without `shape`, one scalar per sample.")
        .inputs(0)
        .arg("shape", &Filled::shape, kShape)
        .arg("dtype", &Filled::dtype, "Type of the result.")
        .arg("layout", &Filled::layout, kLayout)
        .takes_bfloat16()
        .oracle("dali");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {dtype, given_ndim(), {}};
    check_layout(layout, out[0]);
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = given_shape(s.index);
  }
  void work(const SampleContext&, std::span<const View>, std::span<const View> out, SampleWork& to) const override {
    to.fill(out[0], SampleNumbers{{static_cast<float>(kValue)}, {}});
  }
};
using Zeros = Filled<0>;
using Ones = Filled<1>;
PENSTOCK_OPERATOR(Zeros);
PENSTOCK_OPERATOR(Ones);

template <int kValue> struct FilledLike : WholeOperator {
  DType dtype = DType::none;

  static Schema<FilledLike> schema() {
    return Schema<FilledLike>(kValue ? "ones_like" : "zeros_like",
                              std::string(kValue ? "Ones" : "Zeros") +
                                  " of the input's shape.\n\nLayouts: any; the output keeps it. Types: all.")
        .input_names({"data_like"})
        .arg("dtype", &FilledLike::dtype, "Type of the result; default: the input's.")
        .reads_shapes()
        .takes_bfloat16()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = in[0];
    if (dtype != DType::none) out[0].dtype = dtype;
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View>, std::span<const View> out, SampleWork& to) const override {
    to.fill(out[0], SampleNumbers{{static_cast<float>(kValue)}, {}});
  }
};
using ZerosLike = FilledLike<0>;
using OnesLike = FilledLike<1>;
PENSTOCK_OPERATOR(ZerosLike);
PENSTOCK_OPERATOR(OnesLike);

}  // namespace penstock
