// SPDX-License-Identifier: Apache-2.0
// cv::cuda::GpuMat in and out of batches without a copy. tests/test_cpp_package.py compiles it with warnings as
// errors and runs it on the emulated GPU. OpenCV needs no CUDA for it: it only holds pointers.
#include <penstock/fn/arrays.h>
#include <penstock/fn/geometry.h>
#include <penstock/opencv_cuda.hpp>

#include "opencv_checks.h"

using namespace penstock;

namespace {

template <class M, class = void> struct GivesMat : std::false_type {};
template <class M> struct GivesMat<M, std::void_t<decltype(opencv::gpu_mat(std::declval<M>()))>> : std::true_type {};
static_assert(GivesMat<Tensor>::value && !GivesMat<LastTensor>::value);

// A whole matrix and a part of it, with rows that do not follow each other.
int types() {
  for (const int depth : {CV_8U, CV_16S, CV_32F})
    for (const int channels : {1, 3, 4}) {
      cv::Mat whole(9, 13, CV_MAKETYPE(CV_32F, channels));
      cv::randu(whole, 0, 100);
      whole.convertTo(whole, depth);
      const Batch there = opencv::wrap(whole).gpu();
      const cv::cuda::GpuMat all = opencv::gpu_mat(there[0]);
      REQUIRE(all.type() == whole.type() && all.size() == whole.size() && all.data == there[0].data);
      const cv::Rect places[] = {{0, 0, 13, 9}, {2, 1, 7, 5}, {3, 4, 1, 1}};
      for (const cv::Rect& place : places) {
        const cv::cuda::GpuMat part = all(place);
        const Batch batch = opencv::wrap(part);
        REQUIRE(batch.on_gpu() && batch[0].data == part.data && batch.layout() == "HWC");
        REQUIRE(batch[0].shape == Shape{part.rows, part.cols, channels});
        const cv::cuda::GpuMat again = opencv::gpu_mat(batch[0]);
        REQUIRE(again.data == part.data && again.type() == part.type() && again.size() == part.size());
        if (part.rows > 1) REQUIRE(again.step == part.step);
        const Batch here = batch.cpu();
        REQUIRE(same(opencv::mat(here[0]), whole(place)));
        fn::FlipArguments arguments;
        arguments.vertical = 1;
        const Batch flipped = fn::flip(batch, arguments).cpu(),
                    wanted = fn::flip(opencv::wrap(whole(place)), arguments);
        REQUIRE(same(opencv::mat(flipped[0]), opencv::mat(wanted[0])));
      }
    }
  return 0;
}

// Results in a part of a matrix, whose other pixels stay.
int calls() {
  cv::Mat frame(20, 30, CV_8UC3), canvas(32, 40, CV_8UC3, cv::Scalar::all(77));
  cv::randu(frame, 0, 255);
  const cv::Rect place(5, 3, 30, 20);
  const Batch source = opencv::wrap(frame).gpu(), target = opencv::wrap(canvas).gpu();
  const cv::cuda::GpuMat part = opencv::gpu_mat(target[0])(place);
  CallOptions options;
  options.into = {opencv::wrap(part)};
  const Batch result = call("copy", {opencv::wrap(opencv::gpu_mat(source[0]))}, {}, options)[0];
  REQUIRE(result.on_gpu() && result[0].data == part.data && result[0].strides == Shape{120, 3, 1});
  const Batch painted = target.cpu(), inside = result.cpu();
  REQUIRE(same(opencv::mat(inside[0]), frame));
  frame.copyTo(canvas(place));
  REQUIRE(same(opencv::mat(painted[0]), canvas));
  return 0;
}

int refusals() {
  cv::Mat a(2, 3, CV_8UC1, cv::Scalar::all(1)), b(2, 3, CV_32FC1, cv::Scalar::all(1));
  const Batch bytes = opencv::wrap(a).gpu(), floats = opencv::wrap(b).gpu();
  REQUIRE(refuses([&] { opencv::wrap(cv::cuda::GpuMat()); }));
  REQUIRE(refuses([&] { opencv::wrap(std::vector<cv::cuda::GpuMat>()); }));
  REQUIRE(refuses([&] { opencv::wrap({opencv::gpu_mat(bytes[0]), opencv::gpu_mat(floats[0])}); }));
  REQUIRE(refuses([&] { opencv::wrap(cv::cuda::GpuMat(2, 1, CV_32FC1, bytes[0].data, 6)); }));
  return 0;
}

}  // namespace

int main() { return types() || calls() || refusals() ? 1 : 0; }
