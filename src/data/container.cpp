// SPDX-License-Identifier: Apache-2.0
#include "data/container.h"

#include <fcntl.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "base/checksum.h"
#include "base/error_of.h"
#include "data/container_index.h"
#include "data/hash.h"
#include "data/remote_list.h"
#include "data/replace_file.h"

namespace penstock {

namespace fs = std::filesystem;

Bytes FileScan::at(int64_t offset, int64_t length, const char* what) {
  if (offset < 0 || length < 0 || offset > bytes_ || length > bytes_ - offset)
    fail(offset, "{} of {} bytes does not lie inside the file of {} bytes", what, length, bytes_);
  if (offset < start_ || offset + length > start_ + length_) {
    if (file_.remote()) return remote_at(offset, length);
    const bool follows = offset >= start_ && offset <= start_ + length_ + kLeast;
    piece_ = follows ? std::min(2 * piece_, kMost) : kLeast;
    const int64_t take = std::min(std::max(length, piece_), bytes_ - offset);
    if (static_cast<int64_t>(buffer_.size()) < take) buffer_.resize(take);
    length_ = 0;
    file_.read(offset, take, buffer_.data());
    start_ = offset, length_ = take;
    if (progress_) progress_->reach(offset + take);
  }
  return {buffer_.data() + (offset - start_), static_cast<size_t>(length)};
}

// Reads large blocks; if they are read in sequence, it reads ahead, because a request takes long.
Bytes FileScan::remote_at(int64_t offset, int64_t length) {
  constexpr int64_t kBlock = 1 << 22, kAhead = 16;
  const int64_t first = offset / kBlock, last = (offset + length + kBlock - 1) / kBlock;
  const int64_t start = first * kBlock, end = std::min(last * kBlock, bytes_);
  if (static_cast<int64_t>(buffer_.size()) < end - start) buffer_.resize(static_cast<size_t>(end - start));
  const bool follows = start_ + length_ == start && length_ > 0;
  length_ = 0;
  if (follows) {
    std::vector<ByteRange> next;
    for (int64_t at = start; at < bytes_ && at < end + kAhead * kBlock; at += kBlock)
      next.push_back({file_.path(), at, std::min(kBlock, bytes_ - at)});
    RemoteStorage::instance().announce(this, next);
  }
  for (int64_t at = start; at < end; at += kBlock)
    file_.read(at, std::min(kBlock, bytes_ - at), buffer_.data() + (at - start));
  start_ = start, length_ = end - start;
  if (progress_) progress_->reach(end), progress_->look();
  return {buffer_.data() + (offset - start_), static_cast<size_t>(length)};
}

FileScan::~FileScan() {
  if (file_.remote()) RemoteStorage::instance().forget(this);
}

std::vector<std::string> expand_paths(std::span<const std::string> paths) {
  std::vector<std::string> out;
  for (const auto& path : paths) {
    std::error_code ignored;
    if (is_url(path)) {
      expand_url(path, out);
      continue;
    }
    if (path.find_first_of("*?[") == std::string::npos || fs::exists(path, ignored)) {
      out.push_back(path);
      continue;
    }
    glob_t found{};
    const int failed = ::glob(path.c_str(), 0, nullptr, &found);
    for (size_t i = 0; !failed && i < found.gl_pathc; ++i) out.emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    if (failed) fail_on(path, ErrorKind::file_missing, "no file matches the pattern");
  }
  if (out.empty()) bad_argument("give at least one path");
  return out;
}

// Whether the head of the last record is the one that the index was made from.
static bool last_head_fits(const ContainerFormat& format, const ContainerIndex& index, const OpenFile& file) {
  if (format.head_bytes == 0 || index.size() == 0) return true;
  if (static_cast<int64_t>(index.heads.size()) != index.size()) return false;
  const int64_t at = index.offsets.back() - format.head_bytes;
  std::vector<uint8_t> head(static_cast<size_t>(format.head_bytes));
  if (at < 0 || error_of([&] { file.read(at, format.head_bytes, head.data()); })) return false;
  return std::max<uint32_t>(1, crc32c(head)) == index.heads.back();
}

static ContainerIndex index_of(const ContainerFormat& format, const std::string& path, const std::string& index_path,
                               FileStamp& stamp) {
  const OpenFile file(path);
  stamp = file.stamp();
  const auto scan = [&] {
    ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
    Progress progress("index of " + path, "B", stamp.bytes);
    FileScan through(file, &progress);
    return format.scan(through);
  };
  if (!index_path.empty() && (exists(index_path) || !format.index_text)) {
    std::vector<uint8_t> text;
    read_file(index_path, text, int64_t{1} << 36);
    ContainerIndex index = format.parse_index({text.begin(), text.end()}, index_path, stamp.bytes);
    if (const int64_t i = first_outside(index, stamp.bytes); i >= 0)
      fail_on(index_path, ErrorKind::data,
              "record {}, {} bytes at {}, does not lie inside {} of {} bytes: is it the index of another file?", i,
              index.lengths[i], index.offsets[i], path, stamp.bytes);
    return index;
  }
  const bool in_cache = index_path.empty() || is_url(index_path);  // nothing is written to remote storage
  const FileStamp identity = in_cache ? identity_of(file) : stamp;
  if (auto kept = in_cache ? kept_index(format.name, path, identity) : std::nullopt;
      kept && last_head_fits(format, *kept, file))
    return std::move(*kept);
  ContainerIndex index = scan();
  if (in_cache) {
    keep_index(format.name, path, identity, index);
  } else {
    const std::string text = format.index_text(index);
    error_of([&] { replace_file(index_path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}); });
  }
  return index;
}

Container::Container(ContainerFormat format, std::vector<std::string> paths, std::span<const std::string> index_paths)
    : format_(format.name), paths_(std::move(paths)), head_bytes_(format.head_bytes), check_head_(format.check_head) {
  if (!index_paths.empty() && index_paths.size() != paths_.size())
    bad_argument("{} index files for {} files", index_paths.size(), paths_.size());
  for (int i = 0; i < files(); ++i) {
    FileStamp stamp;
    ContainerIndex index = index_of(format, paths_[i], index_paths.empty() ? "" : index_paths[i], stamp);
    add(std::move(index), stamp, i);
  }
  finish();
}

Container::Container(const char* format, std::vector<std::string> paths, std::vector<ContainerIndex> indexes)
    : format_(format), paths_(std::move(paths)) {
  for (int i = 0; i < files(); ++i) add(std::move(indexes[i]), OpenFile(paths_[i]).stamp(), i);
  finish();
}

void Container::add(ContainerIndex index, FileStamp stamp, int file) {
  first_.push_back(size());
  stamps_.push_back(stamp);
  offsets_.insert(offsets_.end(), index.offsets.begin(), index.offsets.end());
  lengths_.insert(lengths_.end(), index.lengths.begin(), index.lengths.end());
  names_.insert(names_.end(), std::make_move_iterator(index.names.begin()), std::make_move_iterator(index.names.end()));
  index.heads.resize(index.offsets.size());
  heads_.insert(heads_.end(), index.heads.begin(), index.heads.end());
  const std::string name = fs::path(paths_[file]).filename();
  hash_ =
      mix64(hash_bytes(name, hash_) ^ mix64(static_cast<uint64_t>(stamp.bytes)) ^ static_cast<uint64_t>(index.size()));
}

void Container::check_head(int64_t record, Bytes head) const {
  if (heads_[record]) {
    if (std::max<uint32_t>(1, crc32c(head)) == heads_[record]) return;
    fail_on(source(record), ErrorKind::data,
            "the file has changed since its index was made: the last record has another header");
  }
  try {
    check_head_(head, lengths_[record]);
  } catch (Error& e) {
    e.source = source(record);
    throw;
  }
}

void Container::finish() {
  first_.push_back(size());
  places_.assign(paths_.size(), recent_.end());
  if (size() == 0)
    fail_on(paths_.front(), ErrorKind::data, "there are no records in {}", files() > 1 ? "these files" : "this file");
}

int Container::file_of(int64_t record) const {
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end() - 1, record) - first_.begin()) - 1;
}

ByteRange Container::range(int64_t record) const {
  return {paths_[file_of(record)], offsets_[record], lengths_[record]};
}

std::string Container::source(int64_t record) const {
  const std::string place = fmt::format("{}, byte {}", paths_[file_of(record)], offsets_[record]);
  return names_.empty() ? place : fmt::format("{}, {}", place, names_[record]);
}

std::shared_ptr<const OpenFile> Container::open(int file) const {
  std::lock_guard lock(mutex_);
  auto& place = places_[file];
  if (place != recent_.end()) {
    recent_.splice(recent_.begin(), recent_, place);
    return place->opened;
  }
  auto opened = std::make_shared<const OpenFile>(paths_[file]);
  const FileStamp now = opened->stamp();
  if (now.bytes != stamps_[file].bytes || now.modified_ns != stamps_[file].modified_ns)
    fail_on(paths_[file], ErrorKind::data,
            "the file has changed since the reader was made: it has {} bytes, but had "
            "{}",
            now.bytes, stamps_[file].bytes);
  if (recent_.size() >= kMostOpen && !opened->remote()) {
    places_[recent_.back().file] = recent_.end();
    recent_.pop_back();
  }
  recent_.push_front({file, opened});
  place = recent_.begin();
  return opened;
}

void Container::read_range(int file, int64_t offset, int64_t length, uint8_t* out) const {
  const int64_t bytes = stamps_[file].bytes;
  if (offset < 0 || length < 0 || offset > bytes || length > bytes - offset)
    fail_on(paths_[file], ErrorKind::data, "{} bytes at {} do not lie inside the file of {} bytes", length, offset,
            bytes);
  open(file)->read(offset, length, out);
}

void Container::read(int64_t record, uint8_t* out) const {
  try {
    read_range(file_of(record), offsets_[record], lengths_[record], out);
  } catch (Error& e) {
    e.source = source(record);
    throw;
  }
}

}  // namespace penstock
