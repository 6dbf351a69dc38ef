// SPDX-License-Identifier: Apache-2.0
#include "data/remote.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "base/error_of.h"
#include "data/remote_list.h"
#include "data/test_folder.h"

namespace penstock {
namespace {

using Kind = RemoteFailure::Kind;

// Objects in memory; records the requests.
class FakeClient final : public RemoteClient {
 public:
  RemoteStamp head(const std::string& url) override {
    std::lock_guard lock(mutex);
    return ask(url, 0, -2)->stamp;
  }
  RemoteObject get(const std::string& url, int64_t offset, int64_t length, int64_t limit,
                   const RemoteStamp* known) override {
    std::unique_lock lock(mutex);
    const RemoteObject* o = ask(url, offset, length);
    waits.wait(lock, [&] { return !held; });
    if (known && *known == o->stamp) throw RemoteFailure{Kind::unchanged, ""};
    if (length < 0 && o->stamp.bytes > limit) throw RemoteFailure{Kind::refused, "too large"};
    const auto first = o->body.begin() + (length < 0 ? 0 : offset);
    RemoteObject part{o->stamp,
                      {first, length < 0 ? o->body.end() : first + std::min<int64_t>(length, o->body.end() - first)}};
    if (short_by > 0) part.body.resize(part.body.size() - static_cast<size_t>(short_by));
    return part;
  }
  std::vector<RemoteEntry> list(const std::string& url) override {
    std::lock_guard lock(mutex);
    std::vector<RemoteEntry> found;
    for (const auto& [name, o] : objects)
      if (name.starts_with(url)) found.push_back({name.substr(url.size()), o.stamp});
    return found;
  }
  void warn(const std::string&) override { ++warnings; }

  void put(const std::string& url, std::vector<uint8_t> body, const std::string& tag = "v1") {
    std::lock_guard lock(mutex);
    objects[url] = {{static_cast<int64_t>(body.size()), 7, tag}, std::move(body)};
  }
  void hold(bool on) {
    std::lock_guard lock(mutex);
    held = on;
    waits.notify_all();
  }
  size_t asked_so_far() {
    std::lock_guard lock(mutex);
    return asked.size();
  }

  std::mutex mutex;
  std::condition_variable waits;
  std::map<std::string, RemoteObject> objects;
  std::vector<std::pair<int64_t, int64_t>> asked;  // offset and length; length -2: the head
  std::deque<RemoteFailure> failures;
  bool held = false;
  int64_t short_by = 0;
  std::atomic<int> warnings{0};

 private:
  const RemoteObject* ask(const std::string& url, int64_t offset, int64_t length) {
    asked.emplace_back(offset, length);
    if (!failures.empty()) {
      const RemoteFailure f = failures.front();
      failures.pop_front();
      throw f;
    }
    const auto it = objects.find(url);
    if (it == objects.end()) throw RemoteFailure{Kind::missing, "no such object"};
    return &it->second;
  }
};

std::vector<uint8_t> ramp(size_t size, int start = 0) {
  std::vector<uint8_t> out(size);
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<uint8_t>(start + i * 7 + i / 251);
  return out;
}

std::vector<uint8_t> part(const std::vector<uint8_t>& all, int64_t offset, int64_t length) {
  return {all.begin() + offset, all.begin() + offset + length};
}

struct Remote : testing::Test {
  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>();
  RemoteStorage storage;
  RemoteOptions options;
  Remote() {
    storage.set_client(client);
    options.first_pause = std::chrono::milliseconds(1);
    options.connections = 8;
    storage.configure(options);
  }
  ~Remote() override { client->hold(false); }
  std::string refusal(const std::string& url) {
    const auto e = error_of([&] { storage.whole(url, 1000); });
    return e ? e->source + ": " + e->what() : "read";
  }
  std::vector<uint8_t> range(const std::string& url, int64_t offset, int64_t length) {
    std::vector<uint8_t> out(static_cast<size_t>(length));
    storage.read(url, storage.head(url), offset, length, out.data());
    return out;
  }
  void announce(const std::vector<ByteRange>& ranges) { storage.announce(this, ranges); }
};

TEST(RemoteUrl, IsAScheme) {
  for (const char* url : {"s3://b/k", "https://h", "a+b-c.d://"}) EXPECT_TRUE(is_url(url)) << url;
  for (const char* path : {"", "://x", "/a://b", "a/b://c", "C:/x", "s3:/b", "weird name://x"})
    EXPECT_FALSE(is_url(path)) << path;
}

TEST_F(Remote, ReadsWholeObjectsAndRanges) {
  client->put("s3://b/x", ramp(1000));
  EXPECT_EQ(storage.whole("s3://b/x", 1000)->body, ramp(1000));
  EXPECT_EQ(range("s3://b/x", 10, 20), part(ramp(1000), 10, 20));
  EXPECT_EQ(refusal("s3://b/y"), "s3://b/y: no such object");
  client->put("s3://b/large", ramp(1001));
  EXPECT_EQ(refusal("s3://b/large"), "s3://b/large: too large");
}

TEST_F(Remote, TriesAgainWhatMayPassAndNothingElse) {
  client->put("s3://b/x", ramp(10));
  client->failures = {{Kind::passing, "a"}, {Kind::passing, "b"}, {Kind::passing, "c"}};
  EXPECT_EQ(refusal("s3://b/x"), "read");
  EXPECT_EQ(storage.counts().retries, 3);
  client->failures = {{Kind::passing, "a"}, {Kind::passing, "b"}, {Kind::passing, "c"}, {Kind::passing, "500"}};
  EXPECT_EQ(refusal("s3://b/x"), "s3://b/x: 500, 4 times");
  const size_t before = client->asked_so_far();
  for (const Kind kind : {Kind::refused, Kind::missing, Kind::unusable}) {
    client->failures = {{kind, "no"}};
    EXPECT_EQ(refusal("s3://b/x"), "s3://b/x: no");
  }
  EXPECT_EQ(client->asked_so_far(), before + 3);
  client->short_by = 1;
  EXPECT_EQ(refusal("s3://b/x"), "s3://b/x: received 9 bytes instead of 10, 4 times");
}

TEST_F(Remote, AnnouncedRangesThatFollowEachOtherAreOneRequest) {
  client->put("s3://b/x", ramp(100000));
  const RemoteStamp stamp = storage.head("s3://b/x");
  std::vector<ByteRange> ranges;
  for (int i = 0; i < 50; ++i) ranges.push_back({"s3://b/x", 1000 * i, 990});
  ranges.push_back({"s3://b/x", 90000, 10});  // too far from the others
  announce(ranges);
  std::vector<uint8_t> out(990);
  for (int i = 49; i >= 0; --i) {
    storage.read("s3://b/x", stamp, 1000 * i, 990, out.data());
    const auto want = ramp(100000);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), want.begin() + 1000 * i));
  }
  storage.read("s3://b/x", stamp, 90000, 10, out.data());
  EXPECT_EQ(client->asked_so_far(), 3u);  // the head and two ranges
  EXPECT_EQ(storage.counts().announced, 51);
  storage.read("s3://b/x", stamp, 0, 990, out.data());  // read once: dropped
  EXPECT_EQ(client->asked_so_far(), 4u);
}

TEST_F(Remote, WhatIsAnnouncedTwiceIsReadOnce) {
  client->put("s3://b/x", ramp(10));
  announce({{"s3://b/x", 0, -1}, {"s3://b/x", 0, -1}});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(storage.whole("s3://b/x", 100)->body, ramp(10));
  EXPECT_EQ(client->asked_so_far(), 1u);
  EXPECT_FALSE(storage.announced("s3://b/x"));
}

TEST_F(Remote, AnnouncementsWaitForRoomAndReadsDoNot) {
  options.read_ahead = 2500;
  storage.configure(options);
  std::vector<ByteRange> ranges;
  for (int i = 0; i < 20; ++i) {
    client->put(fmt::format("s3://b/{}", i), ramp(1000, i));
    ranges.push_back({fmt::format("s3://b/{}", i), 0, 1000});
  }
  announce(ranges);
  EXPECT_EQ(storage.whole("s3://b/19", 1000)->body, ramp(1000, 19));
  for (int i = 0; i < 19; ++i) EXPECT_EQ(range(ranges[i].path, 0, 1000), ramp(1000, i));
  announce(ranges);
  storage.forget(this);
  EXPECT_EQ(range("s3://b/3", 0, 1000), ramp(1000, 3));
}

TEST_F(Remote, AReadEndsWhenItsPipelineDoes) {
  client->put("s3://b/x", ramp(10));
  client->hold(true);
  std::atomic<bool> ended = false;
  std::optional<Error> error;
  std::thread reader([&] {
    const RemoteWait wait(ended);
    error = error_of([&] { storage.whole("s3://b/x", 100); });
  });
  while (client->asked_so_far() == 0) std::this_thread::yield();
  ended = true;
  reader.join();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::cancelled);
}

TEST_F(Remote, AnotherVersionIsNotMixedIn) {
  client->put("s3://b/x", ramp(100));
  const RemoteStamp stamp = storage.head("s3://b/x");
  client->put("s3://b/x", ramp(100, 5), "v2");
  uint8_t out[10];
  const auto e = error_of([&] { storage.read("s3://b/x", stamp, 0, 10, out); });
  ASSERT_TRUE(e);
  EXPECT_EQ(e->source, "s3://b/x");
  EXPECT_NE(stamp_of(stamp).modified_ns, stamp_of(storage.head("s3://b/x")).modified_ns);
}

TEST_F(Remote, ManyThreadsReadWhatIsAnnouncedMeanwhile) {
  constexpr int kObjects = 60;
  for (int i = 0; i < kObjects; ++i) client->put(fmt::format("s3://b/{}", i), ramp(500 + i, i));
  const TestFolder folder;
  for (const bool cached : {false, true}) {
    options.read_ahead = 8000;
    options.cache = cached ? folder.path("cache") : "", options.cache_limit = 20000;
    storage.configure(options);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < kObjects; ++i) {
          const std::string url = fmt::format("s3://b/{}", i);
          if (t == 0) storage.announce(&threads, std::vector<ByteRange>{{url, 0, i % 2 ? -1 : 400}});
          if (i % 3 == t % 3) wrong += storage.whole(url, 1000)->body != ramp(500 + i, i);
          else wrong += range(url, 10, 300) != part(ramp(500 + i, i), 10, 300);
        }
      });
    for (auto& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
    storage.forget(&threads);
  }
}

TEST_F(Remote, BlocksOfLargeObjectsAreKept) {
  const TestFolder folder;
  options.cache = folder.path("cache"), options.cache_limit = int64_t{1} << 30;
  storage.configure(options);
  const auto content = ramp((size_t{9} << 20) + 5);
  client->put("s3://b/x", content);
  const auto same = [&](int64_t offset, int64_t length) {
    const auto got = range("s3://b/x", offset, length);
    return std::equal(got.begin(), got.end(), content.begin() + offset);
  };
  const int64_t size = static_cast<int64_t>(content.size());
  announce({{"s3://b/x", 100, 50}, {"s3://b/x", size - 10, 10}});
  for (const auto& [offset, length] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 10}, {65530, 20}, {(4 << 20) - 3, 6}, {size - 5, 5}, {3, 5 << 20}, {0, size}})
    EXPECT_TRUE(same(offset, length)) << offset;
  std::set<std::pair<int64_t, int64_t>> ranges(client->asked.begin(), client->asked.end());
  ranges.erase({0, -2});
  EXPECT_EQ(ranges,
            (std::set<std::pair<int64_t, int64_t>>{{0, 4 << 20}, {4 << 20, 4 << 20}, {8 << 20, (1 << 20) + 5}}));
  const size_t before = client->asked_so_far();
  EXPECT_TRUE(same(1 << 20, 1 << 22));
  EXPECT_EQ(client->asked_so_far(), before + 1);  // the head
}

TEST_F(Remote, PatternsAndFoldersAreListed) {
  for (const char* name : {"a/1.npy", "a/2.npy", "a-b/3.npy", "0.npy", "a/x/4.npy", "a/.hidden.npy", "b.txt"})
    client->put(std::string("s3://set/d/") + name, ramp(3));
  RemoteStorage& own = RemoteStorage::instance();
  own.set_client(client);
  std::vector<std::string> out;
  expand_url("s3://set/d/a/*.npy", out);
  expand_url("s3://set/d/a*/?.npy", out);
  expand_url("http://h/x?y=*", out);
  EXPECT_EQ(out, (std::vector<std::string>{"s3://set/d/a/1.npy", "s3://set/d/a/2.npy", "s3://set/d/a-b/3.npy",
                                           "s3://set/d/a/1.npy", "s3://set/d/a/2.npy", "http://h/x?y=*"}));
  EXPECT_THROW(expand_url("s3://set/none/*", out), Error);
  EXPECT_EQ(objects_in("s3://set/d", "*.npy", false), (std::vector<std::string>{"s3://set/d/0.npy"}));
  EXPECT_EQ(objects_in("s3://set/d/", "?.npy", true),
            (std::vector<std::string>{"s3://set/d/a/1.npy", "s3://set/d/a/2.npy", "s3://set/d/a-b/3.npy"}));
  own.set_client(nullptr);
  EXPECT_THROW(own.head("s3://set/d/0.npy"), Error);
}

}  // namespace
}  // namespace penstock
