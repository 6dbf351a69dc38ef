// SPDX-License-Identifier: Apache-2.0
// Arguments of operators: a constant of one of a few types, or one value per sample.
#pragma once
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "batch/batch.h"

namespace penstock {

// A constant: nothing, or one of these.
using AnyConstant = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>,
                                 std::vector<double>, std::vector<std::string>>;

// Copies by assignment. Where no memory is left, libstdc++'s copy constructor of a variant of strings and vectors
// destroys a member that was not made; its assignment does not.
class Value : public AnyConstant {
 public:
  using AnyConstant::AnyConstant;
  Value() = default;
  Value(const Value& other) : AnyConstant() { AnyConstant::operator=(other); }
  Value(Value&&) = default;
  Value& operator=(const Value&) = default;
  Value& operator=(Value&&) = default;
};

struct Argument {
  Value value;                   // monostate: not given
  const Batch* batch = nullptr;  // one value per sample instead of `value`
  bool given() const { return batch || value.index() != 0; }
};

enum class ArgType : uint8_t { boolean, integer, real, text, dtype, integers, reals, texts };
const char* name_of(ArgType t);  // Python spelling: "bool", "Sequence[float]"

// Reading Values and samples as C++ types; they throw Error of kind type or argument.
template <class T> T value_as(const Value& v);
template <> bool value_as<bool>(const Value& v);
template <> int value_as<int>(const Value& v);
template <> int64_t value_as<int64_t>(const Value& v);
template <> float value_as<float>(const Value& v);
template <> double value_as<double>(const Value& v);
template <> std::string value_as<std::string>(const Value& v);
template <> DType value_as<DType>(const Value& v);
template <> std::vector<float> value_as<std::vector<float>>(const Value& v);
template <> std::vector<double> value_as<std::vector<double>>(const Value& v);
template <> std::vector<int64_t> value_as<std::vector<int64_t>>(const Value& v);
template <> std::vector<std::string> value_as<std::vector<std::string>>(const Value& v);
template <class T> T view_as(const View& v);
template <> bool view_as<bool>(const View& v);
template <> int view_as<int>(const View& v);
template <> int64_t view_as<int64_t>(const View& v);
template <> float view_as<float>(const View& v);
template <> double view_as<double>(const View& v);
template <> std::vector<float> view_as<std::vector<float>>(const View& v);
template <> std::vector<double> view_as<std::vector<double>>(const View& v);
template <> std::vector<int64_t> view_as<std::vector<int64_t>>(const View& v);

// The value of a sample of a batch that has one for each: view_as of its view, but without making the view if possible.
template <class T> T sample_as(const Batch& b, int sample) { return view_as<T>(b.view(sample)); }
template <> bool sample_as<bool>(const Batch& b, int sample);
template <> int sample_as<int>(const Batch& b, int sample);
template <> int64_t sample_as<int64_t>(const Batch& b, int sample);
template <> float sample_as<float>(const Batch& b, int sample);
template <> double sample_as<double>(const Batch& b, int sample);
// The same; fast if the sample already holds such a number.
template <class T> T stored_number(const Batch& b, int sample) {
  const Batch::Sample& s = b.sample(sample);
  return b.dtype() == dtype_of<T> && s.shape.empty() ? *static_cast<const T*>(s.data) : sample_as<T>(b, sample);
}

// The values of a sample; copied only if their memory does not hold them as they are. The argument must outlive the
// result.
template <class E> class SampleValues {
 public:
  explicit SampleValues(const std::vector<E>& v) : values_(v) {}
  SampleValues(const Batch& b, int sample) {
    const Batch::Sample& s = b.sample(sample);
    if (b.dtype() == dtype_of<E> && s.strides.empty()) {
      values_ = {static_cast<const E*>(s.data), static_cast<size_t>(s.shape.volume())};
    } else {
      copied_ = view_as<std::vector<E>>(b.view(sample));
      values_ = copied_;
    }
  }
  explicit SampleValues(const View& v) : copied_(view_as<std::vector<E>>(v)), values_(copied_) {}
  SampleValues(const SampleValues&) = delete;
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  E operator[](size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  operator std::span<const E>() const { return values_; }

 private:
  std::vector<E> copied_;
  std::span<const E> values_;
};

// Selects values of arguments: those of a sample, and of one of its frames if an argument has one for each frame.
struct SampleFrame {
  int sample = 0;
  int64_t frame = 0;
  SampleFrame(int s, int64_t f = 0) : sample(s), frame(f) {}
  operator int() const { return sample; }
};

// One value for all samples, or one per sample.
template <class T> class PerSample {
 public:
  PerSample() = default;
  PerSample(T v) : one_(std::move(v)) {}
  T operator[](int sample) const { return many_ ? sample_as<T>(*many_, sample) : one_; }
  // The same of a list, without a copy.
  auto values(int sample) const
    requires requires { typename T::value_type; } {
    using List = SampleValues<typename T::value_type>;
    return many_ ? List(*many_, sample) : List(one_);
  }
  bool given() const { return given_; }
  bool constant() const { return !many_; }
  const Batch* batch() const { return many_; }  // nullptr: one value for all
  void set(const Argument& a) {
    given_ = true;
    many_ = a.batch;
    if (!many_) one_ = value_as<T>(a.value);
  }
  const T& one() const { return one_; }

 private:
  T one_{};
  const Batch* many_ = nullptr;
  bool given_ = false;
};

// Samples of such an argument hold one value for each frame, or one for all frames.
inline bool has_frames(const Batch& argument) { return !argument.layout().empty() && argument.layout()[0] == 'F'; }
inline int64_t frames_of(const Batch& argument, int sample) {
  const Shape& s = argument.shape(sample);
  return s.empty() ? 1 : s[0];
}
// The part of one of its samples that belongs to a frame.
View of_frame(const View& values, int64_t frame);

// The same, and if the layout of the values starts with F, one for each frame of a sequence.
template <class T> class PerFrame : public PerSample<T> {
 public:
  using PerSample<T>::PerSample;
  T operator[](SampleFrame at) const {
    if (!frames()) return PerSample<T>::operator[](at.sample);
    return view_as<T>(of_frame(this->batch()->view(at.sample), at.frame));
  }
  auto values(SampleFrame at) const
    requires requires { typename T::value_type; } {
    using List = SampleValues<typename T::value_type>;
    return frames() ? List(of_frame(this->batch()->view(at.sample), at.frame)) : PerSample<T>::values(at.sample);
  }
  bool frames() const { return this->batch() && has_frames(*this->batch()); }
  // Number of values of a sample; 1 if they are not per frame.
  int64_t count(int sample) const { return frames() ? frames_of(*this->batch(), sample) : 1; }
};

// A plain value that records whether the caller gave it.
template <class T> class Optional {
 public:
  Optional() = default;
  Optional(T v) : v_(std::move(v)), has_default_(true) {}
  const T& operator*() const { return v_; }
  const T* operator->() const { return &v_; }
  bool given() const { return given_; }
  bool has_default() const { return has_default_; }
  void set(const Argument& a) { v_ = value_as<T>(a.value), given_ = true; }

 private:
  T v_{};
  bool has_default_ = false, given_ = false;
};

// What ArgInfo needs to know about the type of a member.
template <class T> struct ArgTraits;
template <class T> struct ArgTraits<PerSample<T>> {
  static constexpr ArgType type = ArgTraits<T>::type;
  static constexpr bool per_sample = true;
  static Value default_value(const PerSample<T>& m) { return ArgTraits<T>::default_value(m.one()); }
  static void set(void* m, const Argument& a) { static_cast<PerSample<T>*>(m)->set(a); }
};
template <class T> struct ArgTraits<PerFrame<T>> : ArgTraits<PerSample<T>> {
  static constexpr bool per_frame = true;
};
template <class T> struct ArgTraits<Optional<T>> {
  static constexpr ArgType type = ArgTraits<T>::type;
  static constexpr bool per_sample = false;
  static Value default_value(const Optional<T>& m) {
    return m.has_default() ? ArgTraits<T>::default_value(*m) : Value{};
  }
  static void set(void* m, const Argument& a) { static_cast<Optional<T>*>(m)->set(a); }
};
template <class T, ArgType kType, class Stored> struct PlainTraits {
  static constexpr ArgType type = kType;
  static constexpr bool per_sample = false;
  static Value default_value(const T& m) { return Stored(m); }
  static void set(void* m, const Argument& a) { *static_cast<T*>(m) = value_as<T>(a.value); }
};
template <> struct ArgTraits<bool> : PlainTraits<bool, ArgType::boolean, bool> {};
template <> struct ArgTraits<int> : PlainTraits<int, ArgType::integer, int64_t> {};
template <> struct ArgTraits<int64_t> : PlainTraits<int64_t, ArgType::integer, int64_t> {};
template <> struct ArgTraits<float> : PlainTraits<float, ArgType::real, double> {};
template <> struct ArgTraits<double> : PlainTraits<double, ArgType::real, double> {};
template <> struct ArgTraits<std::string> : PlainTraits<std::string, ArgType::text, std::string> {};
template <> struct ArgTraits<std::vector<std::string>>
    : PlainTraits<std::vector<std::string>, ArgType::texts, std::vector<std::string>> {};
template <> struct ArgTraits<std::vector<int64_t>>
    : PlainTraits<std::vector<int64_t>, ArgType::integers, std::vector<int64_t>> {};
template <> struct ArgTraits<std::vector<double>>
    : PlainTraits<std::vector<double>, ArgType::reals, std::vector<double>> {};
template <> struct ArgTraits<std::vector<float>> {
  static constexpr ArgType type = ArgType::reals;
  static constexpr bool per_sample = false;
  static Value default_value(const std::vector<float>& m) {
    return m.empty() ? Value{} : Value{std::vector<double>(m.begin(), m.end())};
  }
  static void set(void* m, const Argument& a) {
    *static_cast<std::vector<float>*>(m) = value_as<std::vector<float>>(a.value);
  }
};
template <> struct ArgTraits<DType> {
  static constexpr ArgType type = ArgType::dtype;
  static constexpr bool per_sample = false;
  static Value default_value(const DType& m) { return m == DType::none ? Value{} : Value{int64_t(m)}; }
  static void set(void* m, const Argument& a) { *static_cast<DType*>(m) = value_as<DType>(a.value); }
};

struct Range {
  double lo = -1e300, hi = 1e300;
  bool open_lo = false;
};
constexpr Range at_least(double lo) { return {lo, 1e300, false}; }
constexpr Range above(double lo) { return {lo, 1e300, true}; }
constexpr Range within(double lo, double hi) { return {lo, hi, false}; }

struct ArgInfo {
  std::string name, doc;
  ArgType type = ArgType::real;
  bool per_sample = false;  // may be a graph value or a list with one entry per sample
  bool per_frame = false;   // and such an entry may be one value for each frame: a layout that starts with F
  bool required = false;
  Value default_value;
  Range range;
  size_t offset = 0;  // of the member in the operator's struct
  void (*set)(void* member, const Argument&) = nullptr;
};

// Throws if a constant is outside the range; per-sample values are checked where they are used.
void check_range(const ArgInfo& info, const Argument& a);
std::string to_text(const Value& v);  // Python literal

}  // namespace penstock
