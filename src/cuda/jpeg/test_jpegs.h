// SPDX-License-Identifier: Apache-2.0
// Batches for the GPU's JPEG decoder in tests, compared with the CPU's decoder.
#pragma once
#include <gtest/gtest.h>

#include <optional>

#include "base/error_of.h"
#include "codecs/image_decoder.h"
#include "codecs/test_images.h"
#include "cuda/jpeg/jpeg_decoder.h"

namespace penstock::test {

// A single color: nothing in the picture shows where an MCU starts.
inline File flat_jpeg(int height, int width, uint8_t value) {
  JpegRecipe r;
  r.height = height, r.width = width, r.quality = 75;
  return make_jpeg(r, std::vector<uint8_t>(static_cast<size_t>(height) * width * 3, value));
}

class GpuJpegs {
 public:
  explicit GpuJpegs(jpeg_gpu::Division division = {}) {
    std::string why;
    decoder_ = make_jpeg_decoder(*driver_, 0, why, division);
    if (!decoder_) ADD_FAILURE() << why;
  }
  void add(File file, std::string name, std::optional<Region> region = {}) {
    files_.push_back({std::move(file), std::move(name), region});
  }
  void clear() { files_.clear(); }

  struct Result {
    std::string error;
    std::vector<uint8_t> pixels;
  };
  // Decodes all accepted files in one call; the others have an error.
  std::vector<Result> decode(const DecodeParams& params) {
    std::vector<Result> results(files_.size());
    std::vector<ImageInfo> infos(files_.size());
    std::vector<DeviceDecode> images;
    std::vector<size_t> of;
    const auto memory = driver_->memory(0);
    std::vector<std::pair<void*, size_t>> taken;
    for (size_t i = 0; i < files_.size(); ++i) {
      ParsedHeader read;
      const auto error = error_of([&] { infos[i] = probe_image(files_[i].file, params, i % 2 ? &read : nullptr); });
      if (error) {
        results[i].error = error->what();
        continue;
      }
      const bool headed = i % 3 != 0;  // as executors do; without a header it is read again
      ParsedHeader header;
      if (const std::string why =
              decoder_->declines(files_[i].file, infos[i], params, read, headed ? &header : nullptr);
          !why.empty()) {
        results[i].error = "declined: " + why;
        continue;
      }
      DeviceDecode image;
      image.file = files_[i].file;
      image.header = std::move(header);
      image.info = &infos[i];
      if (const auto& r = files_[i].region) image.region = {r->y, r->x, r->height, r->width};
      const Region r = region_of(i, infos[i]);
      const size_t bytes = r.height * r.width * output_channels(infos[i], params.type);
      // Odd addresses, between guard bytes that must not change.
      auto* p = static_cast<uint8_t*>(memory->allocate(bytes + 2 * kGuard, stream_));
      std::memset(p, 0xA7, bytes + 2 * kGuard);
      taken.push_back({p, bytes});
      image.pixels = p + kGuard - i % 4;
      images.push_back(image);
      of.push_back(i);
    }
    foreseen_bytes = 0;
    for (const DeviceDecode& image : images) foreseen_bytes += decoder_->device_bytes(image);
    const auto flight = decoder_->decode(images, params, stream_);
    driver_->synchronize(0, stream_);
    if (flight) flight->finish(images);
    taken_bytes = flight ? flight->device_bytes() : 0;
    for (size_t k = 0; k < images.size(); ++k) {
      Result& result = results[of[k]];
      const auto* from = static_cast<const uint8_t*>(images[k].pixels);
      const auto* p = static_cast<const uint8_t*>(taken[k].first);
      result.pixels.assign(from, from + taken[k].second);
      for (const uint8_t* q = p; q < p + taken[k].second + 2 * kGuard; ++q)
        if ((q < from || q >= from + taken[k].second) && *q != 0xA7) {
          ADD_FAILURE() << files_[of[k]].name << ": wrote outside its pixels, at " << q - from;
          break;
        }
      if (images[k].error) result.error = images[k].error->what();
      memory->deallocate(taken[k].first, taken[k].second + 2 * kGuard, stream_);
    }
    return results;
  }
  std::vector<Result> decode_on_cpu(const DecodeParams& params) const {
    std::vector<Result> results(files_.size());
    for (size_t i = 0; i < files_.size(); ++i) {
      const auto error = error_of([&] {
        const ImageInfo info = probe_image(files_[i].file, params);
        const Region r = region_of(i, info);
        const int64_t row = r.width * output_channels(info, params.type);
        results[i].pixels.resize(row * r.height);
        decode_image(files_[i].file, info, params, r, {results[i].pixels.data(), row});
      });
      if (error) results[i].error = error->what();
    }
    return results;
  }
  // No file is declined or damaged, and all bytes are equal.
  void expect_equal(const DecodeParams& params = {}) {
    const auto got = decode(params), want = decode_on_cpu(params);
    for (size_t i = 0; i < files_.size(); ++i) {
      EXPECT_EQ(got[i].error, "") << files_[i].name;
      if (got[i].error.empty()) expect_same(i, params, got[i].pixels, want[i].pixels);
    }
  }
  void expect_same(size_t i, const DecodeParams& params, const std::vector<uint8_t>& got,
                   const std::vector<uint8_t>& want) const {
    ASSERT_EQ(got.size(), want.size()) << files_[i].name;
    size_t differ = 0, first = got.size();
    for (size_t k = got.size(); k-- > 0;)
      if (got[k] != want[k]) ++differ, first = k;
    if (!differ) return;
    const ImageInfo info = probe_image(files_[i].file, params);
    const Region r = region_of(i, info);
    const size_t row = r.width * output_channels(info, params.type);
    ADD_FAILURE() << files_[i].name << ", " << r.height << " x " << r.width << " of " << info.height << " x "
                  << info.width << ", type " << static_cast<int>(params.type) << ": " << differ
                  << " bytes differ, the first in row " << first / row << ", byte " << first % row << ": "
                  << int{got[first]} << " for " << int{want[first]};
  }
  Driver& driver() { return *driver_; }
  BatchDecoder& decoder() { return *decoder_; }
  size_t foreseen_bytes = 0, taken_bytes = 0;  // on the device, for the last decode()

 private:
  static constexpr size_t kGuard = 64;
  Region region_of(size_t i, const ImageInfo& info) const {
    return files_[i].region ? *files_[i].region : Region{0, 0, info.height, info.width};
  }
  struct Given {
    File file;
    std::string name;
    std::optional<Region> region;
  };
  std::unique_ptr<Driver> driver_ = make_driver();
  StreamHandle stream_ = driver_->take_stream(0);
  std::unique_ptr<BatchDecoder> decoder_;
  std::vector<Given> files_;
};

}  // namespace penstock::test
