// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

namespace penstock {

// The bytes of a video, wherever they are. Any thread may read.
class VideoBytes {
 public:
  VideoBytes() = default;
  virtual ~VideoBytes() = default;
  virtual int64_t size() const = 0;
  virtual void read(int64_t offset, int64_t length, uint8_t* out) const = 0;  // all of it, within size(), or an Error
};

class VideoInMemory final : public VideoBytes {
 public:
  // `owner` keeps the bytes alive; null: the caller does.
  explicit VideoInMemory(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner = nullptr)
      : bytes_(bytes), owner_(std::move(owner)) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  void read(int64_t offset, int64_t length, uint8_t* out) const override {
    std::memcpy(out, bytes_.data() + offset, static_cast<size_t>(length));
  }

 private:
  std::span<const uint8_t> bytes_;
  std::shared_ptr<const void> owner_;
};

}  // namespace penstock
