// SPDX-License-Identifier: Apache-2.0
// cv::Mat in and out of batches without a copy, for C++17 and later. Needs OpenCV's core headers alone.
//
//   cv::Mat frame = ..., canvas = ...;
//   const Batch small = fn::resize(opencv::wrap(frame), {.size = {224, 224}});
//   cv::imshow("small", opencv::mat(small[0]));
//   options.into = {opencv::wrap(canvas(cv::Rect(16, 0, 224, 224)))};   // a part of a picture
//
// Colors stay in their order, which for OpenCV is mostly BGR.
#pragma once
#include <opencv2/core/mat.hpp>

#include "penstock/batch.hpp"

namespace penstock {
inline namespace api {
namespace opencv {

// The element type of a depth, such as CV_8U.
inline DType dtype_of_depth(int depth) {
  switch (depth) {
    case CV_8U: return DType::uint8;
    case CV_8S: return DType::int8;
    case CV_16U: return DType::uint16;
    case CV_16S: return DType::int16;
    case CV_32S: return DType::int32;
    case CV_32F: return DType::float32;
    case CV_64F: return DType::float64;
    case CV_16F: return DType::float16;
    default: throw Error(PENSTOCK_ERROR_TYPE, "there is no element type for OpenCV's depth " + std::to_string(depth));
  }
}
// The depth of an element type; throws for types that OpenCV does not have.
inline int depth_of(DType type) {
  switch (type) {
    case DType::uint8: return CV_8U;
    case DType::int8: return CV_8S;
    case DType::uint16: return CV_16U;
    case DType::int16: return CV_16S;
    case DType::int32: return CV_32S;
    case DType::float32: return CV_32F;
    case DType::float64: return CV_64F;
    case DType::float16: return CV_16F;
    default: throw Error(PENSTOCK_ERROR_TYPE, "OpenCV has no depth for this element type: cast it first");
  }
}

namespace detail {
struct Place {
  Shape shape, strides;  // in elements
};
inline Place place_of(const cv::Mat& mat) {
  if (mat.empty()) throw Error(PENSTOCK_ERROR_ARGUMENT, "the cv::Mat is empty");
  Place at;
  for (int d = 0; d < mat.dims; ++d) {
    at.shape.push_back(mat.size[d]);
    at.strides.push_back(static_cast<int64_t>(mat.step[d] / mat.elemSize1()));  // OpenCV refuses other steps
  }
  if (mat.dims == 2 || mat.channels() > 1) at.shape.push_back(mat.channels()), at.strides.push_back(1);
  return at;
}
}  // namespace detail

// Matrices of one depth and number of dimensions as samples, without a copy: (H, W, C) each, also with one channel; of
// more dimensions as they are. The batch holds a reference to each.
inline Batch wrap(const std::vector<cv::Mat>& mats, const std::string& layout = "HWC") {
  if (mats.empty()) throw Error(PENSTOCK_ERROR_ARGUMENT, "there is no cv::Mat");
  std::vector<uint8_t*> data;
  std::vector<Shape> shapes, strides;
  for (const cv::Mat& mat : mats) {
    if (mat.depth() != mats[0].depth()) throw Error(PENSTOCK_ERROR_TYPE, "the matrices differ in their depth");
    detail::Place at = detail::place_of(mat);
    data.push_back(mat.data);
    shapes.push_back(std::move(at.shape)), strides.push_back(std::move(at.strides));
  }
  const auto held = std::make_shared<std::vector<cv::Mat>>(mats);
  return Batch::wrap(data, dtype_of_depth(mats[0].depth()), shapes, strides, layout, held);
}
inline Batch wrap(const cv::Mat& mat, const std::string& layout = "HWC") {
  return wrap(std::vector<cv::Mat>{mat}, layout);
}

namespace detail {
struct Matrix {
  int rows, columns, type;
  size_t step;  // bytes from row to row
};
inline Matrix matrix_of(const Tensor& sample) {
  const size_t rank = sample.shape.size();
  const int64_t channels = rank == 3 ? sample.shape[2] : 1;
  if (rank < 2 || rank > 3 || channels > CV_CN_MAX)
    throw Error(PENSTOCK_ERROR_TYPE,
                "a matrix of OpenCV is made of a sample (H, W) or (H, W, C) with up to 512 channels");
  if (sample.read_only)
    throw Error(PENSTOCK_ERROR_TYPE,
                "the sample is const memory, and a matrix of OpenCV could write to it: copy the batch");
  const bool pixels = (rank == 2 || channels == 1 || sample.strides[2] == 1) &&
                      (sample.shape[1] == 1 || sample.strides[1] == channels) && sample.strides[0] >= 0;
  if (sample.size() > 0 && !pixels)
    throw Error(PENSTOCK_ERROR_TYPE, "the channels and the pixels of a row must follow each other: copy the sample");
  const int rows = static_cast<int>(sample.shape[0]);
  const auto step = static_cast<size_t>(sample.strides[0]) * static_cast<size_t>(size_of(sample.dtype));
  return {rows, static_cast<int>(sample.shape[1]), CV_MAKETYPE(depth_of(sample.dtype), static_cast<int>(channels)),
          rows == 1 ? size_t{cv::Mat::AUTO_STEP} : step};
}
}  // namespace detail

// A sample (H, W) or (H, W, C) as a matrix, without a copy. It is valid as long as the batch lives.
inline cv::Mat mat(const Tensor& sample) {
  const detail::Matrix m = detail::matrix_of(sample);
  if (sample.size() == 0) return cv::Mat(m.rows, m.columns, m.type);
  return cv::Mat(m.rows, m.columns, m.type, sample.data, m.step);
}
cv::Mat mat(LastTensor&&) = delete;  // the batch ends with the expression: store it in a variable first
inline std::vector<cv::Mat> mats(const Batch& batch) {
  std::vector<cv::Mat> all;
  for (const Tensor& sample : batch) all.push_back(mat(sample));
  return all;
}
std::vector<cv::Mat> mats(Batch&&) = delete;

}  // namespace opencv
}  // namespace api
}  // namespace penstock
