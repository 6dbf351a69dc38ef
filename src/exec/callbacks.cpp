// SPDX-License-Identifier: Apache-2.0
#include "exec/callbacks.h"

namespace penstock {

void Callbacks::set(int node, std::shared_ptr<Callback> callback) {
  std::lock_guard lock(mutex_);
  if (node < 0 || node >= static_cast<int>(graph_.nodes().size()) || !calls_back(graph_.node(node)))
    bad_argument("node {} does not call a function", node);
  if (callback) callbacks_[node] = std::move(callback);
  else callbacks_.erase(node);
}

std::shared_ptr<Callback> Callbacks::of(const Node& n) const {
  std::lock_guard lock(mutex_);
  const auto found = callbacks_.find(n.id);
  if (found == callbacks_.end())
    bad_argument(
        "'{}' calls a function of a program, which a saved pipeline does not contain: create the pipeline in the "
        "program that has the function",
        n.name);
  return found->second;
}

void Callbacks::cancel() const {
  std::unique_lock lock(mutex_);
  const auto callbacks = callbacks_;
  lock.unlock();
  for (const auto& [node, callback] : callbacks) callback->cancel();
}

}  // namespace penstock
