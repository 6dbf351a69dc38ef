// SPDX-License-Identifier: Apache-2.0
#include "cuda/jpeg/jpeg_decoder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "cuda/jpeg/kernel_text.h"

namespace penstock {
namespace {

using jpeg_gpu::Plan;

constexpr int kBestGroup = 256, kLanes = 4;
constexpr size_t kGapInFiles = 256;  // the memory between two files that are this close belongs to them
constexpr size_t kSlack = 64;        // read after the files
constexpr size_t kSpread = 16;       // of files that are copied together

// Memory that is freed after the work on its stream.
class Held {
 public:
  Held(std::shared_ptr<MemoryResource> memory, size_t bytes, StreamHandle stream)
      : memory_(std::move(memory)), bytes_(bytes), stream_(stream) {
    p_ = static_cast<uint8_t*>(memory_->allocate(bytes_, stream_));
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { memory_->deallocate(p_, bytes_, stream_); }
  uint8_t* get() const { return p_; }

 private:
  std::shared_ptr<MemoryResource> memory_;
  size_t bytes_;
  StreamHandle stream_;
  uint8_t* p_ = nullptr;
};

// Headers that are not read yet come from memory that is not in the caches: prefetches it line by line.
constexpr size_t kHeadersAhead = 6, kHeaderBytes = 768, kLine = 64;
void fetch_header(const DeviceDecode& image) {
#if defined(__GNUC__)
  if (image.header.get<jpeg_gpu::FileHeader>()) return;
  for (size_t at = 0; at < std::min(kHeaderBytes, image.file.size()); at += kLine)
    __builtin_prefetch(image.file.data() + at);
#endif
}

class JpegsInFlight final : public DecodesInFlight {
 public:
  // For each enqueued image: its index among all, and a word that comes from the device.
  JpegsInFlight(std::shared_ptr<MemoryResource> pinned, size_t images, StreamHandle stream)
      : flags_(std::move(pinned), images * 4, stream) {}
  void finish(std::span<DeviceDecode> images) override {
    for (size_t i = 0; i < of_.size(); ++i) {
      uint32_t flags;
      std::memcpy(&flags, flags_.get() + 4 * i, 4);
      if (flags && !images[of_[i]].error)
        images[of_[i]].error =
            Error(ErrorKind::data, fmt::format("jpeg/cuda: the entropy-coded data is damaged ({})", reasons(flags)));
    }
  }
  uint8_t* next() const { return flags_.get() + 4 * of_.size(); }
  size_t device_bytes() const override { return device_bytes_; }
  void took(size_t bytes) { device_bytes_ = std::max(device_bytes_, bytes); }  // parts allocate it one after the other
  void add(size_t image) { of_.push_back(static_cast<uint32_t>(image)); }
  bool empty() const { return of_.empty(); }

 private:
  static std::string reasons(uint32_t flags) {
    static constexpr const char* kWords[] = {
        "blocks are missing", "a code does not exist",   "it ends too early",          "no marker ends it",
        "a value is unusual", "it does not synchronize", "a restart marker is missing"};
    std::string all;
    for (size_t i = 0; i < std::size(kWords); ++i)
      if (flags >> i & 1) all += (all.empty() ? "" : ", ") + std::string(kWords[i]);
    return all;
  }
  Held flags_;
  size_t device_bytes_ = 0;
  std::vector<uint32_t> of_;
};

class JpegDecoder final : public BatchDecoder {
 public:
  using Kernels = std::array<std::shared_ptr<const DeviceKernel>, jpeg_gpu::kKernels>;
  JpegDecoder(Driver& driver, int device, Kernels kernels, jpeg_gpu::Division division)
      : driver_(driver), device_(device), kernels_(std::move(kernels)), plan_(division) {}
  const char* name() const override { return "jpeg/cuda"; }
  int best_group() const override { return kBestGroup; }
  int lanes() const override { return kLanes; }
  bool takes_regions() const override { return true; }
  std::string declines(Bytes file, const ImageInfo& info, const DecodeParams& params, const ParsedHeader& read,
                       ParsedHeader* kept) const override {
    return jpeg_gpu::jpeg_cuda_declines(file, info, params, read, kept);
  }
  size_t device_bytes(const DeviceDecode& image) const override { return jpeg_gpu::device_bytes_about(image); }
  std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                          StreamHandle stream) override;

 private:
  struct Place {
    uint32_t image;
    size_t at;
  };
  // Files that are close together: if their memory is pinned, they are uploaded as they are, in one copy.
  struct Run {
    const uint8_t *begin, *end;
    size_t at;
    size_t first;  // of places_
    bool pinned = false;
  };
  size_t decode_part(std::span<DeviceDecode> images, size_t first, const DecodeParams& params, StreamHandle stream,
                     JpegsInFlight& flight);

  Driver& driver_;
  const int device_;
  const Kernels kernels_;
  Plan plan_;
  std::vector<uint32_t> order_;  // of a batch's images, by address
  std::vector<Place> places_;
  std::vector<Run> runs_;
};

// Decodes as many as are decoded at once, from order_[first] on; returns the index of the next one.
size_t JpegDecoder::decode_part(std::span<DeviceDecode> images, size_t first, const DecodeParams& params,
                                StreamHandle stream, JpegsInFlight& flight) {
  size_t file_bytes = 0;
  for (const DeviceDecode& image : images) file_bytes += image.file.size();
  plan_.clear(file_bytes);
  places_.clear();
  runs_.clear();
  size_t next = first, bytes = 0;
  for (; next < order_.size(); ++next) {
    DeviceDecode& image = images[order_[next]];
    if (next + kHeadersAhead < order_.size()) fetch_header(images[order_[next + kHeadersAhead]]);
    if (image.error) continue;
    const uint8_t* const begin = image.file.data();
    const bool joins =
        !runs_.empty() && begin >= runs_.back().end && static_cast<size_t>(begin - runs_.back().end) < kGapInFiles;
    const size_t at = joins ? runs_.back().at + static_cast<size_t>(begin - runs_.back().begin)
                            : (bytes + 2 * kSpread - 1) / kSpread * kSpread;
    if (!plan_.add(image, params, at)) break;
    if (image.error) continue;
    if (!joins) runs_.push_back({begin, begin, at, places_.size()});
    runs_.back().end = begin + image.file.size();
    places_.push_back({order_[next], at});
    bytes = at + image.file.size();
  }
  if (places_.empty()) return next;
  size_t unpinned = 0;  // goes through a block of pinned memory
  for (Run& run : runs_) {
    run.pinned = driver_.is_pinned(run.begin) && driver_.is_pinned(run.end - 1);
    if (!run.pinned) unpinned = run.at + static_cast<size_t>(run.end - run.begin);
  }

  const size_t description = plan_.description_bytes(), scratch_at = (bytes + kSlack + 255) / 256 * 256;
  const auto memory = driver_.memory(device_), pinned = driver_.pinned_memory();
  const Held device(memory, description + scratch_at + plan_.scratch_bytes(), stream);
  flight.took(description + scratch_at + plan_.scratch_bytes());
  uint8_t *const files = device.get() + description, *const scratch = files + scratch_at;
  const Held staging(pinned, description + unpinned, stream);
  plan_.describe(staging.get(), device.get(), files, scratch);
  for (size_t r = 0; r < runs_.size(); ++r) {
    if (runs_[r].pinned) continue;
    for (size_t k = runs_[r].first; k < (r + 1 < runs_.size() ? runs_[r + 1].first : places_.size()); ++k) {
      const Bytes file = images[places_[k].image].file;
      std::memcpy(staging.get() + description + places_[k].at, file.data(), file.size());
    }
  }
  driver_.copy(device_, device.get(), staging.get(), description + unpinned, stream);
  for (const Run& run : runs_)
    if (run.pinned) driver_.copy(device_, files + run.at, run.begin, static_cast<size_t>(run.end - run.begin), stream);
  if (plan_.has_restarts()) driver_.set_zero(device_, scratch + plan_.words_at(), plan_.words_bytes(), stream);
  for (int k = 0; k < jpeg_gpu::kKernels; ++k) {
    const int64_t blocks = plan_.blocks_of(k);
    if (blocks)
      driver_.launch(device_, *kernels_[k], {blocks, jpeg_gpu::kThreads, Plan::shared_bytes_of(k)}, device.get(),
                     stream);
  }
  driver_.copy(device_, flight.next(), device.get() + plan_.flags_at(), 4 * places_.size(), stream);
  for (const Place& p : places_) flight.add(p.image);
  return next;
}

std::unique_ptr<DecodesInFlight> JpegDecoder::decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                                     StreamHandle stream) {
  if (images.empty()) return nullptr;
  auto flight = std::make_unique<JpegsInFlight>(driver_.pinned_memory(), images.size(), stream);
  order_.resize(images.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(),
            [&](uint32_t a, uint32_t b) { return images[a].file.data() < images[b].file.data(); });
  for (size_t next = 0; next < images.size();) next = decode_part(images, next, params, stream, *flight);
  if (flight->empty()) return nullptr;
  return flight;
}

}  // namespace

std::unique_ptr<BatchDecoder> make_jpeg_decoder(Driver& driver, int device, std::string& why,
                                                jpeg_gpu::Division division) {
  JpegDecoder::Kernels kernels;
  for (int k = 0; k < jpeg_gpu::kKernels; ++k) {
    kernels[k] =
        driver.kernel(device, jpeg_gpu::kernel_text(), jpeg_gpu::entry_of(static_cast<jpeg_gpu::Kernel>(k)), why);
    if (!kernels[k]) return nullptr;
  }
  return std::make_unique<JpegDecoder>(driver, device, std::move(kernels), division);
}

}  // namespace penstock
