// SPDX-License-Identifier: Apache-2.0
#include "data/npy.h"

#include <charconv>
#include <cstring>

namespace penstock {
namespace {

// The dict as NumPy writes it: keys in single or double quotes, any order, blanks anywhere.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}
  bool take(char c) {
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) bad_data("a damaged .npy header: no '{}' at byte {} of the dict", c, at_);
  }
  std::string_view string() {
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : 0;
    if (quote != '\'' && quote != '"') bad_data("a damaged .npy header: no string at byte {} of the dict", at_);
    const size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) bad_data("a damaged .npy header: a string without an end");
    const std::string_view s = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return s;
  }
  bool boolean() {
    blanks();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    bad_data("a damaged .npy header: neither True nor False at byte {} of the dict", at_);
  }
  Shape shape() {
    Shape s;
    need('(');
    while (!take(')')) {
      int64_t extent = -1;
      blanks();
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) bad_data("a damaged .npy header: no extent at byte {} of the dict", at_);
      at_ = static_cast<size_t>(end - text_.data());
      take('L');  // of Python 2
      if (s.size() == Shape::kMaxDims) bad_data("an array of more than {} dimensions", Shape::kMaxDims);
      s.push_back(extent);
      if (!take(',')) {
        need(')');
        break;
      }
    }
    return s;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  std::string_view text_;
  size_t at_ = 0;
};

DType type_of(std::string_view descr) {
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"b1", DType::bool_},  {"i1", DType::int8},    {"i2", DType::int16},   {"i4", DType::int32},
      {"i8", DType::int64},  {"u1", DType::uint8},   {"u2", DType::uint16},  {"u4", DType::uint32},
      {"u8", DType::uint64}, {"f2", DType::float16}, {"f4", DType::float32}, {"f8", DType::float64}};
  if (descr.size() == 3 && (descr[0] == '<' || descr[0] == '|' || descr[0] == '='))
    for (const auto& [name, type] : kTypes)
      if (descr.substr(1) == name) return type;
  bad_data("elements of type '{}': little-endian numbers and booleans are read", descr);
}

}  // namespace

NpyHeader read_npy_header(Bytes start, int64_t file_bytes) {
  if (start.size() < 10 || std::memcmp(start.data(), "\x93NUMPY", 6) != 0) bad_data("this is no .npy file");
  const int version = start[6];
  if (version < 1 || version > 3) bad_data("version {} of .npy files is not known", version);
  const size_t words = version == 1 ? 10 : 12;
  if (start.size() < words) bad_data("the header is cut off");
  size_t length = start[8] | start[9] << 8;
  if (version > 1) length |= static_cast<size_t>(start[10]) << 16 | static_cast<size_t>(start[11]) << 24;
  if (length > start.size() - words) bad_data("a header of {} bytes in a file of {}", length, file_bytes);
  DictReader dict({reinterpret_cast<const char*>(start.data()) + words, length});
  NpyHeader h;
  bool has_shape = false;
  dict.need('{');
  while (!dict.take('}')) {
    const std::string_view key = dict.string();
    dict.need(':');
    if (key == "descr") h.dtype = type_of(dict.string());
    else if (key == "fortran_order") h.fortran_order = dict.boolean();
    else if (key == "shape") h.shape = dict.shape(), has_shape = true;
    else bad_data("a damaged .npy header: the key '{}'", key);
    if (!dict.take(',')) {
      dict.need('}');
      break;
    }
  }
  if (h.dtype == DType::none || !has_shape) bad_data("a damaged .npy header: no descr or no shape");
  h.data = static_cast<int64_t>(words + length);
  int64_t bytes = static_cast<int64_t>(size_of(h.dtype));
  bool fits = true, empty = false;
  for (const int64_t e : h.shape) {
    empty |= e == 0;
    fits &= !__builtin_mul_overflow(bytes, e ? e : 1, &bytes);
  }
  if (!fits || (!empty && bytes > file_bytes - h.data))
    bad_data("an array of shape {} and type {} does not lie inside a file of {} bytes", h.shape.text(),
             name_of(h.dtype), file_bytes);
  return h;
}

}  // namespace penstock
