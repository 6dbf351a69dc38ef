// SPDX-License-Identifier: Apache-2.0
// Lists of videos: folders, text files with ranges, and which part of a video is requested.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "base/notice.h"
#include "data/file_list.h"
#include "data/storage.h"
#include "readers/video.h"

namespace penstock {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string>& video_filters() {
  static const std::vector<std::string> filters{
      "*.mp4", "*.mkv", "*.webm", "*.avi",   "*.mov",  "*.m4v", "*.flv",  "*.mpg",  "*.mpeg", "*.ts",  "*.mts",
      "*.wmv", "*.ogv", "*.ivf",  "*.mjpeg", "*.h264", "*.264", "*.hevc", "*.h265", "*.265",  "*.obu", "*.3gp"};
  return filters;
}

bool number_of(const std::string& word, double& out) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc() && end == word.data() + word.size() && std::isfinite(out);
}

// "path label [start [end]]"; a path may contain spaces.
void read_list(const std::string& path, bool allow_outside_root, VideoReading& out) {
  std::vector<uint8_t> text;
  read_file(path, text);
  std::istringstream lines(std::string(text.begin(), text.end()));
  const fs::path folder = fs::path(path).parent_path();
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream split(line);
    std::vector<std::string> words;
    for (std::string w; split >> w;) words.push_back(w);
    if (words.empty()) continue;
    std::vector<double> values;  // of the last words
    for (size_t k = words.size() - 1; k > 0 && values.size() < 3; --k) {
      double v;
      if (!number_of(words[k], v)) break;
      values.insert(values.begin(), v);
    }
    // In "name 1 2" the label comes first: names that end in numbers need all three.
    if (values.empty() || values[0] != std::floor(values[0]) || std::abs(values[0]) > INT32_MAX)
      fail_on(path, ErrorKind::data, "line {}: expected a path, an integer and optionally a start and an end{}: \"{}\"",
              number, hint_at_columns(line, "filenames"), std::string_view(line).substr(0, 200));
    size_t end = line.size();  // end of the path, before the values
    for (size_t k = 0; k < values.size(); ++k) end = line.find_last_of(" \t", line.find_last_not_of(" \t\r", end - 1));
    const size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t", end);
    const std::string name = line.substr(first, last - first + 1);
    VideoReading::Range range{values.size() > 1, values.size() > 2, values.size() > 1 ? values[1] : 0,
                              values.size() > 2 ? values[2] : 0};
    if (range.has_end && range.start == range.end) {
      notice(fmt::format("{}, line {}: its start equals its end: skipped", path, number));
      continue;
    }
    out.files.push_back(path_below(folder.string(), is_url(path) ? folder.string() : "", name, allow_outside_root, path,
                                   fmt::format("line {}", number)));
    out.labels.push_back(static_cast<int32_t>(values[0]));
    out.ranges.push_back(range);
  }
  if (out.files.empty()) fail_on(path, ErrorKind::data, "the list does not name a video");
}

}  // namespace

void VideoReaderOptions::check_arguments() const {
  if (!filenames.empty() + !file_root.empty() + !file_list.empty() != 1)
    bad_argument("give exactly one of filenames, file_root and file_list");
  const std::string& w = enable_frame_num.which;
  if (w != "none" && w != "scalar" && w != "sequence")
    bad_argument("enable_frame_num must be 'none', 'scalar' or 'sequence', got '{}'", w);
  if (image_type != 0 && image_type != 3) bad_argument("image_type must be 0 (RGB) or 3 (YCbCr), got {}", image_type);
  if (labels.given() && filenames.empty()) bad_argument("labels belong to filenames");
  if (labels.given() && !labels->empty() && labels->size() != filenames.size())
    bad_argument("{} labels for {} files", labels->size(), filenames.size());
  if (step == 0 || step < -1) bad_argument("step must be positive or -1, got {}", step);
}

VideoReading VideoReaderOptions::list() const {
  check_arguments();
  VideoReading out;
  if (!file_list.empty()) {
    read_list(file_list, allow_outside_root, out);
  } else if (!file_root.empty()) {
    const FileList list = FileList::from_folder(file_root, {video_filters(), {}, false});
    for (int64_t i = 0; i < list.size(); ++i) out.files.push_back(list.path(i)), out.labels.push_back(list.label(i));
  } else {
    out.files = filenames;
    for (size_t i = 0; labels.given() && i < filenames.size(); ++i)
      out.labels.push_back(labels->empty() ? static_cast<int32_t>(i) : static_cast<int32_t>((*labels)[i]));
  }
  out.sequence_length = sequence_length, out.stride = stride;
  out.step = step < 0 ? sequence_length * stride : step;
  out.frame_numbers = enable_frame_num.which, out.timestamps = enable_timestamps;
  out.ycbcr = image_type == 3, out.max_pixels = max_pixels;
  return out;
}

void infer_video_outputs(const VideoReaderOptions& o, DType dtype, std::span<ValueType> out) {
  size_t k = 0;
  out[k++] = {dtype, 4, "FHWC"};
  if (o.gives_labels()) out[k++] = {DType::int32, 1, {}};
  if (o.enable_frame_num.which != "none") out[k++] = {DType::int32, 1, {}};
  if (o.enable_timestamps) out[k++] = {DType::float64, 1, {}};
}

std::pair<int64_t, int64_t> frames_of_range(const VideoReading& how, const VideoReading::Range& range,
                                            const VideoFile& file) {
  const int64_t total = file.frames();
  const auto frame = [&](double value, Rounding rounding) {
    if (how.ranges_are_frames) {
      if (value < 0) value += static_cast<double>(total);
      value = rounding == Rounding::down ? std::floor(value) : std::ceil(value);
      return static_cast<int64_t>(std::clamp(value, 0.0, static_cast<double>(total)));
    }
    // The first frame that is not shown before the time; when rounding down, the frame that is shown at that time.
    int64_t lo = 0, hi = total;
    while (lo < hi) {
      const int64_t mid = lo + (hi - lo) / 2;
      if (file.seconds(mid) < value) lo = mid + 1;
      else hi = mid;
    }
    const bool exact = lo < total && file.seconds(lo) == value;
    return rounding == Rounding::down && !exact && lo > 0 ? lo - 1 : lo;
  };
  const int64_t start = range.has_start ? frame(range.start, how.round_start) : 0;
  // A time after the last frame's means the end of the file.
  const bool after_all = !how.ranges_are_frames && range.end > file.seconds(total - 1);
  const int64_t end = !range.has_end || after_all ? total : frame(range.end, how.round_end);
  return {start, end};
}

}  // namespace penstock
