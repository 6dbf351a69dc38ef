// SPDX-License-Identifier: Apache-2.0
// Reads FlatBuffers of which nothing is trusted: each access is checked against the bytes.
#pragma once
#include <string_view>

#include "data/container.h"
#include "data/number_at.h"

namespace penstock {

class FlatVector;

// A table, whose fields are absent or lie at offsets that its table of fields names.
class FlatTable {
 public:
  FlatTable() = default;
  static FlatTable root(Bytes bytes) { return FlatTable(bytes, follow(bytes, 0)); }
  template <class T> T number(int field, T otherwise) const {
    const int64_t at = place(field);
    return at < 0 ? otherwise : load<T>(bytes_, at);
  }
  bool has(int field) const { return place(field) >= 0; }
  // Error (data) if it is absent.
  FlatTable table(int field) const { return FlatTable(bytes_, follow(bytes_, required(field))); }
  FlatVector vector(int field) const;  // empty where it is absent
  std::string_view text(int field) const;

 private:
  friend class FlatVector;
  FlatTable(Bytes bytes, int64_t at) : bytes_(bytes), at_(at) {
    fields_ = at - load<int32_t>(bytes, at);
    size_ = load<uint16_t>(bytes, fields_);
  }
  template <class T> static T load(Bytes bytes, int64_t at) {
    return number_at<T>(bytes, at, "the metadata of the file points outside itself");
  }
  static int64_t follow(Bytes bytes, int64_t at) { return at + load<uint32_t>(bytes, at); }
  int64_t place(int field) const {
    const int64_t entry = 4 + int64_t{2} * field;
    if (entry + 2 > size_) return -1;
    const auto offset = load<uint16_t>(bytes_, fields_ + entry);
    return offset ? at_ + offset : -1;
  }
  int64_t required(int field) const {
    const int64_t at = place(field);
    if (at < 0) bad_data("the metadata of the file lacks field {}", field);
    return at;
  }

  Bytes bytes_;
  int64_t at_ = 0, fields_ = 0, size_ = 0;
};

class FlatVector {
 public:
  FlatVector() = default;
  FlatVector(Bytes bytes, int64_t at) : bytes_(bytes), first_(at + 4), size_(FlatTable::load<uint32_t>(bytes, at)) {}
  int64_t size() const { return size_; }
  // The number at `inside` of a struct of `width` bytes.
  template <class T> T number(int64_t i, int64_t width, int64_t inside) const {
    return FlatTable::load<T>(bytes_, first_ + i * width + inside);
  }
  FlatTable table(int64_t i) const { return FlatTable(bytes_, FlatTable::follow(bytes_, first_ + i * 4)); }

 private:
  Bytes bytes_;
  int64_t first_ = 0, size_ = 0;
};

inline FlatVector FlatTable::vector(int field) const {
  const int64_t at = place(field);
  return at < 0 ? FlatVector() : FlatVector(bytes_, follow(bytes_, at));
}

inline std::string_view FlatTable::text(int field) const {
  const int64_t at = place(field);
  if (at < 0) return {};
  const int64_t from = follow(bytes_, at), length = load<uint32_t>(bytes_, from);
  if (length > static_cast<int64_t>(bytes_.size()) - from - 4)
    bad_data("the metadata of the file has a text that is cut");
  return {reinterpret_cast<const char*>(bytes_.data()) + from + 4, static_cast<size_t>(length)};
}

}  // namespace penstock
