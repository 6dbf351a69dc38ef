// SPDX-License-Identifier: Apache-2.0
#include "codecs/heif/coded_header.h"

#include <algorithm>

#include "codecs/byte_order.h"
#include "codecs/header_bits.h"

namespace penstock::heif {

namespace {

CodedHeader av1_sequence(Bytes body) {
  HeaderBits b(body, "AVIF: the sequence header");
  const uint32_t profile = b.read(3);
  b.skip(1);  // still_picture
  const bool reduced = b.flag();
  if (reduced) {
    b.skip(5);
  } else {
    bool model = false;
    int delay_bits = 0;
    if (b.flag()) {  // timing_info
      b.skip(64);
      if (b.flag()) b.exp_golomb();
      if ((model = b.flag())) {
        delay_bits = static_cast<int>(b.read(5)) + 1;
        b.skip(42);
      }
    }
    const bool display_delay = b.flag();
    const uint32_t points = b.read(5) + 1;
    for (uint32_t i = 0; i < points; ++i) {
      b.skip(12);
      if (b.read(5) > 7) b.skip(1);
      if (model && b.flag()) b.skip(2 * delay_bits + 1);
      if (display_delay && b.flag()) b.skip(4);
    }
  }
  CodedHeader h;
  const int width_bits = static_cast<int>(b.read(4)) + 1, height_bits = static_cast<int>(b.read(4)) + 1;
  h.width = int64_t{b.read(width_bits)} + 1, h.height = int64_t{b.read(height_bits)} + 1;
  if (!reduced && b.flag()) b.skip(7);
  b.skip(3);
  if (!reduced) {
    b.skip(4);
    const bool order_hint = b.flag();
    if (order_hint) b.skip(2);
    const uint32_t screen = b.flag() ? 2 : b.read(1);
    if (screen > 0 && !b.flag()) b.skip(1);
    if (order_hint) b.skip(3);
  }
  b.skip(3);
  const bool high = b.flag();
  h.bits = profile == 2 && high ? (b.flag() ? 12 : 10) : high ? 10 : 8;
  const bool gray = profile != 1 && b.flag();
  uint32_t primaries = 2, transfer = 2;
  if (b.flag()) primaries = b.read(8), transfer = b.read(8), h.colors.matrix = static_cast<int>(b.read(8));
  if (gray) {
    h.chroma = Chroma::none;
    h.colors.full_range = b.flag();
  } else if (primaries == 1 && transfer == 13 && h.colors.matrix == 0) {
    h.chroma = Chroma::full;
    h.colors.full_range = true;
  } else {
    h.colors.full_range = b.flag();
    bool half_width = profile != 1, half_height = profile == 0;
    if (profile == 2 && h.bits == 12) half_width = b.flag(), half_height = half_width && b.flag();
    h.chroma = half_height ? Chroma::half_both : half_width ? Chroma::half_width : Chroma::full;
  }
  return h;
}

void skip_scaling_lists(HeaderBits& b) {
  for (int size = 0; size < 4; ++size)
    for (int matrix = 0; matrix < 6; matrix += size == 3 ? 3 : 1) {
      if (!b.flag()) {
        b.exp_golomb();
        continue;
      }
      const int coefficients = std::min(64, 1 << (4 + 2 * size));
      if (size > 1) b.exp_golomb();
      for (int i = 0; i < coefficients; ++i) b.exp_golomb();
    }
}

void skip_reference_sets(HeaderBits& b) {
  const uint32_t sets = b.count(64);
  uint32_t pictures = 0;  // of the previous set
  for (uint32_t i = 0; i < sets; ++i) {
    if (i > 0 && b.flag()) {
      b.skip(1);
      b.exp_golomb();
      uint32_t kept = 0;
      for (uint32_t j = 0; j <= pictures; ++j) kept += b.flag() || b.flag();
      pictures = kept;
    } else {
      const uint32_t before = b.count(16), after = b.count(16);
      pictures = before + after;
      for (uint32_t j = 0; j < pictures; ++j) {
        b.exp_golomb();
        b.skip(1);
      }
    }
  }
}

CodedHeader hevc_sequence(Bytes nal) {
  const std::vector<uint8_t> plain = without_emulation_prevention(nal.subspan(std::min<size_t>(nal.size(), 2)));
  HeaderBits b(plain, "HEIC: the sequence parameter set");
  b.skip(4);
  const int sub_layers = static_cast<int>(b.read(3));
  b.skip(1 + 96);
  bool profile[8] = {}, level[8] = {};
  for (int i = 0; i < sub_layers; ++i) profile[i] = b.flag(), level[i] = b.flag();
  if (sub_layers > 0) b.skip(2 * (8 - sub_layers));
  for (int i = 0; i < sub_layers; ++i) b.skip(88 * profile[i] + 8 * level[i]);
  b.exp_golomb();
  CodedHeader h;
  const uint32_t format = b.count(3);
  if (format == 3 && b.flag()) bad_data("HEIC: separately coded color planes are not supported");
  h.chroma = static_cast<Chroma>(format);
  const int64_t width = b.exp_golomb(), height = b.exp_golomb();
  int64_t cut[4] = {};
  if (b.flag())
    for (int64_t& edge : cut) edge = b.exp_golomb();
  const int64_t unit_x = h.chroma == Chroma::half_both || h.chroma == Chroma::half_width ? 2 : 1;
  const int64_t unit_y = h.chroma == Chroma::half_both ? 2 : 1;
  h.width = width - unit_x * (cut[0] + cut[1]), h.height = height - unit_y * (cut[2] + cut[3]);
  if (h.width < 1 || h.height < 1) bad_data("HEIC: the sequence parameter set says {} x {} pixels", h.height, h.width);
  // A decoder keeps in memory what it crops.
  if (width - h.width > 64 || height - h.height > 64)
    bad_data("HEIC: only {} x {} of {} x {} coded pixels are shown", h.height, h.width, height, width);
  const uint32_t luma = b.exp_golomb(), chroma = b.exp_golomb();
  if (luma > 8 || (format && chroma != luma))
    bad_data("HEIC: depths of {} and {} bits are not supported", luma + 8, chroma + 8);
  h.bits = static_cast<int>(luma) + 8;
  const int order_bits = static_cast<int>(b.count(12)) + 4;
  for (int i = b.flag() ? 0 : sub_layers; i <= sub_layers; ++i) b.exp_golomb(), b.exp_golomb(), b.exp_golomb();
  for (int i = 0; i < 6; ++i) b.exp_golomb();
  if (b.flag() && b.flag()) skip_scaling_lists(b);
  b.skip(2);
  if (b.flag()) {  // pcm
    b.skip(8);
    b.exp_golomb(), b.exp_golomb();
    b.skip(1);
  }
  skip_reference_sets(b);
  if (b.flag())
    for (uint32_t n = b.count(32); n > 0; --n) b.skip(order_bits + 1);
  b.skip(2);
  if (!b.flag()) return h;  // no VUI
  if (b.flag() && b.read(8) == 255) b.skip(32);
  if (b.flag()) b.skip(1);
  if (b.flag()) {
    b.skip(3);
    h.colors.full_range = b.flag();
    if (b.flag()) {
      b.skip(16);
      h.colors.matrix = static_cast<int>(b.read(8));
    }
  }
  return h;
}

constexpr int kAv1SequenceHeader = 1, kHevcSequenceSet = 33;

void av1_headers(Bytes data, std::vector<CodedHeader>& found) {
  for (size_t at = 0; at < data.size();) {
    const uint8_t first = data[at++];
    if (first >> 7) bad_data("AVIF: the coded data has no AV1 unit at byte {}", at - 1);
    const int type = first >> 3 & 15;
    if (first & 4) ++at;
    uint64_t size = data.size() - std::min(at, data.size());
    if (first & 2) {
      size = 0;
      for (int i = 0;; ++i, ++at) {
        if (i == 8 || at >= data.size()) bad_data("AVIF: the coded data ends in a unit");
        size |= uint64_t{data[at] & 127u} << (7 * i);
        if (data[at] < 128) break;
      }
      ++at;
    }
    if (at > data.size() || size > data.size() - at)
      bad_data("AVIF: a unit of {} bytes is longer than the coded data", size);
    if (type == kAv1SequenceHeader) found.push_back(av1_sequence(data.subspan(at, size)));
    at += size;
  }
}

void hevc_header(Bytes nal, std::vector<CodedHeader>& found) {
  if (nal.size() >= 2 && (nal[0] >> 1 & 63) == kHevcSequenceSet) found.push_back(hevc_sequence(nal));
}

}  // namespace

CodedHeader read_configuration(Codec codec, Bytes record) {
  std::vector<CodedHeader> found;
  if (codec == Codec::av1) {
    if (record.size() < 4 || record[0] != 0x81) bad_data("AVIF: the AV1 configuration is not version 1");
    av1_headers(record.subspan(4), found);
    if (!found.empty()) return found.front();
    // The record repeats everything except the size, which the boxes give too.
    CodedHeader h;
    h.bits = record[2] & 0x40 ? (record[2] & 0x20 ? 12 : 10) : 8;
    h.chroma = record[2] & 0x10 ? Chroma::none
               : record[2] & 4  ? Chroma::half_both
               : record[2] & 8  ? Chroma::half_width
                                : Chroma::full;
    return h;
  }
  if (record.size() < 23 || record[0] != 1) bad_data("HEIC: the HEVC configuration is not version 1");
  size_t at = 23;
  const auto need = [&](size_t bytes) {
    if (record.size() - at < bytes) bad_data("HEIC: the HEVC configuration ends early");
  };
  for (int arrays = record[22]; arrays > 0; --arrays) {
    need(3);
    size_t units = be16(&record[at + 1]);
    for (at += 3; units > 0; --units) {
      need(2);
      const size_t length = be16(&record[at]);
      at += 2;
      need(length);
      hevc_header(record.subspan(at, length), found);
      at += length;
    }
  }
  if (found.empty()) bad_data("HEIC: the HEVC configuration contains no sequence parameter set");
  // The picture may refer to any of them.
  for (const CodedHeader& h : found)
    if (h.width != found[0].width || h.height != found[0].height || h.bits != found[0].bits ||
        h.chroma != found[0].chroma)
      bad_data("HEIC: the sequence parameter sets contradict each other");
  return found.front();
}

std::vector<CodedHeader> headers_within(Codec codec, Bytes record, Bytes coded) {
  std::vector<CodedHeader> found;
  if (codec == Codec::av1) {
    av1_headers(coded, found);
    return found;
  }
  const size_t length_bytes = (record[21] & 3) + size_t{1};
  for (size_t at = 0; at < coded.size();) {
    if (coded.size() - at < length_bytes) bad_data("HEIC: the coded data ends in a unit");
    uint64_t length = 0;
    for (size_t i = 0; i < length_bytes; ++i) length = length << 8 | coded[at++];
    if (length > coded.size() - at) bad_data("HEIC: a unit of {} bytes is longer than the coded data", length);
    hevc_header(coded.subspan(at, length), found);
    at += length;
  }
  return found;
}

}  // namespace penstock::heif
