// SPDX-License-Identifier: Apache-2.0
#include "operator/argument.h"

#include <cmath>

#include "batch/view_part.h"
#include "operator/argument_kinds.h"
#include "operator/named_numbers.h"

namespace penstock {

const char* name_of(ArgType t) {
  constexpr const char* names[] = {"bool",  "int",           "float",           "str",
                                   "dtype", "Sequence[int]", "Sequence[float]", "Sequence[str]"};
  return names[static_cast<int>(t)];
}

const char* meaning_of(ArgType t) {
  constexpr const char* texts[] = {"True or False",   "an integer",         "a number",          "a string",
                                   "an element type", "a list of integers", "a list of numbers", "a list of strings"};
  return texts[static_cast<int>(t)];
}

[[noreturn]] static void refuse_kind(const char* wanted, const Value& v) {
  std::string given = to_text(v);
  if (given.size() > 60) {
    size_t end = 57;
    while (end > 0 && (given[end] & 0xC0) == 0x80) --end;  // not inside a letter of several bytes
    given = given.substr(0, end) + "...";
  }
  bad_type("expected {}, got {}", wanted, given);
}

static double number(const Value& v, const char* wanted = "a number") {
  if (auto p = std::get_if<bool>(&v)) return *p;
  if (auto p = std::get_if<int64_t>(&v)) return static_cast<double>(*p);
  if (auto p = std::get_if<double>(&v)) return *p;
  if (auto p = std::get_if<std::vector<int64_t>>(&v); p && p->size() == 1) return static_cast<double>((*p)[0]);
  if (auto p = std::get_if<std::vector<double>>(&v); p && p->size() == 1) return (*p)[0];
  refuse_kind(wanted, v);
}

template <> double value_as<double>(const Value& v) { return number(v); }
template <> float value_as<float>(const Value& v) { return static_cast<float>(number(v)); }
template <> int64_t value_as<int64_t>(const Value& v) {
  if (auto p = std::get_if<int64_t>(&v)) return *p;
  const double d = number(v, "an integer");
  if (d != std::floor(d) || std::fabs(d) > 9e18) bad_type("expected an integer, got {}", d);
  return static_cast<int64_t>(d);
}
template <> int value_as<int>(const Value& v) {
  const int64_t i = value_as<int64_t>(v);
  if (i < INT32_MIN || i > INT32_MAX) bad_argument("{} does not fit into 32 bits", i);
  return static_cast<int>(i);
}
template <> bool value_as<bool>(const Value& v) { return number(v, "True or False") != 0; }
template <> std::string value_as<std::string>(const Value& v) {
  if (auto p = std::get_if<std::string>(&v)) return *p;
  refuse_kind("a string", v);
}
template <> DType value_as<DType>(const Value& v) {
  if (auto p = std::get_if<std::string>(&v)) return dtype_from_name(*p);
  const int64_t i = value_as<int64_t>(v);
  if (i != -1 && !is_type(i)) bad_type("{} is not an element type", i);
  return static_cast<DType>(i);
}
template <> std::vector<std::string> value_as<std::vector<std::string>>(const Value& v) {
  if (auto p = std::get_if<std::vector<std::string>>(&v)) return *p;
  if (auto p = std::get_if<std::string>(&v)) return {*p};
  if (auto p = std::get_if<std::vector<int64_t>>(&v); p && p->empty()) return {};
  refuse_kind("a list of strings", v);
}
static void refuse_text(const Value& v, const char* wanted) {
  if (std::holds_alternative<std::string>(v) || std::holds_alternative<std::vector<std::string>>(v))
    refuse_kind(wanted, v);
}
template <> std::vector<double> value_as<std::vector<double>>(const Value& v) {
  if (auto p = std::get_if<std::vector<double>>(&v)) return *p;
  if (auto p = std::get_if<std::vector<int64_t>>(&v)) return {p->begin(), p->end()};
  refuse_text(v, "a list of numbers");
  return {number(v)};
}
template <> std::vector<float> value_as<std::vector<float>>(const Value& v) {
  const auto d = value_as<std::vector<double>>(v);
  return {d.begin(), d.end()};
}
template <> std::vector<int64_t> value_as<std::vector<int64_t>>(const Value& v) {
  if (auto p = std::get_if<std::vector<int64_t>>(&v)) return *p;
  refuse_text(v, "a list of integers");
  std::vector<int64_t> out;
  for (double d : value_as<std::vector<double>>(v)) out.push_back(value_as<int64_t>(Value{d}));
  return out;
}

template <class T> static T scalar_of(const View& v) {
  if (v.volume() != 1) bad_argument("expected one value for a sample, got a tensor of shape {}", v.shape.text());
  if constexpr (std::is_integral_v<T>) return static_cast<T>(element_as_int(v, 0));
  return static_cast<T>(element_as_double(v, 0));
}
// Without a view if the sample has one element, wherever its memory is.
template <class T> static T scalar_at(const Batch& b, int sample) {
  const Batch::Sample& s = b.sample(sample);
  for (int64_t e : s.shape)
    if (e != 1) return scalar_of<T>(b.view(sample));
  return dispatch_stored(b.dtype(), [&](auto tag) {
    const auto v = *static_cast<const typename decltype(tag)::type*>(s.data);
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<int64_t>(v));
    else return static_cast<T>(static_cast<double>(v));
  });
}
template <> double sample_as<double>(const Batch& b, int sample) { return scalar_at<double>(b, sample); }
template <> float sample_as<float>(const Batch& b, int sample) { return scalar_at<float>(b, sample); }
template <> int64_t sample_as<int64_t>(const Batch& b, int sample) { return scalar_at<int64_t>(b, sample); }
template <> int sample_as<int>(const Batch& b, int sample) { return scalar_at<int>(b, sample); }
template <> bool sample_as<bool>(const Batch& b, int sample) { return scalar_at<double>(b, sample) != 0; }

template <> double view_as<double>(const View& v) { return scalar_of<double>(v); }
template <> float view_as<float>(const View& v) { return scalar_of<float>(v); }
template <> int64_t view_as<int64_t>(const View& v) { return scalar_of<int64_t>(v); }
template <> int view_as<int>(const View& v) { return scalar_of<int>(v); }
template <> bool view_as<bool>(const View& v) { return scalar_of<double>(v) != 0; }
template <> std::vector<float> view_as<std::vector<float>>(const View& v) {
  std::vector<float> out(v.volume());
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(element_as_double(v, i));
  return out;
}
template <> std::vector<double> view_as<std::vector<double>>(const View& v) {
  std::vector<double> out(v.volume());
  for (size_t i = 0; i < out.size(); ++i) out[i] = element_as_double(v, i);
  return out;
}
template <> std::vector<int64_t> view_as<std::vector<int64_t>>(const View& v) {
  std::vector<int64_t> out(v.volume());
  for (size_t i = 0; i < out.size(); ++i) out[i] = element_as_int(v, i);
  return out;
}

View of_frame(const View& values, int64_t frame) {
  if (values.shape.empty()) return values;
  const int64_t n = values.shape[0];
  if (n == 0) bad_argument("an argument with values for each frame has none");
  return entry(values, n == 1 ? 0 : frame);
}

namespace {

bool outside(const Range& range, double d) {
  return !(d >= range.lo && d <= range.hi) || (range.open_lo && d == range.lo);
}
[[noreturn]] void refuse(const ArgInfo& info, double d, const std::string& where) {
  const Range& range = info.range;
  if (range.lo <= -1e300 && range.hi >= 1e300) bad_argument("{} must be a number, got {}{}", info.name, d, where);
  bad_argument("{} must be {} {}{}, got {}{}", info.name, range.open_lo ? "greater than" : "at least", range.lo,
               range.hi < 1e300 ? fmt::format(" and at most {}", range.hi) : "", d, where);
}

// One value per sample: checks for NaN here, because every comparison of a range passes it. Other values are checked
// where they are used.
template <class T> bool has_nan(const Batch::Sample& s) {
  const T* values = static_cast<const T*>(s.data);
  if (!values || !s.strides.empty()) return false;
  if (s.shape.empty()) return *values != *values;
  bool found = false;
  for (int64_t k = 0, n = s.shape.volume(); k < n; ++k) found |= values[k] != values[k];
  return found;
}
template <class T> void check_numbers_of(const ArgInfo& info, const Batch& b) {
  const int n = b.size();
  for (int i = 0; i < n; ++i)  // for each batch of each argument: short
    if (has_nan<T>(b.sample(i))) refuse(info, std::nan(""), fmt::format(" for sample {}", i));
}
void check_numbers(const ArgInfo& info, const Batch& b) {
  if (b.device().kind != DeviceKind::cpu) return;
  if (b.dtype() == DType::float32) check_numbers_of<float>(info, b);
  if (b.dtype() == DType::float64) check_numbers_of<double>(info, b);
}

}  // namespace

void check_range(const ArgInfo& info, const Argument& a) {
  const bool real = info.type == ArgType::real || info.type == ArgType::reals;
  const bool any = info.range.lo <= -1e300 && info.range.hi >= 1e300;
  if (any && (!real || std::isinf(info.range.lo))) return;  // operator/any_number.h
  if (a.batch) {
    if (real) check_numbers(info, *a.batch);
    return;
  }
  if (a.value.index() == 0) return;
  if (const auto* one = std::get_if<double>(&a.value)) {
    if (any ? *one != *one : outside(info.range, *one)) refuse(info, *one, "");
    return;
  }
  if (any && !std::holds_alternative<std::vector<double>>(a.value)) return;
  if (std::holds_alternative<std::string>(a.value)) refuse_kind(meaning_of(info.type), a.value);
  for (double d : value_as<std::vector<double>>(a.value))
    if (any ? d != d : outside(info.range, d)) refuse(info, d, "");
}

namespace {
struct Literal {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool b) const { return b ? "True" : "False"; }
  std::string operator()(int64_t i) const { return std::to_string(i); }
  std::string operator()(double d) const {
    const auto f = static_cast<float>(d);  // a float is printed as one: 0.08, not 0.0799999982
    std::string s = static_cast<double>(f) == d ? fmt::format("{}", f) : fmt::format("{:.9g}", d);
    if (s.find_first_of(".einf") == std::string::npos) s += ".0";
    return s;
  }
  std::string operator()(const std::string& s) const { return fmt::format("'{}'", s); }
  template <class T> std::string operator()(const std::vector<T>& l) const {
    std::string s = "[";
    for (size_t i = 0; i < l.size(); ++i) s += (i ? ", " : "") + (*this)(l[i]);
    return s + "]";
  }
};
}  // namespace

std::string to_text(const Value& v) { return std::visit(Literal{}, v); }

namespace {
struct Choice {
  int64_t number;
  std::vector<std::string> names;  // the first one is printed
};
const std::vector<Choice>& choices_of(const ArgInfo& info) {
  static const std::vector<Choice> none,
      filters = {{0, {"nearest", "nn", "interp_nn"}},
                 {1, {"linear", "bilinear", "interp_linear"}},
                 {2, {"cubic", "bicubic", "interp_cubic"}},
                 {3, {"lanczos3", "lanczos", "interp_lanczos3"}},
                 {4, {"triangular", "interp_triangular"}},
                 {5, {"gaussian", "interp_gaussian"}},
                 {6, {"box", "interp_box"}},
                 {7, {"hamming", "interp_hamming"}},
                 {8, {"area", "interp_area"}},
                 {9, {"linear_exact", "interp_linear_exact"}}},
      spaces = {{0, {"rgb"}}, {1, {"bgr"}}, {2, {"gray", "grey"}}, {3, {"ycbcr"}}, {4, {"any_data"}}},
      // Those of color_space_conversion, whose numbers are ColorFormat's (ops/shared/color_formats.h).
      formats = {{0, {"rgb"}},    {1, {"bgr"}},   {2, {"gray", "grey"}},  {3, {"ycbcr"}},  {5, {"rgba"}},
                 {6, {"bgra"}},   {7, {"hsv"}},   {8, {"hsv_full"}},      {9, {"hls"}},    {10, {"hls_full"}},
                 {11, {"lab"}},   {12, {"luv"}},  {13, {"xyz"}},          {14, {"ycrcb"}}, {15, {"yuv"}},
                 {16, {"nv12"}},  {17, {"nv21"}}, {18, {"i420", "iyuv"}}, {19, {"yv12"}},  {20, {"yuyv", "yuy2"}},
                 {21, {"uyvy"}},  {22, {"yvyu"}}, {23, {"nv16"}},         {24, {"nv24"}},  {25, {"bgr565"}},
                 {26, {"bgr555"}}};
  if (info.type != ArgType::integer) return none;
  if (info.name == "interp_type" || info.name == "mag_filter" || info.name == "min_filter") return filters;
  if (info.name == "image_type" || info.name == "output_type") return info.range.hi == 26 ? formats : spaces;
  return none;
}
}  // namespace

Value without_name(const ArgInfo& info, const Value& v) {
  const auto* given = std::get_if<std::string>(&v);
  const auto& choices = choices_of(info);
  if (!given || choices.empty()) return v;
  std::string lower = *given, names;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const Choice& c : choices) {
    for (const std::string& name : c.names)
      if (name == lower) return c.number;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", c.names[0]);
  }
  bad_argument("{} must be one of {}, got '{}'", info.name, names, *given);
}

std::string default_text(const ArgInfo& info) {
  const Value& v = info.default_value;
  if (const auto* number = std::get_if<int64_t>(&v)) {
    if (info.type == ArgType::dtype) return fmt::format("'{}'", name_of(static_cast<DType>(*number)));
    for (const Choice& c : choices_of(info))
      if (c.number == *number) return fmt::format("'{}'", c.names[0]);
  }
  return to_text(v);
}

}  // namespace penstock
