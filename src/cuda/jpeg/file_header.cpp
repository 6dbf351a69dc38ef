// SPDX-License-Identifier: Apache-2.0
#include "cuda/jpeg/file_header.h"

#include <algorithm>
#include <cstring>

#include "codecs/image_format.h"

namespace penstock::jpeg_gpu {
namespace {

// Tables of the second and third component may differ from the first one's, but the three may not all differ.
bool three_differ(const jpeg::HuffmanSpec* specs, int a, int b, int c) {
  return a != b && b != c && a != c && !(specs[a] == specs[b]) && !(specs[b] == specs[c]) && !(specs[a] == specs[c]);
}

void copy_table(const jpeg::HuffmanSpec& from, TableSpec& to, int table) {
  std::copy_n(from.counts + 1, 16, to.counts[table]);
  std::copy_n(from.values, 256, to.values[table]);
}

std::shared_ptr<const TableSpec> shared_tables(const TableSpec& spec) {
  thread_local std::shared_ptr<const TableSpec> last;
  if (!last || std::memcmp(last.get(), &spec, sizeof spec)) last = std::make_shared<const TableSpec>(spec);
  return last;
}

void describe_tables(const jpeg::ScanHeader& h, FileHeader& into) {
  TableSpec spec{};
  int dc[2] = {h.component[0].dc, -1}, ac[2] = {h.component[0].ac, -1};
  uint32_t selector[3] = {};
  for (int c = 1; c < h.components; ++c) {
    const jpeg::ScanComponent& component = h.component[c];
    if (!(h.dc[component.dc] == h.dc[dc[0]])) dc[1] = component.dc, selector[c] |= 1;
    if (!(h.ac[component.ac] == h.ac[ac[0]])) ac[1] = component.ac, selector[c] |= 2;
  }
  for (int i = 0; i < 2; ++i) {
    copy_table(h.dc[dc[i] < 0 ? dc[0] : dc[i]], spec, i);
    copy_table(h.ac[ac[i] < 0 ? ac[0] : ac[i]], spec, 2 + i);
  }
  into.selectors = into.component_of = into.mcu_blocks = 0;
  for (int c = 0; c < h.components; ++c)
    for (int k = 0; k < h.component[c].h * h.component[c].v; ++k, ++into.mcu_blocks) {
      into.selectors |= selector[c] << (2 * into.mcu_blocks);
      into.component_of |= static_cast<uint32_t>(c) << (2 * into.mcu_blocks);
    }
  into.sync_mcu_blocks = dc[1] < 0 && ac[1] < 0 ? 1 : into.mcu_blocks;
  into.tables = shared_tables(spec);
}

}  // namespace

const char* read_file_header(Bytes file, const ParsedHeader& read, FileHeader& into) {
  thread_local jpeg::ScanHeader own;  // three kilobytes
  const char* why = nullptr;
  const jpeg::ScanHeader* const header = jpeg::scan_header_of(file, read, own, why);
  if (!header) return why;
  const jpeg::ScanHeader& h = *header;
  if (file.size() > kMostFileBytes) return "the file is too large";
  if (h.components == 3 && (three_differ(h.dc, h.component[0].dc, h.component[1].dc, h.component[2].dc) ||
                            three_differ(h.ac, h.component[0].ac, h.component[1].ac, h.component[2].ac)))
    return "three different Huffman tables";
  into.width = h.width, into.height = h.height, into.components = h.components;
  into.h = h.h_max, into.v = h.v_max;
  into.chroma_width = h.components == 3 ? h.component[1].width : 0;
  into.chroma_height = h.components == 3 ? h.component[1].height : 0;
  into.mcu_columns = h.mcu_columns, into.mcu_rows = h.mcu_rows, into.restart_interval = h.restart_interval;
  into.scan = h.scan;
  describe_tables(h, into);
  for (int c = 0; c < h.components; ++c)
    for (int k = 0; k < 64; ++k) into.quant[c][(k & 7) * 8 + (k >> 3)] = h.quant[h.component[c].quant][k];
  return nullptr;
}

std::string jpeg_cuda_declines(Bytes file, const ImageInfo& info, const DecodeParams& params, const ParsedHeader& read,
                               ParsedHeader* kept) {
  std::string reasons;
  const auto add = [&](const std::string& reason) { reasons += (reasons.empty() ? "" : "; ") + reason; };
  if (params.dtype != DType::uint8) add(fmt::format("it decodes to uint8, not to {}", name_of(params.dtype)));
  if (params.type == ImageType::ycbcr) add("it does not decode to YCbCr");
  if (params.eighths != 8) add("it does not scale");
  if (!params.fancy_upsampling) add("it has only fancy upsampling");
  if (params.fast_idct) add("it has only the accurate inverse DCT");
  if (info.format->id != "jpeg") {
    add(fmt::format("the format is {}", info.format->id));
    return reasons;
  }
  auto header = std::make_shared<FileHeader>();
  if (const char* why = read_file_header(file, read, *header)) add(why);
  if (kept && reasons.empty()) kept->keep<FileHeader>(std::move(header));
  return reasons;
}

}  // namespace penstock::jpeg_gpu
