// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include "ops/machine/operator.h"

namespace penstock {

struct Constant {
  Optional<std::vector<double>> fdata;
  Optional<std::vector<int64_t>> idata;
  Optional<std::vector<int64_t>> shape;
  DType dtype = DType::none;
  std::string layout;

  static Schema<Constant> schema() {
    return Schema<Constant>("constant", "The same tensor for every sample.")
        .inputs(0)
        .arg("fdata", &Constant::fdata, "The elements as floating point numbers, in row-major order; one is repeated.")
        .arg("idata", &Constant::idata, "The elements as integers, in row-major order; one is repeated.")
        .arg("shape", &Constant::shape, "The shape; one dimension with all elements if not given.")
        .arg("dtype", &Constant::dtype, "The type; float32 for fdata, int32 for idata if not given.")
        .arg("layout", &Constant::layout, "The layout.")
        .oracle("numpy");
  }
  void ready() {
    if (fdata.given() == idata.given()) bad_argument("exactly one of fdata and idata must be given");
    for (int64_t e : extents())
      if (e < 0) bad_argument("an extent of the shape {} is negative", extents().text());
    const int64_t volume = extents().volume();
    if (count() != 1 && count() != volume)
      bad_argument("{} elements do not fill the shape {}", count(), extents().text());
    if (!layout.empty() && static_cast<int>(layout.size()) != extents().size())
      bad_argument("layout '{}' has {} letters for {} dimensions", layout, layout.size(), extents().size());
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const {
    const DType natural = fdata.given() ? DType::float32 : DType::int32;
    out[0] = {dtype == DType::none ? natural : dtype, extents().size(), layout};
  }
  void shapes(const SampleContext&, std::span<const Shape>, std::span<const ValueType>, std::span<Shape> out) const {
    out[0] = extents();
  }
  void run(const SampleContext&, std::span<const View>, std::span<const View> out) const {
    dispatch(out[0].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = out[0].as<T>();
      for (int64_t i = 0, n = out[0].volume(); i < n; ++i) {
        const size_t k = count() == 1 ? 0 : static_cast<size_t>(i);
        if (!fdata.given()) to[i] = saturated<T>((*idata)[k]);
        else to[i] = saturated<T>((*fdata)[k]);
      }
    });
  }

 private:
  template <class T, class V> static T saturated(V v) {
    if constexpr (std::is_same_v<T, bool>) return v != 0;
    else if constexpr (std::is_same_v<T, Half>) return Half(static_cast<float>(v));
    else if constexpr (!std::is_integral_v<T>) return static_cast<T>(v);
    else if constexpr (std::is_integral_v<V>)
      return std::in_range<T>(v) ? static_cast<T>(v)
             : v < 0             ? std::numeric_limits<T>::lowest()
                                 : std::numeric_limits<T>::max();
    else {
      constexpr auto least = static_cast<double>(std::numeric_limits<T>::lowest());
      constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
      const double r = round_even(v);
      if (!(v == v)) return T(0);
      if (r <= least) return std::numeric_limits<T>::lowest();
      return r >= most ? std::numeric_limits<T>::max() : static_cast<T>(r);
    }
  }
  int64_t count() const { return static_cast<int64_t>(fdata.given() ? fdata->size() : idata->size()); }
  Shape extents() const { return shape.given() ? Shape(std::span<const int64_t>(*shape)) : Shape{count()}; }
};
PENSTOCK_OPERATOR(Constant);

}  // namespace penstock
