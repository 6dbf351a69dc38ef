// SPDX-License-Identifier: Apache-2.0
// What feeding a GPU's decoder costs: how many files a second threads copy from the page cache into pinned memory, and
// how many pictures a second a pipeline makes of the same files with as many threads; how long one picture takes.
// usage: gpu_feed_bench FOLDER|ARCHIVE.tar DECODER [SECONDS [BATCH [THREADS...]]]
// 1.5 s, 256 and 1 4 unless said; the library beside it, or in LD_LIBRARY_PATH
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "penstock/fn.h"

using namespace penstock;

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }
double cpu_seconds() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

bool is_archive(const std::string& path) { return path.ends_with(".tar"); }

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& e : std::filesystem::recursive_directory_iterator(folder))
    if (e.is_regular_file()) files.push_back(e.path());
  std::sort(files.begin(), files.end());
  std::shuffle(files.begin(), files.end(), std::mt19937(1));
  return files;
}

// One thread's share: open, fstat, pread, close, and nothing else.
size_t copy_until(const std::vector<std::string>& files, std::atomic<size_t>& next, const std::atomic<bool>& stop,
                  char* memory, size_t ring) {
  size_t at = 0, n = 0;
  for (; !stop; ++n) {
    const int file = open(files[next++ % files.size()].c_str(), O_RDONLY | O_CLOEXEC);
    struct stat s{};
    if (file < 0 || fstat(file, &s) != 0) std::abort();
    const auto bytes = static_cast<size_t>(s.st_size);
    if (at + bytes > ring) at = 0;
    if (pread(file, memory + at, bytes, 0) != s.st_size) std::abort();
    close(file);
    at += (bytes + 63) / 64 * 64;
  }
  return n;
}

void copy_rate(const std::vector<std::string>& files, int threads, size_t ring, double seconds) {
  std::vector<char*> memory(static_cast<size_t>(threads));
  for (char*& m : memory)
    if (cudaHostAlloc(reinterpret_cast<void**>(&m), ring, cudaHostAllocPortable) != cudaSuccess) std::abort();
  std::atomic<size_t> next{0}, done{0};
  std::atomic<bool> stop{false};
  const auto begin = Clock::now();
  std::vector<std::thread> workers;
  for (char* m : memory) workers.emplace_back([&, m] { done += copy_until(files, next, stop, m, ring); });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (auto& w : workers) w.join();
  std::printf("copy alone, %d threads, %3zu MB each            %8.0f files/s\n", threads, ring >> 20,
              static_cast<double>(done) / since(begin));
  for (char* m : memory) cudaFreeHost(m);
}

struct Args : Arguments {
  template <class T> Args& put(const char* name, const T& value) {
    set(name, value);
    return *this;
  }
};
Args normalize() {
  return Args()
      .put("dtype", DType::float16)
      .put("output_layout", "CHW")
      .put("mean", std::vector<double>{123.7, 116.3, 103.5})
      .put("std", std::vector<double>{58.4, 57.1, 57.4});
}

Pipeline pipeline(const std::string& data, const std::string& what, const std::string& decoder, int threads, int batch,
                  int depth) {
  Graph g(7);
  const Value files = is_archive(data)
                          ? g.add("readers.webdataset", {},
                                  Args()
                                      .put("paths", std::vector<std::string>{data})
                                      .put("ext", std::vector<std::string>{"jpg"})
                                      .put("random_shuffle", true),
                                  "", 1)[0]
                          : g.add("readers.file", {}, Args().put("file_root", data).put("random_shuffle", true))[0];
  Value images = g.add("decoders.image", {files}, Args().put("decoder", decoder), "", 0, "mixed")[0];
  if (what == "resnet50") {
    images = g.add("random_resized_crop", {images}, Args().put("size", std::vector<int64_t>{224, 224}))[0];
    images = g.add("crop_mirror_normalize", {images}, normalize().put("mirror", g.add("random.coin_flip", {})[0]))[0];
  } else if (what.starts_with("resize640")) {
    images = g.add("resize", {images},
                   Args().put("size", std::vector<int64_t>{640, 640}).put("antialias", what == "resize640"))[0];
  }
  PipelineOptions o;
  o.batch_size = batch, o.threads = threads, o.prefetch = depth;
  return Pipeline(g, {images}, o);
}

void rate(const std::string& data, const std::string& what, const std::string& decoder, int threads, int batch,
          double seconds) {
  Pipeline p = pipeline(data, what, decoder, threads, batch, 2);
  std::vector<Batch> out;
  const auto start = Clock::now();  // memory grows until as much is under way as will be
  for (int i = 0; i < 12 || since(start) < seconds / 2; ++i) p.next(out);
  out[0].wait();
  const auto begin = Clock::now();
  const double cpu = cpu_seconds();
  size_t n = 0;
  for (; since(begin) < seconds; n += static_cast<size_t>(out[0].size())) p.next(out);
  out[0].wait();
  const double time = since(begin);
  std::printf("%-9s decoder=%-8s %2d threads, batch %3d     %8.0f img/s, %.2f cores\n", what.c_str(), decoder.c_str(),
              threads, batch, static_cast<double>(n) / time, (cpu_seconds() - cpu) / time);
}

void latency(const std::vector<std::string>& files, const std::string& decoder) {
  std::vector<std::vector<uint8_t>> bytes;
  for (size_t i = 0; i < std::min<size_t>(64, files.size()); ++i) {
    std::ifstream f(files[i], std::ios::binary);
    bytes.emplace_back(std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>());
  }
  CallOptions there;
  there.device = Device::gpu(0);
  const Args size = Args().put("size", std::vector<int64_t>{224, 224}), normal = normalize(),
             by = Args().put("decoder", decoder);
  std::vector<double> decoded, complete;
  for (size_t i = 0; i < 1100; ++i) {
    auto& file = bytes[i % bytes.size()];
    const auto begin = Clock::now();
    const Batch encoded = Batch::wrap(file.data(), {1, static_cast<int64_t>(file.size())});
    const Batch image = call("decoders.image", {encoded}, by, there)[0];
    const double call_time = since(begin);
    const Batch small = call("resize", {image}, size, there)[0];
    call("crop_mirror_normalize", {small}, normal, there)[0].wait();
    if (i >= 100) decoded.push_back(call_time), complete.push_back(since(begin));
  }
  const auto median = [](std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
    return 1e6 * v[v.size() / 2];
  };
  std::printf(
      "one picture, decoder=%-8s bytes to normalized tensor %.0f us, of which the decoder's call %.0f us (medians)\n",
      decoder.c_str(), median(complete), median(decoded));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s FOLDER|ARCHIVE.tar DECODER [SECONDS [BATCH [THREADS...]]]\n", argv[0]);
    return 2;
  }
  const std::string data = argv[1], decoder = argv[2];
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1.5;
  const int batch = argc > 4 ? std::atoi(argv[4]) : 256;
  std::vector<int> counts;
  for (int i = 5; i < argc; ++i) counts.push_back(std::atoi(argv[i]));
  if (counts.empty()) counts = {1, 4};
  try {
    const std::vector<std::string> files = is_archive(data) ? std::vector<std::string>{} : files_of(data);
    for (const int threads : counts) {
      if (!files.empty())
        for (const size_t ring : {size_t{64} << 20, size_t{128} << 20}) copy_rate(files, threads, ring, seconds);
      for (const char* what : {"decode", "resnet50", "resize640", "resize640, not antialiased"})
        rate(data, what, decoder, threads, batch, seconds);
    }
    if (!files.empty()) latency(files, decoder);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
