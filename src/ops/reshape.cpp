// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/new_shape.h"

namespace penstock {

struct Reshape : WholeOperator, NewShape {
  static Schema<Reshape> schema() {
    return Schema<Reshape>("reshape",
                           "Gives the samples another shape with the same number of elements, in row-major "
                           "order.\n\nLayouts: any; the output keeps it if the number of dimensions stays the same. "
                           "Types: all.\n\n"
                           "Example:\n"
                           ">>> fn.reshape(np.arange(6), shape=[2, 3]).tolist()\n"
                           "[[0, 1, 2], [3, 4, 5]]")
        .with(&NewShape::arguments<Reshape>)
        .in_place()
        .takes_bfloat16()
        .oracle("numpy");
  }
  void ready() override { check_new_shape(false); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = type_with(in[0], in[0].dtype);
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = new_shape(s.index, in[0]);
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    if (in[0].data != out[0].data) to.copy(reshaped(in[0], out[0].shape), out[0]);  // else it has the memory already
  }
};
PENSTOCK_OPERATOR(Reshape);

struct Reinterpret : WholeOperator, NewShape {
  DType dtype = DType::none;

  static Schema<Reinterpret> schema() {
    return Schema<Reinterpret>("reinterpret",
                               "Reads the bytes of the samples as elements of another type, in another shape or with "
                               "another layout.\n\nA new type without a new shape changes the last extent; the number "
                               "of bytes stays the same. As bool, bytes other than 0 are true. Layouts: any; the "
                               "output keeps it if the number of dimensions stays the same. Types: all.\n\n"
                               "Example:\n"
                               ">>> fn.reinterpret(np.uint8([1, 0, 2, 0]), dtype=\"int16\").tolist()\n"
                               "[1, 2]")
        .with(&NewShape::arguments<Reinterpret>)
        .arg("dtype", &Reinterpret::dtype, "Type of the result; default: the input's.")
        .takes_bfloat16()
        .oracle("dali");
  }
  void ready() override { check_new_shape(dtype != DType::none); }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    out[0] = type_with(in[0], dtype != DType::none ? dtype : in[0].dtype);
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType> types,
              std::span<Shape> out) const override {
    const DType from = types[0].dtype, to = dtype != DType::none ? dtype : from;
    const bool known = from != DType::none;
    out[0] = new_shape(s.index, in[0], known ? static_cast<int64_t>(size_of(from)) : 1,
                       known ? static_cast<int64_t>(size_of(to)) : 1);
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    // Byte by byte: the alignment suits the type of the input, but maybe not that of the result.
    const Shape bytes{in[0].volume() * static_cast<int64_t>(size_of(in[0].dtype))};
    View from = reshaped(in[0], bytes), onto = reshaped(out[0], bytes);
    from.dtype = DType::uint8;
    if (out[0].dtype != DType::bool_ || in[0].dtype == DType::bool_) onto.dtype = DType::uint8;
    from.layout = onto.layout = {};
    to.copy(from, onto);
  }
};
PENSTOCK_OPERATOR(Reinterpret);

}  // namespace penstock
