// SPDX-License-Identifier: Apache-2.0
// The start of batches: readers and external sources.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "operator/operator.h"
#include "readers/source_batch.h"

namespace penstock {

// How a source with epochs cuts them into batches.
enum class EpochMode {
  stream,   // all batches are full; a batch may hold the end of one epoch and the start of the next
  partial,  // the last batch of an epoch is shorter
  drop,     // an incomplete last batch of an epoch is dropped; all shards have the same number of batches
  even,     // like partial; a shard that would have one batch fewer than others repeats a sample
};

// The samples of a reader's first epoch: the one that it began with, or resumed from a checkpoint.
struct FirstEpoch {
  int64_t own = 0, largest = 0;  // samples of this shard, and of the largest one
};

struct ReaderMeta {
  int64_t epoch_size = -1, epoch_size_padded = -1, shard_size = -1;
  int number_of_shards = 1, shard_id = 0;
  bool pad_last_batch = false, stick_to_shard = false;
  bool deals_batches = false;  // not samples, to the shards
  // For a reader that forms batches by length: batches of an epoch over all shards, and the least share of the lengths
  // in them if they are padded. -1: it does not.
  int64_t batches = -1;
  double real_share = -1;
};

class Source {
 public:
  virtual ~Source() = default;
  // Fills an empty batch with up to batch_size samples. Returns their number, 0 at the end of the data. Called by one
  // thread at a time, in order.
  virtual int next(SourceBatch& batch, int batch_size, EpochMode mode) = 0;
  // For a source with loads_samples: next() only selects the samples; load() reads sample i, on many threads at once.
  // Its errors have their source.
  virtual void load(SourceBatch&, int /*i*/) const {}
  virtual void loaded(SourceBatch&) const {}          // called when all samples of the batch are loaded
  virtual int loaded_together() const { return 8; }   // samples that one thread loads at once: they may be short
  virtual void set_threads(int n) { threads_ = n; }   // of the pipeline
  virtual void set_batch_size(int /*batch_size*/) {}  // before the first next() and restore()
  virtual void set_memory(std::shared_ptr<MemoryResource> memory) {
    memory_ = std::move(memory);
  }  // for loaded samples
  virtual Source* mixed(int /*node*/) { return nullptr; }  // a reader that this one mixes with others
  virtual bool at_end_of_epoch() const { return false; }   // after the last next()
  virtual std::string data_set() const { return {}; }      // the folder of its files
  virtual std::optional<ReaderMeta> meta() const { return std::nullopt; }
  virtual int64_t batches_per_epoch(int /*batch_size*/, EpochMode) const { return -1; }
  // The number, since the first epoch began, of batch `batch` of an epoch: of the first ones that begin in it.
  virtual int64_t number_of(uint64_t /*epoch*/, int64_t batch, int /*batch_size*/, EpochMode) const { return batch; }
  // Why next() cannot give any batch by its number; empty: it can.
  virtual std::string why_no_numbers() const { return "cannot go to a batch by its number"; }
  // next() gives batch `batch` of an epoch, where batches count on through the epochs after it. follows: the batches
  // after that one are wanted next. Only if why_no_numbers() is empty.
  virtual void seek(uint64_t /*epoch*/, int64_t /*batch*/, int /*batch_size*/, EpochMode, bool /*follows*/) {
    bad_argument("{}", why_no_numbers());
  }
  // The shapes of its outputs that all samples have; none where they may differ, or all of them where it is not known.
  virtual std::vector<std::optional<Shape>> fixed_shapes() const { return {}; }
  virtual std::optional<FirstEpoch> first_epoch() const { return std::nullopt; }
  virtual std::string state() const { return {}; }  // after the last next()
  virtual void restore(const std::string&) { bad_argument("this source cannot resume from a checkpoint"); }
  virtual void reset() {}  // after the end of the data: begin again
  // Ends an epoch early: the following one begins. delivered: the state after its last batch that was
  // returned; empty: there was none.
  virtual void begin_epoch(const std::string& /*delivered*/) { reset(); }
  // Replaces a sample that cannot be read by another position, its path and its small values (labels). False:
  // not possible.
  virtual bool replace(SourceBatch&, int /*sample*/, uint32_t /*attempt*/) { return false; }
  int64_t next_number = 0;  // of the batch that next() is for; -1: any, after reset()

 protected:
  std::shared_ptr<MemoryResource> memory_ = default_memory();
  int threads_ = 1;
};

// One of the readers that a source mixes.
struct MixedSource {
  int node = 0;      // see Source::mixed()
  std::string name;  // for messages: "'name' (line)"
  const OpInfo* op = nullptr;
  std::vector<int> outputs;  // those that are mixed
  std::unique_ptr<Source> source;
};

// What a source is made of.
struct SourceArguments {
  BoundOp& op;                     // the operator with its arguments
  uint64_t seed = 0;               // for a source that is given none
  std::vector<ValueType> types{};  // of the outputs
  std::vector<MixedSource> mixed{};
  // Op: the operator's struct
  template <class Op> const Op& options() const { return *static_cast<const Op*>(op.members()); }
};

using MakeSource = std::unique_ptr<Source> (*)(SourceArguments&);
// Makes the sources of an operator; the operator is registered with it.
struct SourceMaker final : Maker {
  explicit SourceMaker(MakeSource m) : make(m) {}
  const MakeSource make;
};
std::unique_ptr<Source> make_source(const OpInfo& op, SourceArguments& arguments);
template <class Op> bool add_source(MakeSource make) {
  static_assert(std::derived_from<Op, SourceOperator>,
                "PENSTOCK_SOURCE is for operators that derive from SourceOperator");
  return add_to_registry<Op>(new SourceMaker(make));  // lives as long as the registry: until the process ends
}
// An operator that is a source: instead of PENSTOCK_OPERATOR.
#define PENSTOCK_SOURCE(Op, make) [[maybe_unused]] static const bool registered_##Op = ::penstock::add_source<Op>(make)

}  // namespace penstock
