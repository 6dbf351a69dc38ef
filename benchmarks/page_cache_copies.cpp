// SPDX-License-Identifier: Apache-2.0
// How fast one thread gets records out of the page cache: by pread, as readers do, and by ways that need a mapping.
//
//     page_cache_copies FILE [ROUNDS]
//
// Writes FILE (330 MB), fills the page cache with it in several ways and copies records of 110 KB into memory that is
// used again. Rates are GB in a second of the thread's processor time, medians of the rounds; ways take turns.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t kRecord = 112640, kRecords = 2950, kBytes = kRecord * kRecords, kHugePage = size_t{2} << 20;
constexpr size_t kRing = size_t{64} << 20, kPiece = size_t{1} << 20;

void demand(bool kept, const char* what) {
  if (kept) return;
  std::perror(what);
  std::exit(1);
}

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void copy_past_caches(uint8_t* to, const uint8_t* from, size_t bytes) {
#if defined(__SSE2__)
  for (size_t i = 0; i + 16 <= bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

uint8_t* make_ring(int advice) {
  auto* p = static_cast<uint8_t*>(
      ::mmap(nullptr, kRing + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  demand(p != MAP_FAILED, "mmap");
  p += kHugePage - reinterpret_cast<uintptr_t>(p) % kHugePage;
  ::madvise(p, kRing, advice);
  std::memset(p, 1, kRing);
  return p;
}

struct Way {
  const char* name;
  std::function<void(uint8_t* to, size_t offset)> copy;
};

void measure(const std::string& path, int rounds, const char* state, uint8_t* ring, const char* pages,
             size_t megabytes) {
  const int file = ::open(path.c_str(), O_RDONLY);
  demand(file >= 0, "open");
  auto* map = static_cast<uint8_t*>(::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0));
  demand(map != MAP_FAILED, "mmap");
  const Way ways[] = {
      {"pread",
       [&](uint8_t* to, size_t at) {
         demand(::pread(file, to, kRecord, static_cast<off_t>(at)) == static_cast<ssize_t>(kRecord), "pread");
       }},
      {"process_vm_readv",
       [&](uint8_t* to, size_t at) {
         iovec mine{to, kRecord}, mapped{map + at, kRecord};
         demand(::process_vm_readv(getpid(), &mine, 1, &mapped, 1, 0) == static_cast<ssize_t>(kRecord), "readv");
       }},
      {"mapping, memcpy", [&](uint8_t* to, size_t at) { std::memcpy(to, map + at, kRecord); }},
      {"mapping, stores past the caches", [&](uint8_t* to, size_t at) { copy_past_caches(to, map + at, kRecord); }}};
  std::vector<double> rates[std::size(ways)];
  const size_t slots = std::max<size_t>(1, (megabytes << 20) / kRecord);
  for (int round = 0; round <= rounds; ++round)
    for (size_t w = 0; w < std::size(ways); ++w) {
      const double begin = cpu_seconds();
      for (size_t k = 0; k < kRecords; ++k) ways[w].copy(ring + k % slots * kRecord, k * kRecord);
      if (round > 0) rates[w].push_back(static_cast<double>(kBytes) / (cpu_seconds() - begin) / 1e9);
    }
  std::printf("| %s | %zu MB, %s |", state, megabytes, pages);
  for (auto& r : rates) {
    std::sort(r.begin(), r.end());
    std::printf(" %.1f |", r[r.size() / 2]);
  }
  std::printf("\n");
  std::fflush(stdout);
  ::munmap(map, kBytes);
  ::close(file);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return std::fprintf(stderr, "usage: page_cache_copies FILE [ROUNDS]\n"), 2;
  const std::string path = words[1];
  const int rounds = count > 2 ? std::atoi(words[2]) : 5;
  std::vector<uint8_t> content(kBytes);
  std::mt19937_64 draw(1);
  for (size_t i = 0; i + 8 <= kBytes; i += 8) {
    const uint64_t x = draw();
    std::memcpy(&content[i], &x, 8);
  }
  std::vector<size_t> order(kRecords);
  for (size_t k = 0; k < kRecords; ++k) order[k] = k;
  std::shuffle(order.begin(), order.end(), draw);
  const auto write_by = [&](size_t piece) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    demand(file >= 0, "open");
    for (size_t at = 0; at < kBytes;) {
      const ssize_t n = ::write(file, &content[at], std::min(piece, kBytes - at));
      demand(n > 0, "write");
      at += static_cast<size_t>(n);
    }
    ::close(file);
  };
  const auto read_again = [&](const auto& fill) {
    const int file = ::open(path.c_str(), O_RDONLY);
    demand(file >= 0 && ::fsync(file) == 0, "fsync");
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    fill(file);
    ::close(file);
  };
  std::vector<uint8_t> buffer(kPiece);
  const auto read_records = [&](int file, const auto& numbers) {
    for (const size_t k : numbers)
      demand(::pread(file, buffer.data(), kRecord, static_cast<off_t>(k * kRecord)) > 0, "pread");
  };
  uint8_t* const small = make_ring(MADV_NOHUGEPAGE);
  uint8_t* const huge = make_ring(MADV_HUGEPAGE);

  std::printf(
      "| how the file came into the page cache | copied to | pread | process_vm_readv | mapping, memcpy | "
      "mapping, stores past the caches |\n|---|---|---|---|---|---|\n");
  write_by(kBytes);
  for (const size_t megabytes : {1, 14, 28, 42}) {
    measure(path, rounds, "written at once", small, "4 KB pages", megabytes);
    measure(path, rounds, "written at once", huge, "2 MB pages", megabytes);
  }
  write_by(10240);
  measure(path, rounds, "written by 10 KB", small, "4 KB pages", 14);
  read_again([&](int file) {
    for (size_t at = 0; at < kBytes; at += kPiece)
      demand(::pread(file, buffer.data(), kPiece, static_cast<off_t>(at)) > 0, "pread");
  });
  measure(path, rounds, "read in order", small, "4 KB pages", 14);
  read_again([&](int file) { read_records(file, order); });
  measure(path, rounds, "records read in random order", small, "4 KB pages", 14);
  read_again([&](int file) {
    for (size_t k = 0; k < kRecords; ++k)
      ::posix_fadvise(file, static_cast<off_t>(k * kRecord), kRecord, POSIX_FADV_WILLNEED);
    read_records(file, order);
  });
  measure(path, rounds, "asked for by POSIX_FADV_WILLNEED", small, "4 KB pages", 14);
  ::unlink(path.c_str());
}
