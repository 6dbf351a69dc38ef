// SPDX-License-Identifier: Apache-2.0
// Images with planes, pitches and a format over memory of the program, without a copy, for C++17 and later.
//
//   const Image frame(ImageFormat::nv12, 1920, 1080, {luma, chroma}, {2048, 2048});
//   const Batch rgb = ImageBatch({frame, other}).rgb();      // sizes may differ, the format may not
#pragma once
#include "penstock/fn/color.h"
#include "penstock/image.h"

namespace penstock {
inline namespace api {

// What the planes of an image hold.
enum class ImageFormat : int {
  rgb = PENSTOCK_IMAGE_RGB,
  bgr = PENSTOCK_IMAGE_BGR,
  gray = PENSTOCK_IMAGE_GRAY,
  rgba = PENSTOCK_IMAGE_RGBA,
  bgra = PENSTOCK_IMAGE_BGRA,
  nv12 = PENSTOCK_IMAGE_NV12,
  nv21 = PENSTOCK_IMAGE_NV21,
  i420 = PENSTOCK_IMAGE_I420,
  yv12 = PENSTOCK_IMAGE_YV12,
  yuyv = PENSTOCK_IMAGE_YUYV,
  uyvy = PENSTOCK_IMAGE_UYVY,
  yvyu = PENSTOCK_IMAGE_YVYU,
  nv16 = PENSTOCK_IMAGE_NV16,
  nv24 = PENSTOCK_IMAGE_NV24
};

// The number of planes of a format: 1, 2 or 3.
inline int num_planes(ImageFormat format) {
  int count = 0;
  check(penstock_image_num_planes(static_cast<penstock_image_format>(format), &count));
  return count;
}

// One image: bytes of the program, which must outlive all batches that are made of it, or be held by their owner.
class Image {
 public:
  // The first row of each plane, and the bytes from a row to the next; no pitches: rows follow each other.
  Image(ImageFormat format, int64_t width, int64_t height, const std::vector<void*>& planes,
        const std::vector<int64_t>& pitches = {}) {
    const auto count = static_cast<size_t>(num_planes(format));
    if (planes.size() != count || (!pitches.empty() && pitches.size() != count))
      throw Error(PENSTOCK_ERROR_ARGUMENT, "the format has " + std::to_string(count) + " planes");
    image_.struct_size = sizeof image_;
    image_.format = static_cast<penstock_image_format>(format);
    image_.width = width, image_.height = height;
    for (size_t k = 0; k < count; ++k) image_.data[k] = planes[k], image_.pitch[k] = pitches.empty() ? 0 : pitches[k];
  }
  ImageFormat format() const { return static_cast<ImageFormat>(image_.format); }
  int64_t width() const { return image_.width; }
  int64_t height() const { return image_.height; }
  void* plane(int k) const { return image_.data[k]; }
  int64_t pitch(int k) const { return image_.pitch[k]; }
  const penstock_image& handle() const { return image_; }

 private:
  penstock_image image_{};
};

// Images of one format, of sizes of their own.
class ImageBatch {
 public:
  // `owner` is kept until nothing refers to the memory. On a GPU, device.stream is the one that wrote it.
  explicit ImageBatch(std::vector<Image> images, std::shared_ptr<void> owner = nullptr, const Device& device = {})
      : images_(std::move(images)), owner_(std::move(owner)), device_(device) {
    if (images_.empty()) throw Error(PENSTOCK_ERROR_ARGUMENT, "there is no image");
  }
  int size() const { return static_cast<int>(images_.size()); }
  const Image& operator[](int i) const { return images_[static_cast<size_t>(i)]; }
  ImageFormat format() const { return images_[0].format(); }

  // Plane k of all images: samples (H, W, C), with the rows of the program.
  Batch plane(int k) const {
    std::vector<const penstock_image*> all;
    for (const Image& image : images_) all.push_back(&image.handle());
    auto user = owner_ ? std::make_unique<std::shared_ptr<void>>(owner_) : nullptr;
    void (*const release)(void*) = [](void* u) { delete static_cast<std::shared_ptr<void>*>(u); };
    penstock_batch* handle = nullptr;
    check(penstock_batch_from_images(all.data(), all.size(), k, device_.kind, device_.id, device_.stream,
                                     user ? release : nullptr, user.get(), &handle));
    user.release();
    return Batch(handle);
  }
  std::vector<Batch> planes() const {
    std::vector<Batch> all;
    for (int k = 0, n = num_planes(format()); k < n; ++k) all.push_back(plane(k));
    return all;
  }
  // In another format of one plane; `arguments` say which matrix and range, their formats are set here.
  Batch to(ColorFormat wanted, fn::ColorSpaceConversionArguments arguments = {},
           const CallOptions& options = {}) const {
    arguments.image_type = static_cast<ColorFormat>(format());
    arguments.output_type = wanted;
    return call("color_space_conversion", planes(), arguments.list(), options)[0];
  }
  Batch rgb(const fn::ColorSpaceConversionArguments& arguments = {}, const CallOptions& options = {}) const {
    return format() == ImageFormat::rgb ? plane(0) : to(ColorFormat::rgb, arguments, options);
  }

 private:
  std::vector<Image> images_;
  std::shared_ptr<void> owner_;
  Device device_;
};

}  // namespace api
}  // namespace penstock
