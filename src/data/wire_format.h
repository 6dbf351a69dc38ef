// SPDX-License-Identifier: Apache-2.0
// Reading protocol buffers without a schema: fields in their order, every length checked.
#pragma once
#include <cstring>

#include "data/container.h"

namespace penstock {

// Walks over the fields of a message. Errors (data) say what is wrong and at which byte of the message.
class WireReader {
 public:
  explicit WireReader(Bytes message) : begin_(message.data()), at_(message.data()), end_(begin_ + message.size()) {}

  enum Type : uint8_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };
  // Goes to the next field; false at the end.
  bool next() {
    if (at_ == end_) return false;
    const uint64_t tag = take_varint();
    number_ = tag >> 3;
    type_ = static_cast<Type>(tag & 7);
    if (number_ == 0) fail("a field with the number 0");
    switch (type_) {
      case varint: value_ = take_varint(); break;
      case fixed64: value_ = take_fixed(8); break;
      case fixed32: value_ = take_fixed(4); break;
      case length_delimited: {
        const uint64_t n = take_varint();
        if (n > static_cast<uint64_t>(end_ - at_)) fail("a field that is longer than what holds it");
        bytes_ = {at_, static_cast<size_t>(n)};
        at_ += n;
        break;
      }
      default: fail("a field of an unknown kind");
    }
    return true;
  }
  uint64_t number() const { return number_; }
  Type type() const { return type_; }
  bool is(uint64_t number, Type type) const { return number_ == number && type_ == type; }
  uint64_t value() const { return value_; }  // of all but length_delimited; a fixed32 in the low half
  Bytes bytes() const { return bytes_; }     // of length_delimited

  // For packed numbers.
  bool at_end() const { return at_ == end_; }
  uint64_t take_varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) fail("a number that is cut off");
      const uint8_t byte = *at_++;
      v |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return v;
    }
    fail("a number of more than ten bytes");
  }

 private:
  uint64_t take_fixed(int n) {
    if (end_ - at_ < n) fail("a number that is cut off");
    uint64_t v = 0;
    for (int i = 0; i < n; ++i) v |= static_cast<uint64_t>(at_[i]) << (8 * i);
    at_ += n;
    return v;
  }
  [[noreturn]] void fail(const char* what) const {
    bad_data("a damaged message: {} at byte {} of it", what, at_ - begin_);
  }

  const uint8_t *begin_, *at_, *end_;
  uint64_t number_ = 0, value_ = 0;
  Type type_ = varint;
  Bytes bytes_;
};

}  // namespace penstock
