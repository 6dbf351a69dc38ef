// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/h264_units.h"

#include <algorithm>

#include "codecs/header_bits.h"
#include "codecs/video/packet_reader.h"

namespace penstock::h264 {

namespace {

constexpr int kSlice = 1, kKeySlice = 5, kParameters = 7;

// Calls visit(unit and what follows it) until it returns false.
template <class Visit>
void each_unit(std::span<const uint8_t> headers, std::span<const uint8_t> packet, const Visit& visit) {
  const size_t length = headers.size() > 6 && headers[0] == 1 ? (headers[4] & 3) + size_t{1} : 0;  // 0: start codes
  for (size_t at = 0; at + (length ? length : 3) < packet.size();) {
    size_t size = 0;
    if (length) {
      for (size_t k = 0; k < length; ++k) size = size << 8 | packet[at + k];
    } else if (packet[at] != 0 || packet[at + 1] != 0 || packet[at + 2] != 1) {
      ++at;
      continue;
    }
    at += length ? length : 3;
    if (!visit(packet.subspan(at))) return;
    if (size > packet.size() - at) return;
    at += size;
  }
}

bool is_slice(std::span<const uint8_t> unit) { return (unit[0] & 31) >= kSlice && (unit[0] & 31) <= kKeySlice; }

void skip_scaling_lists(HeaderBits& b, int lists) {
  for (int i = 0; i < lists; ++i) {
    if (!b.flag()) continue;
    int next = 8;  // 0: the rest is not written
    for (int last = 8, left = i < 6 ? 16 : 64; left > 0 && next != 0; --left) {
      const uint32_t code = b.exp_golomb();
      next = (last + (code % 2 ? code / 2 + 1 : 256 - code / 2 % 256)) % 256;
      last = next;
    }
  }
}

// Whether the sequence parameter set allows fields as separate pictures.
bool may_have_fields(std::span<const uint8_t> unit) {
  const std::vector<uint8_t> plain =
      without_emulation_prevention(unit.subspan(1, std::min<size_t>(unit.size() - 1, 600)));
  HeaderBits b(plain, "H.264: the sequence parameter set");
  const uint32_t profile = b.read(8);
  b.skip(16);
  b.exp_golomb();
  constexpr uint32_t kWithFormat[] = {100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135};
  if (std::ranges::find(kWithFormat, profile) != std::end(kWithFormat)) {
    const uint32_t format = b.count(3);
    if (format == 3) b.skip(1);
    b.exp_golomb(), b.exp_golomb();
    b.skip(1);
    if (b.flag()) skip_scaling_lists(b, format == 3 ? 12 : 8);
  }
  b.exp_golomb();
  if (const uint32_t order = b.count(2); order == 0) {
    b.exp_golomb();
  } else if (order == 1) {
    b.skip(1);
    b.exp_golomb(), b.exp_golomb();
    for (uint32_t n = b.count(255); n > 0; --n) b.exp_golomb();
  }
  b.exp_golomb();
  b.skip(1);
  b.exp_golomb(), b.exp_golomb();
  return !b.flag();
}

}  // namespace

bool is_referred_to(std::span<const uint8_t> headers, std::span<const uint8_t> packet) {
  bool referred = true;
  each_unit(headers, packet, [&](std::span<const uint8_t> unit) {
    if (is_slice(unit)) referred = (unit[0] & 0x60) != 0;
    return !is_slice(unit);
  });
  return referred;
}

std::vector<bool> packets_with_pictures(const VideoFile& file) {
  const auto headers = ffmpeg::library().extradata(file.parameters());
  PacketReader reader(file);
  reader.go_to(0);
  std::vector<bool> begins(file.packets().size());
  bool several = false, progressive = false;  // slices in a picture; without fields
  for (size_t n = 0; n < begins.size(); ++n) {
    const ffmpeg::Packet* p = reader.read();
    int slices = 0;
    bool told = true;
    each_unit(headers, {p->data, static_cast<size_t>(p->size)}, [&](std::span<const uint8_t> unit) {
      if ((unit[0] & 31) == kParameters) try {
          progressive = !may_have_fields(unit);
          told = told && progressive;
        } catch (const Error&) {  // it is damaged
        }
      if (!is_slice(unit)) return true;
      if (slices++ == 0) {
        // The unit starts with the number of its first macroblock; 0 is one bit. A damaged unit may have any number.
        begins[n] = !several || (unit.size() > 1 && (unit[1] & 0x80) != 0);
        if (n == 0) told = told && (unit[0] & 31) == kKeySlice;
      }
      return n == 0;
    });
    if (n == 0) several = slices > 1;
    if (!told || (n == 0 && slices == 0)) return {};
  }
  if (!progressive) return {};
  return begins;
}

}  // namespace penstock::h264
