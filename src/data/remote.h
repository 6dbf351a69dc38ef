// SPDX-License-Identifier: Apache-2.0
// Objects that URLs name: whole, in ranges, announced before they are needed; many requests at once, on threads of
// their own. A failed request is tried again a few times; then it ends in an Error with the URL as its source.
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
  int connections = 32;  // requests at once
  int tries = 4;
  std::chrono::milliseconds first_pause{200};  // before the second try; twice as long before each further one
  int64_t read_ahead = int64_t{256} << 20;     // bytes of announced objects that wait for their readers
  std::string cache;                           // a folder; "": none
  int64_t cache_limit = 0;                     // bytes
  bool cache_check = true;                     // ask the server whether an object is still the kept version
};

struct RemoteCounts {
  int64_t requests = 0, retries = 0, bytes = 0;  // of objects, received
  int64_t announced = 0;                         // reads that found what was asked for before
  int64_t cache_hits = 0;
  int64_t running = 0;  // requests that wait or are not answered yet, without those that are only announced
};

// While one lives, reads of this thread end with a `cancelled` error soon after `ended` becomes true.
class RemoteWait {
 public:
  explicit RemoteWait(const std::atomic<bool>& ended);
  ~RemoteWait();
};

class RemoteStorage {
 public:
  static RemoteStorage& instance();  // of this process: a child of a fork has its own

  void set_client(std::shared_ptr<RemoteClient> client);
  // Error (argument) where the cache's folder cannot be used. What waits in memory is let go.
  void configure(const RemoteOptions& options);
  RemoteOptions options() const;
  RemoteCounts counts() const;
  // Ends the threads, and reads with an error from then on. Requests that run are waited for at most so long, and left.
  void close(std::chrono::milliseconds patience);

  RemoteStamp head(const std::string& url);
  // Errors: file_missing; data where the request fails or `limit` is exceeded.
  std::shared_ptr<const RemoteObject> whole(const std::string& url, int64_t limit);
  // The object if it was announced as a whole, else nothing.
  std::shared_ptr<const RemoteObject> announced(const std::string& url);
  // Exactly `length` bytes of this version of the object. Error (data) where it is another one now.
  void read(const std::string& url, const RemoteStamp& stamp, int64_t offset, int64_t length, uint8_t* out);
  std::vector<RemoteEntry> list(const std::string& url);

  // What `owner` will read soon, in this order; length -1: the whole object. It is asked for while there is room.
  // Ranges that follow each other become one request.
  void announce(const void* owner, std::span<const ByteRange> ranges);
  void forget(const void* owner);  // what it has announced

  RemoteStorage();
  ~RemoteStorage();

 private:
  static constexpr int64_t kBlock = int64_t{4} << 20;     // of an object that is kept in parts
  static constexpr int64_t kTogether = int64_t{1} << 20;  // most bytes of ranges that become one request
  static constexpr int64_t kGap = int64_t{1} << 14;       // between them
  enum class Kind { head, list, whole, range, block };
  enum class State { waits, runs, done };
  struct Fetch {
    Kind kind;
    std::string url;
    int64_t offset = 0, length = -1, limit = default_file_limit;
    State state = State::waits;
    const void* owner = nullptr;
    int64_t left = 0;  // bytes that will still be read of it
    int64_t room = 0;  // bytes counted for it
    RemoteObject object;
    std::vector<RemoteEntry> list;
    std::optional<Error> error;
  };
  using Key = std::pair<std::string, int64_t>;

  std::shared_ptr<Fetch> find(const std::string& url, int64_t offset, int64_t length);  // under mutex_
  std::shared_ptr<Fetch> wanted(Kind kind, const std::string& url, int64_t offset, int64_t length,
                                int64_t limit = default_file_limit);
  void wait(const std::shared_ptr<Fetch>& fetch, std::unique_lock<std::mutex>& lock);
  void let_go(const std::shared_ptr<Fetch>& fetch);  // under mutex_
  void add(std::shared_ptr<Fetch> fetch);            // under mutex_
  void start_threads();                              // under mutex_
  std::shared_ptr<Fetch> next();                     // under mutex_
  void serve();
  void perform(Fetch& fetch);
  template <class Request> void tried(const std::string& url, Request request);
  bool pause(std::chrono::milliseconds time);
  std::shared_ptr<RemoteClient> client() const;
  std::shared_ptr<RemoteCache> cache() const;
  bool get(Fetch& fetch, const RemoteStamp* known);
  void keep(RemoteCache& cache, int64_t offset, const Fetch& fetch);

  mutable std::mutex mutex_;  // guards what follows
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
  int64_t wholes_ = 0, whole_bytes_ = 0;  // received, to guess the size of the next
  bool closed_ = false;
  std::atomic<int64_t> requests_{0}, retries_{0}, bytes_{0}, found_{0};
};

// The stamp that stands for a version of a remote object: the same for the same version, and for no other one.
FileStamp stamp_of(const RemoteStamp& stamp);

}  // namespace penstock
