// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "tensorflow/status.h"

namespace penstock::tensorflow {

// Batches of a saved pipeline by their numbers, on pipelines that work ahead. A data set may be read by several parts
// of one graph at once (zip of a data set with itself), which all call one kernel: each gets a pipeline of its own.
class Cursors {
 public:
  // stride: the numbers that are asked for lie so far apart, as those of a shard do.
  Cursors(std::string saved, int64_t stride) : saved_(std::move(saved)), stride_(stride) {}

  // Batch `number`, one handle for each output; none where the data have ended. Calls wait for each other.
  std::vector<BatchHandle> batch(int64_t number);
  // The samples of a full batch, and what is known of the outputs.
  int batch_size();
  std::vector<penstock_output_spec> outputs();

 private:
  struct Cursor {
    PipelineHandle pipeline;
    int64_t next = 0;
    uint64_t used = 0;  // the call that used it last
  };

  Cursor& at(int64_t number);
  Cursor& begun();
  void go(Cursor& cursor, int64_t number) const;
  void run(Cursor& cursor, std::vector<penstock_batch*>& made);

  std::string saved_;
  int64_t stride_;
  std::mutex mutex_;
  std::vector<Cursor> cursors_;
  uint64_t calls_ = 0, turned_back_ = 0;  // the call that went back last
  size_t num_outputs_ = 0;
  int batch_size_ = 0;
};

}  // namespace penstock::tensorflow
