// SPDX-License-Identifier: Apache-2.0
// cv::Mat in and out of batches without a copy. tests/test_cpp_package.py compiles it with warnings as errors.
#include <penstock/fn/arrays.h>
#include <penstock/fn/geometry.h>

#include "opencv_checks.h"

using namespace penstock;

namespace {

template <class M, class = void> struct GivesMat : std::false_type {};
template <class M> struct GivesMat<M, std::void_t<decltype(opencv::mat(std::declval<M>()))>> : std::true_type {};
static_assert(GivesMat<Tensor>::value && !GivesMat<LastTensor>::value);

// A picture of any depth and number of channels, the whole and a part of it, goes in and out with its values.
int types() {
  for (const int depth : {CV_8U, CV_8S, CV_16U, CV_16S, CV_32S, CV_32F, CV_64F, CV_16F})
    for (const int channels : {1, 2, 3, 4}) {
      cv::Mat whole(9, 13, CV_MAKETYPE(CV_8U, channels));
      cv::randu(whole, 0, 100);
      whole.convertTo(whole, depth == CV_16F ? CV_32F : depth);
      if (depth == CV_16F) whole.convertTo(whole, CV_16F);
      for (const cv::Mat& part : {whole, whole(cv::Rect(2, 1, 7, 5)), whole(cv::Rect(3, 4, 1, 1))}) {
        const Batch batch = opencv::wrap(part);
        REQUIRE(batch[0].data == part.data && batch.layout() == "HWC");
        REQUIRE(batch[0].shape == Shape{part.rows, part.cols, channels});
        const cv::Mat again = opencv::mat(batch[0]);
        REQUIRE(again.data == part.data && again.type() == part.type() && again.size() == part.size());
        if (part.rows > 1) REQUIRE(again.step[0] == part.step[0]);
        if (depth == CV_16F) continue;  // no arithmetic in OpenCV
        const Batch copied = call("copy", {batch})[0];
        REQUIRE(same(opencv::mat(copied[0]), part));
      }
    }
  return 0;
}

int calls() {
  cv::Mat frame(20, 30, CV_8UC3), canvas(32, 40, CV_8UC3, cv::Scalar::all(77)), turned;
  cv::randu(frame, 0, 256);
  cv::flip(frame, turned, 1);
  const cv::Rect place(5, 6, 30, 20);
  CallOptions options;
  options.into = {opencv::wrap(canvas(place))};
  const Batch flipped = fn::flip(opencv::wrap(frame), {}, options);
  REQUIRE(same(canvas(place), turned) && same(opencv::mat(flipped[0]), turned));
  cv::Mat beside(32, 40, CV_8UC3, cv::Scalar::all(77));
  turned.copyTo(beside(place));
  REQUIRE(same(canvas, beside));

  const Batch two = opencv::wrap(std::vector<cv::Mat>{frame, canvas});
  const std::vector<cv::Mat> mats = opencv::mats(two);
  REQUIRE(mats.size() == 2 && same(mats[1], canvas));
  Batch held;
  {
    cv::Mat gone(4, 4, CV_8UC1, cv::Scalar(9));
    held = opencv::wrap(gone);
  }
  REQUIRE(held[0].as<uint8_t>()[15] == 9);
  const int sizes[] = {2, 3, 4};
  REQUIRE(opencv::wrap(cv::Mat(3, sizes, CV_32F), "")[0].shape == Shape{2, 3, 4});
  return 0;
}

int refusals() {
  cv::Mat frame(4, 6, CV_8UC3);
  const uint8_t bytes[12] = {};
  REQUIRE(refuses([] { opencv::wrap(cv::Mat()); }));
  REQUIRE(refuses([&] { opencv::wrap(std::vector<cv::Mat>{frame, cv::Mat(4, 6, CV_32FC3)}); }));
  const Batch constant = Batch::wrap(bytes, {1, 2, 2, 3});
  REQUIRE(refuses([&] { opencv::mat(constant[0]); }));
  fn::TransposeArguments to_planes;
  to_planes.perm = {2, 0, 1};
  const Batch turned = fn::transpose(opencv::wrap(frame), to_planes);
  REQUIRE(opencv::mat(turned[0]).size() == cv::Size(4, 3));
  Tensor planes = opencv::wrap(frame)[0];
  planes.strides = {6, 1, 24};
  REQUIRE(refuses([&] { opencv::mat(planes); }));
  uint32_t wide[4] = {};
  const Batch unsigned_wide = Batch::wrap(wide, {1, 2, 2, 1});
  REQUIRE(refuses([&] { opencv::mat(unsigned_wide[0]); }));
  return 0;
}

}  // namespace

int main() { return types() || calls() || refusals(); }
