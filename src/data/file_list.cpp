// SPDX-License-Identifier: Apache-2.0
#include "data/file_list.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <memory>
#include <system_error>

#include "base/error.h"
#include "base/progress.h"
#include "data/glob.h"
#include "data/hash.h"
#include "data/remote.h"
#include "data/root_path.h"
#include "data/storage.h"

namespace penstock {

static std::string with_slash(const std::string& folder) {
  return folder.empty() || folder.back() == '/' ? folder : folder + "/";
}

enum class Entry { folder, other, nowhere };

static Entry kind_of(const std::string& path, unsigned char type) {
  if (type == DT_DIR) return Entry::folder;
  if (type != DT_LNK && type != DT_UNKNOWN) return Entry::other;
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return Entry::nowhere;
  return S_ISDIR(info.st_mode) ? Entry::folder : Entry::other;
}

// The names in the folder (ending in "/") for which body(name, type of entry) is true, sorted by bytes.
template <class Wanted>
static std::vector<std::string> list_folder(const std::string& folder, Wanted wanted) {
  auto refuse = [&](int code) {
    fail_with_errno(folder.size() > 1 ? folder.substr(0, folder.size() - 1) : folder, "cannot list the folder", code);
  };
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) refuse(errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (!entry) break;
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && wanted(name, entry->d_type)) names.push_back(name);
  }
  if (errno != 0) refuse(errno);
  std::sort(names.begin(), names.end());
  return names;
}

FileList FileList::from_folder(const std::string& root, const FolderOptions& options) {
  if (root.empty()) bad_argument("file_root must not be empty");
  if (options.file_filters.empty()) bad_argument("file_filters must not be empty");
  const GlobFilter folders(options.dir_filters, options.case_sensitive);
  const GlobFilter files(options.file_filters, options.case_sensitive);
  FileList list;
  list.root_ = with_slash(root);
  bool skipped_files = false;
  if (is_url(root)) {
    list.add_objects(options.dir_filters.empty() ? nullptr : &folders, files, skipped_files);
    list.check_classes(root, options, skipped_files);
    return list;
  }
  list.class_names_ = list_folder(list.root_, [&](const std::string& name, unsigned char type) {
    const Entry kind = kind_of(list.root_ + name, type);
    if (kind == Entry::nowhere) fail_with_errno(list.root_ + name, "cannot examine the entry", errno);
    skipped_files |= kind == Entry::other;
    return kind == Entry::folder && (options.dir_filters.empty() || folders.matches(name));
  });
  Progress progress("list " + list.root_, "folder", static_cast<int64_t>(list.class_names_.size()));
  for (size_t label = 0; label < list.class_names_.size(); ++label) {
    progress.reach(static_cast<int64_t>(label));
    progress.look();
    const std::string folder = list.class_names_[label] + "/";
    // Everything except folders is listed, also a pipe or a broken link: reading it gives an error with its name. That
    // is better than a data set that is smaller without notice.
    const auto names = list_folder(list.root_ + folder, [&](const std::string& name, unsigned char type) {
      return files.matches(name) && kind_of(list.root_ + folder + name, type) != Entry::folder;
    });
    for (const auto& name : names) list.add(folder + name, static_cast<int32_t>(label));
  }
  list.check_classes(root, options, skipped_files);
  return list;
}

// A bucket's folders are the parts of object names before a "/".
void FileList::add_objects(const GlobFilter* folders, const GlobFilter& files, bool& skipped_files) {
  std::map<std::string, std::vector<std::string>> names;  // "a-b" sorts after "a", its objects before those of "a"
  for (const RemoteEntry& object : RemoteStorage::instance().list(root_)) {
    const size_t slash = object.name.find('/');
    skipped_files |= slash == std::string::npos;
    if (slash == 0 || slash == std::string::npos) continue;
    const std::string folder = object.name.substr(0, slash), name = object.name.substr(slash + 1);
    if (folders && !folders->matches(folder)) continue;
    auto& inside = names[folder];
    if (!name.empty() && name.find('/') == std::string::npos && files.matches(name)) inside.push_back(object.name);
  }
  for (const auto& [folder, inside] : names) {
    for (const auto& name : inside) add(name, static_cast<int32_t>(class_names_.size()));
    class_names_.push_back(folder);
  }
}

void FileList::check_classes(const std::string& root, const FolderOptions& options, bool skipped_files) const {
  const FileList& list = *this;
  if (list.class_names_.empty()) {
    if (!options.dir_filters.empty()) fail_on(root, ErrorKind::data, "no subfolder matches dir_filters");
    if (!skipped_files) fail_on(root, ErrorKind::data, "the folder is empty");
    fail_on(root, ErrorKind::data,
            "there is no subfolder: each class needs its own folder, files directly in "
            "file_root are not read (name them with files= or file_list=)");
  }
  if (list.size() == 0) {
    fail_on(root, ErrorKind::data, "no file in its {} subfolders matches file_filters ({})", list.class_names_.size(),
            fmt::join(options.file_filters, " "));
  }
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string hint_at_columns(std::string_view line, const char* names) {
  if (line.find_first_of(",;") == line.npos) return {};
  return fmt::format("; CSV is not supported: give the columns as {}= and labels=, which are whole numbers", names);
}

FileList FileList::from_text(const std::string& list_path, const std::string& root, bool allow_outside_root) {
  std::vector<uint8_t> bytes;
  read_file(list_path, bytes, int64_t{1} << 36);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  FileList list;
  list.root_ = with_slash(root);
  if (root.empty()) list.root_ = list_path.substr(0, list_path.rfind('/') + 1);
  const std::string bounds = root.empty() && is_url(list.root_) ? list.root_ : root;
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, newline - begin);
    begin = newline + 1;
    ++number;
    auto refuse = [&](const std::string& why) {
      fail_on(list_path, ErrorKind::data, "line {}: {}: \"{}\"", number, why, line.substr(0, 200));
    };
    if (line.find('\0') != line.npos) refuse("contains a zero byte");
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    if (line.empty()) continue;
    size_t label_at = line.size();
    while (label_at > 0 && !is_space(line[label_at - 1])) --label_at;
    size_t name_end = label_at;
    while (name_end > 0 && is_space(line[name_end - 1])) --name_end;
    const auto refuse_form = [&](const char* why) { refuse(why + hint_at_columns(line, "files")); };
    if (name_end == 0) refuse_form("expected a path, white space and a label");
    int32_t label = 0;
    const char* end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data() + label_at, end, label);
    if (error == std::errc::result_out_of_range) refuse("the label does not fit into 32 bits");
    if (error != std::errc() || stop != end) refuse_form("expected a whole number as the label after the path");
    const std::string_view name = line.substr(0, name_end);
    if (!allow_outside_root)
      if (const std::string why = why_outside(bounds, name); !why.empty())
        refuse("the name " + why + "; allow_outside_root=True reads it");
    list.add(name, label);
  }
  if (list.size() == 0) fail_on(list_path, ErrorKind::data, "the list does not name a file");
  return list;
}

FileList FileList::from_names(const std::vector<std::string>& files, const std::vector<int32_t>& labels,
                              const std::string& root) {
  if (files.empty()) bad_argument("files must not be empty");
  if (!labels.empty() && labels.size() != files.size())
    bad_argument("there are {} labels for {} files", labels.size(), files.size());
  if (files.size() > INT32_MAX) bad_argument("{} files are too many", files.size());
  FileList list;
  list.root_ = with_slash(root);
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty()) bad_argument("files[{}] is empty", i);
    list.add(files[i], labels.empty() ? static_cast<int32_t>(i) : labels[i]);
  }
  return list;
}

void FileList::add(std::string_view name, int32_t label) {
  names_.append(name);
  ends_.push_back(names_.size());
  labels_.push_back(label);
}

std::string_view FileList::name(int64_t index) const {
  const uint64_t begin = index > 0 ? ends_[index - 1] : 0;
  return std::string_view(names_).substr(begin, ends_[index] - begin);
}

std::string FileList::path(int64_t index) const {
  const std::string_view file = name(index);
  return path_in(root_, file);
}

uint64_t FileList::hash() const {
  uint64_t hash = hash_bytes(names_);
  for (size_t i = 0; i < labels_.size(); ++i) hash = mix64(hash ^ mix64(ends_[i]) ^ static_cast<uint32_t>(labels_[i]));
  return hash;
}

}  // namespace penstock
