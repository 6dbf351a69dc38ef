// SPDX-License-Identifier: Apache-2.0
#include "codecs/verify_image.h"

#include <algorithm>
#include <string_view>

#include "codecs/decode_errors.h"
#include "codecs/file_formats.h"
#include "codecs/image_format.h"

namespace penstock {
namespace {

using Findings = std::vector<Finding>;

Finding finding_of(const Error& e, FileFault fault, const char* otherwise) {
  if (fault == FileFault::ends_early) return {"truncated", e.what()};
  if (fault == FileFault::no_decoder) return {"undecodable", e.what()};
  if (e.kind() != ErrorKind::data) throw Error(e);
  return {otherwise, e.what()};
}

void verify_by_decoding(DecodeTask& task, Findings& found) {
  const Bytes file = task.file;
  const OwnEnd end = task.info.format->own_end ? task.info.format->own_end(file) : OwnEnd{};
  if (end.kind == OwnEnd::cut) {
    found.push_back(
        {"truncated", end.at ? fmt::format("the header says {} bytes, but the file has {}", end.at, file.size())
                             : std::string("the data ends inside a block")});
    return;
  }
  const size_t row = static_cast<size_t>(task.info.width) * static_cast<size_t>(task.pixel_bytes());
  std::vector<uint8_t> pixels(row * static_cast<size_t>(task.info.height));
  task.sink = {pixels.data(), static_cast<int64_t>(row)};
  decode_images({&task, 1});
  if (task.error) {
    found.push_back(finding_of(*task.error, task.fault, "damaged"));
    return;
  }
  if (end.kind == OwnEnd::missing) found.push_back({"no end", "the end marker is missing"});
  if (end.kind == OwnEnd::found && end.at < file.size())
    found.push_back({"trailing", fmt::format("{} bytes after the end of the picture", file.size() - end.at)});
}

}  // namespace

Finding finding_of(const Error& e, const char* otherwise) { return finding_of(e, fault_of(e), otherwise); }

void compare_name(const std::string& name, std::string_view format, std::vector<Finding>& found) {
  const FileFormat said = format_of_name(name);
  if (said.id.empty() || format.empty() || said.id == format) return;
  found.push_back({"extension", fmt::format("the name says {}, but the bytes are {}", said.id, format)});
}

Findings verify_image(Bytes file, const std::string& name, int64_t max_pixels) {
  Findings found;
  DecodeTask task;
  task.file = file;
  task.params.type = ImageType::any_data;
  task.params.apply_orientation = false;
  constexpr int64_t kMost = int64_t{1} << 40;  // so that the number of bytes fits, whatever is requested
  max_pixels = std::min(max_pixels, kMost);
  task.params.max_pixels = INT64_MAX;  // for the probe; a picture above the caller's limit is a separate finding
  const ImageFormat* format = image_format_of(file);
  compare_name(name, format ? format->id : "", found);
  try {
    read_headers(task);
  } catch (const Error& e) {
    found.push_back(format ? finding_of(e, "header") : Finding{"format", e.what()});
    return found;
  }
  const ImageInfo& info = task.info;
  if (info.height * info.width > max_pixels) {
    found.push_back({"too large",
                     fmt::format("{} x {} pixels are more than the limit of {}", info.height, info.width, max_pixels)});
    return found;
  }
  task.params.max_pixels = max_pixels;
  task.params.dtype = info.dtype;
  task.region = {0, 0, info.height, info.width};
  if (!format->verify || !format->verify(task, found)) verify_by_decoding(task, found);
  return found;
}

}  // namespace penstock
