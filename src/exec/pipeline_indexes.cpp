// SPDX-License-Identifier: Apache-2.0
#include "exec/pipeline_indexes.h"

#include <algorithm>

namespace penstock {

void PipelineIndexes::open(const StepContext& context, std::vector<Worker>& workers) {
  const std::string& option = context.options.entropy_index;
  check_index_option(option);
  const auto& steps = context.plan.steps;
  const bool wanted = std::any_of(steps.begin(), steps.end(), [&](const Step& s) {
    return s.kind == Step::Kind::stage && !s.gpu && context.has_record(s.inputs[0]);
  });
  if (!wanted) return;
  indexes_ = open_indexes(option, context.sources.at(context.sources.primary()).data_set());
  if (!indexes_.store) return;
  for (auto& w : workers)
    for (auto& access : w.index) access = std::make_unique<RecordIndexAccess>(indexes_.store, indexes_.use, kIndexStep);
}

void PipelineIndexes::add_to(PipelineStatistics& s, const std::vector<Worker>& workers) const {
  if (!indexes_.store) return;
  s.index_path = indexes_.store->path(), s.index_note = indexes_.store->note();
  for (const auto& w : workers)
    for (const auto& access : w.index) {
      const IndexCounts c = access->counts();
      s.index.made += c.made, s.index.used += c.used, s.index.stale += c.stale;
    }
}

}  // namespace penstock
