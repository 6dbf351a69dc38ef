// SPDX-License-Identifier: Apache-2.0
#include "data/remote.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/begin_thread.h"
#include "base/error_of.h"
#include "data/hash.h"

namespace penstock {

static thread_local const std::atomic<bool>* waits_until = nullptr;

RemoteWait::RemoteWait(const std::atomic<bool>& ended) { waits_until = &ended; }
RemoteWait::~RemoteWait() { waits_until = nullptr; }

bool is_url(std::string_view path) {
  const size_t end = path.find("://");
  if (end == path.npos || end == 0) return false;
  return std::all_of(path.begin(), path.begin() + static_cast<int64_t>(end),
                     [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '-' || c == '.'; });
}

FileStamp stamp_of(const RemoteStamp& s) {
  if (s.tag.empty()) return {s.bytes, s.modified_ns};
  return {s.bytes, static_cast<int64_t>(mix64(hash_bytes(s.tag) ^ static_cast<uint64_t>(s.modified_ns)) >> 1)};
}

// Threads and locks do not survive a fork, so the child does not touch the parent's.
RemoteStorage& RemoteStorage::instance() {
  static std::mutex* mutex = new std::mutex;
  static std::atomic<RemoteStorage*> storage = nullptr;
  static std::atomic<pid_t> process = 0;
  if (storage && process == ::getpid()) return *storage;
  if (process != ::getpid() && process != 0) mutex = new std::mutex;  // another thread may have held it
  std::lock_guard lock(*mutex);
  if (!storage || process != ::getpid()) {
    auto* made = new RemoteStorage;
    if (storage)
      made->client_ = storage.load()->client_, made->options_ = storage.load()->options_,
      made->cache_ = storage.load()->cache_;
    storage = made;
    process = ::getpid();
  }
  return *storage;
}

RemoteStorage::RemoteStorage() = default;
RemoteStorage::~RemoteStorage() { close(std::chrono::hours(1)); }

void RemoteStorage::set_client(std::shared_ptr<RemoteClient> client) {
  std::lock_guard lock(mutex_);
  client_ = std::move(client);
}

void RemoteStorage::configure(const RemoteOptions& o) {
  if (o.connections < 1 || o.connections > 1024) bad_argument("connections must be 1 to 1024, got {}", o.connections);
  if (o.tries < 1 || o.tries > 100) bad_argument("tries must be 1 to 100, got {}", o.tries);
  if (o.read_ahead < 0) bad_argument("read_ahead must not be negative, got {}", o.read_ahead);
  auto cache = o.cache.empty() ? nullptr : std::make_shared<RemoteCache>(o.cache, o.cache_limit);
  {
    std::lock_guard lock(mutex_);
    options_ = o;
    cache_ = std::move(cache);
    while (!announced_.empty()) let_go(announced_.begin()->second);
  }
  work_.notify_all();
}

RemoteOptions RemoteStorage::options() const {
  std::lock_guard lock(mutex_);
  return options_;
}

RemoteCounts RemoteStorage::counts() const {
  const auto c = cache();
  std::lock_guard lock(mutex_);
  return {requests_, retries_,          bytes_,
          found_,    c ? c->hits() : 0, serving_ - idle_ + static_cast<int64_t>(wanted_.size())};
}

std::shared_ptr<RemoteClient> RemoteStorage::client() const {
  std::lock_guard lock(mutex_);
  return client_;
}

std::shared_ptr<RemoteCache> RemoteStorage::cache() const {
  std::lock_guard lock(mutex_);
  return cache_;
}

void RemoteStorage::close(std::chrono::milliseconds patience) {
  std::vector<std::thread> threads;
  bool ended;
  {
    std::unique_lock lock(mutex_);
    closed_ = true;
    threads.swap(threads_);
    work_.notify_all();
    done_.notify_all();
    ended = done_.wait_for(lock, patience, [&] { return serving_ == 0; });
  }
  for (auto& t : threads) ended ? t.join() : t.detach();
}

// Finds an announced fetch that covers the range or, for length -1, the whole object.
std::shared_ptr<RemoteStorage::Fetch> RemoteStorage::find(const std::string& url, int64_t offset, int64_t length) {
  auto it = announced_.upper_bound({url, offset});
  if (it == announced_.begin()) return nullptr;
  const auto& fetch = (--it)->second;
  if (fetch->url != url) return nullptr;
  const bool whole = fetch->length < 0;
  if (length < 0 ? whole : whole || (fetch->offset <= offset && offset - fetch->offset <= fetch->length - length))
    return fetch;
  return nullptr;
}

void RemoteStorage::let_go(const std::shared_ptr<Fetch>& fetch) {
  const auto it = announced_.find({fetch->url, fetch->offset});
  if (it == announced_.end() || it->second != fetch) return;
  held_ -= fetch->room;
  fetch->room = 0;
  announced_.erase(it);
}

void RemoteStorage::start_threads() {
  if (closed_) fail(ErrorKind::cancelled, "the storage is closed: the program ends");
  const auto waiting = static_cast<int>(wanted_.size() + ahead_.size());
  while (static_cast<int>(threads_.size()) < options_.connections && idle_ < waiting)
    threads_.push_back(begin_thread([this] { serve(); })), ++idle_, ++serving_;
}

void RemoteStorage::add(std::shared_ptr<Fetch> fetch) {
  (fetch->owner ? ahead_ : wanted_).push_back(std::move(fetch));
  start_threads();
  work_.notify_one();
}

void RemoteStorage::wait(const std::shared_ptr<Fetch>& fetch, std::unique_lock<std::mutex>& lock) {
  while (fetch->state != State::done) {
    done_.wait_for(lock, std::chrono::milliseconds(50));
    if (fetch->state == State::done) break;
    if (closed_ || (waits_until && *waits_until)) fail(ErrorKind::cancelled, "the pipeline is closing");
    if (waits_until) continue;
    if (const auto c = client_) {
      lock.unlock();
      c->poll();
      lock.lock();
    }
  }
}

// Waits until the fetch is done; throws its error.
std::shared_ptr<RemoteStorage::Fetch> RemoteStorage::wanted(Kind kind, const std::string& url, int64_t offset,
                                                            int64_t length, int64_t limit) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<Fetch> fetch = kind == Kind::head || kind == Kind::list ? nullptr : find(url, offset, length);
  if (fetch) {
    ++found_;
    if (fetch->state == State::waits) wanted_.push_back(fetch), work_.notify_one();  // before all fetches that can wait
  } else {
    fetch = std::make_shared<Fetch>();
    fetch->kind = kind, fetch->url = url, fetch->offset = offset, fetch->length = length, fetch->limit = limit;
    if (kind == Kind::block) announced_[{url, offset}] = fetch;  // others may want it too
    add(fetch);
  }
  wait(fetch, lock);
  if (fetch->owner && fetch->kind != Kind::block) {
    fetch->left -= fetch->length < 0 ? 1 : length;
    if (fetch->left <= 0 || fetch->error) let_go(fetch), work_.notify_one();
  }
  if (!fetch->error) return fetch;
  Error error = *fetch->error;
  error.source = url;
  throw error;
}

RemoteStamp RemoteStorage::head(const std::string& url) {
  const RemoteStamp stamp = wanted(Kind::head, url, 0, 0)->object.stamp;
  std::lock_guard lock(mutex_);
  if (cache_) sizes_[url] = stamp.bytes;
  return stamp;
}

std::shared_ptr<const RemoteObject> RemoteStorage::whole(const std::string& url, int64_t limit) {
  const auto fetch = wanted(Kind::whole, url, 0, -1, limit);
  if (fetch->object.stamp.bytes > limit)
    fail_on(url, ErrorKind::data, "the file has {} bytes, more than the limit of {}", fetch->object.stamp.bytes, limit);
  return {fetch, &fetch->object};
}

std::shared_ptr<const RemoteObject> RemoteStorage::announced(const std::string& url) {
  {
    std::lock_guard lock(mutex_);
    if (!find(url, 0, -1)) return nullptr;
  }
  return whole(url, INT64_MAX);
}

void RemoteStorage::read(const std::string& url, const RemoteStamp& stamp, int64_t offset, int64_t length,
                         uint8_t* out) {
  const auto take = [&](const Fetch& f, int64_t at, int64_t n) {
    if (!(f.object.stamp == stamp))
      fail_on(url, ErrorKind::data, "the object has changed since it was opened: it has {} bytes, but had {}",
              f.object.stamp.bytes, stamp.bytes);
    std::memcpy(out + (at - offset), f.object.body.data() + (at - f.offset), static_cast<size_t>(n));
  };
  if (length == 0) return;
  const auto kept = cache();
  if (!kept || !kept->writes() || !stamp.names_a_version())
    return take(*wanted(Kind::range, url, offset, length), offset, length);
  for (int64_t at = offset; at < offset + length;) {
    const int64_t block = at / kBlock * kBlock;
    const int64_t n = std::min(block + kBlock, offset + length) - at;
    if (!kept->read(url, block, stamp, at - block, n, out + (at - offset)))
      take(*wanted(Kind::block, url, block, std::min(kBlock, stamp.bytes - block)), at, n);
    at += n;
  }
}

std::vector<RemoteEntry> RemoteStorage::list(const std::string& url) {
  return std::move(wanted(Kind::list, url, 0, 0)->list);
}

void RemoteStorage::announce(const void* owner, std::span<const ByteRange> ranges) {
  const auto kept = cache();
  const bool in_blocks = kept && kept->writes();
  std::lock_guard lock(mutex_);
  if (closed_ || options_.read_ahead == 0) return;
  const auto add_one = [&](Kind kind, const std::string& url, int64_t offset, int64_t length, int64_t left) {
    auto& place = announced_[{url, offset}];
    if (place) return void(place->left += place->owner == owner ? left : 0);  // needed again, in the next epoch
    place = std::make_shared<Fetch>();
    place->kind = kind, place->url = url, place->offset = offset, place->length = length;
    place->owner = owner, place->left = left;
    add(place);
  };
  for (size_t i = 0; i < ranges.size();) {
    const ByteRange& r = ranges[i];
    if (r.length < 0) {
      add_one(Kind::whole, r.path, 0, -1, 1);
      ++i;
    } else if (in_blocks) {
      const auto size = sizes_.find(r.path);
      for (int64_t block = r.offset / kBlock * kBlock; size != sizes_.end() && block < r.offset + r.length;
           block += kBlock)
        if (const int64_t n = std::min(kBlock, size->second - block); n > 0 && !kept->has(r.path, block))
          add_one(Kind::block, r.path, block, n, n);
      ++i;
    } else {
      int64_t end = r.offset + r.length, sum = r.length;
      size_t after = i + 1;
      for (; after < ranges.size(); ++after) {
        const ByteRange& next = ranges[after];
        if (next.path != r.path || next.length < 0 || next.offset < end || next.offset - end > kGap ||
            next.offset + next.length - r.offset > kTogether)
          break;
        end = next.offset + next.length, sum += next.length;
      }
      if (r.length > 0) add_one(Kind::range, r.path, r.offset, end - r.offset, sum);
      i = after;
    }
  }
}

void RemoteStorage::forget(const void* owner) {
  std::lock_guard lock(mutex_);
  for (auto it = announced_.begin(); it != announced_.end();) {
    const auto fetch = (it++)->second;
    if (fetch->owner == owner) let_go(fetch);
  }
  std::erase_if(ahead_, [&](const auto& f) { return f->owner == owner; });
}

std::shared_ptr<RemoteStorage::Fetch> RemoteStorage::next() {
  const auto take = [](std::deque<std::shared_ptr<Fetch>>& queue) {
    std::shared_ptr<Fetch> fetch;
    while (!queue.empty() && !fetch) {
      if (queue.front()->state == State::waits) fetch = std::move(queue.front());
      queue.pop_front();
    }
    return fetch;
  };
  auto fetch = take(wanted_);
  if (!fetch && held_ < options_.read_ahead) fetch = take(ahead_);
  if (!fetch) return nullptr;
  fetch->state = State::runs;
  if (fetch->owner) {
    constexpr int64_t kGuess = 1 << 18;
    fetch->room = fetch->length >= 0 ? fetch->length : wholes_ > 0 ? whole_bytes_ / wholes_ : kGuess;
    held_ += fetch->room;
  }
  return fetch;
}

void RemoteStorage::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto fetch = closed_ ? nullptr : next();
    if (!fetch) {
      if (closed_) {
        if (--serving_ == 0) done_.notify_all();
        return;
      }
      work_.wait(lock);
      continue;
    }
    --idle_;
    lock.unlock();
    fetch->error = error_of([&] { perform(*fetch); });
    lock.lock();
    ++idle_;
    const auto bytes = static_cast<int64_t>(fetch->object.body.size());
    if (fetch->kind == Kind::whole) ++wholes_, whole_bytes_ += bytes;
    const auto place = announced_.find({fetch->url, fetch->offset});
    const bool announced = place != announced_.end() && place->second == fetch;
    if (announced && fetch->owner) held_ += bytes - fetch->room, fetch->room = bytes;
    if (announced && fetch->kind == Kind::block) let_go(fetch);  // the cache has it
    fetch->state = State::done;
    done_.notify_all();
  }
}

bool RemoteStorage::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  const auto end = std::chrono::steady_clock::now() + time;
  while (!closed_ && std::chrono::steady_clock::now() < end) done_.wait_until(lock, end);
  return !closed_;
}

template <class Request> void RemoteStorage::tried(const std::string& url, Request request) {
  const auto client = this->client();
  if (!client)
    fail_on(url, ErrorKind::argument,
            "there is no client for URLs: the Python package has one, a C++ program must provide its own");
  const RemoteOptions o = options();
  auto time = o.first_pause;
  for (int n = 1;; ++n, time *= 2) {
    try {
      ++requests_;
      return request(*client);
    } catch (const RemoteFailure& f) {
      using Why = RemoteFailure::Kind;
      if (f.kind == Why::missing) fail_on(url, ErrorKind::file_missing, "{}", f.text);
      if (f.kind == Why::unusable) fail_on(url, ErrorKind::argument, "{}", f.text);
      if (f.kind != Why::passing) fail_on(url, ErrorKind::data, "{}", f.text);
      if (n >= o.tries) fail_on(url, ErrorKind::data, "{}{}", f.text, n > 1 ? fmt::format(", {} times", n) : "");
    }
    ++retries_;
    // Half of the pause is random, so that many clients do not return at the same time.
    const uint64_t chance =
        mix64(hash_bytes(url) ^ static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    if (!pause(time / 2 + std::chrono::milliseconds(below(chance, static_cast<uint64_t>(time.count() / 2 + 1)))))
      fail(ErrorKind::cancelled, "the program ends");
  }
}

// False if the object is the known version.
bool RemoteStorage::get(Fetch& f, const RemoteStamp* known) {
  bool changed = true;
  tried(f.url, [&](RemoteClient& c) {
    try {
      f.object = c.get(f.url, f.offset, f.length, f.limit, known);
    } catch (const RemoteFailure& e) {
      if (!known || e.kind != RemoteFailure::Kind::unchanged) throw;
      changed = false;
      return;
    }
    const auto got = static_cast<int64_t>(f.object.body.size());
    bytes_ += got;
    const int64_t due = f.length < 0 ? f.object.stamp.bytes : f.length;
    if (got != due)
      throw RemoteFailure{RemoteFailure::Kind::passing, fmt::format("received {} bytes instead of {}", got, due)};
  });
  return changed;
}

void RemoteStorage::perform(Fetch& f) {
  if (f.kind == Kind::head) return tried(f.url, [&](RemoteClient& c) { f.object.stamp = c.head(f.url); });
  if (f.kind == Kind::list) return tried(f.url, [&](RemoteClient& c) { f.list = c.list(f.url); });
  const auto kept = cache();
  if (f.kind == Kind::range || !kept) return void(get(f, nullptr));
  if (f.kind == Kind::block) {
    get(f, nullptr);
    return keep(*kept, f.offset, f);
  }
  auto found = kept->find(f.url, RemoteCache::kWhole);
  if (found && !options().cache_check) {
    f.object = std::move(*found);
    return;
  }
  if (get(f, found && found->stamp.names_a_version() ? &found->stamp : nullptr)) keep(*kept, RemoteCache::kWhole, f);
  else f.object = std::move(*found);
}

void RemoteStorage::keep(RemoteCache& kept, int64_t offset, const Fetch& f) {
  if (f.object.body.empty()) return;
  const std::string why = kept.keep(f.url, offset, f.object.stamp, f.object.body);
  if (why.empty()) return;
  if (const auto c = client()) c->warn(why);
}

}  // namespace penstock
