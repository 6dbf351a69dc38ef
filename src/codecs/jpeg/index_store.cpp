// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/index_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/begin_thread.h"
#include "base/checksum.h"
#include "base/error.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
constexpr auto kWritePause = milliseconds(2000), kLockPause = milliseconds(20);
constexpr int kLockTries = 100;
constexpr int64_t kBatchBytes = int64_t{1} << 20;         // collected before it is written
constexpr int64_t kMostPendingBytes = int64_t{64} << 20;  // if nothing can be written, no more is made
constexpr int64_t kRoomStep = int64_t{64} << 20;
constexpr auto kForgottenAfter = std::chrono::hours(24 * 90);
constexpr const char* kSuffix = ".index";

std::string folder_of(const std::string& path) {
  std::string folder = fs::path(path).parent_path();
  if (folder.empty() || folder.back() != '/') folder += '/';
  return folder;
}
std::string absolute(const std::string& path) {
  std::error_code ignored;
  const fs::path p = fs::absolute(path, ignored);
  return (ignored ? fs::path(path) : p).lexically_normal();
}

}  // namespace

std::shared_ptr<EntropyIndexStore> EntropyIndexStore::open(const std::string& path, const IndexStoreOptions& options) {
  static auto* mutex = new std::mutex;
  static auto* stores = new std::map<std::pair<int, std::string>, std::weak_ptr<EntropyIndexStore>>;
  const std::string name = absolute(path);
  std::lock_guard lock(*mutex);
  auto& known = (*stores)[{::getpid(), name}];  // a child of a fork has none of its parent's threads
  auto store = known.lock();
  if (!store) known = store = std::make_shared<EntropyIndexStore>(name, options);
  return store;
}

EntropyIndexStore::EntropyIndexStore(std::string path, const IndexStoreOptions& options)
    : options_(options), process_(::getpid()), path_(absolute(path)), folder_(folder_of(path_)) {
  std::error_code ignored;
  working_folder_ = fs::current_path(ignored).string() + "/";
  files_.push_back(std::make_unique<IndexFile>(path_, options_.private_file, options_.write));
  if (const std::string why = file().open(false); !why.empty()) give_up(why);
  if (file().is_open()) {
    readable_ = &file();
    if (options_.private_file) ::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);  // time of last use, for has_room()
    if (!file().writable()) give_up("the file is read-only");
    load(false);
  }
}

EntropyIndexStore::~EntropyIndexStore() {
  if (process_ != ::getpid()) {  // threads and the state of locks do not survive a fork
    thread_.release();
    return;
  }
  {
    std::lock_guard lock(pending_mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_) thread_->join();
  flush();
}

std::string EntropyIndexStore::note() const {
  std::lock_guard lock(pending_mutex_);
  return note_;
}

void EntropyIndexStore::give_up(const std::string& why) {
  if (gave_up_.exchange(true)) return;
  {
    std::lock_guard lock(pending_mutex_);
    note_ = why;
  }
  if (why != "the file is read-only")
    std::fprintf(stderr,
                 "penstock: entropy indexes are not kept in %s: %s. Decoding continues; "
                 "PENSTOCK_ENTROPY_INDEX=off turns them off.\n",
                 path_.c_str(), why.c_str());
}

uint64_t EntropyIndexStore::key_of(const std::string& path, int64_t offset, int64_t length, std::string& name) const {
  std::string_view text = path;
  if (path.find("://") == std::string::npos) {
    // Like std::filesystem::path::lexically_normal, without allocations.
    name = !path.empty() && path[0] == '/' ? "/" : working_folder_;
    for (size_t at = 0; at < path.size();) {
      const size_t end = std::min(path.find('/', at), path.size());
      const std::string_view part = text.substr(at, end - at);
      at = end + 1;
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        name.resize(name.size() > 1 ? name.rfind('/', name.size() - 2) + 1 : 1);
      } else {
        name += part;
        name += '/';
      }
    }
    if (name.size() > 1) name.pop_back();
    text = name;
  }
  if (text.size() > folder_.size() && text.substr(0, folder_.size()) == folder_) text.remove_prefix(folder_.size());
  const uint64_t words[3] = {content_hash({reinterpret_cast<const uint8_t*>(text.data()), text.size()}),
                             static_cast<uint64_t>(offset), static_cast<uint64_t>(length)};
  return content_hash({reinterpret_cast<const uint8_t*>(words), sizeof words});
}

bool EntropyIndexStore::find(uint64_t key, std::vector<uint8_t>& entry) {
  const auto place = table_.find(key, entry);
  if (place.memory || !place.bytes) return place.bytes > 0;
  const IndexFile* file = readable_.load(std::memory_order_acquire);
  entry.resize(place.bytes);
  return file && file->read(place.offset, place.bytes, entry.data());
}

void EntropyIndexStore::add(const IndexRecord& record, const EntropyIndex& index) {
  if (!takes_more()) return;
  thread_local std::vector<uint8_t> waiting;
  if (table_.find(record.key, waiting).memory) {  // another thread had the same record
    const auto head = read_entry_head(waiting, false);
    if (head && head->record.content == record.content) return;
  }
  auto bytes = std::make_unique<std::vector<uint8_t>>();
  append_entry(record, index, *bytes);
  // Drops what no reader would accept.
  thread_local EntropyIndex checked;
  const auto head = read_entry_head(*bytes, false);
  if (bytes->size() > kMostSegmentBytes / 2 || !head || !read_entry_points(*bytes, *head, checked)) return;
  const auto size = static_cast<uint32_t>(bytes->size());
  bytes->shrink_to_fit();
  std::unique_lock lock(pending_mutex_);
  table_.put(record.key, {0, size, bytes.get()});
  pending_.push_back(std::move(bytes));
  pending_bytes_ += size;
  full_ = pending_bytes_ > kMostPendingBytes;
  const bool wake = pending_bytes_ > kBatchBytes && pending_bytes_ - size <= kBatchBytes;
  if (!thread_ && !gave_up_ && !stop_) thread_ = std::make_unique<std::thread>(begin_thread([this] { serve(); }));
  lock.unlock();
  if (wake) wake_.notify_all();
}

void EntropyIndexStore::serve() {
  std::unique_lock lock(pending_mutex_);
  bool busy = false;
  while (!stop_) {
    if (busy) wake_.wait_for(lock, kLockPause, [this] { return stop_; });
    else wake_.wait_for(lock, kWritePause, [this] { return stop_ || pending_bytes_ > kBatchBytes; });
    if (stop_ || gave_up_) break;
    lock.unlock();
    busy = !write_pending(false);
    lock.lock();
  }
}

void EntropyIndexStore::flush() { write_pending(true); }

void EntropyIndexStore::load(bool locked) {
  file().read_new(locked, [this](uint64_t key, int64_t offset, uint32_t bytes) {
    const auto before = table_.put(key, {offset, bytes, nullptr});
    live_bytes_ += bytes;
    if (before.bytes && !before.memory) dead_bytes_ += before.bytes, live_bytes_ -= before.bytes;
  });
}

void EntropyIndexStore::reopen() {
  auto next = std::make_unique<IndexFile>(path_, options_.private_file, options_.write);
  const std::string why = next->open(true);
  if (!why.empty()) return give_up(why);
  files_.push_back(std::move(next));
  table_.forget_file();
  live_bytes_ = dead_bytes_ = 0;
  readable_.store(&file(), std::memory_order_release);
}

bool EntropyIndexStore::write_pending(bool wait) {
  std::lock_guard file_lock(file_mutex_);
  std::vector<Entry> batch;
  {
    std::lock_guard lock(pending_mutex_);
    if (gave_up_) return true;
    batch.swap(pending_);
  }
  bool done = true;
  try {
    if (batch.empty()) {
      if (file().is_open()) load(false);  // entries from other processes
      return true;
    }
    if (!file().is_open()) reopen();
    for (int tries = 0; !gave_up_; ++tries) {
      done = file().try_lock();
      if (done && file().was_replaced()) {
        file().unlock();
        reopen();
        continue;
      }
      if (done || !wait || tries == kLockTries) break;
      std::this_thread::sleep_for(kLockPause);
    }
    if (done && !gave_up_) {
      write_locked(batch);
      file().unlock();
    }
  } catch (const std::exception& e) {  // no memory
    give_up(e.what());
  }
  std::lock_guard lock(pending_mutex_);  // what is not written stays in memory
  for (auto& e : batch) pending_.push_back(std::move(e));
  pending_bytes_ = 0;
  for (const auto& e : pending_) pending_bytes_ += static_cast<int64_t>(e->size());
  full_ = pending_bytes_ > kMostPendingBytes;
  return done;
}

// Does not write entries again that another process has written in the meantime.
void EntropyIndexStore::write_locked(std::vector<Entry>& batch) {
  load(true);
  if (dead_bytes_ > kBatchBytes && dead_bytes_ > live_bytes_) compact();
  std::vector<uint8_t> there;
  std::vector<const std::vector<uint8_t>*> entries;
  std::vector<DirectoryEntry> directory;
  while (!batch.empty()) {
    entries.clear();
    int64_t bytes = 0;
    size_t taken = 0;
    for (; taken < batch.size() && bytes < kMostSegmentBytes / 4; ++taken) {
      const auto& entry = *batch[taken];
      const auto head = read_entry_head(entry, false);
      const auto place = table_.find(head->record.key);
      if (place.bytes && !place.memory) {
        there.resize(place.bytes);
        if (file().read(place.offset, place.bytes, there.data())) {
          const auto old = read_entry_head(there);
          if (old && old->record.content == head->record.content) continue;
        }
      }
      entries.push_back(&entry);
      bytes += static_cast<int64_t>(entry.size());
    }
    if (!entries.empty()) {
      const auto segment = make_segment(entries, directory);
      if (!has_room(static_cast<int64_t>(segment.size())))
        return give_up(fmt::format("the limit of {} bytes is reached", options_.limit));
      int64_t at = 0;
      if (const std::string why = file().append(segment, at); !why.empty()) return give_up(why);
      readable_.store(&file(), std::memory_order_release);
      for (const auto& e : directory) {
        const auto before = table_.put(e.key, {at + e.offset, e.bytes, nullptr});
        live_bytes_ += e.bytes;
        if (before.bytes && !before.memory) dead_bytes_ += before.bytes, live_bytes_ -= before.bytes;
      }
    }
    batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(taken));
  }
}

// Replaces this file by a new one with the entries that are in use; other processes notice when they write.
void EntropyIndexStore::compact() {
  const std::string name = path_ + ".new";
  ::unlink(name.c_str());
  IndexFile next(name, options_.private_file, options_.write);
  std::vector<IndexTable::Place> places;
  table_.each([&](const IndexTable::Place& p) {
    if (!p.memory) places.push_back(p);
  });
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  if (!next.open(true).empty()) return;
  std::vector<std::vector<uint8_t>> held;
  std::vector<const std::vector<uint8_t>*> entries;
  std::vector<DirectoryEntry> directory;
  int64_t bytes = 0, at = 0;
  bool good = true;
  for (size_t i = 0; good && i <= places.size(); ++i) {
    if (i < places.size()) {
      std::vector<uint8_t> entry(places[i].bytes);
      if (!file().read(places[i].offset, places[i].bytes, entry.data()) || !read_entry_head(entry)) continue;
      bytes += places[i].bytes;
      held.push_back(std::move(entry));
    }
    if (!held.empty() && (bytes > kMostSegmentBytes / 4 || i == places.size())) {
      for (const auto& e : held) entries.push_back(&e);
      good = next.append(make_segment(entries, directory), at).empty();
      held.clear(), entries.clear(), bytes = 0;
    }
  }
  if (!good || ::rename(name.c_str(), path_.c_str()) != 0) {
    ::unlink(name.c_str());
    dead_bytes_ = 0;  // not again at once
    return;
  }
  file().unlock();
  reopen();
  if (gave_up_ || !file().try_lock()) return;
  load(true);
}

// In the user's cache folder, makes room by deleting the least recently used files, and those of data sets that nobody
// has read for a season.
bool EntropyIndexStore::has_room(int64_t bytes) {
  const int64_t end = file().end() + bytes;
  if (end > options_.limit) return false;
  if (!options_.private_file || end < next_room_check_) return true;
  next_room_check_ = end + kRoomStep;
  struct Other {
    fs::path path;
    fs::file_time_type used;
    int64_t bytes;
  };
  std::vector<Other> others;
  int64_t sum = end + kRoomStep;
  std::error_code failed;
  for (fs::directory_iterator i(folder_, failed), none; !failed && i != none; i.increment(failed)) {
    std::error_code gone;
    if (i->path().extension() != kSuffix || i->path() == fs::path(path_) || !i->is_regular_file(gone)) continue;
    const auto used = i->last_write_time(gone);
    const auto size = static_cast<int64_t>(i->file_size(gone));
    if (gone) continue;
    sum += size;
    others.push_back({i->path(), used, size});
  }
  std::sort(others.begin(), others.end(), [](const Other& a, const Other& b) { return a.used < b.used; });
  for (const Other& o : others) {
    if (sum <= options_.limit && fs::file_time_type::clock::now() - o.used < kForgottenAfter) break;
    if (fs::remove(o.path, failed)) sum -= o.bytes;
  }
  return true;
}

}  // namespace penstock
