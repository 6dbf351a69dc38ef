// SPDX-License-Identifier: Apache-2.0
#include "base/notice.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace penstock {
namespace {

struct Notices {
  std::mutex mutex;
  std::map<std::string, std::set<std::string>> known;  // of each kind
  std::vector<std::string> waiting;
  std::atomic<bool> some{false};
};
Notices& notices() {
  static Notices n;
  return n;
}
constexpr size_t kMost = 64;  // of a kind: others are told after many of it

// The words without digits that are not paths: texts of one kind differ in sizes and names.
std::string kind_of(const std::string& text) {
  std::string kind, word;
  for (const char c : text + ' ')
    if (c != ' ') word += c;
    else {
      if (word.find_first_of("0123456789/\\") == word.npos) kind += word + ' ';
      word.clear();
    }
  return kind;
}

}  // namespace

void notice(const std::string& text) {
  Notices& n = notices();
  std::lock_guard lock(n.mutex);
  std::set<std::string>& known = n.known[kind_of(text)];
  if (known.size() >= kMost || !known.insert(text).second) return;
  n.waiting.push_back(text);
  n.some = true;
}

void notice_of_sample(const std::string& text) {
  Notices& n = notices();
  std::lock_guard lock(n.mutex);
  if (n.waiting.size() >= kMost) return;
  n.waiting.push_back(text);
  n.some = true;
}

std::vector<std::string> take_notices() {
  Notices& n = notices();
  if (!n.some) return {};
  std::lock_guard lock(n.mutex);
  n.some = false;
  return std::exchange(n.waiting, {});
}

}  // namespace penstock
