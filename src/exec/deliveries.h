// SPDX-License-Identifier: Apache-2.0
// How far the user has come: the states of the sources after the last batch that was handed out, and checkpoints.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "exec/delivered_samples.h"
#include "exec/pipeline_sources.h"

namespace penstock {

class Deliveries {
 public:
  Deliveries(PipelineSources& sources, const PipelineOptions& options);
  void find_first_states();
  void deliver(const Iteration& it);   // where samples may come late
  void begin_again(bool leave_epoch);  // see Executor::reset(); nothing is in flight
  std::string checkpoint(const Graph& graph) const;
  void restore(const std::string& text, Graph& graph);  // before the first run; sets the graph's seed

  std::map<int, std::string> states;  // before the first batch: those that the sources begin with
  DeliveredSamples* late = nullptr;   // where samples may come late
  int skip = 0;                       // samples of the iteration after `states` that are handed out
  int resumed = 0;                    // as skip, of a checkpoint, until that iteration comes

 private:
  nlohmann::json late_form() const;
  void add_late(nlohmann::json& text) const;
  void restore_late(const nlohmann::json& saved) const;

  PipelineSources& sources_;
  const PipelineOptions& options_;
};

}  // namespace penstock
