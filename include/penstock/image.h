/* SPDX-License-Identifier: Apache-2.0
 *
 * Images as planes with pitches and a format, for C99 and C++: what cameras, video engines and other libraries have.
 */
#ifndef PENSTOCK_IMAGE_H
#define PENSTOCK_IMAGE_H

#include "penstock/penstock.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t penstock_image_format;
enum { /* the numbers are those that color_space_conversion's image_type and output_type take */
       PENSTOCK_IMAGE_RGB = 0,
       PENSTOCK_IMAGE_BGR = 1,
       PENSTOCK_IMAGE_GRAY = 2,
       PENSTOCK_IMAGE_RGBA = 5,
       PENSTOCK_IMAGE_BGRA = 6,
       PENSTOCK_IMAGE_NV12 = 16, /* luma; pairs of chroma */
       PENSTOCK_IMAGE_NV21 = 17,
       PENSTOCK_IMAGE_I420 = 18, /* luma; chroma; chroma */
       PENSTOCK_IMAGE_YV12 = 19,
       PENSTOCK_IMAGE_YUYV = 20,
       PENSTOCK_IMAGE_UYVY = 21,
       PENSTOCK_IMAGE_YVYU = 22,
       PENSTOCK_IMAGE_NV16 = 23,
       PENSTOCK_IMAGE_NV24 = 24
};

/* Bytes of the program. Those after the last plane of the format are not read. */
typedef struct penstock_image {
  size_t struct_size;
  penstock_image_format format;
  int64_t width, height; /* in pixels */
  void* data[4];         /* the first row of each plane */
  int64_t pitch[4];      /* bytes from a row to the next; 0: rows follow each other. Negative: upwards */
} penstock_image;

/* The number of planes: 1, 2 or 3. */
PENSTOCK_API penstock_status penstock_image_num_planes(penstock_image_format format, int* count);
/* Plane `plane` of images of one format, whose sizes may differ, as a batch of (H, W, C) without a copy: the inputs of
 * color_space_conversion, and its results. `device_kind`, `device_id`, `stream`, `release` and `release_user` are those
 * of penstock_batch_description. */
PENSTOCK_API penstock_status penstock_batch_from_images(const penstock_image* const* images, size_t count, int plane,
                                                        penstock_device_kind device_kind, int device_id, void* stream,
                                                        void (*release)(void* user), void* release_user,
                                                        penstock_batch** batch);

#ifdef __cplusplus
}
#endif
#endif
