// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>

#include "base/size_limits.h"
#include "base/thread_pool.h"
#include "codecs/video/frame_choice.h"
#include "codecs/video/video_decoder.h"
#include "codecs/video/video_index_cache.h"
#include "device/video_frames.h"
#include "operator/device_place.h"
#include "operator/operator.h"

namespace penstock {

struct DecodersVideo : WholeOperator {
  bool affine = true, build_index = true;
  PerSample<int> start_frame = 0, stride = 1, sequence_length = 0, end_frame = 0;
  PerSample<std::vector<int64_t>> frames;
  std::string pad_mode = "constant";
  std::vector<int64_t> fill_value{0};
  int64_t max_pixels = kMostPixels, max_frames = kMostFrames;

  static Schema<DecodersVideo> schema() {
    using Op = DecodersVideo;
    return Schema<Op>(
               "decoders.video",
               "Decodes videos with the FFmpeg that is found at run time.\n\n"
               "Codecs: H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and others. Containers: MP4, Matroska, WebM, AVI and "
               "others. Input: the bytes of a file, 1-d uint8. Output: uint8, FHWC, RGB, all frames or the requested "
               "ones; constant and variable frame rates. RGB equals that of FFmpeg's libswscale, by the matrix and the "
               "range that the stream names. A rotation in the metadata of a file is not applied. A file that cannot "
               "be decoded is a DataError.\n\n"
               "Example:\n"
               "frames = fn.decoders.video(np.fromfile(\"film.mp4\", np.uint8), start_frame=10, sequence_length=8)")
        .arg("affine", &Op::affine, "Accepted without effect.")
        .arg("build_index", &Op::build_index, "Accepted without effect: frames are always found by an index.")
        .arg("start_frame", &Op::start_frame, "The first frame.", at_least(0))
        .arg("stride", &Op::stride, "The distance between frames of the sequence.", at_least(1))
        .arg("sequence_length", &Op::sequence_length, "The number of frames.", at_least(0))
        .arg("end_frame", &Op::end_frame, "The frame after the last one.", at_least(0))
        .arg("frames", &Op::frames,
             "Numbers of frames, in any order; cannot be combined with the four arguments above.")
        .arg("pad_mode", &Op::pad_mode,
             "What follows the end of the video. none: fewer frames; constant: fill_value; edge, repeat: the last "
             "frame of the sequence; reflect_1001, symmetric: the sequence backwards; reflect_101, reflect: the same "
             "without its last frame.")
        .arg("fill_value", &Op::fill_value,
             "Value of the frames after the end with pad_mode constant: one, or one for each channel.")
        .arg("max_pixels", &Op::max_pixels, kMaxFrameText, within(1, kLargestLimit))
        .arg("max_frames", &Op::max_frames, kMaxFramesText, within(1, kMostFrames))
        .input_names({"encoded"})
        .batch_wide()
        .decodes_to_device()
        .oracle("ffmpeg");
  }
  void check(std::span<const ValueType> in) override {
    if (in[0].dtype != DType::uint8 && in[0].dtype != DType::none)
      bad_type("expected the bytes of a file as uint8, got {}", name_of(in[0].dtype));
    parse_frame_padding(pad_mode);
    check_fill_value(fill_value);
    if (frames.given() && (start_frame.given() || stride.given() || sequence_length.given() || end_frame.given()))
      bad_argument("frames cannot be combined with start_frame, end_frame, sequence_length or stride");
    if (end_frame.given() && sequence_length.given())
      bad_argument("end_frame and sequence_length are mutually exclusive");
  }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    out[0] = {DType::uint8, 4, "FHWC"};
  }

  void shapes(const SampleContext& s, std::span<const Shape>, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {-1, -1, -1, 3};
    const auto* files = static_cast<const std::span<const Batch>*>(s.batch_state);
    if (!files) return;
    const auto file = open(s, (*files)[0].view(s.index));
    const int64_t n = static_cast<int64_t>(chosen(s, *file).size());
    if (n > max_frames) bad_data("{} frames are more than the limit of {}", n, max_frames);
    checked_bytes(n * file->height(), static_cast<size_t>(file->width()) * 3);
    out[0] = {n, file->height(), file->width(), 3};
  }
  void run(const SampleContext& s, std::span<const View> in, std::span<const View> out) const override {
    const auto [file, threads] = take(s, in);
    VideoDecoder decoder(file, threads);
    decode_frames(decoder, chosen(s, *file), fill_value, out[0].as<uint8_t>());
  }
  void decode_to_device(const SampleContext& s, std::span<const View> in, const View& out,
                        const DevicePlace& place) const override {
    const auto [file, threads] = take(s, in);
    decode_frames_to_device(file, chosen(s, *file), fill_value, threads, place.device, place.stream, out.data);
  }

 private:
  struct Opened {  // between shapes() and run()
    std::mutex mutex;
    std::map<int, std::shared_ptr<const VideoFile>> files;
  };
  std::shared_ptr<Opened> opened_ = std::make_shared<Opened>();

  // The sample's file and the threads to decode it with.
  std::pair<std::shared_ptr<const VideoFile>, int> take(const SampleContext& s, std::span<const View> in) const {
    std::shared_ptr<const VideoFile> file;
    int videos = 1;
    {
      const std::lock_guard lock(opened_->mutex);
      videos = static_cast<int>(opened_->files.size());
      file = std::move(opened_->files[s.index]);
    }
    if (!file) file = open(s, in[0]);
    return {file, videos >= usable_cores() ? 1 : usable_cores()};
  }
  std::shared_ptr<const VideoFile> open(const SampleContext& s, const View& v) const {
    if (v.shape.size() != 1 || !v.dense()) bad_type("expected the bytes of a file, contiguous");
    const std::span bytes(v.as<const uint8_t>(), static_cast<size_t>(v.volume()));
    auto file = open_video_in_memory(bytes, nullptr, max_pixels);
    const std::lock_guard lock(opened_->mutex);
    return opened_->files[s.index] = std::move(file);
  }
  std::vector<int64_t> chosen(const SampleContext& s, const VideoFile& file) const {
    const int64_t total = file.frames();
    const FramePadding padding = parse_frame_padding(pad_mode);
    if (frames.given()) {
      auto wanted = frames[s.index];
      if (static_cast<int64_t>(wanted.size()) > kMostFrames)
        bad_argument("{} frames in one sequence are more than the limit of {}", wanted.size(), kMostFrames);
      for (auto& f : wanted) {
        if (f < 0) bad_argument("frames must not be negative, got {}", f);
        if (f >= total && padding == FramePadding::none) bad_data("frame {} is outside a video of {} frames", f, total);
        f = frame_or_padding(f, total, padding);
      }
      return wanted;
    }
    const int64_t first = start_frame[s.index], step = stride[s.index];
    if (first >= total) bad_data("start_frame {} is outside a video of {} frames", first, total);
    int64_t count = (total - first + step - 1) / step;
    if (sequence_length.given()) count = sequence_length[s.index];
    if (end_frame.given()) {
      if (end_frame[s.index] <= first)
        bad_argument("end_frame {} must be greater than start_frame {}", end_frame[s.index], first);
      count = (end_frame[s.index] - first + step - 1) / step;
    }
    return choose_frames(first, step, count, total, padding);
  }
};
PENSTOCK_OPERATOR(DecodersVideo);

}  // namespace penstock
