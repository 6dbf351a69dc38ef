// SPDX-License-Identifier: Apache-2.0
// The files that a reader of one file a sample is told to read, without labels.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

struct NamedFiles {
  std::string file_root, file_list, file_filter;  // a folder, a text file with a path on each line, a pattern
  std::vector<std::string> files;
  bool allow_outside_root = false;  // what file_list names (data/root_path.h)
};

// With file_root alone the root's own files, then those of its subfolders, sorted. Error (argument) where not exactly
// one way is given; data where there are none.
std::vector<std::string> list_named_files(const NamedFiles& a);
uint64_t hash_of_names(const std::vector<std::string>& files);  // without their folders

}  // namespace penstock
