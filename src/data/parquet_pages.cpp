// SPDX-License-Identifier: Apache-2.0
// The headers of pages are those of parquet.thrift (apache/parquet-format), in Thrift's compact protocol.
#include "data/parquet_pages.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "data/number_at.h"

namespace penstock {
namespace {

constexpr int64_t kAtLeast = 256;         // bytes of a read: the header of a page and the first length after it
constexpr int64_t kMostHeader = 1 << 20;  // a header may hold the least and the greatest value of its page
constexpr int64_t kInline = 12;           // a value of at most so many bytes lies in its view
constexpr int kMostNested = 8;
constexpr int kDataPage = 0, kDataPageV2 = 3, kPlain = 0;

struct PageHeader {
  int64_t type = -1, bytes = -1, values = -1, encoding = -1, level_bytes = 0;
  int64_t header_bytes = 0;
};

// Reads Thrift's compact protocol. Where the bytes end too early, `ended()` says so and all numbers are 0.
class CompactReader {
 public:
  enum Type : uint8_t {
    stop = 0,
    yes = 1,
    no = 2,
    byte = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    real = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    object = 12
  };
  explicit CompactReader(Bytes bytes) : bytes_(bytes) {}
  bool ended() const { return at_ > bytes_.size(); }
  int64_t at() const { return static_cast<int64_t>(at_); }

  // Calls f(number, type) for each field of a struct, which reads its value.
  template <class F> void fields(F&& f) {
    for (int64_t number = 0;;) {
      const uint8_t head = next();
      if (head == stop) return;
      number = head >> 4 ? number + (head >> 4) : zigzag();
      if (number < 0 || number > INT16_MAX) bad_data("the header of a page has a field with the number {}", number);
      f(number, static_cast<Type>(head & 15));
    }
  }
  int64_t zigzag() {
    const uint64_t n = varint();
    return static_cast<int64_t>(n >> 1 ^ (0 - (n & 1)));
  }
  void skip(Type type, int depth = 0) {
    if (depth > kMostNested) bad_data("the header of a page is nested too deeply");
    switch (type) {
      case yes:
      case no: return;
      case byte: return pass(1);
      case i16:
      case i32:
      case i64: return static_cast<void>(varint());
      case real: return pass(8);
      case binary: return pass(varint());
      case list:
      case set: return skip_list(depth);
      case object: return fields([&](int64_t, Type inner) { skip(inner, depth + 1); });
      default: bad_data("the header of a page has a field of the unknown type {}", static_cast<int>(type));
    }
  }

 private:
  uint8_t next() {
    if (at_ < bytes_.size()) return bytes_[at_++];
    at_ = bytes_.size() + 1;
    return 0;
  }
  uint64_t varint() {
    uint64_t n = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t part = next();
      n |= static_cast<uint64_t>(part & 127) << shift;
      if (part < 128) return n;
    }
    bad_data("the header of a page has a number of more than ten bytes");
  }
  void pass(uint64_t n) { at_ = ended() || n > bytes_.size() - at_ ? bytes_.size() + 1 : at_ + n; }
  void skip_list(int depth) {
    const uint8_t head = next();
    const uint64_t count = head >> 4 == 15 ? varint() : head >> 4;
    const auto type = static_cast<Type>(head & 15);
    for (uint64_t i = 0; i < count && !ended(); ++i) {
      if (type == yes || type == no) pass(1);  // in a list a truth value has a byte
      else skip(type, depth + 1);
    }
  }

  Bytes bytes_;
  size_t at_ = 0;
};

// False: the bytes are only the beginning of the header.
bool parse(Bytes bytes, PageHeader& page) {
  CompactReader reader(bytes);
  page = {};
  reader.fields([&](int64_t number, CompactReader::Type type) {
    if (type == CompactReader::i32 && number == 1) page.type = reader.zigzag();
    else if (type == CompactReader::i32 && number == 3) page.bytes = reader.zigzag();
    else if (type != CompactReader::object || (number != 5 && number != 8)) reader.skip(type);
    else
      reader.fields([&](int64_t inner, CompactReader::Type of) {
        const bool v2 = number == 8;
        if (of != CompactReader::i32) return reader.skip(of, 1);
        const int64_t value = reader.zigzag();
        if (inner == 1) page.values = value;
        else if (inner == (v2 ? 4 : 2)) page.encoding = value;
        else if (v2 && (inner == 5 || inner == 6)) page.level_bytes += std::clamp<int64_t>(value, 0, int64_t{1} << 31);
      });
  });
  page.header_bytes = reader.at();
  return !reader.ended();
}

// Small pieces of a chunk, in order.
class ChunkReader {
 public:
  ChunkReader(const Container& files, const ParquetChunk& chunk)
      : file_(files.path(chunk.file)), begin_(chunk.offset), bytes_(chunk.bytes), waited_(reads_that_waited()) {}
  int64_t bytes() const { return bytes_; }
  Bytes at(int64_t place, int64_t length) {
    if (place > bytes_ || length > bytes_ - place) bad_data("a page or a value reaches beyond its column");
    if (place < start_ || place + length > start_ + static_cast<int64_t>(window_.size())) read(place, length);
    return Bytes(window_).subspan(static_cast<size_t>(place - start_), static_cast<size_t>(length));
  }
  // At most `most` bytes.
  Bytes up_to(int64_t place, int64_t most) { return at(place, std::min(most, bytes_ - place)); }

 private:
  void read(int64_t place, int64_t length) {
    window_.resize(static_cast<size_t>(std::min(std::max(length, kAtLeast), bytes_ - place)));
    start_ = place;
    file_.read(begin_ + place, static_cast<int64_t>(window_.size()), window_.data());
    if (waited_ == reads_that_waited() || begun_) return;
    begun_ = true;  // the values are not in memory: the medium brings them while their places are found
    constexpr int64_t kPiece = 1 << 17;
    for (int64_t at = place; at < bytes_; at += kPiece)
      ::posix_fadvise(file_.descriptor(), begin_ + at, std::min(kPiece, bytes_ - at), POSIX_FADV_WILLNEED);
  }

  const OpenFile file_;
  int64_t begin_, bytes_;
  uint64_t waited_;
  bool begun_ = false;
  int64_t start_ = 0;
  std::vector<uint8_t> window_;
};

// As Arrow has it for its type "vz".
struct View {
  int32_t length = 0;
  std::array<uint8_t, 12> rest{};  // the value, or its first four bytes, the number of its buffer, its offset there
};
static_assert(sizeof(View) == 16);

View view_at(ChunkReader& chunk, int64_t place, int64_t length) {
  View view{static_cast<int32_t>(length), {}};
  if (length <= kInline) {
    const Bytes value = chunk.at(place, length);
    std::copy(value.begin(), value.end(), view.rest.begin());
  } else {
    const auto offset = static_cast<int32_t>(place);
    std::memcpy(view.rest.data() + 8, &offset, sizeof offset);
  }
  return view;
}

PageHeader header_at(ChunkReader& chunk, int64_t place) {
  PageHeader page;
  for (int64_t most = kAtLeast; !parse(chunk.up_to(place, most), page); most *= 16)
    if (most >= kMostHeader || most >= chunk.bytes() - place) bad_data("the header of a page does not end");
  return page;
}

void add_views(ChunkReader& chunk, int64_t at, const PageHeader& page, bool levels, int64_t rows,
               std::vector<View>& views) {
  if (page.encoding != kPlain) bad_data("a page has the encoding {}, its footer says that it has none", page.encoding);
  const int64_t end = at + page.bytes;
  if (page.type == kDataPageV2) at += page.level_bytes;
  else if (levels) at += 4 + int64_t{number_at<uint32_t>(chunk.at(at, 4), 0, "")};
  if (page.values < 0 || page.values > rows - static_cast<int64_t>(views.size()))
    bad_data("its pages have more than {} values", rows);
  for (int64_t i = 0; i < page.values; ++i) {
    if (at > end - 4) bad_data("a page has fewer values than its header says, or absent ones");
    const int64_t length = number_at<uint32_t>(chunk.at(at, 4), 0, "");
    at += 4;
    if (length > end - at) bad_data("a value of {} bytes is not inside its page", length);
    views.push_back(view_at(chunk, at, length));
    at += length;
  }
  if (at != end) bad_data("a page has {} bytes after its values", end - at);
}

std::vector<View> views_of(ChunkReader& chunk, bool levels, int64_t rows) {
  if (chunk.bytes() > int64_t{1} << 31) bad_data("a column of a row group has {} bytes", chunk.bytes());
  std::vector<View> views;
  views.reserve(static_cast<size_t>(std::min(rows, chunk.bytes() / 4)));  // a value has 4 bytes and more
  for (int64_t at = 0; at < chunk.bytes();) {
    const PageHeader page = header_at(chunk, at);
    at += page.header_bytes;
    if (page.bytes < 0 || page.bytes > chunk.bytes() - at)
      bad_data("a page of {} bytes is not inside its column", page.bytes);
    if (page.type == kDataPage || page.type == kDataPageV2) add_views(chunk, at, page, levels, rows, views);
    at += page.bytes;
  }
  if (static_cast<int64_t>(views.size()) != rows)
    bad_data("its pages have {} values instead of {}", views.size(), rows);
  return views;
}

}  // namespace

ParquetColumn parquet_column(const Container& files, const ParquetChunk& chunk, int64_t rows) {
  try {
    ChunkReader reader(files, chunk);
    auto views = std::make_shared<std::vector<View>>(views_of(reader, chunk.levels, rows));
    ParquetColumn column;
    column.node.length = rows;
    column.node.views = true;
    column.node.buffers = {{},
                           {reinterpret_cast<const uint8_t*>(views->data()), rows * int64_t{sizeof(View)}, -1},
                           {nullptr, chunk.bytes, chunk.offset}};
    column.owner = std::move(views);
    return column;
  } catch (Error& e) {
    if (e.source.empty()) e.source = files.path(chunk.file);
    throw;
  }
}

}  // namespace penstock
