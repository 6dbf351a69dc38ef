// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "operator/any_number.h"
#include "operator/operator.h"
#include "pixel/convert.h"

namespace penstock {

struct Constant : WholeOperator {
  Optional<std::vector<double>> fdata;
  Optional<std::vector<int64_t>> idata;
  Optional<std::vector<int64_t>> shape;
  DType dtype = DType::none;
  std::string layout;
  int samples = 0;

  static Schema<Constant> schema() {
    return Schema<Constant>("constant",
                            "Returns the same tensor for each sample, or with `samples` tensor i for sample i of the "
                            "batch.\n\nA batch with more samples than tensors is a ValueError.\n\n"
                            "Example:\n"
                            ">>> fn.constant(idata=[1, 2, 3]).tolist()\n"
                            "[1, 2, 3]")
        .inputs(0)
        .fits_all()
        .arg("fdata", &Constant::fdata,
             "The elements as floating point numbers, in row-major order; one number fills the shape.", any_number)
        .arg("idata", &Constant::idata, "The elements as integers, in row-major order; one number fills the shape.")
        .arg("shape", &Constant::shape, "The shape; default: one dimension with all elements.")
        .arg("dtype", &Constant::dtype, "The type; default: float32 for fdata, int32 for idata.")
        .arg("layout", &Constant::layout, "The layout.")
        .arg("samples", &Constant::samples,
             "0: one tensor for all samples. Otherwise the number of tensors: fdata or idata holds the elements of all "
             "of them in turn, and `shape` their extents.")
        .takes_bfloat16()
        .oracle("numpy");
  }
  void ready() override {
    if (fdata.given() == idata.given()) bad_argument("exactly one of fdata and idata must be given");
    if (samples < 0) bad_argument("samples must be at least 0, got {}", samples);
    const std::vector<int64_t> all = shape.given() ? *shape : std::vector<int64_t>{count()};
    if (samples > 0 && (!shape.given() || all.size() % samples != 0))
      bad_argument("the extents {} in shape do not match {} samples", to_text(Value{all}), samples);
    const size_t tensors = std::max(samples, 1), ndim = all.size() / tensors;
    for (size_t i = 0; i < tensors; ++i) {
      tensors_.push_back({Shape(std::span(all).subspan(i * ndim, ndim)), i ? end_of(tensors_.back()) : 0});
      for (int64_t e : tensors_.back().extents)
        if (e < 0) bad_argument("an extent of the shape {} is negative", tensors_.back().extents.text());
    }
    repeats_ = count() == 1 && samples == 0;
    if (!repeats_ && count() != end_of(tensors_.back()))
      bad_argument("{} elements do not fill the shape {}", count(), to_text(Value{all}));
    if (!layout.empty() && layout.size() != ndim)
      bad_argument("layout '{}' has {} letters for {} dimensions", layout, layout.size(), ndim);
    if (repeats_) return;
    dispatch_stored(type(), [&](auto tag) {  // once, not for each sample: a picture has a million elements
      using T = typename decltype(tag)::type;
      converted_.resize(static_cast<size_t>(count()) * sizeof(T));
      auto* const made = reinterpret_cast<T*>(converted_.data());
      for (int64_t k = 0; k < count(); ++k) made[k] = element<T>(static_cast<size_t>(k));
    });
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {type(), tensors_[0].extents.size(), layout};
  }
  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = of(s).extents;
  }
  void work(const SampleContext& s, std::span<const View>, std::span<const View> out, SampleWork& to) const override {
    dispatch_stored(out[0].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto first = static_cast<size_t>(repeats_ ? 0 : of(s).first);
      const int64_t n = out[0].volume();
      if (n == 0) return;
      const T one = element<T>(first);
      if (&to == &host_work()) {
        T* p = out[0].as<T>();
        if (repeats_) return std::fill(p, p + n, one), void();
        std::memcpy(p, converted_.data() + first * sizeof(T), static_cast<size_t>(n) * sizeof(T));
      } else if (const auto v = static_cast<float>(one); repeats_ && same_bits(saturated<T>(v), one)) {
        to.fill(out[0], SampleNumbers{{v}, {}});
      } else {
        fill_units<T>(
            out[0], repeats_ ? 1 : n, [&](int64_t i) { return element<T>(first + static_cast<size_t>(i)); }, to);
      }
    });
  }

 private:
  DType type() const { return dtype != DType::none ? dtype : fdata.given() ? DType::float32 : DType::int32; }
  template <class T> T element(size_t k) const {
    return fdata.given() ? saturated<T>((*fdata)[k]) : saturated<T>((*idata)[k]);
  }
  template <class T> static bool same_bits(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }
  // A fill takes float32, which holds units of at most two bytes; these give the bits of every element.
  template <class T, class F>
  static void fill_units(const View& out, int64_t elements, const F& element, SampleWork& to) {
    using Unit = std::conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
    constexpr auto kUnits = static_cast<int64_t>(sizeof(T) / sizeof(Unit));
    SampleNumbers numbers;
    for (int64_t i = 0; i < elements; ++i) {
      const T v = element(i);
      Unit units[kUnits];
      std::memcpy(units, &v, sizeof v);
      numbers.here.insert(numbers.here.end(), units, units + kUnits);
    }
    const View words{out.data, sizeof(T) == 1 ? DType::uint8 : DType::uint16, {}, {}, {}};
    to.fill(reshaped(words, Shape{out.volume() / elements, elements * kUnits}), numbers, 1);
  }
  template <class T, class V> static T saturated(V v) {
    if constexpr (std::is_same_v<T, bool>) return v != 0;
    else if constexpr (kStoresFloat<T>) return from_lane<double, T>(static_cast<double>(v));
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
  struct OneTensor {
    Shape extents;
    int64_t first;  // of its elements
  };
  static int64_t end_of(const OneTensor& t) { return t.first + t.extents.volume(); }
  const OneTensor& of(const SampleContext& s) const {
    if (samples == 0) return tensors_[0];
    if (s.index >= samples) bad_argument("there are values for {} samples, but the batch has more", samples);
    return tensors_[s.index];
  }
  int64_t count() const { return static_cast<int64_t>(fdata.given() ? fdata->size() : idata->size()); }
  std::vector<OneTensor> tensors_;
  std::vector<char> converted_;  // all elements in the type of the result, unless one fills the shape
  bool repeats_ = false;         // one element fills the shape
};
PENSTOCK_OPERATOR(Constant);

}  // namespace penstock
