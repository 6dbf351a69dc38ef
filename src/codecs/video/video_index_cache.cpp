// SPDX-License-Identifier: Apache-2.0
#include "codecs/video/video_index_cache.h"

#include <list>
#include <map>
#include <mutex>
#include <tuple>

#include "base/checksum.h"

namespace penstock {

namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

class VideoIndexCache {
 public:
  using Key = std::tuple<size_t, uint64_t, uint32_t, int64_t>;  // size, two hashes and the limit

  std::shared_ptr<const VideoFile> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto at = known_.find(key);
    if (at == known_.end()) return nullptr;
    order_.splice(order_.end(), order_, at->second);
    return at->second->file;
  }

  void add(const Key& key, std::shared_ptr<const VideoFile> file) {
    std::list<Entry> gone;  // freed without the lock
    const std::lock_guard lock(mutex_);
    const size_t bytes = file->index_bytes();
    if (bytes > kMostBytes || known_.count(key)) return;
    order_.push_back({key, std::move(file), bytes});
    known_[key] = std::prev(order_.end());
    for (bytes_ += bytes; bytes_ > kMostBytes;) {
      bytes_ -= order_.front().bytes;
      known_.erase(order_.front().key);
      gone.splice(gone.end(), order_, order_.begin());
    }
  }

 private:
  struct Entry {
    Key key;
    std::shared_ptr<const VideoFile> file;
    size_t bytes;
  };
  std::mutex mutex_;
  std::list<Entry> order_;  // the most recently used one is last
  std::map<Key, std::list<Entry>::iterator> known_;
  size_t bytes_ = 0;
};

// Never destroyed: FFmpeg's libraries may be gone by then.
VideoIndexCache& cache() {
  static auto* all = new VideoIndexCache;
  return *all;
}

}  // namespace

std::shared_ptr<const VideoFile> open_video_in_memory(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                                                      int64_t max_pixels) {
  const VideoFile::OpenBytes open = [bytes, owner] { return std::make_shared<VideoInMemory>(bytes, owner); };
  const VideoIndexCache::Key key{bytes.size(), content_hash(bytes), crc32c(bytes), max_pixels};
  if (const auto known = cache().find(key)) return known->with_bytes(open);
  auto file = VideoFile::open(open, max_pixels);
  cache().add(key, file->with_bytes(nullptr));
  return file;
}

}  // namespace penstock
