// SPDX-License-Identifier: Apache-2.0
// What became of the samples of this thread's last call.
#include "capi/edge.h"

namespace penstock {
namespace {
// By sample; they stay until the next call.
thread_local std::vector<std::string> messages;
}  // namespace

SampleErrors& sample_errors() {
  thread_local SampleErrors errors;
  return errors;
}

std::vector<std::string>& sample_lacks() {
  thread_local std::vector<std::string> lacks;
  return lacks;
}

void forget_samples() { messages.clear(); }

void tell_statuses(penstock_status* statuses, size_t count) {
  const SampleErrors& errors = sample_errors();
  if (errors.size() > count)
    bad_argument("statuses has room for {} samples, but the call has {}", count, errors.size());
  messages.resize(errors.size());
  for (size_t i = 0; i < errors.size(); ++i) {
    const auto& e = errors[i];
    statuses[i] = e ? status_of(e->kind()) : PENSTOCK_OK;
    messages[i] = e ? e->full_message() : i < sample_lacks().size() ? sample_lacks()[i] : std::string();
  }
}

}  // namespace penstock

const char* penstock_sample_message(size_t index) {
  return index < penstock::messages.size() ? penstock::messages[index].c_str() : "";
}
