// SPDX-License-Identifier: Apache-2.0
#include "data/arrow_column.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace penstock {
namespace {

constexpr int64_t kMostOfPath = 4096;

bool is_bytes(std::string_view format) {
  return format == "z" || format == "u" || format == "Z" || format == "U" || format == "vz" || format == "vu";
}
bool is_large(std::string_view format) { return format == "Z" || format == "U" || format == "+L"; }
bool is_list(std::string_view format) { return format == "+l" || format == "+L"; }
bool is_fixed_list(std::string_view format) { return format.starts_with("+w:"); }

int64_t width_of(const ArrowField& field) {
  const std::string_view digits = std::string_view(field.format).substr(field.format.find(':') + 1);
  int64_t width = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), width);
  if (width < 0 || width > int64_t{1} << 31)
    bad_argument("column '{}': the width of {} is invalid", field.name, field.format);
  return width;
}

DType number_type(std::string_view format) {
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"b", DType::bool_},   {"c", DType::int8},    {"C", DType::uint8},   {"s", DType::int16},   {"S", DType::uint16},
      {"i", DType::int32},   {"I", DType::uint32},  {"l", DType::int64},   {"L", DType::uint64},  {"e", DType::float16},
      {"f", DType::float32}, {"g", DType::float64}, {"tdD", DType::int32}, {"tdm", DType::int64}, {"tts", DType::int32},
      {"ttm", DType::int32}, {"ttu", DType::int64}, {"ttn", DType::int64}};
  for (const auto& [text, type] : kTypes)
    if (text == format) return type;
  return format.starts_with("ts") || format.starts_with("tD") ? DType::int64 : DType::none;
}

std::string names_of(const std::vector<ArrowField>& fields, const std::string& before = {}) {
  std::string names;
  for (const auto& field : fields) names += fmt::format("{}'{}{}'", names.empty() ? "" : ", ", before, field.name);
  return names;
}

int find(const std::vector<ArrowField>& fields, std::string_view name) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == name) return static_cast<int>(i);
  return -1;
}

// The type of the values at the end of the lists.
void set_type(ArrowColumn& column) {
  const ArrowField* field = &column.field;
  column.fixed = true;
  for (; is_list(field->format) || is_fixed_list(field->format); field = &field->children[0]) {
    if (field->children.empty()) bad_argument("column '{}': a list without a type", column.name);
    if (is_fixed_list(field->format)) column.shape.push_back(width_of(*field));
    else column.fixed = false, column.shape.push_back(0);
    if (column.shape.size() > 5) bad_argument("column '{}' has more than 5 dimensions", column.name);
  }
  const std::string& format = field->format;
  if (format.starts_with("w:")) {
    column.shape.push_back(width_of(*field));
  } else if (is_bytes(format) && field == &column.field) {
    column.fixed = false, column.shape.push_back(0);
  } else {
    column.dtype = number_type(format);
    column.bits = column.dtype == DType::bool_;
  }
  column.ndim = column.shape.size();
  if (column.dtype != DType::none) return;
  if (format == kDictionary)
    bad_argument("column '{}' holds entries of a dictionary: cast it to its values, in pyarrow by .dictionary_decode()",
                 column.name);
  if (format == "+s")
    bad_argument("column '{}' has structs: name one of {}", column.name, names_of(field->children, column.name + "."));
  bad_argument("column '{}' has Arrow's type \"{}\"{}; bytes, text, numbers, booleans and lists of numbers can be read",
               column.name, format, field == &column.field ? "" : " in a list");
}

int64_t load_offset(const ArrowGroup& group, const ArrowBuffer& buffer, bool large, int64_t index) {
  uint8_t raw[8] = {};
  const int64_t size = large ? 8 : 4;
  read_arrow(group, buffer, index * size, size, raw);
  int32_t small = 0;
  int64_t wide = 0;
  std::memcpy(&small, raw, 4);
  std::memcpy(&wide, raw, 8);
  return large ? wide : small;
}

bool is_absent(const ArrowNode& node, int64_t index) {
  const ArrowBuffer& bits = node.buffers.empty() ? ArrowBuffer{} : node.buffers[0];
  if (!bits.data) return false;
  if (bits.bytes >= 0 && index / 8 >= bits.bytes) bad_data("the bits of absent values end before the row");
  return !(bits.data[index / 8] >> index % 8 & 1);
}

// A value of at most 12 bytes is in its view; a longer one is in a buffer that the view names.
ArrowValue bytes_of_view(const ArrowGroup& group, const ArrowNode& node, int64_t index) {
  const ArrowBuffer& views = node.buffers[1];
  int32_t view[4] = {};
  read_arrow(group, views, index * 16, 16, reinterpret_cast<uint8_t*>(view));
  ArrowValue value;
  value.bytes = view[0], value.shape = {view[0]};
  if (view[0] < 0) bad_data("a value has a negative length");
  if (view[0] <= 12) {
    value.buffer = &views, value.at = index * 16 + 4;
  } else {
    if (view[2] < 0 || view[2] + 2 >= static_cast<int64_t>(node.buffers.size()) || view[3] < 0)
      bad_data("a value lies in a buffer that the table does not have");
    value.buffer = &node.buffers[view[2] + 2], value.at = view[3];
  }
  return value;
}

ArrowValue bytes_of(const ArrowGroup& group, const ArrowField& field, const ArrowNode& node, int64_t index) {
  if (node.views || field.format[0] == 'v') return bytes_of_view(group, node, index);
  const bool large = is_large(field.format);
  const int64_t begin = load_offset(group, node.buffers[1], large, index),
                end = load_offset(group, node.buffers[1], large, index + 1);
  if (begin < 0 || end < begin) bad_data("offsets of the value decrease: {} and {}", begin, end);
  ArrowValue value;
  value.buffer = &node.buffers[2], value.at = begin, value.bytes = end - begin, value.shape = {end - begin};
  return value;
}

struct Elements {
  const ArrowField* field;
  const ArrowNode* node;
  int64_t first, count;  // offsets of the node included
};

// count * size + after; a damaged file may say anything.
int64_t place_of(int64_t count, int64_t size, int64_t after) {
  int64_t at = 0;
  if (__builtin_mul_overflow(count, size, &at) || __builtin_add_overflow(at, after, &at))
    bad_data("element {} of the list lies where no buffer can be", count);
  return at;
}

// The elements of all lists among `of`, which must have one length.
Elements inside(const ArrowGroup& group, const Elements& of, int64_t& length) {
  const ArrowNode& child = of.node->children[0];
  if (is_fixed_list(of.field->format)) {
    length = width_of(*of.field);
    return {&of.field->children[0], &child, place_of(of.first, length, child.offset), place_of(of.count, length, 0)};
  }
  const bool large = is_large(of.field->format);
  int64_t first = 0, at = 0;
  length = 0;
  for (int64_t i = 0; i < of.count; ++i) {
    const int64_t begin = i ? at : load_offset(group, of.node->buffers[1], large, of.first),
                  end = load_offset(group, of.node->buffers[1], large, of.first + i + 1);
    if (begin < 0 || end < begin) bad_data("offsets of the list decrease: {} and {}", begin, end);
    if (i == 0) first = begin, length = end - begin;
    if (end - begin != length) bad_data("a list holds lists of {} and of {} elements", length, end - begin);
    at = end;
  }
  return {&of.field->children[0], &child, place_of(first, 1, child.offset), place_of(of.count, length, 0)};
}

void check_present(const Elements& of) {
  if (of.node->buffers.empty() || !of.node->buffers[0].data) return;
  for (int64_t i = 0; i < of.count; ++i)
    if (is_absent(*of.node, of.first + i)) bad_data("a list has an absent element (null)");
}

ArrowValue numbers_of(const ArrowGroup& group, const ArrowColumn& column, const ArrowNode& node, int64_t index) {
  ArrowValue value;
  Elements of{&column.field, &node, index, 1};
  while (is_list(of.field->format) || is_fixed_list(of.field->format)) {
    int64_t length = 0;
    of = inside(group, of, length);
    if (of.count > default_file_limit) bad_data("the list has {} elements", of.count);
    check_present(of);
    value.shape.push_back(length);
  }
  int64_t size = static_cast<int64_t>(size_of(column.dtype));
  if (of.field->format.starts_with("w:")) size = width_of(*of.field), value.shape.push_back(size);
  value.buffer = of.node->buffers.size() > 1 ? &of.node->buffers[1] : nullptr;
  value.at = column.bits ? of.first : place_of(of.first, size, 0);
  value.bytes = place_of(of.count, size, 0);
  return value;
}

// The name of the file that stands for absent bytes.
ArrowValue file_of(const ArrowGroup& group, const ArrowColumn& column, const ArrowNode& node, int64_t index) {
  ArrowValue value;
  value.absent = true;
  if (is_absent(node, index + node.offset)) return value;
  const ArrowValue text = bytes_of(group, column.other_field, node, index + node.offset);
  if (text.bytes > kMostOfPath) bad_data("the path of the value has {} bytes", text.bytes);
  value.path.resize(static_cast<size_t>(text.bytes));
  read_arrow(group, *text.buffer, text.at, text.bytes, reinterpret_cast<uint8_t*>(value.path.data()));
  value.absent = value.path.empty();
  return value;
}

}  // namespace

int arrow_buffers(const ArrowField& field) {
  const std::string_view format = field.format;
  if (format == "n" || format == "+r") return 0;
  if (format == "+s" || is_fixed_list(format) || format.starts_with("+us:")) return 1;
  if (format == "+vl" || format == "+vL" || format == "z" || format == "u" || format == "Z" || format == "U") return 3;
  return 2;
}

ArrowColumn arrow_column(const std::vector<ArrowField>& fields, const std::string& name) {
  ArrowColumn column;
  column.name = name;
  const std::vector<ArrowField>* among = &fields;
  std::string_view rest = name;
  for (bool first = true;; first = false) {
    // A name may have dots of its own.
    int found = find(*among, rest);
    const size_t dot = rest.find('.');
    std::string_view part = rest;
    if (found < 0 && dot != std::string_view::npos) part = rest.substr(0, dot), found = find(*among, part);
    if (found < 0 || (!first && column.field.format != "+s"))
      bad_argument("there is no column '{}'; there are {}", name, names_of(*among));
    column.path.push_back(found);
    column.field = ArrowField((*among)[found]);
    if (part.size() == rest.size()) break;
    rest = rest.substr(dot + 1);
    among = &(*among)[found].children;
  }
  if (const int bytes = find(column.field.children, "bytes"); column.field.format == "+s" && bytes >= 0) {
    column.path.push_back(bytes);
    column.other = find(column.field.children, "path");
    if (column.other >= 0 && !is_bytes(column.field.children[column.other].format)) column.other = -1;
    if (column.other >= 0) column.other_field = column.field.children[column.other];
    column.field = ArrowField(column.field.children[bytes]);
  }
  set_type(column);
  return column;
}

void read_arrow(const ArrowGroup& group, const ArrowBuffer& buffer, int64_t at, int64_t bytes, uint8_t* out) {
  if (bytes == 0) return;
  if (at < 0 || (buffer.bytes >= 0 && (bytes > buffer.bytes || at > buffer.bytes - bytes)))
    bad_data("a value is not inside its buffer of {} bytes", buffer.bytes);
  if (buffer.data) std::memcpy(out, buffer.data + at, static_cast<size_t>(bytes));
  else if (buffer.place >= 0) group.files->read_range(group.file, buffer.place + at, bytes, out);
  else bad_data("a value lies in a buffer that the table does not have");
}

ArrowValue arrow_value(const ArrowGroup& group, const ArrowColumn& column, int64_t row) {
  const ArrowNode* node = &group.columns[column.path[0]];
  int64_t index = row + node->offset;
  bool absent = is_absent(*node, index);
  for (size_t i = 1; i < column.path.size() && !absent; ++i) {
    const ArrowNode& parent = *node;
    node = &parent.children[column.path[i]];
    if (i + 1 == column.path.size() && column.other >= 0 && is_absent(*node, index + node->offset)) {
      return file_of(group, column, parent.children[column.other], index);
    }
    index += node->offset;
    absent = is_absent(*node, index);
  }
  if (absent) {
    ArrowValue value;
    value.absent = true;
    return value;
  }
  return is_bytes(column.field.format) ? bytes_of(group, column.field, *node, index)
                                       : numbers_of(group, column, *node, index);
}

}  // namespace penstock
