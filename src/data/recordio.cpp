// SPDX-License-Identifier: Apache-2.0
#include "data/recordio.h"

#include <algorithm>
#include <cstring>

#include "data/container_formats.h"
#include "data/container_index.h"

namespace penstock {
namespace {

constexpr uint32_t kChunkMagic = 0xCED7230Au;
constexpr int64_t kChunkHead = 8;
constexpr size_t kImageHead = 24;
enum ChunkKind : uint32_t { whole = 0, first = 1, middle = 2, last = 3 };

template <class T> T load_word(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

int64_t padded(int64_t n) { return (n + 3) & ~int64_t{3}; }

ContainerIndex scan_recordio(FileScan& file) {
  ContainerIndex index;
  int64_t start = -1;  // of the record whose chunks follow
  for (int64_t at = 0; at < file.bytes();) {
    const Bytes head = file.at(at, kChunkHead, "the head of a chunk");
    if (load_word<uint32_t>(head.data()) != kChunkMagic)
      file.fail(at, "{}", at ? "expected a RecordIO chunk" : "this is not a RecordIO file");
    const uint32_t word = load_word<uint32_t>(head.data() + 4), kind = word >> 29;
    const int64_t bytes = padded(word & 0x1FFFFFFFu);
    if (bytes > file.bytes() - at - kChunkHead)
      file.fail(at, "a chunk of {} bytes does not lie inside the file of {} bytes", bytes, file.bytes());
    if (kind > last || (start < 0) != (kind == whole || kind == first))
      file.fail(at, "unexpected chunk of kind {}", kind);
    if (start < 0) start = at;
    at += kChunkHead + bytes;
    if (kind != whole && kind != last) continue;
    index.add(start, at - start);
    start = -1;
  }
  if (start >= 0) file.fail(start, "the last record is truncated");
  return index;
}

ContainerIndex parse_recordio(const std::string& text, const std::string& path, int64_t bytes) {
  std::vector<int64_t> offsets;
  for (const auto& line : number_lines(text, path, 2)) offsets.push_back(line[1]);
  std::sort(offsets.begin(), offsets.end());
  ContainerIndex index;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] < 0 || offsets[i] >= bytes)
      fail_on(path, ErrorKind::data, "a record at {} does not lie inside the file of {} bytes", offsets[i], bytes);
    index.add(offsets[i], (i + 1 < offsets.size() ? offsets[i + 1] : bytes) - offsets[i]);
  }
  return index;
}

std::string text_of_recordio(const ContainerIndex& index) {
  std::string text;
  for (int64_t i = 0; i < index.size(); ++i) text += fmt::format("{}\t{}\n", i, index.offsets[i]);
  return text;
}

// The chunk's data; moves `rest` to the next chunk.
Bytes take_chunk(Bytes& rest, uint32_t& kind) {
  if (static_cast<int64_t>(rest.size()) < kChunkHead)
    bad_data("the record ends inside the header of a chunk: does the index belong to the file?");
  if (load_word<uint32_t>(rest.data()) != kChunkMagic)
    bad_data("expected a RecordIO chunk: does the index belong to the file?");
  const uint32_t word = load_word<uint32_t>(rest.data() + 4);
  kind = word >> 29;
  const int64_t bytes = word & 0x1FFFFFFFu;
  if (bytes > static_cast<int64_t>(rest.size()) - kChunkHead)
    bad_data("a chunk of {} bytes does not lie inside its record of {}", bytes, rest.size());
  const Bytes data = rest.subspan(kChunkHead, bytes);
  rest = rest.subspan(kChunkHead + std::min<int64_t>(padded(bytes), rest.size() - kChunkHead));
  return data;
}

}  // namespace

// Index files are rec2idx's: lines of a key and an offset.
PENSTOCK_CONTAINER_FORMAT(recordio, scan_recordio, parse_recordio, text_of_recordio);

void read_image_record(Bytes record, ImageRecord& out) {
  uint32_t kind = whole;
  Bytes data = take_chunk(record, kind);
  out.joined.clear();
  if (kind == first) {
    out.joined.assign(data.begin(), data.end());
    const auto* magic = reinterpret_cast<const uint8_t*>(&kChunkMagic);
    while (kind != last) {
      const Bytes part = take_chunk(record, kind);
      if (kind != middle && kind != last) bad_data("unexpected chunk of kind {} inside a record", kind);
      out.joined.insert(out.joined.end(), magic, magic + 4);
      out.joined.insert(out.joined.end(), part.begin(), part.end());
    }
    data = out.joined;
  } else if (kind != whole) {
    bad_data("a record begins with a chunk of kind {}: does the index belong to the file?", kind);
  }
  if (data.size() < kImageHead) bad_data("a record of {} bytes has no image record header", data.size());
  const uint32_t count = load_word<uint32_t>(data.data());
  const Bytes after = data.subspan(kImageHead);
  if (count > after.size() / 4) bad_data("{} labels do not lie inside a record of {} bytes", count, data.size());
  out.labels.resize(std::max<size_t>(1, count));
  std::memcpy(out.labels.data(), count ? after.data() : data.data() + 4, 4 * out.labels.size());
  out.image = after.subspan(4 * size_t{count});
}

}  // namespace penstock
