// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/kernel_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "data/test_folder.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}
void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}
std::string image(size_t bytes, char seed) {
  std::string s(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) s[i] = static_cast<char>(seed + 7 * i);
  return s;
}

TEST(KernelCache, GivesBackWhatWasKept) {
  const TestFolder folder;
  const KernelCache cache(folder.path("a/kernels"));
  EXPECT_FALSE(cache.find("key"));
  EXPECT_FALSE(fs::exists(folder.path("a")));  // find() creates nothing
  cache.keep("key", image(5000, 1));
  cache.keep("other key", image(1, 2));
  cache.keep("empty", "");
  EXPECT_EQ(cache.find("key"), image(5000, 1));
  EXPECT_EQ(KernelCache(folder.path("a/kernels")).find("other key"), image(1, 2));
  EXPECT_EQ(cache.find("empty"), "");
  EXPECT_FALSE(cache.find("ke"));
  cache.keep("key", image(70, 3));
  EXPECT_EQ(cache.find("key"), image(70, 3));
  struct stat info;
  ASSERT_EQ(::stat(folder.path("a/kernels").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(cache.file_of("key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path("a/kernels")), {}), 3);  // nothing unfinished
}

TEST(KernelCache, KeepsNothingWithoutAFolder) {
  const KernelCache cache("");
  cache.keep("key", "image");
  EXPECT_FALSE(cache.find("key"));
}

TEST(KernelCache, PassesOverDamagedFilesAndWritesThemAgain) {
  const TestFolder folder;
  const KernelCache cache(folder.path("kernels"));
  cache.keep("key", image(60, 1));
  const std::string path = cache.file_of("key"), whole = read(path);
  for (size_t i = 0; i < whole.size(); ++i) {  // every byte counts
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    write(path, damaged);
    ASSERT_FALSE(cache.find("key")) << "byte " << i;
  }
  for (size_t n = 0; n < whole.size(); ++n) {
    write(path, whole.substr(0, n));
    ASSERT_FALSE(cache.find("key")) << n << " bytes";
  }
  write(path, whole + '\0');
  EXPECT_FALSE(cache.find("key"));
  write(path, "");
  EXPECT_FALSE(cache.find("key"));
  cache.keep("key", image(60, 2));
  EXPECT_EQ(cache.find("key"), image(60, 2));
}

TEST(KernelCache, TakesNoFileOfAnotherKey) {
  const TestFolder folder;
  const KernelCache cache(folder.path("kernels"));
  cache.keep("one", image(300, 1));
  fs::rename(cache.file_of("one"), cache.file_of("two"));  // as if their hashes were equal
  EXPECT_FALSE(cache.find("two"));
}

TEST(KernelCache, RefusesWhatOthersMayWrite) {
  const TestFolder folder;
  const std::string kernels = folder.path("kernels");
  const KernelCache cache(kernels);
  cache.keep("key", "image");
  fs::permissions(kernels, fs::perms(0770));
  EXPECT_FALSE(cache.find("key"));
  cache.keep("new", "image");
  EXPECT_FALSE(fs::exists(cache.file_of("new")));
  fs::permissions(kernels, fs::perms(0700));
  EXPECT_TRUE(cache.find("key"));
  fs::permissions(cache.file_of("key"), fs::perms(0602));
  EXPECT_FALSE(cache.find("key"));
  fs::permissions(cache.file_of("key"), fs::perms(0600));
  EXPECT_TRUE(cache.find("key"));
  const std::string elsewhere = folder.path("elsewhere");
  fs::rename(cache.file_of("key"), elsewhere);
  fs::create_symlink(elsewhere, cache.file_of("key"));
  EXPECT_FALSE(cache.find("key"));
  fs::remove(cache.file_of("key"));
  ASSERT_EQ(::mkfifo(cache.file_of("key").c_str(), 0600), 0);
  EXPECT_FALSE(cache.find("key"));  // and does not wait for a writer
  fs::remove(cache.file_of("key"));
  fs::create_directory(cache.file_of("key"));
  EXPECT_FALSE(cache.find("key"));
  cache.keep("key", "image");  // cannot write
  EXPECT_FALSE(cache.find("key"));
  write(folder.path("file"), "");
  const KernelCache none(folder.path("file"));
  none.keep("key", "image");
  EXPECT_FALSE(none.find("key"));
}

TEST(KernelCache, MakesRoomByTheLongestUnused) {
  const TestFolder folder;
  const KernelCache cache(folder.path("kernels"), 100000);
  using namespace std::chrono_literals;
  for (int i = 0; i < 9; ++i) {
    cache.keep(std::to_string(i), image(10000, 1));
    fs::last_write_time(cache.file_of(std::to_string(i)), fs::file_time_type::clock::now() - (100 - i) * 1min);
  }
  EXPECT_TRUE(cache.find("0"));  // now it is the most recently used one
  const std::string unfinished = cache.file_of("x") + ".7.0.unfinished", fresh = cache.file_of("x") + ".8.0.unfinished";
  write(unfinished, "from a process that was killed");
  write(fresh, "being written");
  write(folder.path("kernels/note.txt"), std::string(200000, 'x'));  // from another program
  fs::last_write_time(unfinished, fs::file_time_type::clock::now() - 24h);
  cache.keep("9", image(20000, 1));
  EXPECT_TRUE(cache.find("9"));
  EXPECT_TRUE(cache.find("0"));
  EXPECT_FALSE(cache.find("1"));
  EXPECT_FALSE(cache.find("2"));
  EXPECT_TRUE(cache.find("8"));
  EXPECT_FALSE(fs::exists(unfinished));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(folder.path("kernels/note.txt")));
  cache.keep("large", image(200000, 1));
  EXPECT_FALSE(cache.find("large"));
  EXPECT_TRUE(cache.find("9"));
}

TEST(KernelCache, OneCompilesWhatManyNeed) {
  const TestFolder folder;
  const KernelCache cache(folder.path("kernels"));
  std::atomic<int> compiled{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      if (cache.find("key")) return;
      const KernelCache::Turn turn(cache, "key");
      if (cache.find("key")) return;  // also if it did not wait
      ++compiled;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      cache.keep("key", image(100, 1));
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(compiled, 1);
  const KernelCache none("");
  const KernelCache::Turn first(none, "key"), second(none, "key");  // nobody waits
}

TEST(KernelCache, ManyWritersOfOneKernel) {
  const TestFolder folder;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      const KernelCache cache(folder.path("kernels"), 60000);
      for (int i = 0; i < 40; ++i) {
        const std::string key = std::to_string(i % 5);
        cache.keep(key, image(9000, static_cast<char>(i % 5)));
        const auto found = cache.find(key);
        if (found) {
          EXPECT_EQ(*found, image(9000, static_cast<char>(i % 5)));
        }
      }
    });
  for (auto& t : threads) t.join();
  const KernelCache cache(folder.path("kernels"), 60000);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(cache.find(std::to_string(i)), image(9000, static_cast<char>(i)));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path("kernels")), {}), 5);
}

}  // namespace
}  // namespace penstock
