// SPDX-License-Identifier: Apache-2.0
#include "base/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/registration.h"
#include "base/settings.h"
#include "penstock/plugin_abi.h"

namespace penstock {
namespace {

constexpr std::string_view kOwn = PENSTOCK_PLUGIN_ABI;
constexpr std::string_view kMark = "penstock plug-in abi: ";  // penstock/plugin.h

// The loader ends the process where a library is truncated.
void check_whole(const std::string& path, const std::string& bytes) {
  Elf64_Ehdr head;
  if (bytes.size() < sizeof head || !bytes.starts_with(ELFMAG)) return;  // no library; the text below says so
  std::memcpy(&head, bytes.data(), sizeof head);
  const uint64_t end = head.e_shoff + uint64_t{head.e_shnum} * head.e_shentsize;
  if (end > bytes.size())
    bad_argument("the plug-in {} is truncated: it has {} bytes, and its table of sections ends at byte {}", path,
                 bytes.size(), end);
}

// The ABI that the file was built for; empty if it says none. Read without loading it: to load is to run its code.
std::string abi_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::file_missing, "the plug-in {} cannot be read: {}", path, std::strerror(errno));
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  check_whole(path, bytes);
  for (size_t at = bytes.find(kMark); at != bytes.npos; at = bytes.find(kMark, at + 1)) {
    const std::string abi = bytes.c_str() + at + kMark.size();  // up to its zero
    if (!abi.empty()) return abi;
  }
  return "";
}

std::string_view version_of(std::string_view abi) { return abi.substr(0, abi.find("; ")); }
std::string_view library_of(std::string_view abi) {
  const size_t at = abi.find("; ");
  return at == abi.npos ? "" : abi.substr(at + 2);
}

void check_abi(const std::string& path) {
  const std::string abi = abi_of(path);
  if (abi == kOwn) return;
  if (abi.empty())
    bad_argument(
        "{} is not a plug-in of Penstock: it was not built with penstock/operator.h, penstock/image_format.h or "
        "penstock/reader.h",
        path);
  if (version_of(abi) != version_of(kOwn))
    bad_argument(
        "the plug-in {} was built for Penstock {}, and this is Penstock {}: build it with the headers of this "
        "version",
        path, version_of(abi), version_of(kOwn));
  bad_argument("the plug-in {} was built with {}, and this Penstock {} with {}: build it with the same library of C++",
               path, library_of(abi), version_of(kOwn), library_of(kOwn));
}

// Why the plug-in is refused, after its code has run; empty: it has entered what it registers.
std::string load(const std::string& path) {
  PluginRegistrations registrations;
  // Never closed, also if it is refused: objects of it may be known to the C++ runtime.
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    const char* why = dlerror();
    bad_argument("the plug-in {} cannot be loaded: {}", path, why ? why : "the loader does not say why");
  }
  if (const std::string why = registrations.why_refused(); !why.empty())
    return fmt::format("the plug-in {} cannot be used: {}", path, why);
  if (registrations.size() == 0)
    return fmt::format("the plug-in {} registers nothing, or the program has loaded it by other means before", path);
  registrations.add_all();
  return "";
}

// What names a file, by whatever path.
std::pair<dev_t, ino_t> file_number(const std::string& path) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0)
    fail(ErrorKind::file_missing, "there is no plug-in {}: {}", path, std::strerror(errno));
  if (S_ISDIR(s.st_mode)) bad_argument("the plug-in {} is a folder: PENSTOCK_PLUGINS takes folders", path);
  return {s.st_dev, s.st_ino};
}

std::vector<std::string> files_of(std::string_view setting) {
  std::vector<std::string> files;
  for (size_t from = 0; from <= setting.size();) {
    const size_t to = std::min(setting.find(':', from), setting.size());
    const std::string path(setting.substr(from, to - from));
    from = to + 1;
    if (path.empty()) continue;
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".so") found.push_back(entry.path());
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace

void load_plugin(const std::string& path) {
  static std::mutex one_at_a_time;
  static auto& results = *new std::map<std::pair<dev_t, ino_t>, std::string>;  // empty: loaded; else why not
  std::lock_guard lock(one_at_a_time);
  const auto number = file_number(path);
  if (const auto known = results.find(number); known != results.end()) {
    if (known->second.empty()) return;
    bad_argument("{}", known->second);  // its code has run, and would not register again
  }
  check_abi(path);
  // Without a slash the loader would search its own folders.
  const std::string why = load(path.find('/') == path.npos ? "./" + path : path);
  results[number] = why;
  if (!why.empty()) bad_argument("{}", why);
}

void load_plugins_of_setting() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const std::string& file : files_of(Setting("PENSTOCK_PLUGINS").text())) try {
        load_plugin(file);
      } catch (const Error& e) {
        fail(e.kind(), "PENSTOCK_PLUGINS: {}", e.what());
      }
  });
}

}  // namespace penstock
