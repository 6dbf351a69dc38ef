// SPDX-License-Identifier: Apache-2.0
// What the commands do with image files.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "codecs/verify_image.h"
#include "readers/index_setting.h"

namespace penstock {

// verify_image() or verify_sound() of a file, chosen by its bytes or, if they are ambiguous, its name; an unreadable
// file gives "unreadable".
std::vector<Finding> verify_file(const std::string& path, int64_t max_pixels);

// Writes `from` as a baseline JPEG file (codecs/transcode_jpeg.h) to `to`, which may be the same path; if `to` is a
// link, to its target. If the file is already baseline or not a JPEG file, returns false, and copies it if the paths
// differ. Throws the errors of to_baseline_jpeg().
bool transcode_file(const std::string& from, const std::string& to);

struct IndexReport {
  int64_t made = 0, kept = 0;  // kept: the index existed
  int64_t left_out = 0;        // small, progressive or not a JPEG file: an index would not pay
  std::vector<std::pair<std::string, std::string>> failed;  // path and reason
};

// Makes the indexes of many files, as a first epoch does.
class IndexBuilder {
 public:
  // option: a path, or "" for the user's cache folder.
  IndexBuilder(const std::string& option, const std::string& data_set, int step, int threads);
  ~IndexBuilder();
  IndexReport add(const std::vector<std::string>& files);
  void finish();  // writes the rest; throws if that fails
  const std::string& path() const { return indexes_.store->path(); }

 private:
  struct Lane;
  void add_one(const std::string& file, Lane& lane);
  IndexSetting indexes_;
  ThreadPool pool_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace penstock
