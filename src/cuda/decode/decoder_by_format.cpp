// SPDX-License-Identifier: Apache-2.0
#include "cuda/decode/decoder_by_format.h"

#include <algorithm>
#include <vector>

#include "codecs/image_format.h"
#include "cuda/decode/nvjpeg2000_decoder.h"
#include "cuda/decode/nvtiff_decoder.h"

namespace penstock {
namespace {

// The images of one decoder, in the order of the group, and their positions in the group.
struct Part {
  std::vector<DeviceDecode> images;
  std::vector<size_t> places;
  std::unique_ptr<DecodesInFlight> in_flight;

  void add(std::span<DeviceDecode> group, size_t place) {
    images.push_back(group[place]);
    places.push_back(place);
  }
  void give_errors(std::span<DeviceDecode> group) {
    for (size_t k = 0; k < places.size(); ++k) group[places[k]].error = std::move(images[k].error);
  }
};

class PartsInFlight final : public DecodesInFlight {
 public:
  void finish(std::span<DeviceDecode> group) override {
    for (Part& part : parts) {
      if (part.in_flight) part.in_flight->finish(part.images);
      part.in_flight = nullptr;
      part.give_errors(group);
    }
  }
  size_t device_bytes() const override {
    size_t bytes = 0;
    for (const Part& part : parts) bytes += part.in_flight ? part.in_flight->device_bytes() : 0;
    return bytes;
  }
  Part parts[2];
};

class DecoderByFormat final : public BatchDecoder {
 public:
  DecoderByFormat(std::unique_ptr<BatchDecoder> first, std::unique_ptr<BatchDecoder> other, const char* format)
      : first_(std::move(first)), other_(std::move(other)), format_(format) {}
  const char* name() const override { return first_->name(); }
  int best_group() const override { return first_->best_group(); }
  int lanes() const override { return first_->lanes(); }
  bool takes_regions() const override { return first_->takes_regions(); }
  size_t device_bytes(const DeviceDecode& image) const override { return of(*image.info).device_bytes(image); }
  std::string declines(Bytes file, const ImageInfo& info, const DecodeParams& params, const ParsedHeader& read,
                       ParsedHeader* kept) const override {
    return of(info).declines(file, info, params, read, kept);
  }
  std::unique_ptr<DecodesInFlight> decode(std::span<DeviceDecode> images, const DecodeParams& params,
                                          StreamHandle stream) override {
    const auto is_other = [&](const DeviceDecode& image) { return &of(*image.info) == other_.get(); };
    if (std::ranges::none_of(images, is_other)) return first_->decode(images, params, stream);
    auto all = std::make_unique<PartsInFlight>();
    for (size_t i = 0; i < images.size(); ++i) all->parts[is_other(images[i])].add(images, i);
    for (int k : {1, 0})  // the other first: if it throws, nothing is in flight yet
      if (Part& part = all->parts[k]; !part.images.empty())
        part.in_flight = (k ? *other_ : *first_).decode(part.images, params, stream);
    if (all->parts[0].in_flight || all->parts[1].in_flight) return all;
    for (Part& part : all->parts) part.give_errors(images);
    return nullptr;
  }

 private:
  BatchDecoder& of(const ImageInfo& info) const { return info.format->id == format_ ? *other_ : *first_; }

  std::unique_ptr<BatchDecoder> first_, other_;
  const char* format_;
};

}  // namespace

std::unique_ptr<BatchDecoder> decoder_by_format(std::unique_ptr<BatchDecoder> first,
                                                std::unique_ptr<BatchDecoder> other, const char* format) {
  return std::make_unique<DecoderByFormat>(std::move(first), std::move(other), format);
}

std::unique_ptr<BatchDecoder> with_other_formats(std::unique_ptr<BatchDecoder> first, Driver& driver, int device) {
  std::string why;
  const nvjpeg2000::Library* library = first ? nvjpeg2000::library(why) : nullptr;
  if (auto other = library ? make_nvjpeg2000_decoder(*library, driver, device, why) : nullptr)
    first = decoder_by_format(std::move(first), std::move(other), "jpeg2000");
  const nvtiff::Library* tiff = first ? nvtiff::library(why) : nullptr;
  return tiff ? decoder_by_format(std::move(first), make_nvtiff_decoder(*tiff, driver, device), "tiff")
              : std::move(first);
}

}  // namespace penstock
