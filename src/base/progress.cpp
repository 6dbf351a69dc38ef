// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <atomic>
#include <utility>

namespace penstock {

namespace {
constexpr auto kBetween = std::chrono::milliseconds(100);
std::atomic<ProgressReport> report{nullptr};
std::atomic<std::chrono::milliseconds> quiet_time{};
std::atomic<uint64_t> last_id{0};
}  // namespace

void set_progress_report(ProgressReport r, std::chrono::milliseconds quiet) { quiet_time = quiet, report = r; }

Progress::Progress(std::string what, const char* unit, int64_t total)
    : what_(std::move(what)), unit_(unit), total_(total), next_(std::chrono::steady_clock::now() + quiet_time.load()) {}

Progress::~Progress() {
  if (id_) tell(true);
}

void Progress::tell(bool ended) {
  const ProgressReport to = report;
  if (!to) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_ && !ended) return;
  next_ = now + kBetween;
  if (!id_) id_ = ++last_id;
  to({id_, what_.c_str(), unit_, done_, total_, ended});
}

}  // namespace penstock
