// SPDX-License-Identifier: Apache-2.0
// cv::cuda::GpuMat in and out of batches without a copy, for C++17 and later. Needs OpenCV's core headers alone.
//
//   cv::cuda::GpuMat frame = ...;
//   cv::cuda::Stream stream;
//   const Device gpu = Device::gpu(0, cv::cuda::StreamAccessor::getStream(stream));
//   CallOptions options;
//   options.device = gpu;                                  // the call is enqueued there
//   const Batch small = fn::resize(opencv::wrap(frame, gpu), {.size = {224, 224}}, options);
//   cv::cuda::GpuMat result = opencv::gpu_mat(small[0]);   // work on the stream may read it
#pragma once
#include <opencv2/core/cuda.hpp>

#include "penstock/opencv.hpp"

namespace penstock {
inline namespace api {
namespace opencv {

// Matrices of one depth as samples (H, W, C), without a copy, also with one channel. The batch holds references.
// `device` is the GPU that has the memory, and the stream whose work wrote it: a GpuMat does not say either.
inline Batch wrap(const std::vector<cv::cuda::GpuMat>& mats, const Device& device = Device::gpu(),
                  const std::string& layout = "HWC") {
  if (mats.empty()) throw Error(PENSTOCK_ERROR_ARGUMENT, "there is no cv::cuda::GpuMat");
  std::vector<uint8_t*> data;
  std::vector<Shape> shapes, strides;
  for (const cv::cuda::GpuMat& mat : mats) {
    if (mat.empty()) throw Error(PENSTOCK_ERROR_ARGUMENT, "the cv::cuda::GpuMat is empty");
    if (mat.depth() != mats[0].depth()) throw Error(PENSTOCK_ERROR_TYPE, "the matrices differ in their depth");
    if (mat.step % mat.elemSize1() != 0)
      throw Error(PENSTOCK_ERROR_ARGUMENT, "the step of the cv::cuda::GpuMat, " + std::to_string(mat.step) +
                                               " bytes, is not a multiple of its elements' size");
    data.push_back(mat.data);
    shapes.push_back({mat.rows, mat.cols, mat.channels()});
    strides.push_back({static_cast<int64_t>(mat.step / mat.elemSize1()), mat.channels(), 1});
  }
  const auto held = std::make_shared<std::vector<cv::cuda::GpuMat>>(mats);
  return Batch::wrap(data, dtype_of_depth(mats[0].depth()), shapes, strides, layout, held, device);
}
inline Batch wrap(const cv::cuda::GpuMat& mat, const Device& device = Device::gpu(),
                  const std::string& layout = "HWC") {
  return wrap(std::vector<cv::cuda::GpuMat>{mat}, device, layout);
}

// A sample (H, W) or (H, W, C) of a batch on a GPU as a matrix, without a copy. It is valid as long as the batch lives.
// Work on another stream than that of the call needs batch.order_before(stream) first.
inline cv::cuda::GpuMat gpu_mat(const Tensor& sample) {
  const detail::Matrix m = detail::matrix_of(sample);
  if (sample.size() == 0) return cv::cuda::GpuMat();
  return cv::cuda::GpuMat(m.rows, m.columns, m.type, sample.data, m.step);
}
cv::cuda::GpuMat gpu_mat(LastTensor&&) = delete;  // the batch ends with the expression: store it in a variable first

}  // namespace opencv
}  // namespace api
}  // namespace penstock
