// SPDX-License-Identifier: Apache-2.0
// external_source: batches that the user's program brings.
#pragma once
#include "exec/source.h"
#include "exec/waiting_queue.h"

namespace penstock {

struct BatchRequest {
  uint64_t iteration = 0;  // since the pipeline began
  uint64_t in_epoch = 0;   // since the last reset
  uint64_t epoch = 0;      // number of resets
  int batch_size = 0;
  int threads = 1;  // of the pipeline
};

// What stands behind an external_source node: Python's callable, generator or iterable, or a queue that is fed.
class ExternalFeed {
 public:
  virtual ~ExternalFeed() = default;
  // One batch per output of the node. An Error of kind `stopped` ends the data.
  virtual std::vector<Batch> next(const BatchRequest& request) = 0;
  virtual void reset() {}
  virtual bool resumable() const { return false; }  // next() depends on the request only, or state() says all
  virtual std::string state() const { return {}; }
  virtual void restore(const std::string&) {}
  virtual void cancel() {}  // wakes a next() that waits
  // Whether next() returns at once, and any thread may call it.
  virtual bool ready() { return false; }
  // Whether a next() stands waiting for what feed() has not brought. False where another thread may bring it.
  virtual bool starves() { return false; }
  virtual bool fed_by_others() const { return false; }  // feed() may come while the pipeline is asked for a batch
  // feed_input(): one batch per output of the node. Returns how many iterations it gives.
  virtual int64_t feed(std::vector<Batch>, int /*batch_size*/) {
    bad_argument("has a source of its own and cannot be fed");
  }
};

// feed_input(): batches wait in a queue; next() waits for one.
class FeedQueue final : public ExternalFeed {
 public:
  int64_t feed(std::vector<Batch> batches, int) override {
    queue_.put(std::move(batches));
    return 1;
  }
  std::vector<Batch> next(const BatchRequest&) override { return queue_.take(); }
  bool ready() override { return queue_.ready(); }
  bool starves() override { return queue_.starves(); }
  void cancel() override { queue_.cancel(); }

 private:
  WaitingQueue<std::vector<Batch>> queue_;
};

class ExternalSource final : public Source {
 public:
  ExternalSource(const Node& node, uint64_t seed);
  void set_feed(std::shared_ptr<ExternalFeed> feed) { feed_ = std::move(feed); }
  ExternalFeed* feed() const { return feed_.get(); }
  int next(Iteration& it, int node, int batch_size, EpochMode mode, bool primary) override;
  std::string state() const override;
  void restore(const std::string& text) override;
  void reset() override;
  // Another sample of the same batch: the program is not asked for more.
  bool replace(Iteration& it, int node, int sample, uint32_t attempt) override;

 private:
  int outputs_;
  uint64_t seed_;
  std::vector<ValueType> types_;
  std::shared_ptr<ExternalFeed> feed_ = std::make_shared<FeedQueue>();
  uint64_t iteration_ = 0, in_epoch_ = 0, epoch_ = 0, samples_ = 0;
};

}  // namespace penstock
