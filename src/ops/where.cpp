// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "ops/machine/arithmetic.h"
#include "ops/machine/broadcast.h"

namespace penstock {

struct Where {
  static Schema<Where> schema() {
    return Schema<Where>("where",
                         "NumPy's where(condition, a, b): a's elements where the condition is not 0, elsewhere b's.\n\nShapes are "
                         "broadcast as NumPy does, so that one number per sample chooses a whole sample. The type is the "
                         "arithmetic operators' common one of a and b, which are converted as `cast` does; the layout is "
                         "theirs. Types: all.")
        .inputs(3)
        .input_names({"condition", "a", "b"})
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const {
    const ValueType &a = in[1], &b = in[2];
    const bool known = in[0].ndim >= 0 && a.ndim >= 0 && b.ndim >= 0;
    out[0].ndim = known ? std::max({in[0].ndim, a.ndim, b.ndim}) : -1;
    out[0].layout = common_layout(a.layout, b.layout, out[0].ndim);
    out[0].dtype = a.dtype == DType::none || b.dtype == DType::none ? DType::none : promote(a.dtype, b.dtype);
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = penstock::broadcast(in[0], penstock::broadcast(in[1], in[2]));
  }
  void run(const SampleContext&, std::span<const View> in, std::span<const View> out) const {
    const View& to = out[0];
    assign(in[1], to);
    std::vector<std::byte> memory(static_cast<size_t>(to.volume()) * size_of(to.dtype)), chosen(static_cast<size_t>(to.volume()));
    assign(in[2], {memory.data(), to.dtype, {}, to.shape, to.strides});
    const View condition = broadcast(in[0], to.shape);
    std::vector<std::byte> truth(static_cast<size_t>(in[0].volume()));
    for (int64_t i = 0; i < in[0].volume(); ++i) truth[static_cast<size_t>(i)] = std::byte{element_as_double(in[0], i) != 0};
    copy_strided({truth.data(), DType::uint8, {}, to.shape, condition.strides}, {chosen.data(), DType::uint8, {}, to.shape, to.strides});
    const size_t bytes = size_of(to.dtype);
    for (size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i] == std::byte{0}) std::memcpy(to.as<char>() + i * bytes, memory.data() + i * bytes, bytes);
  }
};
PENSTOCK_OPERATOR(Where);

}  // namespace penstock
