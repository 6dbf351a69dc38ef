// SPDX-License-Identifier: Apache-2.0
#include "readers/file_tools.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "codecs/audio/sound_format.h"
#include "codecs/file_formats.h"
#include "codecs/image_format.h"
#include "codecs/transcode_jpeg.h"
#include "codecs/verify_sound.h"
#include "data/replace_file.h"
#include "data/storage.h"

namespace penstock {

std::vector<Finding> verify_file(const std::string& path, int64_t max_pixels) {
  std::vector<uint8_t> bytes;
  try {
    read_file(path, bytes);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::out_of_memory) throw;
    return {{"unreadable", e.what()}};
  }
  const FileFormat named = format_of_name(path);
  const bool named_sound = !named.id.empty() && named.kind == FileFormat::sound;
  if (!image_format_of(bytes))
    if (const FoundSound sound = find_sound(bytes); named_sound || sound.format)
      return verify_sound(bytes, path, sound);
  return verify_image(bytes, path, max_pixels);
}

// The file that a link leads to, so that the link is kept; else the path itself.
static std::string link_target(const std::string& path) {
  struct stat s;
  if (::lstat(path.c_str(), &s) != 0 || !S_ISLNK(s.st_mode)) return path;
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  if (!real) fail_with_errno(path, "cannot follow the link", errno);
  return real.get();
}

bool transcode_file(const std::string& from, const std::string& given) {
  const std::string to = link_target(given);
  std::vector<uint8_t> bytes;
  read_file(from, bytes);
  try {
    if (is_worth_baseline(bytes)) {
      replace_file(to, to_baseline_jpeg(bytes));
      return true;
    }
  } catch (Error& e) {
    if (e.source.empty()) e.source = from;
    throw;
  }
  struct stat a, b;
  const bool same =
      ::stat(from.c_str(), &a) == 0 && ::stat(to.c_str(), &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
  if (!same) replace_file(to, bytes);
  return false;
}

struct IndexBuilder::Lane {
  RecordIndexAccess access;
  std::vector<uint8_t> bytes, entry;
  std::string name;
  IndexReport report;
  Lane(std::shared_ptr<EntropyIndexStore> store, int step) : access(std::move(store), IndexUse::make, step) {}
};

static int checked_step(int step) {
  constexpr int kMostStep = 4096;  // one point per row of the widest picture
  if (step < 1 || step > kMostStep) bad_argument("the step must be 1 to {} MCUs, got {}", kMostStep, step);
  return step;
}

IndexBuilder::IndexBuilder(const std::string& option, const std::string& data_set, int step, int threads)
    : indexes_(open_indexes(option.empty() ? "auto" : option, data_set)),
      pool_(threads > 0 ? threads : usable_cores()) {
  if (!indexes_.store || indexes_.use != IndexUse::make)
    bad_argument("there is no folder for the index: give a path, or set PENSTOCK_CACHE");
  if (const std::string note = indexes_.store->note(); !note.empty()) bad_argument("{}: {}", path(), note);
  for (int i = 0; i < pool_.size(); ++i) lanes_.push_back(std::make_unique<Lane>(indexes_.store, checked_step(step)));
}
IndexBuilder::~IndexBuilder() = default;

void IndexBuilder::add_one(const std::string& file, Lane& lane) {
  // A file with the size and time that its index was made from is not even opened.
  struct stat info;
  if (::stat(file.c_str(), &info) == 0 &&
      indexes_.store->find(indexes_.store->key_of(file, 0, 0, lane.name), lane.entry))
    if (const auto head = read_entry_head(lane.entry))
      if (head->record.file_bytes == info.st_size &&
          head->record.modified_ns == int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec) {
        ++lane.report.kept;
        return;
      }
  FileStamp stamp;
  read_file(file, lane.bytes, default_file_limit, &stamp);
  lane.access.begin(file, 0, 0, stamp.bytes, stamp.modified_ns);
  const IndexCounts before = lane.access.counts();
  uint8_t pixel[16];
  DecodeTask task;  // one pixel: the rest of the scan is only parsed
  task.file = lane.bytes;
  task.params.apply_orientation = false;
  read_headers(task);
  task.region = {0, 0, 1, 1};
  task.sink = {pixel, sizeof pixel};
  task.index = &lane.access;
  decode_images({&task, 1});
  if (task.error) throw *task.error;
  const IndexCounts after = lane.access.counts();
  ++(after.made > before.made ? lane.report.made : after.used > before.used ? lane.report.kept : lane.report.left_out);
}

IndexReport IndexBuilder::add(const std::vector<std::string>& files) {
  for (auto& lane : lanes_) lane->report = {};
  pool_.parallel_for(static_cast<int64_t>(files.size()), [&](int64_t i, int thread) {
    Lane& lane = *lanes_[static_cast<size_t>(thread)];
    try {
      add_one(files[static_cast<size_t>(i)], lane);
    } catch (const Error& e) {
      lane.report.failed.emplace_back(files[static_cast<size_t>(i)], e.what());
    }
  });
  IndexReport sum;
  for (const auto& lane : lanes_) {
    const IndexReport& r = lane->report;
    sum.made += r.made, sum.kept += r.kept, sum.left_out += r.left_out;
    sum.failed.insert(sum.failed.end(), r.failed.begin(), r.failed.end());
  }
  std::sort(sum.failed.begin(), sum.failed.end());
  return sum;
}

void IndexBuilder::finish() {
  indexes_.store->flush();
  if (const std::string note = indexes_.store->note(); !note.empty())
    fail(ErrorKind::data, "the index cannot be stored in {}: {}", path(), note);
}

}  // namespace penstock
