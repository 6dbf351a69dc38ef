// SPDX-License-Identifier: Apache-2.0
#include "base/size_limits.h"
#include "codecs/video/video_index_cache.h"
#include "operator/operator.h"

namespace penstock {

struct PeekVideo : WholeOperator {
  int64_t max_pixels = kMostPixels;

  static Schema<PeekVideo> schema() {
    using Op = PeekVideo;
    return Schema<Op>(
               "peek_video",
               "Returns the frames, the height and the width of a video, and its frames a second.\n\n"
               "It reads headers and packets, and decodes nothing. The frames a second are those of the whole video, "
               "on average. Input: the bytes of a file, 1-d uint8. Output: 4 numbers, float64. Codecs and "
               "containers: those of decoders.video, which finds the index of the same bytes again.\n\n"
               "Example:\n"
               "frames, height, width, rate = fn.peek_video(np.fromfile(\"film.mp4\", np.uint8))")
        .arg("max_pixels", &Op::max_pixels, kMaxFrameText, within(1, kLargestLimit))
        .input_names({"encoded"})
        .host_only("it reads the headers of a file, whose places depend on those before")
        .oracle("ffmpeg");
  }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::none)
      bad_type("expected the bytes of a file as uint8, got {}", name_of(in[0].dtype));
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override { out[0] = {DType::float64, 1, {}}; }
  void shapes(const SampleContext&, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {4};
  }
  void run(const SampleContext&, std::span<const View> in, std::span<const View> out) const override {
    const View& v = in[0];
    if (v.shape.size() != 1 || !v.dense()) bad_type("expected the bytes of a file, contiguous");
    const std::span bytes(v.as<const uint8_t>(), static_cast<size_t>(v.volume()));
    const auto file = open_video_in_memory(bytes, nullptr, max_pixels);
    double* const to = out[0].as<double>();
    to[0] = static_cast<double>(file->frames());
    to[1] = file->height(), to[2] = file->width();
    to[3] = file->rate();
  }
};
PENSTOCK_OPERATOR(PeekVideo);

}  // namespace penstock
