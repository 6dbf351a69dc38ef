// SPDX-License-Identifier: Apache-2.0
// decoders.numpy: arrays from the bytes of .npy files.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error_of.h"
#include "batch/encoded_bytes.h"
#include "data/npy.h"
#include "operator/operator.h"

namespace penstock {
namespace {

struct DecodersNumpy : WholeOperator {
  DType dtype = DType::none;

  static Schema<DecodersNumpy> schema() {
    using Op = DecodersNumpy;
    return Schema<Op>("decoders.numpy",
                      "Converts the bytes of .npy files to arrays.\n\nInput: uint8, one dimension. Output: the array, "
                      "without a layout; Fortran order is converted to C order. All arrays of a batch have one number "
                      "of dimensions and, without a dtype, one type. Damaged files are DataErrors.\n\nExample:\narray "
                      "= fn.decoders.numpy(np.fromfile(\"array.npy\", np.uint8))")
        .input_names({"encoded"})
        .arg("dtype", &Op::dtype, "Type of the result, rounded and saturated; default: that of the files.")
        .batch_wide()
        .host_only("it reads the header of a file and copies the rest")
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::none)
      bad_type("expected the bytes of a file as uint8, got {}", name_of(in[0].dtype));
    out[0] = {dtype, -1, {}};
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {};
    if (!s.batch_state) return;
    const auto& files = *static_cast<const Files*>(s.batch_state);
    out[0] = (files.headers[s.index] = header_of(files.encoded.view(s.index))).shape;
  }
  std::shared_ptr<const void> batch_state(std::span<const Batch> in, std::span<const ValueType>) const override {
    return std::make_shared<Files>(in[0]);
  }
  // Only files that hold arrays count: shapes() has told of the others, which a policy may replace or drop.
  void batch_shapes(std::span<const Batch> in, std::span<const ValueType>, std::span<Batch> out) const override {
    Batch& b = out[0];
    if (b.size() == 0) return;
    DType found = dtype;
    int ndim = -1;
    std::vector<char> damaged(static_cast<size_t>(b.size()));
    for (int i = 0; i < b.size(); ++i) {
      NpyHeader h;
      damaged[static_cast<size_t>(i)] = error_of([&] { h = header_of(in[0].view(i)); }).has_value();
      if (damaged[static_cast<size_t>(i)]) continue;
      if (ndim >= 0 && h.shape.size() != ndim)
        bad_data("one batch has arrays of {} and of {} dimensions", ndim, h.shape.size());
      ndim = h.shape.size();
      if (dtype != DType::none) continue;
      if (found != DType::none && h.dtype != found)
        bad_data("one batch has arrays of {} and of {}", name_of(found), name_of(h.dtype));
      found = h.dtype;
    }
    Batch right(found == DType::none ? DType::uint8 : found, std::max(ndim, 0), {}, b.size());
    for (int i = 0; i < b.size(); ++i) {
      right.sample(i) = b.sample(i);
      if (damaged[static_cast<size_t>(i)]) right.sample(i).shape = Shape::filled(right.ndim(), 0);
    }
    b = std::move(right);
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    const NpyHeader& h = static_cast<const Files*>(s.batch_state)->headers[s.index];
    const int64_t n = h.shape.volume();
    if (n == 0) return;
    const uint8_t* from = in[0].as<const uint8_t>() + h.data;
    std::vector<int64_t> aligned;
    if (reinterpret_cast<uintptr_t>(from) % size_of(h.dtype) != 0) {
      aligned.resize(static_cast<size_t>(n) * size_of(h.dtype) / 8 + 1);
      std::memcpy(aligned.data(), from, static_cast<size_t>(n) * size_of(h.dtype));
      from = reinterpret_cast<const uint8_t*>(aligned.data());
    }
    View array{const_cast<uint8_t*>(from), h.dtype, {}, h.shape, dense_strides(h.shape)};
    if (h.fortran_order) {
      int64_t stride = 1;
      for (int d = 0; d < h.shape.size(); ++d) array.strides[d] = stride, stride *= h.shape[d];
    }
    host_work().copy(array, out[0]);
  }

 private:
  static NpyHeader header_of(const View& file) {
    const std::span<const uint8_t> bytes = encoded_bytes(file);
    return read_npy_header(bytes, static_cast<int64_t>(bytes.size()));
  }
  // What shapes() read for run(), by sample.
  struct Files {
    explicit Files(const Batch& b) : encoded(b), headers(b.size()) {}
    Batch encoded;
    mutable std::vector<NpyHeader> headers;
  };
};
PENSTOCK_OPERATOR(DecodersNumpy);

}  // namespace
}  // namespace penstock
