// SPDX-License-Identifier: Apache-2.0
// The functions of the user's program that a pipeline calls, by node.
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "exec/callback.h"
#include "graph/graph.h"

namespace penstock {

class Callbacks {
 public:
  explicit Callbacks(const Graph& graph) : graph_(graph) {}
  void set(int node, std::shared_ptr<Callback> callback);
  std::shared_ptr<Callback> of(const Node& n) const;
  void cancel() const;  // wakes those that wait

 private:
  const Graph& graph_;
  mutable std::mutex mutex_;
  std::map<int, std::shared_ptr<Callback>> callbacks_;
};

}  // namespace penstock
