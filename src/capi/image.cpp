// SPDX-License-Identifier: Apache-2.0
// Images with planes and pitches as batches, a plane each.
#include "penstock/image.h"

#include "capi/edge.h"

using namespace penstock;

namespace {

// Channels of a plane, and how many pixels in a row and in a column share one of its elements.
struct PlaneForm {
  int channels = 1, wide = 1, high = 1;
};
struct Form {
  penstock_image_format format;
  int planes;
  PlaneForm first, others;
};
constexpr Form kForms[] = {
    {PENSTOCK_IMAGE_RGB, 1, {3}, {}},         {PENSTOCK_IMAGE_BGR, 1, {3}, {}},
    {PENSTOCK_IMAGE_GRAY, 1, {1}, {}},        {PENSTOCK_IMAGE_RGBA, 1, {4}, {}},
    {PENSTOCK_IMAGE_BGRA, 1, {4}, {}},        {PENSTOCK_IMAGE_NV12, 2, {1}, {2, 2, 2}},
    {PENSTOCK_IMAGE_NV21, 2, {1}, {2, 2, 2}}, {PENSTOCK_IMAGE_I420, 3, {1}, {1, 2, 2}},
    {PENSTOCK_IMAGE_YV12, 3, {1}, {1, 2, 2}}, {PENSTOCK_IMAGE_YUYV, 1, {2}, {}},
    {PENSTOCK_IMAGE_UYVY, 1, {2}, {}},        {PENSTOCK_IMAGE_YVYU, 1, {2}, {}},
    {PENSTOCK_IMAGE_NV16, 2, {1}, {2, 2, 1}}, {PENSTOCK_IMAGE_NV24, 2, {1}, {2, 1, 1}},
};

const Form& form_of(penstock_image_format format) {
  for (const Form& f : kForms)
    if (f.format == format) return f;
  bad_argument("{} is not a format of images: penstock_image_format lists them", format);
}

bool packed_in_pairs(penstock_image_format f) {
  return f == PENSTOCK_IMAGE_YUYV || f == PENSTOCK_IMAGE_UYVY || f == PENSTOCK_IMAGE_YVYU;
}

struct Plane {
  int64_t shape[3], strides[3];
};

Plane plane_of(const penstock_image& image, const Form& form, int plane, size_t i) {
  const PlaneForm p = plane == 0 ? form.first : form.others;
  if (image.width < 0 || image.height < 0 || image.width > INT32_MAX || image.height > INT32_MAX)
    bad_argument("image {} has {} x {} pixels", i, image.width, image.height);
  const int64_t wide = packed_in_pairs(form.format) ? 2 : form.planes > 1 ? form.others.wide : 1;
  const int64_t high = form.planes > 1 ? form.others.high : 1;
  if (image.width % wide || image.height % high)
    bad_argument("image {} has {} x {} pixels, but its format needs a width that {} divides, and a height that {} does",
                 i, image.width, image.height, wide, high);
  const int64_t columns = image.width / p.wide, row = columns * p.channels;
  const int64_t pitch = image.pitch[plane] ? image.pitch[plane] : row;
  if (pitch > -row && pitch < row)
    bad_argument("plane {} of image {} has a pitch of {} bytes, less than the {} of a row", plane, i, pitch, row);
  return {{image.height / p.high, columns, p.channels}, {pitch, p.channels, 1}};
}

}  // namespace

penstock_status penstock_image_num_planes(penstock_image_format format, int* count) {
  return guarded([&] { required(count, "count") = form_of(format).planes; });
}

penstock_status penstock_batch_from_images(const penstock_image* const* images, size_t count, int plane,
                                           penstock_device_kind device_kind, int device_id, void* stream,
                                           void (*release)(void* user), void* release_user, penstock_batch** batch) {
  std::vector<int64_t> shapes, strides;
  std::vector<void*> data;
  const penstock_status status = guarded([&] {
    required(images, "images");
    if (count < 1 || count > (size_t{1} << 24)) bad_argument("a batch of {} images", count);
    penstock_image_format format = 0;
    for (size_t i = 0; i < count; ++i) {
      const auto image = read_struct(images[i], "an image");
      if (i > 0 && image.format != format) bad_argument("the images differ in their format");
      const Form& form = form_of(format = image.format);
      if (plane < 0 || plane >= form.planes)
        bad_argument("there is no plane {}: the format has {}", plane, form.planes);
      const Plane p = plane_of(image, form, plane, i);
      shapes.insert(shapes.end(), p.shape, p.shape + 3), strides.insert(strides.end(), p.strides, p.strides + 3);
      data.push_back(image.data[plane]);
    }
  });
  if (status != PENSTOCK_OK) return status;
  penstock_batch_description d{};
  d.struct_size = sizeof d;
  d.dtype = PENSTOCK_UINT8, d.ndim = 3, d.layout = "HWC";
  d.num_samples = static_cast<int>(count);
  d.shapes = shapes.data(), d.strides = strides.data(), d.data = data.data();
  d.device_kind = device_kind, d.device_id = device_id, d.stream = stream;
  d.release = release, d.release_user = release_user;
  return penstock_batch_create(&d, batch);
}
