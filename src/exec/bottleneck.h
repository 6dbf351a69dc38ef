// SPDX-License-Identifier: Apache-2.0
// What the loop waits for, from the numbers of a pipeline.
#pragma once
#include <string>

#include "exec/statistics.h"

namespace penstock {

enum class Bottleneck {
  unknown,   // too few batches
  none,      // the loop does not wait
  source,    // a source of the program
  function,  // a function of the program
  lock,      // either of them, which waits for the interpreter's lock
  network,   // reads from URLs
  disk,      // reads that wait for the medium
  small_reads,
  reads,         // of what is in memory
  slow_samples,  // few of them take most of the work
  threads,       // all are busy, and there are cores for more
  memory,        // bytes that operators read and write
  decoding,
  pixels,
  step,  // another one
};

const char* name_of(Bottleneck b);

struct FoundBottleneck {
  Bottleneck bottleneck = Bottleneck::unknown;
  int step = -1;     // of the statistics
  double waits = 0;  // share of its time that the loop waits
  double share = 0;  // of the work, that is in what the bottleneck names
  std::string text;  // the verdict
  // The rate that the pipeline would reach if the bottleneck were gone, as a multiple of its rate. 0: not known.
  double with_more_threads = 0, with_data_in_memory = 0;
};

FoundBottleneck find_bottleneck(const PipelineStatistics& s);

}  // namespace penstock
