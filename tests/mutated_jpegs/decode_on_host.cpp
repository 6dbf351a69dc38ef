// SPDX-License-Identifier: Apache-2.0
// usage: mutations.py COUNT | mutated_jpegs [SECONDS]: the GPU's JPEG decoder, its kernels on fibers, over damaged and
// hostile files in batches with whole ones between them. Built with the address sanitizer and that of undefined
// behavior.
//
// A whole file must give the CPU's bytes, whatever lies beside it. A damaged one is either declined, or flagged, or
// gives what the CPU gives; in another batch, in another order and company, the same. Nothing may be written beside the
// pixels. A batch that takes longer than SECONDS (60) ends the program. Ends with 0 and a line of counts, or with 1.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "base/clock.h"
#include "base/error_of.h"
#include "codecs/jpeg/test_decodes.h"
#include "cuda/jpeg/jpeg_decoder.h"
#include "fuzz/host_driver.h"

using namespace penstock;

namespace {

constexpr size_t kBatch = 32, kGuard = 64;
constexpr uint8_t kUntouched = 0xA7;

struct File {
  size_t number = 0;
  bool whole = false;
  std::vector<uint8_t> bytes;
};
bool read_file(File& f) {
  unsigned char head[5];
  if (std::fread(head, 1, sizeof head, stdin) != sizeof head) return false;
  uint32_t size;
  std::memcpy(&size, head + 1, 4);
  f.whole = head[0] == 'g';
  f.bytes.resize(size);
  return std::fread(f.bytes.data(), 1, size, stdin) == size;
}

struct Task {
  const File* file = nullptr;
  ImageInfo info;
  Region region;
  ParsedHeader header;
  bool flagged = false;
  std::vector<uint8_t> memory;  // pixels between guards
  size_t bytes = 0;
  const uint8_t* pixels() const { return memory.data() + kGuard; }
};

struct Counts {
  size_t files = 0, whole = 0, no_jpeg = 0, declined = 0, flagged = 0, equal = 0, again = 0, wrong = 0;
} counts;

void wrong(const File& f, const char* what) {
  ++counts.wrong;
  std::fprintf(stderr, "file %zu (%s): %s\n", f.number, f.whole ? "whole" : "damaged", what);
}

void decode(BatchDecoder& decoder, Driver& driver, std::vector<Task>& tasks, const DecodeParams& params) {
  std::vector<DeviceDecode> images;
  for (Task& t : tasks) {
    t.memory.assign(t.bytes + 2 * kGuard, kUntouched);
    const Region& r = t.region;
    images.push_back(
        {t.file->bytes, &t.info, t.memory.data() + kGuard, std::nullopt, {r.y, r.x, r.height, r.width}, t.header});
  }
  const auto flight = decoder.decode(images, params, &driver);
  if (flight) flight->finish(images);
  for (size_t i = 0; i < tasks.size(); ++i) {
    Task& t = tasks[i];
    t.flagged = images[i].error.has_value();
    const auto untouched = [](uint8_t b) { return b == kUntouched; };
    if (!std::all_of(t.memory.begin(), t.memory.begin() + kGuard, untouched) ||
        !std::all_of(t.memory.end() - kGuard, t.memory.end(), untouched))
      wrong(*t.file, "written beside its pixels");
  }
}

void check_batch(std::vector<File>& files, Driver& driver, std::span<const std::unique_ptr<BatchDecoder>> decoders,
                 size_t number) {
  std::mt19937 random(static_cast<unsigned>(number));
  DecodeParams params;
  params.max_pixels = 1 << 18;
  params.type = static_cast<ImageType>(number % 3);
  BatchDecoder& decoder = *decoders[number / 3 % decoders.size()];
  std::vector<Task> tasks;
  for (const File& f : files) {
    ++counts.files;
    Task t;
    t.file = &f;
    ParsedHeader read;
    if (error_of([&] { t.info = probe_image(f.bytes, params, random() % 2 ? &read : nullptr); })) {
      ++counts.no_jpeg;
      if (f.whole) wrong(f, "has no header");
      continue;
    }
    if (!decoder.declines(f.bytes, t.info, params, read, random() % 2 ? &t.header : nullptr).empty()) {
      ++counts.declined;
      if (f.whole) wrong(f, "is declined");
      continue;
    }
    t.region = {0, 0, t.info.height, t.info.width};
    if (random() % 2) {
      t.region.y = random() % t.info.height, t.region.x = random() % t.info.width;
      t.region.height = 1 + random() % (t.info.height - t.region.y),
      t.region.width = 1 + random() % (t.info.width - t.region.x);
    }
    t.bytes = static_cast<size_t>(t.region.height * t.region.width * output_channels(t.info, params.type));
    tasks.push_back(std::move(t));
  }
  decode(decoder, driver, tasks, params);
  for (const Task& t : tasks) {
    if (t.flagged) {
      ++counts.flagged;
      if (t.file->whole) wrong(*t.file, "is flagged");
      continue;
    }
    const auto want = test::decode_by(JpegEngine::automatic, t.file->bytes, t.info, params, t.region);
    if (!want.error.empty()) wrong(*t.file, "decodes where the CPU finds an error");
    else if (want.pixels.size() != t.bytes || std::memcmp(want.pixels.data(), t.pixels(), t.bytes))
      wrong(*t.file, "other pixels than the CPU's");
    ++(t.file->whole ? counts.whole : counts.equal);
  }
  if (number % 4) return;
  std::vector<Task> others = tasks;
  std::shuffle(others.begin(), others.end(), random);
  others.resize((others.size() + 1) / 2);
  decode(decoder, driver, others, params);
  for (const Task& t : others) {
    const auto same = std::find_if(tasks.begin(), tasks.end(), [&](const Task& s) { return s.file == t.file; });
    if (same->flagged != t.flagged || (!t.flagged && same->memory != t.memory)) wrong(*t.file, "depends on its batch");
    ++counts.again;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto most_seconds = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 60);
  fuzz::HostDriver driver;
  std::vector<std::unique_ptr<BatchDecoder>> decoders;
  for (const jpeg_gpu::Division division : {jpeg_gpu::Division{}, {1024, 1024, 2048}, {4096, 2048, 8192}}) {
    std::string why;
    decoders.push_back(make_jpeg_decoder(driver, 0, why, division));
  }
  const int64_t begin = clock_ns();
  int64_t longest = 0;
  size_t batches = 0;
  for (bool more = true; more; ++batches) {
    std::vector<File> files;
    for (File f; files.size() < kBatch && (more = read_file(f)); files.push_back(std::move(f)))
      f.number = batches * kBatch + files.size();
    alarm(most_seconds);
    const int64_t from = clock_ns();
    check_batch(files, driver, decoders, batches);
    longest = std::max(longest, clock_ns() - from);
    if (batches % 256 == 255)
      std::fprintf(stderr, "%zu files, %.0f s\n", counts.files, static_cast<double>(clock_ns() - begin) * 1e-9);
  }
  std::printf(
      "%zu files in %zu batches, %.0f s, a batch %.1f s at most: %zu whole; damaged: %zu without a header, %zu "
      "declined, %zu flagged, "
      "%zu with the CPU's bytes; %zu again in other batches; %zu wrong\n",
      counts.files, batches, static_cast<double>(clock_ns() - begin) * 1e-9, static_cast<double>(longest) * 1e-9,
      counts.whole, counts.no_jpeg, counts.declined, counts.flagged, counts.equal, counts.again, counts.wrong);
  return counts.wrong || counts.whole == 0;
}
