// SPDX-License-Identifier: Apache-2.0
// readers.video and experimental.readers.video: sequences of frames of video files.
#include "readers/video.h"

namespace penstock {
namespace {

struct ReadersVideo : VideoReaderOptions {
  int64_t additional_decode_surfaces = 2, channels = 3;
  DType dtype = DType::uint8;
  bool file_list_frame_num = false, file_list_include_preceding_frame = false, normalized = false,
       pad_sequences = false;
  bool skip_vfr_check = false;
  int count_outputs() const override { return count_video_outputs(*this); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    check_arguments();
    if (dtype != DType::uint8 && dtype != DType::float32)
      bad_type("dtype must be uint8 or float32, got {}", name_of(dtype));
    if (normalized && dtype != DType::float32) bad_argument("normalized=True needs dtype float32");
    if (channels != 3) bad_argument("videos have 3 channels, got {}", channels);
    infer_video_outputs(*this, dtype, out);
  }
  VideoReading reading() const {
    VideoReading r = list();
    r.ranges_are_frames = file_list_frame_num;
    const bool preceding = file_list_include_preceding_frame && !file_list_frame_num;
    r.round_start = preceding ? Rounding::down : Rounding::up, r.round_end = preceding ? Rounding::up : Rounding::down;
    r.padding = pad_sequences ? FramePadding::constant : FramePadding::none;
    r.dtype = dtype, r.normalized = normalized;
    return r;
  }
  static Schema<ReadersVideo> schema() {
    using Op = ReadersVideo;
    return Schema<Op>("readers.video",
                      "Reads sequences of frames from video files.\n\n"
                      "Frame rates may be constant or variable. Files are decoded through the FFmpeg that is found at "
                      "run time.\n\n"
                      "Outputs: the frames (FHWC, RGB); with file_list, file_root or labels the label (int32, (1,)); "
                      "the number of the first frame or of all; their times. Files are opened and their frames counted "
                      "when the pipeline is made.\n\n"
                      "Example:\n"
                      "@pipeline_def(batch_size=4)\n"
                      "def films():\n"
                      "    return fn.readers.video(filenames=[\"film.mp4\"], sequence_length=8, step=16)")
        .inputs(0)
        .outputs(1)
        .decodes_to_device()
        .loads_samples()
        .arg("file_list", &Op::file_list,
             "Text file with lines \"path label [start [end]]\", start and end in seconds; negative frames count from "
             "the end.")
        .arg("file_list_frame_num", &Op::file_list_frame_num, "start and end are numbers of frames, from 0.")
        .arg("file_list_include_preceding_frame", &Op::file_list_include_preceding_frame,
             "The first frame is the one that is shown at start, not the first one after start; the end is rounded up, "
             "not down.")
        .arg("pad_sequences", &Op::pad_sequences,
             "Fill sequences that begin too near the end with zeros; otherwise they are omitted.")
        .arg("dtype", &Op::dtype, "uint8 or float32.")
        .arg("normalized", &Op::normalized, "Floating point from 0 to 1 instead of 255.")
        .arg("channels", &Op::channels, "Must be 3.")
        .arg("additional_decode_surfaces", &Op::additional_decode_surfaces, "Accepted without effect.")
        .arg("skip_vfr_check", &Op::skip_vfr_check, "Accepted without effect: variable frame rates are read as well.")
        .with(video_reader_arguments<Op>);
  }
};

struct ExperimentalReadersVideo : VideoReaderOptions {
  std::string file_list_format = "timestamps", file_list_rounding = "start_down_end_up", pad_mode = "none";
  bool file_list_include_end = true, uniform_sample = false;
  std::vector<int64_t> fill_value{0};
  int count_outputs() const override { return count_video_outputs(*this); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    check_arguments();
    if (file_list_format != "timestamps" && file_list_format != "frames")
      bad_argument("file_list_format must be 'timestamps' or 'frames', got '{}'", file_list_format);
    if (file_list_rounding != "start_down_end_up" && file_list_rounding != "start_up_end_down" &&
        file_list_rounding != "all_up" && file_list_rounding != "all_down")
      bad_argument(
          "file_list_rounding must be 'start_down_end_up', 'start_up_end_down', 'all_up' or 'all_down', got '{}'",
          file_list_rounding);
    parse_frame_padding(pad_mode);
    check_fill_value(fill_value);
    infer_video_outputs(*this, DType::uint8, out);
  }
  VideoReading reading() const {
    VideoReading r = list();
    r.ranges_are_frames = file_list_format == "frames";
    r.round_start = file_list_rounding.starts_with("start_down") || file_list_rounding == "all_down" ? Rounding::down
                                                                                                     : Rounding::up;
    r.round_end =
        file_list_rounding.ends_with("end_up") || file_list_rounding == "all_up" ? Rounding::up : Rounding::down;
    r.padding = parse_frame_padding(pad_mode), r.fill_value = fill_value;
    r.uniform = uniform_sample;
    return r;
  }
  static Schema<ExperimentalReadersVideo> schema() {
    using Op = ExperimentalReadersVideo;
    return Schema<Op>("experimental.readers.video",
                      "Reads sequences of frames from video files: readers.video with other arguments.\n\n"
                      "Outputs: the frames (uint8, FHWC, RGB); with file_list, file_root or labels the label (int32, "
                      "(1,)); the number of the first frame or of all; their times. Files are opened and their frames "
                      "counted when the pipeline is made.\n\n"
                      "Example:\n"
                      "@pipeline_def(batch_size=4)\n"
                      "def films():\n"
                      "    return fn.experimental.readers.video(filenames=[\"film.mp4\"], sequence_length=8)")
        .inputs(0)
        .outputs(1)
        .decodes_to_device()
        .loads_samples()
        .arg("file_list", &Op::file_list,
             "Text file with lines \"path label [start [end]]\"; the frame at end is not read.")
        .arg("file_list_format", &Op::file_list_format,
             "timestamps: start and end in seconds; frames: numbers, negative ones from the end.")
        .arg("file_list_rounding", &Op::file_list_rounding,
             "Rounding of start and end between frames: start_down_end_up, start_up_end_down, all_up or all_down.")
        .arg("file_list_include_end", &Op::file_list_include_end, "Accepted without effect, as in DALI 2.4.")
        .arg("pad_mode", &Op::pad_mode,
             "How sequences that begin too near the end are filled. none: they are omitted; constant: fill_value; "
             "edge, repeat: the last frame; reflect_1001, symmetric: the sequence backwards; reflect_101, reflect: "
             "the same without its last frame.")
        .arg("fill_value", &Op::fill_value, "With pad_mode constant: one value, or one for each channel.")
        .arg("uniform_sample", &Op::uniform_sample,
             "One sequence per file or range: sequence_length frames at even distances.")
        .with(video_reader_arguments<Op>);
  }
};

template <class Op> std::unique_ptr<Source> make_video_reader(SourceArguments& a) {
  return make_video_source(a.seed, a.options<Op>(), a.options<Op>().reading());
}
PENSTOCK_SOURCE(ReadersVideo, make_video_reader<ReadersVideo>);
PENSTOCK_SOURCE(ExperimentalReadersVideo, make_video_reader<ExperimentalReadersVideo>);

}  // namespace
}  // namespace penstock
