// SPDX-License-Identifier: Apache-2.0
// Reads protocol buffers without a schema: fields in order, every length checked.
#pragma once
#include <cstring>

#include "data/container.h"

namespace penstock {

// Iterates over the fields of a message. Errors (data) name the cause and the byte of the message.
class WireReader {
 public:
  explicit WireReader(Bytes message) : begin_(message.data()), at_(message.data()), end_(begin_ + message.size()) {}

  enum Type : uint8_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };
  // Moves to the next field; false at the end.
  bool next() {
    if (at_ == end_) return false;
    const uint64_t tag = take_varint();
    number_ = tag >> 3;
    type_ = static_cast<Type>(tag & 7);
    if (number_ == 0) fail("a field has the number 0");
    switch (type_) {
      case varint: value_ = take_varint(); break;
      case fixed64: value_ = take_fixed(8); break;
      case fixed32: value_ = take_fixed(4); break;
      case length_delimited: {
        const uint64_t n = take_varint();
        if (n > static_cast<uint64_t>(end_ - at_)) fail("a field is longer than its message");
        bytes_ = {at_, static_cast<size_t>(n)};
        at_ += n;
        break;
      }
      default: fail("a field has an unknown kind");
    }
    return true;
  }
  uint64_t number() const { return number_; }
  Type type() const { return type_; }
  bool is(uint64_t number, Type type) const { return number_ == number && type_ == type; }
  uint64_t value() const { return value_; }  // for all but length_delimited; a fixed32 is in the low half
  Bytes bytes() const { return bytes_; }     // for length_delimited

  // For packed numbers.
  bool at_end() const { return at_ == end_; }
  uint64_t take_varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) fail("a number is truncated");
      const uint8_t byte = *at_++;
      v |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return v;
    }
    fail("a number has more than ten bytes");
  }

 private:
  uint64_t take_fixed(int n) {
    if (end_ - at_ < n) fail("a number is truncated");
    uint64_t v = 0;
    for (int i = 0; i < n; ++i) v |= static_cast<uint64_t>(at_[i]) << (8 * i);
    at_ += n;
    return v;
  }
  [[noreturn]] void fail(const char* what) const { bad_data("a damaged message: {} at byte {}", what, at_ - begin_); }

  const uint8_t *begin_, *at_, *end_;
  uint64_t number_ = 0, value_ = 0;
  Type type_ = varint;
  Bytes bytes_;
};

}  // namespace penstock
