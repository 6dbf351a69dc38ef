// SPDX-License-Identifier: Apache-2.0
// One batch of a source, from the choice of its samples until they are loaded.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batch/batch.h"
#include "data/storage.h"

namespace penstock {

// What a sample draws by, beside the seed: equal ones draw equal numbers.
struct DrawOrigin {
  uint64_t epoch = 0, position = 0;
};

// Where a sample comes from.
struct SampleOrigin {
  uint64_t epoch = 0;
  uint64_t position = 0;                // in the global order of the epoch
  int64_t index = -1;                   // in the data set
  std::string path{};                   // file that a reader outputs
  FileStamp stamp{};                    // of that file, if a separate step read it
  uint64_t child = 0;                   // which child of an expanded sample this is, for random numbers; 0: none
  int number = 0;                       // in the batch of the primary source, before anything was removed
  std::optional<DrawOrigin> replays{};  // it draws what that one drew

  DrawOrigin draws() const { return replays.value_or(DrawOrigin{epoch, position}); }
};

// The caller sets `primary` and `stream`, the source the rest. A value of sample i is outputs[k].sample(i).
struct SourceBatch {
  // What a source needs while it loads the samples.
  struct Work {
    virtual ~Work() = default;
  };

  bool primary = true;               // give `origin`
  StreamHandle stream = nullptr;     // where load() enqueues work for a GPU
  std::vector<Batch> outputs;        // one for each output of the source
  std::vector<int64_t> indices;      // of the samples in the data set; an external source gives none
  std::vector<SampleOrigin> origin;  // of the samples
  std::vector<SourceBatch> parts;    // of the readers that a source mixes: each has as many samples as the mix
  std::shared_ptr<Work> work;
};

}  // namespace penstock
