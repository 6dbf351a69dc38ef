// SPDX-License-Identifier: Apache-2.0
// Objects that URLs name: whole, in ranges, or announced before they are needed. Runs many requests at once, on its own
// threads. A failed request is retried a few times; then it ends in an Error with the URL as its source.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/error.h"
#include "data/remote_cache.h"
#include "data/storage.h"

namespace penstock {

struct RemoteOptions {
  int connections = 32;  // concurrent requests
  int tries = 4;
  std::chrono::milliseconds first_pause{200};  // before the second try; doubles with each further one
  int64_t read_ahead = int64_t{256} << 20;     // bytes of announced objects that wait for their readers
  std::string cache;                           // a folder; "": none
  int64_t cache_limit = 0;                     // bytes
  bool cache_check = true;                     // asks the server whether an object still has the cached version
};

struct RemoteCounts {
  int64_t requests = 0, retries = 0, bytes = 0;  // of objects, received
  int64_t announced = 0;                         // reads that found an announced object
  int64_t cache_hits = 0;
  int64_t running = 0;  // requests that are pending or not answered yet, without those that are only announced
};

// During its lifetime, reads of this thread end with a `cancelled` error soon after `ended` becomes true.
class RemoteWait {
 public:
  explicit RemoteWait(const std::atomic<bool>& ended);
  ~RemoteWait();
};

class RemoteStorage {
 public:
  static RemoteStorage& instance();  // of this process: a forked child has its own

  void set_client(std::shared_ptr<RemoteClient> client);
  // Error (argument) if the cache's folder cannot be used. Drops what waits in memory.
  void configure(const RemoteOptions& options);
  RemoteOptions options() const;
  RemoteCounts counts() const;
  // Ends the threads; later reads fail. Waits at most `patience` for running requests, then abandons them.
  void close(std::chrono::milliseconds patience);

  RemoteStamp head(const std::string& url);
  // Errors: file_missing; data if the request fails or `limit` is exceeded.
  std::shared_ptr<const RemoteObject> whole(const std::string& url, int64_t limit);
  // The object if it was announced as a whole, else nothing.
  std::shared_ptr<const RemoteObject> announced(const std::string& url);
  // Exactly `length` bytes of this version of the object. Error (data) if the version has changed.
  void read(const std::string& url, const RemoteStamp& stamp, int64_t offset, int64_t length, uint8_t* out);
  std::vector<RemoteEntry> list(const std::string& url);

  // What `owner` will read soon, in this order; length -1: the whole object. Requested while there is room.
  // Contiguous ranges become one request.
  void announce(const void* owner, std::span<const ByteRange> ranges);
  void forget(const void* owner);  // drops what it has announced

  RemoteStorage();
  ~RemoteStorage();

 private:
  static constexpr int64_t kBlock = int64_t{4} << 20;     // of an object that is cached in parts
  static constexpr int64_t kTogether = int64_t{1} << 20;  // limit for contiguous ranges in one request
  static constexpr int64_t kGap = int64_t{1} << 14;       // between them
  enum class Kind { head, list, whole, range, block };
  enum class State { waits, runs, done };
  struct Fetch {
    Kind kind;
    std::string url;
    int64_t offset = 0, length = -1, limit = default_file_limit;
    State state = State::waits;
    const void* owner = nullptr;
    int64_t left = 0;  // bytes of it that are still to be read
    int64_t room = 0;  // bytes that count against read_ahead
    RemoteObject object;
    std::vector<RemoteEntry> list;
    std::optional<Error> error;
  };
  using Key = std::pair<std::string, int64_t>;

  std::shared_ptr<Fetch> find(const std::string& url, int64_t offset, int64_t length);  // requires mutex_
  std::shared_ptr<Fetch> wanted(Kind kind, const std::string& url, int64_t offset, int64_t length,
                                int64_t limit = default_file_limit);
  void wait(const std::shared_ptr<Fetch>& fetch, std::unique_lock<std::mutex>& lock);
  void let_go(const std::shared_ptr<Fetch>& fetch);  // requires mutex_
  void add(std::shared_ptr<Fetch> fetch);            // requires mutex_
  void start_threads();                              // requires mutex_
  std::shared_ptr<Fetch> next();                     // requires mutex_
  void serve();
  void perform(Fetch& fetch);
  template <class Request> void tried(const std::string& url, Request request);
  bool pause(std::chrono::milliseconds time);
  std::shared_ptr<RemoteClient> client() const;
  std::shared_ptr<RemoteCache> cache() const;
  bool get(Fetch& fetch, const RemoteStamp* known);
  void keep(RemoteCache& cache, int64_t offset, const Fetch& fetch);

  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable work_, done_;
  std::shared_ptr<RemoteClient> client_;
  std::shared_ptr<RemoteCache> cache_;
  RemoteOptions options_;
  std::vector<std::thread> threads_;
  std::deque<std::shared_ptr<Fetch>> wanted_, ahead_;
  std::map<Key, std::shared_ptr<Fetch>> announced_;
  std::map<std::string, int64_t> sizes_;  // of objects that are read in blocks
  int idle_ = 0, serving_ = 0;            // threads
  int64_t held_ = 0;                      // bytes of announced fetches that run or are done
  int64_t wholes_ = 0, whole_bytes_ = 0;  // received so far, to estimate the size of the next object
  bool closed_ = false;
  std::atomic<int64_t> requests_{0}, retries_{0}, bytes_{0}, found_{0};
};

// A stamp that identifies a version of a remote object: equal for the same version, different for another one.
FileStamp stamp_of(const RemoteStamp& stamp);

}  // namespace penstock
