// SPDX-License-Identifier: Apache-2.0
// Reads big-endian fields and boxes (ISO/IEC 14496-12) in bytes that may be damaged.
#pragma once
#include <string>

#include "codecs/byte_order.h"
#include "codecs/image_decoder.h"

namespace penstock::heif {

constexpr uint32_t four(const char (&name)[5]) {
  return uint32_t(uint8_t(name[0])) << 24 | uint32_t(uint8_t(name[1])) << 16 | uint32_t(uint8_t(name[2])) << 8 |
         uint8_t(name[3]);
}
inline std::string four_cc_text(uint32_t four) {
  std::string s;
  for (int shift = 24; shift >= 0; shift -= 8) {
    const char c = static_cast<char>(four >> shift);
    s += c >= 32 && c < 127 ? c : '?';
  }
  return s;
}

class Fields {
 public:
  Fields(Bytes bytes, uint32_t box) : bytes_(bytes), box_(box) {}

  uint64_t read(int count) {
    uint64_t v = 0;
    for (uint8_t b : take(count)) v = v << 8 | b;
    return v;
  }
  Bytes take(uint64_t count) {
    if (count > left()) bad_data("HEIF: the box '{}' ends early", four_cc_text(box_));
    const Bytes part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  Bytes rest() { return take(left()); }
  size_t left() const { return bytes_.size() - at_; }
  size_t at() const { return at_; }

 private:
  Bytes bytes_;
  uint32_t box_;
  size_t at_ = 0;
};

struct Box {
  uint32_t type = 0;
  Bytes body;
  int version = 0;  // of a full box, set by full()
  uint32_t flags = 0;
  bool cut = false;  // truncated by the end of the bytes

  Fields fields() const { return {body, type}; }
  // Reads the version and flags at the start of a full box.
  Box full() const {
    Fields f = fields();
    Box b = *this;
    b.version = static_cast<int>(f.read(1)), b.flags = static_cast<uint32_t>(f.read(3));
    b.body = f.rest();
    return b;
  }
};

// Calls each(box) for the boxes in `bytes`; a true result ends the walk. With `cut`, the last box may extend past the
// end: its body is then the part that is present.
template <class Each>
void for_boxes(Bytes bytes, uint32_t parent, bool cut, const Each& each) {
  Fields f(bytes, parent);
  while (f.left() >= 8) {
    const size_t begin = f.at();
    uint64_t size = f.read(4);
    const auto type = static_cast<uint32_t>(f.read(4));
    if (size == 1) size = f.read(8);
    const uint64_t header = f.at() - begin;
    if (size == 0) size = header + f.left();
    if (size < header) bad_data("HEIF: the box '{}' has an invalid size of {} bytes", four_cc_text(type), size);
    uint64_t body = size - header;
    if (body > f.left()) {
      if (!cut) bad_data("HEIF: the box '{}' ends early", four_cc_text(parent));
      body = f.left();
    }
    const bool is_cut = body < size - header;
    if (each(Box{.type = type, .body = f.take(body), .cut = is_cut})) return;
  }
}

}  // namespace penstock::heif
