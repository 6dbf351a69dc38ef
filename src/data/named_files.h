// SPDX-License-Identifier: Apache-2.0
// The list of files, without labels, for a reader with one file per sample.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

struct NamedFiles {
  std::string file_root, file_list, file_filter;  // a folder, a text file with a path on each line, a pattern
  std::vector<std::string> files;
  bool allow_outside_root = false;  // for names in file_list (data/root_path.h)
};

// With file_root alone: the root's own files, then those of its subfolders, sorted. Error (argument) unless exactly
// one of them is given; data if there are no files.
std::vector<std::string> list_named_files(const NamedFiles& a);
uint64_t hash_of_names(const std::vector<std::string>& files);  // without their folders

}  // namespace penstock
