// SPDX-License-Identifier: Apache-2.0
#include "base/notice.h"

#include <atomic>
#include <mutex>
#include <set>
#include <utility>

namespace penstock {
namespace {

struct Notices {
  std::mutex mutex;
  std::set<std::string> known;
  std::vector<std::string> waiting;
  std::atomic<bool> some{false};
};
Notices& notices() {
  static Notices n;
  return n;
}
constexpr size_t kMost = 64;

}  // namespace

void notice(const std::string& text) {
  Notices& n = notices();
  std::lock_guard lock(n.mutex);
  if (n.known.size() >= kMost || !n.known.insert(text).second) return;
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
