// SPDX-License-Identifier: Apache-2.0
#include "exec/pipeline_sources.h"

#include <algorithm>
#include <utility>

#include "exec/node_source.h"
#include "graph/arrangement.h"

namespace penstock {

PipelineSources::PipelineSources(const Graph& graph, const Plan& plan, const PipelineOptions& options)
    : graph_(graph), options_(options) {
  const auto owners = owners_of_readers(graph);
  std::set<int> asked;  // sources that are part of the plan
  for (const Step& s : plan.steps)
    if (s.kind == Step::Kind::source) asked.insert(s.nodes[0]);
  for (const auto& n : graph.nodes()) {
    if (info_of(n).fed == Fed::batches && !asked.count(n.id)) continue;
    if (info_of(n).family != Family::source || calls_back(n) || owners.count(n.id)) continue;
    sources_[n.id] = source_of(graph, n, options.batch_size);
    const bool reader = sources_[n.id]->meta().has_value();
    if (primary_ < 0 || (reader && !sources_[primary_]->meta())) primary_ = n.id;
  }
  if (options.on_error == OnError::skip && !options.uneven && primary_ >= 0)
    if (const auto meta = sources_[primary_]->meta(); meta && meta->number_of_shards > 1)
      bad_argument(
          "on_error=\"skip\" with several shards gives the ranks different numbers of samples; use "
          "on_error=\"replace\", or uneven=True if the training loop supports that");
}

Source* PipelineSources::find(int node) {
  if (auto it = sources_.find(node); it != sources_.end()) return it->second.get();
  for (auto& [id, s] : sources_)
    if (Source* reader = s->mixed(node)) return reader;
  return nullptr;
}

ExternalSource* PipelineSources::external(int node) { return dynamic_cast<ExternalSource*>(find(node)); }

// An iteration may have failed before it asked all of its sources. What it would have got goes with it, so that batches
// of several sources stay together. False: the data have ended.
bool PipelineSources::catch_up(Source& source, const Iteration& it, int node) {
  const auto number = static_cast<int64_t>(it.number);
  if (it.place) {
    source.next_number = number + 1;
    source.seek(it.place->epoch, it.place->batch, options_.batch_size, options_.epoch_mode, false);
    return true;
  }
  int64_t k = source.next_number < 0 ? number : source.next_number;
  source.next_number = number + 1;
  for (; k < number; ++k) {
    SourceBatch failed;
    failed.primary = node == primary_;
    try {
      const int n = source.next(failed, options_.batch_size, options_.epoch_mode);
      if (n == 0) return false;
      if (node == primary_) replays.skip(n);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::cancelled) throw;
    }
  }
  return true;
}

int PipelineSources::next(int node, const Iteration& it, SourceBatch& batch) {
  bool ended;
  {
    std::lock_guard lock(mutex_);
    ended = it.number > last_number_;
  }
  Source& source = *sources_.at(node);
  int n = 0;
  if (!ended && catch_up(source, it, node)) n = source.next(batch, options_.batch_size, options_.epoch_mode);
  if (n == 0) {
    std::lock_guard lock(mutex_);
    last_number_ = std::min(last_number_, it.number);
  }
  return n;
}

void PipelineSources::begin_again() {
  std::lock_guard lock(mutex_);
  last_number_ = UINT64_MAX;
}

void PipelineSources::seek(const BatchPlace& place, uint64_t number, bool follows) {
  for (auto& [id, source] : sources_) {
    source->seek(place.epoch, place.batch, options_.batch_size, options_.epoch_mode, follows);
    source->next_number = static_cast<int64_t>(number);
  }
  begin_again();
  replays.begin_at(number);
}

void PipelineSources::cancel() {
  for (auto& [id, s] : sources_)
    if (auto* e = dynamic_cast<ExternalSource*>(s.get())) e->feed()->cancel();
}

void PipelineSources::take_values(Iteration& it, int node) {
  const auto found = it.sources.find(node);
  if (found == it.sources.end()) return;
  int k = 0;
  for (Batch& b : found->second.outputs) it.values.at({node, k++}) = std::move(b);
  found->second.outputs.clear();
}

// Puts a source's values into its batch as long as this lives; else they are among the iteration's.
class PipelineSources::Lent {
 public:
  Lent(Iteration& it, int node, int outputs)
      : batch(it.sources.at(node)), iteration_(it), source_(node), lends_(batch.outputs.empty()) {
    for (int k = 0; lends_ && k < outputs; ++k) batch.outputs.push_back(std::move(it.values.at({node, k})));
  }
  ~Lent() {
    if (lends_) take_values(iteration_, source_);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  SourceBatch& batch;

 private:
  Iteration& iteration_;
  const int source_;
  const bool lends_;
};

void PipelineSources::load(Iteration& it, int node, int sample) {
  const Lent lent(it, node, graph_.node(node).outputs);
  sources_.at(node)->load(lent.batch, sample);
}

void PipelineSources::loaded(Iteration& it, int node) {
  const Lent lent(it, node, graph_.node(node).outputs);
  sources_.at(node)->loaded(lent.batch);
}

static bool replace_in(Source& source, SourceBatch& batch, Iteration& it, int sample, uint32_t attempt) {
  batch.origin.swap(it.origin);
  const bool found = source.replace(batch, sample, attempt);
  batch.origin.swap(it.origin);
  return found;
}

// Of those that the source gave, none has been dropped.
bool PipelineSources::find_among_given(Iteration& it, int node, int sample, uint32_t attempt) {
  SourceBatch batch;
  const int outputs = graph_.node(node).outputs;
  for (int k = 0; k < outputs; ++k) batch.outputs.push_back(std::move(it.given.at({node, k})));
  const bool found = replace_in(*sources_.at(node), batch, it, sample, attempt);
  for (int k = 0; k < outputs; ++k) {
    Batch &given = it.given.at({node, k}), &value = it.values.at({node, k});
    given = std::move(batch.outputs[k]);
    if (found && value.size() == given.size()) value.sample(sample) = given.sample(sample);  // else it was dropped
  }
  return found;
}

// Several external sources bring parts of one sample: all of them give the other one's.
bool PipelineSources::find_other(Iteration& it, int sample, uint32_t attempt) {
  if (!external(primary_)) {
    const Lent lent(it, primary_, graph_.node(primary_).outputs);
    return replace_in(*sources_.at(primary_), lent.batch, it, sample, attempt);
  }
  if (!find_among_given(it, primary_, sample, attempt)) return false;
  for (auto& [node, source] : sources_)
    if (node != primary_ && dynamic_cast<ExternalSource*>(source.get())) find_among_given(it, node, sample, attempt);
  return true;
}

}  // namespace penstock
