// SPDX-License-Identifier: Apache-2.0
// The sources of a pipeline. During a source's step its values are in its batch, elsewhere in the iteration.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "exec/iteration.h"
#include "exec/pipeline.h"
#include "exec/replays.h"
#include "readers/source.h"

namespace penstock {

class PipelineSources {
 public:
  PipelineSources(const Graph& graph, const Plan& plan, const PipelineOptions& options);

  int primary() const { return primary_; }  // node whose samples give the ids; -1: none
  Source& at(int node) { return *sources_.at(node); }
  const Source& at(int node) const { return *sources_.at(node); }
  Source* find(int node);              // also one that another one mixes; null: there is none
  ExternalSource* external(int node);  // null: it is none
  const std::map<int, std::unique_ptr<Source>>& all() const { return sources_; }
  bool loads_samples(int node) const { return get_op(graph_.node(node).op).loads_samples; }

  // The next batch of a source, for the iteration; 0: the data have ended. Called in the order of the iterations.
  int next(int node, const Iteration& it, SourceBatch& batch);
  void load(Iteration& it, int node, int sample);
  void loaded(Iteration& it, int node);              // all samples
  static void take_values(Iteration& it, int node);  // from the batch of a source to the iteration
  // Another sample instead of this one of the primary source; false: there is none.
  bool find_other(Iteration& it, int sample, uint32_t attempt);
  // The next batch of each source is this one, for the iteration `number`. follows: further ones come after it.
  void seek(const BatchPlace& place, uint64_t number, bool follows);
  void begin_again();  // after the end of the data
  void cancel();       // wakes those that wait for the program
  void clear() { sources_.clear(); }

  Replays replays;
  uint64_t first_position = 0;  // of a pipeline without sources that resumes from a checkpoint

 private:
  class Lent;
  bool catch_up(Source& source, const Iteration& it, int node);
  bool find_among_given(Iteration& it, int node, int sample, uint32_t attempt);

  const Graph& graph_;
  const PipelineOptions& options_;
  std::map<int, std::unique_ptr<Source>> sources_;
  int primary_ = -1;
  std::mutex mutex_;
  uint64_t last_number_ = UINT64_MAX;  // of the iteration in which a source found the end of its data
};

}  // namespace penstock
