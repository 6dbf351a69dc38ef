// SPDX-License-Identifier: Apache-2.0
#include "base/registration.h"

#include <set>
#include <utility>

namespace penstock {

static thread_local PluginRegistrations* collecting = nullptr;

bool plugin_is_loading() { return collecting != nullptr; }

void wait_for_checks(Registration registration) { collecting->waiting_.push_back(std::move(registration)); }

PluginRegistrations::PluginRegistrations() { collecting = this; }

PluginRegistrations::~PluginRegistrations() { collecting = nullptr; }

std::string PluginRegistrations::why_refused() const {
  std::set<std::string> own;
  for (const Registration& r : waiting_) {
    if (!own.insert(r.what).second) return "it has " + r.what + " twice";
    if (std::string why = r.why_refused(); !why.empty()) return why;
  }
  return "";
}

void PluginRegistrations::add_all() {
  for (const Registration& r : waiting_) r.add();
}

}  // namespace penstock
