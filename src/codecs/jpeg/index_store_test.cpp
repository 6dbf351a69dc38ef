// SPDX-License-Identifier: Apache-2.0
#include "codecs/jpeg/index_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/checksum.h"
#include "codecs/jpeg/index_store_access.h"
#include "codecs/jpeg/test_indexes.h"
#include "data/test_folder.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using test::make_bytes;
using test::make_index;
using Buffer = std::vector<uint8_t>;

constexpr size_t kBytes = 5000;

// A record as a pipeline sees it: bytes of a file.
struct Record {
  std::string path;
  Buffer bytes;
  EntropyIndex index;
  explicit Record(int number, const std::string& folder = "/data/")
      : path(folder + std::to_string(number) + ".jpg"),
        bytes(make_bytes(kBytes, static_cast<uint32_t>(number))),
        index(make_index(4, 6, static_cast<uint32_t>(number), kBytes)) {}
};

struct Access : RecordIndexAccess {
  explicit Access(std::shared_ptr<EntropyIndexStore> s, IndexUse use = IndexUse::make)
      : RecordIndexAccess(std::move(s), use, 8) {}
  bool finds(const Record& r, EntropyIndex& index, int64_t time = 1) {
    begin(r.path, 0, 0, static_cast<int64_t>(r.bytes.size()), time);
    return find(r.bytes, index);
  }
  bool has(const Record& r) {
    EntropyIndex index;
    if (!finds(r, index)) return false;
    EXPECT_EQ(index, r.index) << r.path;
    return true;
  }
  void give(const Record& r) {
    begin(r.path, 0, 0, static_cast<int64_t>(r.bytes.size()), 1);
    offer(r.bytes, r.index);
  }
};

std::shared_ptr<EntropyIndexStore> open(const std::string& path, IndexStoreOptions options = {}) {
  return std::make_shared<EntropyIndexStore>(path, options);
}
int count_found(const std::string& path, int from, int to) {
  Access a(open(path), IndexUse::read);
  int n = 0;
  for (int i = from; i < to; ++i) n += a.has(Record(i));
  return n;
}

TEST(IndexStore, FindsWhatWasMadeAtOnceAndInTheNextProcess) {
  const TestFolder folder;
  {
    Access a(open(folder.path("x.index")));
    for (int i = 0; i < 50; ++i) {
      const Record r(i);
      EXPECT_FALSE(a.has(r));
      EXPECT_EQ(a.wanted_step(), 8);
      a.give(r);
      EXPECT_TRUE(a.has(r));
      EXPECT_EQ(a.wanted_step(), 0);
    }
    const auto c = a.counts();
    EXPECT_EQ(c.made, 50);
    EXPECT_EQ(c.used, 50);
    EXPECT_EQ(c.stale, 0);
  }
  EXPECT_EQ(count_found(folder.path("x.index"), 0, 60), 50);
  Access reader(open(folder.path("x.index")), IndexUse::read);
  EXPECT_FALSE(reader.has(Record(51)));
  EXPECT_EQ(reader.wanted_step(), 0);
  reader.give(Record(51));
  EXPECT_FALSE(reader.has(Record(51)));
}

TEST(IndexStore, WritesInTheBackground) {
  const TestFolder folder;
  Access a(open(folder.path("x.index")));
  a.give(Record(1));
  int found = 0;
  for (int i = 0; i < 6000 && found == 0; ++i) {
    ::usleep(10000);
    if (fs::exists(folder.path("x.index"))) found = count_found(folder.path("x.index"), 0, 5);
  }
  EXPECT_EQ(found, 1);
}

TEST(IndexStore, OtherBytesUnderTheSameNameAreNotUsed) {
  const TestFolder folder;
  auto store = open(folder.path("x.index"));
  Access a(store);
  Record r(1);
  a.give(r);
  store->flush();
  Record changed = r;
  changed.bytes[kBytes / 2] ^= 1;  // the same size and time
  EXPECT_FALSE(a.has(changed));
  EXPECT_EQ(a.counts().stale, 1);
  EXPECT_EQ(a.wanted_step(), 8);
  changed.index = make_index(3, 6, 77, kBytes);
  a.give(changed);
  EXPECT_TRUE(a.has(changed));
  EXPECT_FALSE(a.has(r));
  Record longer = r;
  longer.bytes.push_back(0);
  EXPECT_FALSE(a.has(longer));
  EntropyIndex index;
  EXPECT_TRUE(a.finds(changed, index, 99)) << "the bytes decide, not the time";
  Record renamed = changed;
  renamed.path = "/data/other.jpg";
  EXPECT_FALSE(a.has(renamed));
}

TEST(IndexStore, AChangeIsSeenBeforeAnythingIsWritten) {
  const TestFolder folder;
  for (bool unusable : {false, true}) {
    testing::internal::CaptureStderr();
    {
      auto store = open(folder.path(unusable ? "none/x.index" : "x.index"));
      Access a(store);
      Record r(1);
      a.give(r);
      if (unusable) store->flush();
      a.give(r);
      r.bytes[7] ^= 1;
      r.index = make_index(3, 6, 9, kBytes);
      EXPECT_FALSE(a.has(r));
      a.give(r);
      EXPECT_TRUE(a.has(r));
      store->flush();
      EXPECT_TRUE(a.has(r));
      EXPECT_EQ(store->entries(), 1);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr().empty(), !unusable);
  }
}

TEST(IndexStore, RangesOfOneFileAreRecordsOfTheirOwn) {
  const TestFolder folder;
  const std::string path = "/data/all.tar";
  Access a(open(folder.path("x.index")));
  for (int i = 0; i < 10; ++i) {
    const Record r(i);
    a.begin(path, i * 8192, kBytes, 100000, 1);
    a.offer(r.bytes, r.index);
  }
  for (int i = 0; i < 10; ++i) {
    const Record r(i);
    EntropyIndex index;
    a.begin(path, i * 8192, kBytes, 100000, 1);
    ASSERT_TRUE(a.find(r.bytes, index));
    EXPECT_EQ(index, r.index);
    a.begin(path, i * 8192 + 512, kBytes, 100000, 1);
    EXPECT_FALSE(a.find(r.bytes, index));
  }
}

TEST(IndexStore, NamesAreOfPlaces) {
  const TestFolder folder;
  fs::create_directories(folder.path("set/a"));
  const auto store = open(folder.path("set/x.index"));
  std::string name;
  auto key = [&](const std::string& path) { return store->key_of(path, 0, 0, name); };
  EXPECT_EQ(key("/d/a.jpg"), key("/d//a.jpg"));
  EXPECT_EQ(key("/d/a.jpg"), key("/d/./a.jpg"));
  EXPECT_NE(key("/d/a.jpg"), key("/d/b.jpg"));
  EXPECT_NE(key("/d/.a.jpg"), key("/d/a.jpg"));
  EXPECT_EQ(key("a.jpg"), key(fs::current_path().string() + "/a.jpg"));
  EXPECT_EQ(key("./a.jpg"), key("a.jpg"));
  EXPECT_EQ(key("/d/e/../a.jpg"), key("/d/a.jpg"));
  EXPECT_EQ(key("/../../a.jpg"), key("/a.jpg"));
  EXPECT_EQ(key("../a.jpg"), key(fs::current_path().parent_path().string() + "/a.jpg"));
  EXPECT_NE(key("/d/..a.jpg"), key("/a.jpg"));
  EXPECT_NE(key("https://h/a"), key("https:/h/a"));
  const auto there = key(folder.path("set/a/1.jpg"));
  fs::rename(folder.path("set"), folder.path("moved"));
  EXPECT_EQ(open(folder.path("moved/x.index"))->key_of(folder.path("moved/a/1.jpg"), 0, 0, name), there);
}

TEST(IndexStore, DamageCostsEntriesAtMost) {
  const TestFolder folder;
  const std::string path = folder.path("x.index");
  for (int part = 0; part < 4; ++part) {  // segments
    Access a(open(path));
    for (int i = 0; i < 3; ++i) a.give(Record(part * 3 + i));
  }
  std::ifstream in(path, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  ASSERT_EQ(count_found(path, 0, 12), 12);
  int least = 12;
  for (size_t at = 0; at < good.size(); at += 3) {
    std::string bad = good;
    bad[at] ^= static_cast<char>(1 + at % 255);
    std::ofstream(path, std::ios::binary) << bad;
    testing::internal::CaptureStderr();
    const int found = count_found(path, 0, 12);  // and compares what it finds
    testing::internal::GetCapturedStderr();
    if (at >= 64) least = std::min(least, found);
  }
  EXPECT_EQ(least, 9);  // the entries of one segment
  for (size_t n = 0; n < good.size(); n += 41) {
    std::ofstream(path, std::ios::binary) << good.substr(0, n);
    {
      Access a(open(path));
      a.give(Record(100));
    }
    const int old = count_found(path, 0, 12);
    EXPECT_LE(old, 12);
    EXPECT_EQ(count_found(path, 100, 101), 1) << n;
    EXPECT_GE(old, n > good.size() / 2 ? 3 : 0) << n;
  }
}

TEST(IndexStore, IsNoVictimOfItsFile) {
  const TestFolder folder;
  auto note = [&](const std::string& path, IndexStoreOptions options = {}) {
    testing::internal::CaptureStderr();
    std::string text;
    {
      Access a(std::make_shared<EntropyIndexStore>(path, options));
      a.give(Record(1));
      EXPECT_TRUE(a.has(Record(1))) << "kept in memory";
    }
    auto store = open(path, options);
    text = store->note();
    if (text.empty()) {
      Access(store).give(Record(2));
      store->flush();
      text = store->note();
    }
    store = nullptr;
    const std::string said = testing::internal::GetCapturedStderr();
    const bool warns = !text.empty() && text != "the file is read-only";
    EXPECT_EQ(warns, said.find("entropy indexes are not kept") != std::string::npos) << text;
    return text;
  };
  EXPECT_EQ(note(folder.path("good.index")), "");
  EXPECT_EQ(note(folder.path("none/x.index")), "No such file or directory");
  EXPECT_EQ(note(folder.path()), "it is not a regular file");
  folder.write("text", "not an index, whatever its name says, and longer than a header is, by some bytes");
  EXPECT_EQ(note(folder.path("text")), "it is not a file of entropy indexes of this version");
  EXPECT_EQ(note("/dev/zero"), "it is not a regular file");
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(note(folder.path("pipe")), "it is not a regular file");
  ::chmod(folder.path("good.index").c_str(), 0444);
  ::chmod(folder.path().c_str(), 0755);
  {
    const Unprivileged user;
    EXPECT_EQ(note(folder.path("good.index")), "the file is read-only");
  }
  const IndexStoreOptions own{.private_file = true};
  EXPECT_EQ(note(folder.path("cache/x.index"), own), "");
  struct stat info;
  ASSERT_EQ(::stat(folder.path("cache/x.index").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(folder.path("cache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ::chmod(folder.path("cache/x.index").c_str(), 0622);
  EXPECT_EQ(note(folder.path("cache/x.index"), own), "others can write to it");
  ::chmod(folder.path("cache/x.index").c_str(), 0600);
  ::chmod(folder.path("cache").c_str(), 0777);
  EXPECT_NE(note(folder.path("cache/x.index"), own).find("others can write to it"), std::string::npos);
  ::chmod(folder.path("cache").c_str(), 0700);
  fs::create_symlink("x.index", folder.path("cache/link.index"));
  EXPECT_EQ(note(folder.path("cache/link.index"), own), "Too many levels of symbolic links");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder.path("cache/x.index").c_str(), 12345, 12345), 0);
    EXPECT_EQ(note(folder.path("cache/x.index"), own), "it belongs to another user");
  }
}

int writes_left = 0;
ssize_t full_disk(int descriptor, const void* from, size_t n, off_t at) {
  if (writes_left-- > 0) return ::pwrite(descriptor, from, std::min<size_t>(n, 100), at);
  errno = ENOSPC;
  return -1;
}

TEST(IndexStore, GoesOnWhereTheDiskIsFull) {
  const TestFolder folder;
  const std::string path = folder.path("x.index");
  {
    Access(open(path)).give(Record(0));
  }
  const auto size = fs::file_size(path);
  for (int writes : {0, 1, 7}) {
    testing::internal::CaptureStderr();
    {
      writes_left = writes;
      auto store = open(path, {.write = full_disk});
      Access a(store);
      for (int i = 1; i < 10; ++i) a.give(Record(i));
      store->flush();
      EXPECT_EQ(store->note(), "No space left on device");
      for (int i = 10; i < 20; ++i) a.give(Record(i));
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(a.has(Record(i))) << "in memory";
      EXPECT_EQ(fs::file_size(path), size);
    }
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
  EXPECT_EQ(count_found(path, 0, 20), 1);
  {
    Access(open(path)).give(Record(5));
  }
  EXPECT_EQ(count_found(path, 0, 20), 2);
}

TEST(IndexStore, KeepsItsLimitAndMakesRoomInTheCacheFolder) {
  const TestFolder folder;
  testing::internal::CaptureStderr();
  {
    auto store = open(folder.path("x.index"), {.limit = 3000});
    Access a(store);
    for (int i = 0; i < 50; ++i) {
      a.give(Record(i));
      store->flush();
    }
    EXPECT_EQ(store->note(), "the limit of 3000 bytes is reached");
  }
  testing::internal::GetCapturedStderr();
  EXPECT_LE(fs::file_size(folder.path("x.index")), 3000u);
  EXPECT_GE(count_found(folder.path("x.index"), 0, 50), 5);

  const int64_t limit = (64 << 20) + 100000;
  auto fill = [&](const std::string& name, int bytes, int age) {
    folder.write("cache/" + name, std::string(static_cast<size_t>(bytes), 'x'));
    fs::last_write_time(folder.path("cache/" + name), fs::file_time_type::clock::now() - std::chrono::hours(age));
  };
  fill("old.index", 60000, 30);
  fill("new.index", 60000, 1);
  fill("other.file", 60000, 90);
  fs::permissions(folder.path("cache"), fs::perms::owner_all);
  {
    Access(open(folder.path("cache/x.index"), {.private_file = true, .limit = limit})).give(Record(1));
  }
  EXPECT_FALSE(fs::exists(folder.path("cache/old.index")));
  EXPECT_TRUE(fs::exists(folder.path("cache/new.index")));
  EXPECT_TRUE(fs::exists(folder.path("cache/other.file")));
  fill("season.index", 10, 24 * 91);
  fill("month.index", 10, 24 * 30);
  {
    Access(open(folder.path("cache/y.index"), {.private_file = true})).give(Record(1));
  }
  EXPECT_FALSE(fs::exists(folder.path("cache/season.index")));
  EXPECT_TRUE(fs::exists(folder.path("cache/month.index")));
}

TEST(IndexStore, IsWrittenAnewWhereMostOfItIsOutOfDate) {
  const TestFolder folder;
  const std::string path = folder.path("x.index");
  auto other = open(path);
  constexpr int kRecords = 4000;
  for (int round = 0; round < 4; ++round) {
    auto store = open(path);
    Access a(store);
    for (int i = 0; i < kRecords; ++i) {
      Record r(i);
      r.bytes[0] = static_cast<uint8_t>(r.bytes[0] + round);
      a.give(r);
      if (round == 0 && i == 0) Access(other).give(Record(kRecords + 1));
    }
    store->flush();
    if (round == 0) other->flush();
    EXPECT_EQ(store->note(), "");
  }
  const auto entry = fs::file_size(path) / kRecords;
  EXPECT_LT(entry, 3 * 220u);
  Access(other).give(Record(kRecords + 2));  // it has the replaced file open
  other->flush();
  Access a(open(path));
  for (int i = 0; i < kRecords; ++i) {
    Record r(i);
    r.bytes[0] = static_cast<uint8_t>(r.bytes[0] + 3);
    ASSERT_TRUE(a.has(r)) << i;
  }
  EXPECT_TRUE(a.has(Record(kRecords + 1)));
  EXPECT_TRUE(a.has(Record(kRecords + 2)));
}

TEST(IndexStore, ManyThreads) {
  const TestFolder folder;
  auto store = open(folder.path("x.index"));
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Record>> records;
  for (int i = 0; i < 400; ++i) records.push_back(std::make_unique<Record>(i));
  for (int t = 0; t < 7; ++t)
    threads.emplace_back([&, t] {
      Access a(store);
      for (int pass = 0; pass < 2; ++pass)
        for (int i = t; i < 400; i += 7) {
          if (!a.has(*records[i])) a.give(*records[i]);
          if (i % 50 == t) store->flush();
          a.has(*records[(i * 13) % 400]);
        }
      EXPECT_EQ(a.counts().stale, 0);
    });
  for (auto& t : threads) t.join();
  store = nullptr;
  EXPECT_EQ(count_found(folder.path("x.index"), 0, 400), 400);
}

// A child process, which must not run destructors of the parent's test.
template <class F> pid_t child(F&& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    work();
    ::_exit(0);
  }
  return pid;
}

TEST(IndexStore, SeveralProcessesWriteAtOnce) {
  const TestFolder folder;
  const std::string path = folder.path("x.index");
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c)
    children.push_back(child([&] {
      auto store = open(path);
      Access a(store);
      for (int i = 0; i < 50; ++i) {
        a.give(Record(c * 40 + i));  // ten of them are also those of the next process
        if (i % 5 == 4) store->flush();
      }
    }));
  for (pid_t p : children) {
    int status = 0;
    ::waitpid(p, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(count_found(path, 0, 170), 170);
}

TEST(IndexStore, AKillAtAnyMomentLeavesAFileThatIsRead) {
  const TestFolder folder;
  const std::string path = folder.path("x.index");
  std::mt19937 random(5);
  int most = 0;
  // What the child has written, so that a child that gets a core late is killed no earlier.
  void* const shared =
      ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& written = *new (shared) std::atomic<int>(0);
  for (int round = 0; round < 40; ++round) {
    written = 0;
    const pid_t p = child([&] {
      auto store = open(path);
      Access a(store);
      for (int i = 0;; ++i) {
        a.give(Record(round * 100 + i % 100));
        store->flush();
        ++written;
      }
    });
    for (const int wanted = static_cast<int>(random() % 20); written < wanted;) std::this_thread::yield();
    ::usleep(random() % 2000);
    ::kill(p, SIGKILL);
    int status = 0;
    ::waitpid(p, &status, 0);
    const int found = count_found(path, 0, (round + 1) * 100);  // compares each
    EXPECT_GE(found, most);
    most = found;
  }
  EXPECT_GT(most, 40);
  ::munmap(shared, sizeof(std::atomic<int>));
}

TEST(IndexStore, AForgedFileEndsSoon) {
  const TestFolder folder;
  const std::string path = folder.path("x.index");
  {
    Access(open(path)).give(Record(1));
  }
  ::truncate(path.c_str(), int64_t{300} << 30);  // zeros follow
  const std::clock_t begin = std::clock();       // of the processor
  EXPECT_EQ(count_found(path, 0, 3), 1);
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

TEST(IndexStore, IsSharedByPathInAProcess) {
  const TestFolder folder;
  auto a = EntropyIndexStore::open(folder.path("x.index"));
  EXPECT_EQ(a, EntropyIndexStore::open(folder.path("./x.index")));
  EXPECT_NE(a, EntropyIndexStore::open(folder.path("y.index")));
  const pid_t p = child([&] {
    if (EntropyIndexStore::open(folder.path("x.index")) == a) ::_exit(3);
    Access(EntropyIndexStore::open(folder.path("x.index"))).give(Record(1));
    a = nullptr;  // ends without waiting for the parent's thread
  });
  int status = 0;
  ::waitpid(p, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock
