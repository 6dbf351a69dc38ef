// SPDX-License-Identifier: Apache-2.0
// Shared by readers.video and experimental.readers.video.
#pragma once
#include "base/size_limits.h"
#include "codecs/video/frame_choice.h"
#include "codecs/video/video_decoder.h"
#include "data/root_path.h"
#include "readers/reader_source.h"

namespace penstock {

// Whether frame numbers are output: that of the first frame, or of each. Python passes a name or a bool.
struct FrameNumbers {
  std::string which = "none";
};
template <> struct ArgTraits<FrameNumbers> {
  static constexpr ArgType type = ArgType::text;
  static constexpr bool per_sample = false;
  static Value default_value(const FrameNumbers& m) { return m.which; }
  static void set(void* m, const Argument& a) {
    const auto* yes = std::get_if<bool>(&a.value);
    static_cast<FrameNumbers*>(m)->which = yes ? (*yes ? "scalar" : "none") : value_as<std::string>(a.value);
  }
};

enum class Rounding { down, up };

// The files and how they are cut into samples, for either operator.
struct VideoReading {
  std::vector<std::string> files;
  std::vector<int32_t> labels;  // one per file; empty: none
  struct Range {                // of a file; absent: all of it
    bool has_start = false, has_end = false;
    double start = 0, end = 0;
  };
  std::vector<Range> ranges;  // one per file, or none
  bool ranges_are_frames = false;
  Rounding round_start = Rounding::down, round_end = Rounding::up;
  int64_t sequence_length = 0, step = -1, stride = 1;
  FramePadding padding = FramePadding::none;
  std::vector<int64_t> fill_value{0};
  bool uniform = false;
  std::string frame_numbers = "none";
  bool timestamps = false;
  bool ycbcr = false, normalized = false;
  DType dtype = DType::uint8;
  int64_t max_pixels = kMostPixels;

  int count_outputs() const { return 1 + !labels.empty() + (frame_numbers != "none") + timestamps; }
};

// Members and arguments of both operators.
struct VideoReaderOptions : ReaderOptions {
  std::vector<std::string> filenames;
  std::string file_root, file_list;
  Optional<std::vector<int64_t>> labels;
  int64_t sequence_length = 0, step = -1, stride = 1;
  FrameNumbers enable_frame_num;
  bool enable_timestamps = false, allow_outside_root = false;
  int image_type = 0;
  int64_t max_pixels = kMostPixels;

  bool gives_labels() const { return filenames.empty() || labels.given(); }
  void check_arguments() const;
  VideoReading list() const;  // reads the list or the folder
};

template <class Op> Schema<Op>&& video_reader_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("filenames", &Op::filenames, "Paths of the files.")
      .arg("file_root", &Op::file_root, "Folder with one subfolder per class; labels count the sorted subfolders.")
      .arg("labels", &Op::labels, "Labels of `filenames`; an empty list: 0, 1, 2 ...")
      .required("sequence_length", &Op::sequence_length, "Frames of a sequence.", at_least(1))
      .arg("step", &Op::step,
           "Frames from the start of a sequence to that of the next; -1: sequence_length times stride.")
      .arg("stride", &Op::stride, "Distance between frames of a sequence.", at_least(1))
      .arg("enable_frame_num", &Op::enable_frame_num,
           "none or False: no output; scalar or True: the number of the sequence's first frame, int32 of shape (1,); "
           "sequence: the number of each frame, -1 for filled ones.")
      .arg("enable_timestamps", &Op::enable_timestamps,
           "Add an output: the time of each frame in seconds, float64; -1 for filled ones.")
      .arg("image_type", &Op::image_type, "0 (RGB) or 3 (YCbCr: BT.601, studio range).")
      .arg("allow_outside_root", &Op::allow_outside_root, kAllowOutsideText)
      .arg("max_pixels", &Op::max_pixels, kMaxFrameText, within(1, kLargestLimit))
      .with(reader_arguments<Op>);
}

// The types of the outputs: sequences, labels, frame numbers, times.
void infer_video_outputs(const VideoReaderOptions& options, DType dtype, std::span<ValueType> out);
inline int count_video_outputs(const VideoReaderOptions& o) {
  return 1 + o.gives_labels() + (o.enable_frame_num.which != "none") + o.enable_timestamps;
}

// One sample.
struct VideoSequence {
  int32_t file = 0;
  int32_t place = 0;  // index of the file in the list, for its label
  int64_t first = 0;  // frame
  int64_t end = 0;    // end of the range: frames after it are padding
};

// A range as frame numbers; empty if no frame lies in it.
std::pair<int64_t, int64_t> frames_of_range(const VideoReading& how, const VideoReading::Range& range,
                                            const VideoFile& file);

std::unique_ptr<Source> make_video_source(uint64_t seed, const ReaderOptions& options, VideoReading reading);

}  // namespace penstock
