// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {

class GlobFilter;

// Files and their labels, in the order of the data set. About the length of a path plus 12 bytes for each file.
// What to do with a line of a text list whose columns are separated by commas or semicolons; "" where there are none.
// names: the reader's argument that takes names of files.
std::string hint_at_columns(std::string_view line, const char* names);

class FileList {
 public:
  struct FolderOptions {
    std::vector<std::string> file_filters = {};  // glob patterns for the names of files
    std::vector<std::string> dir_filters = {};   // for the names of class folders; empty: all
    bool case_sensitive = false;
  };

  // Each subfolder of root is a class; labels are 0, 1, 2 ... over the subfolders that dir_filters leave, sorted by
  // bytes, those without files included. Files are sorted by name inside their class; folders inside a class are not
  // entered. Symbolic links are followed. root may be a URL whose storage can list objects. Errors: file_missing or
  // data, with the path, where a folder cannot be listed or a link in root leads nowhere; data where there is no class
  // folder or no file that the filters leave; argument where file_filters is empty.
  static FileList from_folder(const std::string& root, const FolderOptions& options);

  // A text file with a path and, behind white space, a whole number on each line; a path may hold spaces, not end in
  // one. Lines of white space only are skipped. Paths are relative to root or, where root is empty, to the folder of
  // the text file. Error (data) with the number of the line; also of a name that data/root_path.h refuses.
  static FileList from_text(const std::string& list_path, const std::string& root, bool allow_outside_root = false);

  // labels: one for each file, or empty for 0, 1, 2 ... Paths are relative to root where it is not empty.
  static FileList from_names(const std::vector<std::string>& files, const std::vector<int32_t>& labels,
                             const std::string& root);

  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  std::string path(int64_t index) const;       // root and name joined, or name where it is absolute
  std::string_view name(int64_t index) const;  // as it stands in the list, relative to root
  int32_t label(int64_t index) const { return labels_[index]; }
  const std::vector<std::string>& class_names() const { return class_names_; }  // by label; from_folder only
  // Of names and labels, not of root: the same data in another place hashes alike.
  uint64_t hash() const;

 private:
  void add(std::string_view name, int32_t label);
  void add_objects(const GlobFilter* folders, const GlobFilter& files, bool& skipped_files);  // of the URL root_
  void check_classes(const std::string& root, const FolderOptions& options, bool skipped_files) const;

  std::string root_;   // "" or ending in "/"
  std::string names_;  // one after the other
  std::vector<uint64_t> ends_;
  std::vector<int32_t> labels_;
  std::vector<std::string> class_names_;
};

}  // namespace penstock
