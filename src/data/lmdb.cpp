// SPDX-License-Identifier: Apache-2.0
#include "data/lmdb.h"

#include <filesystem>

#include "data/number_at.h"
#include "data/remote_client.h"

namespace penstock {
namespace {

constexpr uint32_t kMetaMagic = 0xBEEFC0DEu;
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr int64_t kPageHead = 16, kNodeHead = 8;
constexpr int kMostLevels = 64;
enum PageFlag : uint16_t { branch = 1, leaf = 2, overflow = 4, meta = 8 };
enum NodeFlag : uint16_t { big_data = 1, sub_data = 2, dup_data = 4 };

template <class T> T load(Bytes page, int64_t at) { return number_at<T>(page, at, "the page ends inside a number"); }

struct Meta {
  int64_t page_bytes = 0;
  uint64_t root = kNoPage, entries = 0, transaction = 0;
  uint16_t flags = 0;
  bool valid = false;
};

// Head, magic, version, address, map size, two databases of 48 bytes (free pages, main), last page, transaction.
Meta read_meta(FileScan& file, int64_t at) {
  constexpr int64_t kDatabases = kPageHead + 24, kMain = kDatabases + 48, kBytes = kMain + 48 + 16;
  Meta m;
  const Bytes page = file.at(at, kBytes, "the meta page");
  if (load<uint32_t>(page, kPageHead) != kMetaMagic) return m;
  if (load<uint32_t>(page, kPageHead + 4) != 1)
    file.fail(at, "version {} of the format is not supported, only version 1", load<uint32_t>(page, kPageHead + 4));
  m.page_bytes = load<uint32_t>(page, kDatabases);
  m.flags = load<uint16_t>(page, kMain + 4);
  m.entries = load<uint64_t>(page, kMain + 32);
  m.root = load<uint64_t>(page, kMain + 40);
  m.transaction = load<uint64_t>(page, kMain + 56);
  m.valid = true;
  return m;
}

class Walk {
 public:
  Walk(FileScan& file, bool with_keys) : file_(file), with_keys_(with_keys) {}

  ContainerIndex run() {
    Meta m = read_meta(file_, 0);
    if (!m.valid) file_.fail(0, "this is not an LMDB database");
    page_ = m.page_bytes;
    if (page_ < 256 || page_ > 65536 || (page_ & (page_ - 1))) file_.fail(0, "pages of {} bytes are impossible", page_);
    // Uses the later of the two meta pages: the other one may be half written.
    const Meta other = read_meta(file_, page_);
    if (other.valid && other.page_bytes == page_ && other.transaction > m.transaction) m = other;
    if (m.flags & (sub_data | dup_data)) file_.fail(0, "a database with several values for a key is not supported");
    entered_.assign(static_cast<size_t>(file_.bytes() / page_) + 1, false);
    if (m.root != kNoPage) enter(m.root, 0);
    if (static_cast<uint64_t>(index_.size()) != m.entries)
      file_.fail(0, "the tree has {} values, its head says {}", index_.size(), m.entries);
    return std::move(index_);
  }

 private:
  // A copy of the page: the scan reads other pages while this one is in use.
  std::vector<uint8_t> take(uint64_t number, int64_t& at) {
    if (number < 2 || number >= entered_.size())
      file_.fail(0, "page {} does not lie inside the file of {} bytes", number, file_.bytes());
    at = static_cast<int64_t>(number) * page_;
    if (entered_[number]) file_.fail(at, "page {} occurs twice: the tree is damaged", number);
    entered_[number] = true;
    const Bytes bytes = file_.at(at, page_, "a page");
    if (load<uint64_t>(bytes, 0) != number)
      file_.fail(at, "page {} says that it is page {}", number, load<uint64_t>(bytes, 0));
    return {bytes.begin(), bytes.end()};
  }

  void enter(uint64_t number, int depth) {
    if (depth > kMostLevels) file_.fail(0, "the tree has more than {} levels", kMostLevels);
    int64_t at = 0;
    const std::vector<uint8_t> bytes = take(number, at);
    const Bytes page(bytes);
    const auto kind = load<uint16_t>(page, 10) & (branch | leaf | overflow | meta);
    if (kind != branch && kind != leaf) file_.fail(at, "the tree has a page of the invalid kind {}", kind);
    const int64_t lower = load<uint16_t>(page, 12);
    if (lower < kPageHead || lower > page_ || lower % 2) file_.fail(at, "the entries of a page end at byte {}", lower);
    for (int64_t pointer = kPageHead; pointer < lower; pointer += 2) {
      const int64_t node = load<uint16_t>(page, pointer);
      if (node < lower || node > page_ - kNodeHead)
        file_.fail(at + pointer, "an entry is at byte {} of its page", node);
      const uint64_t low = load<uint32_t>(page, node);
      const auto flags = load<uint16_t>(page, node + 4);
      const int64_t key = load<uint16_t>(page, node + 6);
      const int64_t data = node + kNodeHead + key;
      if (data > page_) file_.fail(at + node, "a key of {} bytes does not lie inside its page", key);
      if (kind == branch) enter(low | static_cast<uint64_t>(flags) << 32, depth + 1);
      else add(at, page, node, data, low, flags);
    }
  }

  void add(int64_t at, Bytes page, int64_t node, int64_t data, uint64_t size, uint16_t flags) {
    if (flags & (sub_data | dup_data))
      file_.fail(at + node, "several values for a key, or a named database: not supported");
    if (flags & big_data) {
      if (data + 8 > page_) file_.fail(at + node, "an entry is truncated");
      const auto number = load<uint64_t>(page, data);
      int64_t first = 0;
      const std::vector<uint8_t> head = take(number, first);
      const int64_t pages = load<uint32_t>(head, 12);
      if (!(load<uint16_t>(head, 10) & overflow)) file_.fail(first, "page {} does not hold a large value", number);
      if (static_cast<int64_t>(size) > pages * page_ - kPageHead || first + pages * page_ > file_.bytes())
        file_.fail(first, "a value of {} bytes in {} pages does not lie inside them or the file", size, pages);
      index_.add(first + kPageHead, static_cast<int64_t>(size));
    } else {
      if (static_cast<int64_t>(size) > page_ - data)
        file_.fail(at + node, "a value of {} bytes does not lie inside its page", size);
      index_.add(at + data, static_cast<int64_t>(size));
    }
    if (!with_keys_) return;
    index_.names.emplace_back(reinterpret_cast<const char*>(page.data()) + node + kNodeHead, data - node - kNodeHead);
    for (char& c : index_.names.back()) c = c ? c : ' ';  // names are stored with a final zero
  }

  FileScan& file_;
  bool with_keys_;
  int64_t page_ = 0;
  std::vector<bool> entered_;
  ContainerIndex index_;
};

}  // namespace

ContainerFormat lmdb_format(bool with_keys) {
  return {with_keys ? "lmdb_keys" : "lmdb", [with_keys](FileScan& file) { return Walk(file, with_keys).run(); },
          nullptr, nullptr};
}

std::string lmdb_file(const std::string& path) {
  if (is_url(path)) return path.ends_with(".mdb") ? path : path_in(path, "data.mdb");
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path + "/data.mdb" : path;
}

}  // namespace penstock
