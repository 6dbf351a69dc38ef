// SPDX-License-Identifier: Apache-2.0
// external_source: batches from the user's program.
#pragma once
#include "readers/source.h"
#include "readers/waiting_queue.h"

namespace penstock {

struct BatchRequest {
  uint64_t iteration = 0;  // since the pipeline began
  uint64_t in_epoch = 0;   // since the last reset
  uint64_t epoch = 0;      // number of resets
  int batch_size = 0;
  int threads = 1;  // of the pipeline
};

// The implementation of an external_source node: Python's callable, generator or iterable, or a queue for feed().
class ExternalFeed {
 public:
  virtual ~ExternalFeed() = default;
  // One batch per output of the node. An Error of kind `stopped` ends the data.
  virtual std::vector<Batch> next(const BatchRequest& request) = 0;
  virtual void reset() {}
  virtual bool resumable() const { return false; }  // next() depends only on the request, or state() is complete
  // Whether next() depends only on the request, and whether all its batches then have batch_size samples.
  enum class Numbered { no, any_size, full };
  virtual Numbered numbered() const { return Numbered::no; }
  virtual std::string state() const { return {}; }
  virtual void restore(const std::string&) {}
  virtual void cancel() {}  // wakes a waiting next()
  // Whether next() returns at once and any thread may call it.
  virtual bool ready() { return false; }
  // Whether a next() waits for data from feed(). False if another thread may provide it.
  virtual bool starves() { return false; }
  // Whether next(), on the thread that feeds, would wait forever.
  virtual bool is_empty() { return false; }
  virtual bool fed_by_others() const { return false; }  // feed() may be called while run() waits for a batch
  // feed_input(): one batch per output of the node. Returns the number of iterations that it provides.
  virtual int64_t feed(std::vector<Batch>, int /*batch_size*/) { bad_argument("has its own source and cannot be fed"); }
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
  bool is_empty() override { return !queue_.ready(); }
  void cancel() override { queue_.cancel(); }

 private:
  WaitingQueue<std::vector<Batch>> queue_;
};

class ExternalSource final : public Source {
 public:
  explicit ExternalSource(const SourceArguments& arguments);
  void set_feed(std::shared_ptr<ExternalFeed> feed) { feed_ = std::move(feed); }
  ExternalFeed* feed() const { return feed_.get(); }
  int next(SourceBatch& batch, int batch_size, EpochMode mode) override;
  std::string state() const override;
  void restore(const std::string& text) override;
  void reset() override;
  std::string why_no_numbers() const override;
  void seek(uint64_t epoch, int64_t batch, int batch_size, EpochMode mode, bool follows) override;
  // Another sample of the same batch, which must be the whole one: does not ask the program for more.
  bool replace(SourceBatch& batch, int sample, uint32_t attempt) override;

 private:
  int outputs_;
  uint64_t seed_;
  std::vector<ValueType> types_;
  std::shared_ptr<ExternalFeed> feed_ = std::make_shared<FeedQueue>();
  uint64_t iteration_ = 0, in_epoch_ = 0, epoch_ = 0, samples_ = 0;
};

}  // namespace penstock
