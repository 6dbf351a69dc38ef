// SPDX-License-Identifier: Apache-2.0
// An image format: QOI, "the quite OK image format". Source: its specification, version 1.0.
#include <penstock/image_format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace example {
namespace {
using namespace penstock;

constexpr size_t kHeader = 14;

struct Header {
  int64_t height = 0, width = 0;
  int channels = 0;
};

// The pixels of a file, one after another.
class Pixels {
 public:
  Pixels(Bytes file, int64_t width) : file_(file), width_(width) {}
  const std::array<uint8_t, 4>& next() {
    if (run_ > 0) --run_;
    else step(byte());
    ++made_;
    return now_;
  }

 private:
  void step(uint8_t tag) {
    if (tag == 0xFE || tag == 0xFF) {
      for (int i = 0; i < (tag == 0xFF ? 4 : 3); ++i) now_[i] = byte();
    } else if (tag >> 6 == 0) {
      now_ = seen_[tag];
    } else if (tag >> 6 == 1) {
      add((tag >> 4 & 3) - 2, (tag >> 2 & 3) - 2, (tag & 3) - 2);
    } else if (tag >> 6 == 2) {
      const int green = (tag & 63) - 32;
      const int others = byte();
      add(green - 8 + (others >> 4), green, green - 8 + (others & 15));
    } else {
      run_ = tag & 63;
    }
    seen_[(now_[0] * 3 + now_[1] * 5 + now_[2] * 7 + now_[3] * 11) % 64] = now_;
  }
  void add(int r, int g, int b) {
    now_[0] = static_cast<uint8_t>(now_[0] + r);
    now_[1] = static_cast<uint8_t>(now_[1] + g);
    now_[2] = static_cast<uint8_t>(now_[2] + b);
  }
  uint8_t byte() {
    if (at_ >= file_.size()) ends_early("QOI: premature end of file at row {}", made_ / width_);
    return file_[at_++];
  }

  Bytes file_;
  int64_t width_, made_ = 0;
  size_t at_ = kHeader;
  int run_ = 0;
  std::array<uint8_t, 4> now_{0, 0, 0, 255};
  std::array<std::array<uint8_t, 4>, 64> seen_{};
};

class Qoi final : public DecoderByHeader<Header> {
 public:
  const char* name() const override { return "qoi/example"; }

  Header read_header(Bytes file) const override {
    if (file.size() < kHeader) ends_early("QOI: the file of {} bytes ends in the header", file.size());
    const Header h{be32(&file[8]), be32(&file[4]), file[12]};
    if (h.width < 1 || h.height < 1) bad_data("QOI: the header says {} x {} pixels", h.height, h.width);
    if (h.channels != 3 && h.channels != 4) bad_data("QOI: the header says {} channels", h.channels);
    return h;
  }
  ImageInfo describe(const Header& h) const override {
    return {.height = h.height, .width = h.width, .channels = h.channels, .dtype = DType::uint8};
  }
  void decode_region(Bytes file, const Header& h, const DecodeParams& params, const Region& region,
                     const PixelSink& sink) const override {
    Pixels pixels(file, h.width);
    std::vector<uint8_t> row(static_cast<size_t>(h.width * h.channels));
    int64_t rows = 0;  // that have been read: each pixel needs those before it
    store_rows(RowConversion{h.channels, DType::uint8, params.type, params.dtype}, region, sink, [&](int64_t y) {
      for (; rows <= y; ++rows)
        for (int64_t x = 0; x < h.width; ++x)
          std::copy_n(pixels.next().begin(), h.channels, &row[static_cast<size_t>(x * h.channels)]);
      return static_cast<const void*>(row.data());
    });
  }
};

const Qoi qoi;

PENSTOCK_IMAGE_FORMAT({
    .id = "qoi",
    .title = "QOI",
    .place = 100,
    .signatures = {{0, "qoif"}},
    .suffixes = {".qoi"},
    .decoders = {&qoi},
    .taken = "all",
    .window_reads = "the rows above its end",
    .library = "the example of a plug-in",
});

}  // namespace
}  // namespace example
