// SPDX-License-Identifier: Apache-2.0
// The JPEG decoder of the GPU on a real one: whether its bytes are the CPU's, the time of its kernels for one batch
// alone (files on the device), and how many pictures a second go through from pinned memory with several batches under
// way. usage: gpu_jpeg_bench FOLDER_OF_PHOTOS [FOLDER_OF_LARGE_PHOTOS [alone | profile | tune]]
#include <cuda_runtime_api.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "codecs/image_decoder.h"
#include "codecs/test_images.h"
#include "cuda/decode/batch_decoder.h"
#include "cuda/jpeg/jpeg_decoder.h"
#include "cuda/jpeg/kernel_text.h"
#include "gpu_room/forwarding_driver.h"

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;
using File = std::vector<uint8_t>;
double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }
double cpu_seconds() {
  rusage r;
  getrusage(RUSAGE_SELF, &r);
  return r.ru_utime.tv_sec + r.ru_stime.tv_sec + 1e-6 * (r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}
double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

// Passes everything on; puts an event before the first launch and after each where it is asked to.
class TimedDriver final : public ForwardingDriver {
 public:
  using ForwardingDriver::ForwardingDriver;
  std::shared_ptr<const DeviceKernel> kernel(int device, const std::string& text, const std::string& entry,
                                             std::string& why) override {
    auto made = d_->kernel(device, text, entry, why);
    if (made) names_[made.get()] = entry;
    return made;
  }
  void launch(int device, const DeviceKernel& kernel, const Launch& how, const void* table, StreamHandle s) override {
    const auto mark = [&](const std::string& name) {
      cudaEvent_t e;
      cudaEventCreate(&e);
      cudaEventRecord(e, static_cast<cudaStream_t>(s));
      events_.push_back({name, e});
    };
    if (noted_ && events_.empty()) mark("");
    const auto before = Clock::now();
    d_->launch(device, kernel, how, table, s);
    launching += since(before);
    if (noted_) mark(names_[&kernel]);
  }
  // Microseconds from before the first launch to the end of each, since it was asked.
  std::vector<std::pair<std::string, double>> times() {
    std::vector<std::pair<std::string, double>> all;
    for (size_t i = 1; i < events_.size(); ++i) {
      float ms = 0;
      cudaEventSynchronize(events_[i].second);
      cudaEventElapsedTime(&ms, events_[0].second, events_[i].second);
      all.push_back({events_[i].first, ms * 1000});
    }
    for (auto& e : events_) cudaEventDestroy(e.second);
    events_.clear();
    return all;
  }
  void note(bool on) { noted_ = on; }
  void copy(int device, void* to, const void* from, size_t bytes, StreamHandle s) override {
    const auto before = Clock::now();
    d_->copy(device, to, from, bytes, s);
    copying += since(before);
  }
  // The host's time, in seconds.
  std::atomic<double> copying{0}, launching{0};

 private:
  std::map<const DeviceKernel*, std::string> names_;
  std::vector<std::pair<std::string, cudaEvent_t>> events_;
  bool noted_ = false;
};

std::vector<File> read_folder(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& e : std::filesystem::recursive_directory_iterator(folder))
    if (e.path().extension() == ".jpg") paths.push_back(e.path());
  std::sort(paths.begin(), paths.end());
  std::vector<File> files;
  DecodeParams params;
  for (const auto& p : paths) {
    std::ifstream in(p, std::ios::binary);
    File f{std::istreambuf_iterator<char>(in), {}};
    const ImageInfo info = probe_image(f, params);
    if (jpeg_gpu::jpeg_cuda_declines(f, info, params).empty()) files.push_back(std::move(f));
  }
  return files;
}

// n pictures of `files` in one piece of pinned memory, and room for their pixels.
class Work {
 public:
  Work(Driver& driver, const std::vector<File>& files, int n, int first, bool pinned = true) : driver_(driver) {
    stream = driver.take_stream(0);
    size_t bytes = 0, out = 0;
    for (int i = 0; i < n; ++i) bytes += files[(first + i) % files.size()].size();
    if (pinned) memory_ = static_cast<uint8_t*>(driver.pinned_memory()->allocate(bytes));
    else memory_ = static_cast<uint8_t*>(std::malloc(bytes));
    infos.resize(n);
    for (int i = 0; i < n; ++i) {
      const File& f = files[(first + i) % files.size()];
      infos[i] = probe_image(f, {});
      out += (infos[i].height * infos[i].width * 3 + 255) / 256 * 256;
      pixels += infos[i].height * infos[i].width;
    }
    output_ = static_cast<uint8_t*>(driver.memory(0)->allocate(out, stream));
    output_bytes_ = out;
    uint8_t *from = memory_, *to = output_;
    for (int i = 0; i < n; ++i) {
      const File& f = files[(first + i) % files.size()];
      std::memcpy(from, f.data(), f.size());
      DeviceDecode d;
      d.file = {from, f.size()};
      d.info = &infos[i];
      d.pixels = to;
      images.push_back(d);
      from += f.size();
      to += (infos[i].height * infos[i].width * 3 + 255) / 256 * 256;
    }
    file_bytes = bytes;
  }
  ~Work() { driver_.memory(0)->deallocate(output_, output_bytes_, stream); }
  std::vector<uint8_t> fetch(int i) {
    std::vector<uint8_t> v(infos[i].height * infos[i].width * 3);
    driver_.copy(0, v.data(), images[i].pixels, v.size(), stream);
    driver_.synchronize(0, stream);
    return v;
  }
  StreamHandle stream;
  std::vector<ImageInfo> infos;
  std::vector<DeviceDecode> images;
  std::unique_ptr<DecodesInFlight> flight;
  std::shared_ptr<DeviceEvent> done;
  size_t file_bytes = 0;
  int64_t pixels = 0;

 private:
  Driver& driver_;
  uint8_t *memory_, *output_;
  size_t output_bytes_;
};

std::unique_ptr<BatchDecoder> make(Driver& driver, jpeg_gpu::Division division = {}) {
  std::string why;
  auto decoder = make_jpeg_decoder(driver, 0, why, division);
  if (!decoder) fail(ErrorKind::internal, "{}", why);
  return decoder;
}

int verify(Driver& driver, const std::vector<File>& files, const char* what, jpeg_gpu::Division division = {}) {
  auto decoder = make(driver, division);
  Work w(driver, files, static_cast<int>(files.size()), 0);
  auto flight = decoder->decode(w.images, {}, w.stream);
  driver.synchronize(0, w.stream);
  if (flight) flight->finish(w.images);
  std::atomic<int> differ{0}, flagged{0};
  std::vector<std::vector<uint8_t>> got;
  for (size_t i = 0; i < files.size(); ++i) got.push_back(w.fetch(static_cast<int>(i)));
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (size_t i; (i = next++) < files.size();) {
        if (w.images[i].error) {
          if (++flagged <= 3) std::printf("   flagged: %s\n", w.images[i].error->what());
          continue;
        }
        std::vector<uint8_t> want(got[i].size());
        decode_image(files[i], w.infos[i], {}, {0, 0, w.infos[i].height, w.infos[i].width},
                     {want.data(), w.infos[i].width * 3});
        differ += want != got[i];
      }
    });
  for (auto& t : threads) t.join();
  std::printf("verify %-22s %4zu files, subsequences of %u bits: %d differ, %d flagged\n", what, files.size(),
              division.sub_bits, differ.load(), flagged.load());
  std::fflush(stdout);
  return differ + flagged;
}

// One batch alone; the time from its first kernel's start to its last one's end, and each kernel's share.
void alone(TimedDriver& driver, const std::vector<File>& files, const char* what, int n,
           jpeg_gpu::Division division = {}) {
  auto decoder = make(driver, division);
  Work w(driver, files, n, 0);
  std::vector<double> all;
  std::map<std::string, std::vector<double>> parts;
  for (int k = 0; k < 9; ++k) {
    driver.synchronize(0, w.stream);
    driver.note(true);
    auto flight = decoder->decode(w.images, {}, w.stream);
    driver.note(false);
    driver.synchronize(0, w.stream);
    const auto times = driver.times();
    if (k < 2 || times.empty()) continue;
    double before = 0;
    std::map<std::string, double> sum;
    for (const auto& [name, at] : times) sum[name] += at - before, before = at;
    for (const auto& [name, t] : sum) parts[name].push_back(t);
    all.push_back(before);
  }
  const double us = median(all);
  std::printf("alone %-14s %5d x %-8zu sub %u/%u/%u/%u %u/%u | %9.0f us | %8.0f img/s %6.1f GB/s %6.2f GPix/s |", what,
              n, w.file_bytes / n, division.sub_bits, division.guess_bits, division.warm_bits, division.entry_bits,
              division.rounds_alone, division.spread_below, us, n / us * 1e6, w.file_bytes / us * 1e-3,
              w.pixels / us * 1e-3);
  for (int k = 0; k < jpeg_gpu::kKernels; ++k) {
    const std::string name = jpeg_gpu::entry_of(static_cast<jpeg_gpu::Kernel>(k));
    if (parts.count(name)) std::printf(" %s %.0f", name.substr(14).c_str(), median(parts[name]));
  }
  std::printf("\n");
  std::fflush(stdout);
}

// Whole calls from pinned memory until the pixels are there, one after the other: ours, and the hardware engine.
void beside_engine(Driver& driver, const std::vector<File>& files, const char* what, int n) {
  std::string why;
  const auto ours = make(driver), engine = make_batch_decoder(driver, 0, DecodeEngine::hardware, why);
  double us[2] = {0, 0};
  std::string refused = engine ? "" : why;
  for (int e = 0; e < 2; ++e) {
    BatchDecoder* const decoder = e ? engine.get() : ours.get();
    if (!decoder) continue;
    Work w(driver, files, n, 0);
    std::vector<double> all;
    for (int k = 0; k < 9; ++k) {
      driver.synchronize(0, w.stream);
      const auto before = Clock::now();
      const auto flight = decoder->decode(w.images, {}, w.stream);
      driver.synchronize(0, w.stream);
      const double took = since(before) * 1e6;
      if (flight) flight->finish(w.images);
      for (auto& i : w.images)
        if (i.error) refused = i.error->what(), i.error.reset();
      if (k >= 2) all.push_back(took);
    }
    us[e] = median(all);
  }
  std::printf("beside the engine %-14s %5d | ours %9.0f us, %8.0f img/s | engine %9.0f us, %8.0f img/s | %.2f x%s%s\n",
              what, n, us[0], n / us[0] * 1e6, us[1], us[1] ? n / us[1] * 1e6 : 0, us[0] ? us[1] / us[0] : 0,
              refused.empty() ? "" : " | ", refused.c_str());
  std::fflush(stdout);
}

// `threads` host threads with a decoder each, `lanes` batches under way in each.
void sustained(TimedDriver& driver, const std::vector<File>& files, const char* what, int n, int threads, int lanes,
               bool pinned = true, jpeg_gpu::Division division = {}, double seconds = 0.4) {
  std::vector<std::unique_ptr<BatchDecoder>> decoders;
  std::vector<std::vector<std::unique_ptr<Work>>> works(threads);
  for (int t = 0; t < threads; ++t) {
    decoders.push_back(make(driver, division));
    for (int l = 0; l < lanes; ++l)
      works[t].push_back(std::make_unique<Work>(driver, files, n, (t * lanes + l) * n, pinned));
  }
  std::atomic<long> images{0}, bytes{0}, bad{0};
  std::atomic<long> calls{0};
  std::atomic<double> host{0};
  const auto turn = [&](int t, double limit) {
    const auto start = Clock::now();
    for (int k = 0; since(start) < limit; ++k) {
      Work& w = *works[t][k % lanes];
      if (w.done) w.done->synchronize();
      if (w.flight) w.flight->finish(w.images);
      for (auto& i : w.images) bad += i.error.has_value(), i.error.reset();
      const auto before = Clock::now();
      w.flight = decoders[t]->decode(w.images, {}, w.stream);
      w.done = driver.record(0, w.stream);
      host += since(before), ++calls;
      images += n;
      bytes += static_cast<long>(w.file_bytes);
    }
    for (auto& w : works[t]) driver.synchronize(0, w->stream);
  };
  turn(0, 0.05);
  images = bytes = calls = 0;
  host = driver.copying = driver.launching = 0;
  const auto start = Clock::now();
  const double cpu = cpu_seconds();
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) running.emplace_back([&, t] { turn(t, seconds); });
  for (auto& t : running) t.join();
  const double took = since(start), used = cpu_seconds() - cpu;
  std::printf(
      "sustained %-12s batch %4d, %d threads x %d lanes, %s | %8.0f img/s %6.1f GB/s | cores %.2f, a call %.0f us "
      "(copies %.0f, launches %.0f), bad %ld\n",
      what, n, threads, lanes, pinned ? "pinned" : "pageable", images / took, bytes / took * 1e-9, used / took,
      host / calls * 1e6, driver.copying / calls * 1e6, driver.launching / calls * 1e6, bad.load());
  std::fflush(stdout);
}

// The copies of the files to the device alone: what no decoder that takes whole files can pass.
void upload(Driver& driver, const std::vector<File>& files, const char* what, int n, int lanes, double seconds = 0.3) {
  std::vector<std::unique_ptr<Work>> works;
  std::vector<uint8_t*> to;
  for (int l = 0; l < lanes; ++l) {
    works.push_back(std::make_unique<Work>(driver, files, n, l * n));
    to.push_back(static_cast<uint8_t*>(driver.memory(0)->allocate(works[l]->file_bytes, works[l]->stream)));
  }
  long images = 0;
  const auto start = Clock::now();
  for (int k = 0; since(start) < seconds; ++k, images += n) {
    Work& w = *works[k % lanes];
    if (w.done) w.done->synchronize();
    driver.copy(0, to[k % lanes], w.images[0].file.data(), w.file_bytes, w.stream);
    w.done = driver.record(0, w.stream);
  }
  for (auto& w : works) driver.synchronize(0, w->stream);
  std::printf("upload alone %-9s batch %4d, %d lanes | %8.0f img/s\n", what, n, lanes, images / since(start));
  for (int l = 0; l < lanes; ++l) driver.memory(0)->deallocate(to[l], works[l]->file_bytes, works[l]->stream);
}

File encode(const std::vector<uint8_t>& pixels, int height, int width, int quality, int h, int v, int components = 3,
            bool optimized = false, int restart_rows = 0) {
  test::JpegRecipe r;
  r.height = height, r.width = width, r.quality = quality;
  if (components == 1) r.stored = JCS_GRAYSCALE;
  r.h = h, r.v = v;
  r.optimized = optimized, r.restart_rows = restart_rows;
  return test::make_jpeg(r, pixels);
}
// A photograph's pixels, cut or repeated to a size.
std::vector<uint8_t> fill(const File& photo, int height, int width, int shift = 0) {
  const ImageInfo info = probe_image(photo, {});
  std::vector<uint8_t> from(info.height * info.width * 3), to(size_t{1} * height * width * 3);
  decode_image(photo, info, {}, {0, 0, info.height, info.width}, {from.data(), info.width * 3});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      std::memcpy(&to[(size_t{1} * y * width + x) * 3],
                  &from[((y + shift) % info.height * info.width + (x + shift) % info.width) * 3], 3);
  return to;
}

// To compare builds of the kernels in a few seconds.
int tune(TimedDriver& driver, const std::vector<File>& photos, const std::vector<File>& large,
         const std::vector<File>& odd) {
  std::vector<File> f1080;
  for (size_t i = 0; i < std::min<size_t>(large.size(), 8); ++i)
    f1080.push_back(encode(fill(large[i], 1080, 1920), 1080, 1920, 85, 2, 2));
  int bad = verify(driver, photos, "photos") + verify(driver, odd, "odd") + verify(driver, large, "large photos") +
            verify(driver, f1080, "1080p");
  std::printf("# wrong: %d\n", bad);
  for (const int n : {1, 256, 1024}) alone(driver, photos, "photos", n);
  for (const int n : {64, 256}) alone(driver, f1080, "1080p", n);
  for (int round = 0; round < 2; ++round) {
    sustained(driver, photos, "photos", 256, 2, 3);
    sustained(driver, photos, "photos", 256, 2, 4);
    sustained(driver, photos, "photos", 512, 1, 4);
    sustained(driver, f1080, "1080p", 128, 2, 3);
  }
  return bad != 0;
}

int run(int argc, char** argv) {
  const std::vector<std::string> folders(argv + 1, argv + argc);
  if (folders.empty()) return 2;
  TimedDriver driver(make_driver());
  std::printf("# %s\n", driver.device_name(0).c_str());
  const auto start = Clock::now();
  make(driver);
  std::printf("# the kernels were there after %.2f s\n", since(start));
  const std::vector<File> photos = read_folder(folders[0]),
                          large = folders.size() > 1 ? read_folder(folders[1]) : photos;
  if (folders.size() > 2 && folders[2] == "profile") {  // for a profiler: a few batches and nothing else
    const auto decoder = make(driver);
    Work w(driver, photos, 256, 0);
    for (int k = 0; k < 3; ++k) {
      const auto flight = decoder->decode(w.images, {}, w.stream);
      driver.synchronize(0, w.stream);
    }
    return 0;
  }
  using jpeg_gpu::Division;
  const Division half{2048, 2048, 24576}, own{}, twice{4096, 2048, 24576}, four{4096, 4096, 16384};
  // Awkward ones.
  std::vector<File> odd;
  for (int i = 0; i < 48; ++i) {
    test::JpegRecipe r;
    r.height = 1 + i * 37 % 301, r.width = 1 + i * 53 % 401;
    r.h = 1 + i % 2, r.v = 1 + i / 2 % 2, r.components = i % 7 == 3 ? 1 : 3;
    r.quality = 20 + i * 11 % 81, r.optimized = i % 3 == 1, r.long_codes = i % 5 == 2,
    r.restart_mcus = i % 4 == 1 ? 1 + i : 0;
    r.seed = i;
    odd.push_back(test::make_jpeg(r));
  }
  if (folders.size() > 2 && folders[2] == "tune") return tune(driver, photos, large, odd);
  const std::vector<uint8_t> hd = fill(large[0], 1080, 1920), gray1080(1080 * 1920 * 3, 77);
  std::vector<File> f1080, f64, f444, fgray, fopt, flat{encode(gray1080, 1080, 1920, 75, 2, 2)}, frst;
  for (size_t i = 0; i < std::min<size_t>(large.size(), 16); ++i) {
    f1080.push_back(encode(fill(large[i], 1080, 1920), 1080, 1920, 85, 2, 2));
    frst.push_back(encode(fill(large[i], 1080, 1920), 1080, 1920, 85, 2, 2, 3, false, 1));
  }
  for (size_t i = 0; i < std::min<size_t>(photos.size(), 64); ++i) {
    f64.push_back(encode(fill(photos[i], 64, 64, 90), 64, 64, 90, 2, 2));
    const auto p = fill(photos[i], 375, 500);
    f444.push_back(encode(p, 375, 500, 90, 1, 1));
    fgray.push_back(encode(p, 375, 500, 90, 1, 1, 1));
    fopt.push_back(encode(p, 375, 500, 50, 2, 2, 3, true));
  }
  std::vector<File> huge{encode(fill(large[0], 8192, 12288), 8192, 12288, 85, 2, 2)};
  std::vector<File> huge_flat{encode(std::vector<uint8_t>(size_t{8192} * 12288 * 3, 77), 8192, 12288, 85, 2, 2)};
  std::printf("# made the files after %.1f s\n", since(start));
  int bad = 0;
  for (const Division& d : {half, own, twice}) {
    bad += verify(driver, photos, "photos", d);
    bad += verify(driver, odd, "odd", d);
  }
  bad += verify(driver, large, "large photos");
  bad += verify(driver, f1080, "1080p") + verify(driver, frst, "1080p, restarts") + verify(driver, f64, "64 x 64");
  bad += verify(driver, f444, "4:4:4") + verify(driver, fgray, "gray") + verify(driver, fopt, "own tables");
  bad += verify(driver, flat, "flat 1080p") + verify(driver, huge, "100 Mpixel") +
         verify(driver, huge_flat, "flat 100 Mpixel");
  std::printf("# wrong: %d\n", bad);
  for (const int n : {1, 64, 256, 1024})
    for (const Division& d :
         {half, own, four, Division{0, 2048, 24576, 16, 32}, Division{4096, 2048, 24576, 16, 8, 2048}})
      alone(driver, photos, "photos", n, d);
  if (folders.size() > 2) return bad != 0;
  for (const Division& d : {own}) {
    alone(driver, f1080, "1080p", 64, d);
    alone(driver, f64, "64 x 64", 256, d);
    alone(driver, f444, "4:4:4", 256, d);
    alone(driver, fgray, "gray", 256, d);
    alone(driver, fopt, "own tables", 256, d);
    alone(driver, frst, "1080p restarts", 64, d);
    alone(driver, flat, "flat 1080p", 1, d);
    alone(driver, flat, "flat 1080p", 64, d);
    alone(driver, huge, "100 Mpixel", 1, d);
    alone(driver, huge_flat, "flat 100 Mpix", 1, d);
  }
  beside_engine(driver, photos, "photos", 256);
  beside_engine(driver, f1080, "1080p", 64);
  beside_engine(driver, f64, "64 x 64", 256);
  beside_engine(driver, f444, "4:4:4", 256);
  beside_engine(driver, fgray, "gray", 256);
  beside_engine(driver, fopt, "own tables", 256);
  beside_engine(driver, flat, "flat 1080p", 1);
  beside_engine(driver, f1080, "1080p", 1);
  beside_engine(driver, huge, "100 Mpixel", 1);
  beside_engine(driver, huge_flat, "flat 100 Mpix", 1);
  upload(driver, photos, "photos", 256, 4);
  for (const auto& [threads, lanes] : {std::pair{1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {4, 3}})
    sustained(driver, photos, "photos", 256, threads, lanes);
  sustained(driver, photos, "photos", 256, 1, 4, true, twice);
  sustained(driver, photos, "photos", 256, 2, 3, true, twice);
  for (int round = 0; round < 3; ++round) sustained(driver, photos, "photos", 512, 1, 4);
  sustained(driver, photos, "photos", 256, 1, 3, false);
  sustained(driver, f1080, "1080p", 64, 1, 4);
  sustained(driver, f1080, "1080p", 128, 2, 3);
  sustained(driver, f64, "64 x 64", 256, 1, 4);
  return bad != 0;
}

}  // namespace
}  // namespace penstock

int main(int argc, char** argv) { return penstock::run(argc, argv); }
