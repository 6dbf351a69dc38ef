// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

class GlobFilter;

// Files and their labels, in the order of the data set. Takes about the length of the path plus 12 bytes per file.
// A hint about a line of a text list whose columns are separated by commas or semicolons; "" if there are none.
// names: the reader's argument for the names of files.
std::string hint_at_columns(std::string_view line, const char* names);

class FileList {
 public:
  struct FolderOptions {
    std::vector<std::string> file_filters = {};  // glob patterns for file names
    std::vector<std::string> dir_filters = {};   // for the names of class folders; empty: all
    bool case_sensitive = false;
  };

  // Each subfolder of root is a class. Labels are 0, 1, 2 ... over the subfolders that match dir_filters, sorted by
  // bytes, including those without files. Files are sorted by name in their class; folders in a class are not
  // entered. Symbolic links are followed. root may be a URL whose storage can list objects. Errors: file_missing or
  // data, with the path, if a folder cannot be listed or a link in root is broken; data if there is no class
  // folder or no file that matches the filters; argument if file_filters is empty.
  static FileList from_folder(const std::string& root, const FolderOptions& options);

  // A text file; each line has a path, white space and a whole number. A path may contain spaces but must not end with
  // one. Blank lines are skipped. Paths are relative to root or, if root is empty, to the folder of
  // the text file. Error (data) with the line number; also for a name that data/root_path.h rejects.
  static FileList from_text(const std::string& list_path, const std::string& root, bool allow_outside_root = false);

  // labels: one per file, or empty for 0, 1, 2 ... Paths are relative to root if it is not empty.
  static FileList from_names(const std::vector<std::string>& files, const std::vector<int32_t>& labels,
                             const std::string& root);

  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  std::string path(int64_t index) const;       // root joined with name, or name if it is absolute
  std::string_view name(int64_t index) const;  // as in the list, relative to root
  int32_t label(int64_t index) const { return labels_[index]; }
  const std::vector<std::string>& class_names() const { return class_names_; }  // by label; from_folder only
  // A hash of names and labels, not of root: equal for the same data in another place.
  uint64_t hash() const;

 private:
  void add(std::string_view name, int32_t label);
  void add_objects(const GlobFilter* folders, const GlobFilter& files, bool& skipped_files);  // for the URL root_
  void check_classes(const std::string& root, const FolderOptions& options, bool skipped_files) const;

  std::string root_;   // "" or ending in "/"
  std::string names_;  // all names, concatenated
  std::vector<uint64_t> ends_;
  std::vector<int32_t> labels_;
  std::vector<std::string> class_names_;
};

}  // namespace penstock
