// SPDX-License-Identifier: Apache-2.0
// Where batches begin: readers and external sources.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "exec/iteration.h"

namespace penstock {

// How a source that has epochs cuts them into batches.
enum class EpochMode {
  stream,   // all batches are full; a batch may hold the end of one epoch and the start of the next
  partial,  // the last batch of an epoch is shorter
  drop,     // the last batch of an epoch is left out if it is not full; all shards have as many batches
  even,     // as partial; a shard that would have a batch fewer than others repeats a sample
};

// What a reader's first epoch holds: the one it began with, or went on in from a checkpoint.
struct FirstEpoch {
  int64_t own = 0, largest = 0;  // samples of this shard, and of the largest one
};

struct ReaderMeta {
  int64_t epoch_size = -1, epoch_size_padded = -1, shard_size = -1;
  int number_of_shards = 1, shard_id = 0;
  bool pad_last_batch = false, stick_to_shard = false;
};

class Source {
 public:
  virtual ~Source() = default;
  // Fills the iteration's values of this node for up to batch_size samples; sets origin if `primary`. Returns the
  // number of samples, 0 at the end of the data. Called by one thread at a time, in order.
  virtual int next(Iteration& it, int node, int batch_size, EpochMode mode, bool primary) = 0;
  // A source with loads_samples: next() only says which samples come; this reads sample i, on many threads at once.
  // Errors have their source.
  virtual void load(Iteration&, int /*node*/, int /*i*/) const {}
  virtual void loaded(Iteration&, int /*node*/) const {}  // all samples of the batch
  virtual int loaded_together() const { return 8; }       // samples that one thread loads at once: they may be short
  virtual void set_threads(int n) { threads_ = n; }       // of the pipeline
  virtual void set_memory(std::shared_ptr<MemoryResource> memory) {
    memory_ = std::move(memory);
  }  // for what is loaded
  virtual Source* mixed(int /*node*/) { return nullptr; }  // a reader that this one mixes with others
  virtual bool at_end_of_epoch() const { return false; }   // behind the last next()
  virtual std::string data_set() const { return {}; }      // the folder that holds its files
  virtual std::optional<ReaderMeta> meta() const { return std::nullopt; }
  virtual int64_t batches_per_epoch(int /*batch_size*/, EpochMode) const { return -1; }
  virtual std::optional<FirstEpoch> first_epoch() const { return std::nullopt; }
  virtual std::string state() const { return {}; }  // behind the last next()
  virtual void restore(const std::string&) { bad_argument("this source cannot go on from a checkpoint"); }
  virtual void reset() {}  // after the end of the data: begin again
  // An epoch that was left is over: the one after it begins. delivered: the state after its last batch that was handed
  // out; empty: there was none.
  virtual void begin_epoch(const std::string& /*delivered*/) { reset(); }
  // A stand-in for a sample that cannot be read: another position, its path and the small values (labels) of it. False:
  // there is none.
  virtual bool replace(Iteration&, int /*node*/, int /*sample*/, uint32_t /*attempt*/) { return false; }
  int64_t next_number = 0;  // of the iteration that next() is for; -1: of any, behind reset()

 protected:
  std::shared_ptr<MemoryResource> memory_ = default_memory();
  int threads_ = 1;
};

std::unique_ptr<Source> make_source(const Graph& g, const Node& node);
using MakeSource = std::unique_ptr<Source> (*)(const Graph&, const Node&);
bool register_source(const std::string& op, MakeSource make);  // true, for a constant

}  // namespace penstock
