// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/scan_header.h"

#include <algorithm>

#include "codecs/jpeg_header.h"

namespace penstock::jpeg {

const uint8_t kNaturalOrder[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                   12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                   35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                   58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

namespace {

constexpr int kLargestSide = 65500;               // libjpeg's JPEG_MAX_DIMENSION
constexpr size_t kLargestFile = size_t{1} << 30;  // offsets have 32 bits
constexpr const char* kBadSegment = "a segment before the scan is damaged";

int be16(const uint8_t* p) { return p[0] << 8 | p[1]; }

const char* read_quant_tables(Bytes body, ScanHeader& h, bool* present) {
  while (!body.empty()) {
    const int wide = body[0] >> 4, table = body[0] & 15;
    const size_t bytes = wide ? 128 : 64;
    if (wide > 1 || table > 3 || body.size() < 1 + bytes) return kBadSegment;
    for (int i = 0; i < 64; ++i)
      h.quant[table][kNaturalOrder[i]] = static_cast<uint16_t>(wide ? be16(&body[1 + 2 * i]) : body[1 + i]);
    present[table] = true;
    body = body.subspan(1 + bytes);
  }
  return nullptr;
}

const char* read_huffman_tables(Bytes body, ScanHeader& h) {
  while (!body.empty()) {
    const int kind = body[0] >> 4, table = body[0] & 15;
    if (body.size() < 17 || kind > 1 || table > 3) return kBadSegment;
    HuffmanSpec& spec = kind ? h.ac[table] : h.dc[table];
    spec = {};
    int next_code = 0;
    for (int l = 1; l <= 16; ++l, next_code <<= 1) {
      spec.counts[l] = body[l];
      spec.size += body[l];
      next_code += body[l];
      // No code may consist only of ones; here codes stay below 2^16, so nothing overflows.
      if (body[l] && next_code >= 1 << l) return "a Huffman table has too many codes";
      if (next_code > 1 << l) return "a Huffman table has too many codes";
    }
    body = body.subspan(17);
    if (spec.size == 0 || spec.size > 256 || body.size() < static_cast<size_t>(spec.size)) return kBadSegment;
    std::copy_n(body.data(), spec.size, spec.values);
    for (int i = 0; i < spec.size; ++i)
      if (kind ? (spec.values[i] & 15) > 10 : spec.values[i] > 11) return "a coefficient has more than 11 bits";
    body = body.subspan(spec.size);
  }
  return nullptr;
}

const char* read_frame(Bytes body, ScanHeader& h) {
  if (body.size() < 6) return kBadSegment;
  if (body[0] != 8) return "the samples do not have 8 bits";
  h.height = be16(&body[1]);
  h.width = be16(&body[3]);
  h.components = body[5];
  if (h.components != 1 && h.components != 3) return "neither one nor three components";
  if (h.height < 1 || h.width < 1 || h.height > kLargestSide || h.width > kLargestSide)
    return "the size is not supported";
  if (body.size() != 6 + 3 * static_cast<size_t>(h.components)) return kBadSegment;
  for (int i = 0; i < h.components; ++i) {
    ScanComponent& c = h.component[i];
    c.id = body[6 + 3 * i];
    c.h = body[7 + 3 * i] >> 4;
    c.v = body[7 + 3 * i] & 15;
    c.quant = body[8 + 3 * i];
    if (c.quant > 3 || c.h < 1 || c.v < 1 || c.h > 4 || c.v > 4) return kBadSegment;
  }
  return nullptr;
}

const char* read_scan(Bytes body, ScanHeader& h, const bool* quant_present) {
  if (body.size() != 4 + 2 * static_cast<size_t>(h.components) || body[0] != h.components)
    return "the components are in several scans";
  for (int i = 0; i < h.components; ++i) {
    ScanComponent& c = h.component[i];
    c.dc = body[2 + 2 * i] >> 4;
    c.ac = body[2 + 2 * i] & 15;
    if (body[1 + 2 * i] != c.id) return "the scan has a different order of components";
    if (c.dc > 3 || c.ac > 3 || !h.dc[c.dc].size || !h.ac[c.ac].size || !quant_present[c.quant])
      return "a table is missing";
  }
  const uint8_t* spectral = &body[1 + 2 * h.components];
  if (spectral[0] != 0 || spectral[1] != 63 || spectral[2] != 0) return "the scan is not sequential";
  return nullptr;
}

// Sampling factors, and what follows from them.
const char* lay_out(ScanHeader& h, int adobe_transform) {
  ScanComponent* const c = h.component;
  if (h.components == 1) {
    c[0].h = c[0].v = 1;  // a single component is not subsampled, whatever its factors (T.81, A.2.2)
  } else {
    if (c[0].id == c[1].id || c[0].id == c[2].id || c[1].id == c[2].id) return "components share an identifier";
    if (adobe_transform == 0 || adobe_transform > 1 || (c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B'))
      return "the colors are not YCbCr";
    if (c[1].h != 1 || c[1].v != 1 || c[2].h != 1 || c[2].v != 1 || c[0].h > 2 || c[0].v > 2)
      return "chroma is subsampled in an unusual way";
    h.h_max = c[0].h;
    h.v_max = c[0].v;
  }
  h.mcu_columns = (h.width + 8 * h.h_max - 1) / (8 * h.h_max);
  h.mcu_rows = (h.height + 8 * h.v_max - 1) / (8 * h.v_max);
  h.blocks_per_mcu = 0;
  for (int i = 0; i < h.components; ++i) {
    c[i].width = (h.width * c[i].h + h.h_max - 1) / h.h_max;
    c[i].height = (h.height * c[i].v + h.v_max - 1) / h.v_max;
    h.blocks_per_mcu += c[i].h * c[i].v;
  }
  return nullptr;
}

}  // namespace

const char* read_scan_header(Bytes file, ScanHeader& h) {
  if (file.size() > kLargestFile) return "the file is too large";
  if (file.size() < 4 || file[0] != 0xFF || file[1] != 0xD8) return "the start marker is missing";
  bool framed = false, oriented = false, quant_present[4] = {};
  int adobe_transform = -1;
  size_t at = 2;
  while (true) {
    if (file.size() - at < 4 || file[at] != 0xFF) return kBadSegment;
    const uint8_t marker = file[at + 1];
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    const size_t length = be16(&file[at + 2]);
    if (marker < 0xC0 || (marker >= 0xD0 && marker <= 0xD9) || length < 2 || length > file.size() - at - 2)
      return kBadSegment;
    const Bytes body = file.subspan(at + 4, length - 2);
    at += 2 + length;
    const char* why = nullptr;
    switch (marker) {
      case 0xDB: why = read_quant_tables(body, h, quant_present); break;
      case 0xC4: why = read_huffman_tables(body, h); break;
      case 0xC0:
      case 0xC1:
        why = framed ? "two frame headers" : read_frame(body, h);
        framed = true;
        h.frame = marker;
        break;
      case 0xDD:
        if (body.size() != 2) return kBadSegment;
        h.restart_interval = be16(body.data());
        break;
      case 0xE1:
        if (!oriented && is_exif(body)) h.orientation = exif_orientation(body.subspan(kExifBegin)), oriented = true;
        break;
      case 0xEE:
        if (body.size() >= 12 && !std::memcmp(body.data(), "Adobe", 5)) adobe_transform = body[11];
        break;
      case 0xDA:
        if (!framed) return kBadSegment;
        if ((why = read_scan(body, h, quant_present)) || (why = lay_out(h, adobe_transform))) return why;
        h.scan = at;
        // A block has at least two bits. Checked here, so that a small file cannot request much memory.
        if (h.mcus() * h.blocks_per_mcu / 4 > static_cast<int64_t>(file.size() - at))
          return "too few bytes for the size of the picture";
        return nullptr;
      default:
        if (marker < 0xE0 && marker != 0xDB) return "neither baseline nor extended sequential Huffman coding";
        if (marker >= 0xF0 && marker != 0xFE) return "an unusual marker";  // comments and APPn are not needed
    }
    if (why) return why;
  }
}

}  // namespace penstock::jpeg
