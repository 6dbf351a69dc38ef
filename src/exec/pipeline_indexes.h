// SPDX-License-Identifier: Apache-2.0
// The entropy indexes that the threads of a pipeline use.
#pragma once
#include <vector>

#include "exec/step_context.h"
#include "exec/worker.h"
#include "readers/index_setting.h"

namespace penstock {

class PipelineIndexes {
 public:
  // Gives each thread access to them, where a stage reads files of the first reader.
  void open(const StepContext& context, std::vector<Worker>& workers);
  void add_to(PipelineStatistics& s, const std::vector<Worker>& workers) const;

 private:
  IndexSetting indexes_;
};

}  // namespace penstock
