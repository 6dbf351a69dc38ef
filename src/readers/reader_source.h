// SPDX-License-Identifier: Apache-2.0
// Shared by all readers: arguments, order, shards, checkpoints, replacements; and memory for their records.
#pragma once
#include <functional>

#include "data/container.h"
#include "data/formed_batches.h"
#include "data/read_ahead.h"
#include "data/replacement.h"
#include "data/sample_order.h"
#include "readers/batch_numbers.h"
#include "readers/source.h"

namespace penstock {

// Members and arguments of a reader's operator.
struct ReaderOptions : SourceOperator {
  bool random_shuffle = false, shuffle_after_epoch = false, stick_to_shard = false, pad_last_batch = false;
  bool read_ahead = false, dont_use_mmap = false, lazy_init = false, skip_cached_images = false, shuffle = false;
  int64_t num_shards = 1, shard_id = 0, initial_fill = 1024, prefetch_queue_depth = 1, tensor_init_bytes = 1048576;
  Optional<int64_t> shuffle_after_epoch_seed, seed;
  std::string bucket_by, deal = "sample";
  std::vector<float> lengths;
  std::vector<int64_t> bucket_groups;
  float max_cost = 0, bucket_width = .05f;
  int64_t packing_window = 0;
};

// `deal` of readers and of the mix.
inline constexpr const char* kDeal =
    "What shards are dealt: a \"sample\" each, or a \"batch\" each: shard s of n makes exactly the batches s, s + n, s "
    "+ 2 "
    "n ... of the pipeline without shards. All shards then need the same seed, which the pipeline's is, and one batch "
    "size.";

// `seed` of readers and of the mix, before what is done without one.
inline constexpr const char* kOrderSeed =
    "Seed of the order, the same on all shards. Default: the pipeline's; where several shards are dealt samples a "
    "fixed number, because each rank's pipeline may have a seed of its own, and their orders have to be one. For "
    "another order in each training give a seed. Sources of a mix that have none follow the mix.";

template <class Op> Schema<Op>&& reader_arguments(Schema<Op>&& s) {
  return std::move(s)
      .arg("random_shuffle", &Op::random_shuffle, "A new random order of the whole data set in each epoch.")
      .arg("shuffle", &Op::shuffle, "The same as random_shuffle.")
      .arg("shuffle_after_epoch", &Op::shuffle_after_epoch, "A new random order in each epoch.")
      .arg("shuffle_after_epoch_seed", &Op::shuffle_after_epoch_seed, "Seed of that order.")
      .arg("num_shards", &Op::num_shards, "Number of parts that the data set is divided into.", at_least(1))
      .arg("shard_id", &Op::shard_id, "The part that this pipeline reads.", at_least(0))
      .arg("deal", &Op::deal, kDeal)
      .arg("stick_to_shard", &Op::stick_to_shard, "Read the same contiguous part in every epoch.")
      .arg("pad_last_batch", &Op::pad_last_batch, "Fill the last batch of an epoch by repeating its last sample.")
      .arg("bucket_by", &Op::bucket_by,
           "Form batches of samples of near length: what the length is. \"bytes\" of a record or file, what else the "
           "reader names, or the path of an .npy file with a number for each sample.")
      .arg("lengths", &Op::lengths, "The lengths, instead of bucket_by: a number for each sample.")
      .arg("max_cost", &Op::max_cost,
           "With bucket_by or lengths: the longest sample of a batch times its number of samples is at most this; 0: "
           "batches have batch_size samples.",
           at_least(0))
      .arg("bucket_width", &Op::bucket_width,
           "Samples that meet in a batch differ in length by at most this share of the longest; more where fewer than "
           "a batch are so near.",
           within(0, 1))
      .arg("bucket_groups", &Op::bucket_groups,
           "A whole number for each sample: a batch has samples of one number only, such as of pictures of one shape.")
      .arg("packing_window", &Op::packing_window,
           "With max_cost: a batch has samples that fit together into one row, their lengths add up to at most "
           "max_cost. So many samples are placed together, from the longest to the shortest, each in the first batch "
           "that has room. 0: batches of samples of near length.",
           at_least(0))
      .arg("initial_fill", &Op::initial_fill,
           "Accepted without effect: the shuffle is always over the whole data "
           "set.")
      .arg("read_ahead", &Op::read_ahead, "Accepted without effect.")
      .arg("dont_use_mmap", &Op::dont_use_mmap, "Accepted without effect.")
      .arg("lazy_init", &Op::lazy_init, "Accepted without effect.")
      .arg("skip_cached_images", &Op::skip_cached_images, "Accepted without effect.")
      .arg("prefetch_queue_depth", &Op::prefetch_queue_depth, "Accepted without effect.")
      .arg("tensor_init_bytes", &Op::tensor_init_bytes, "Accepted without effect.")
      .arg("seed", &Op::seed, kOrderSeed);
}

class ReaderSource : public Source {
 public:
  ~ReaderSource() override;
  int next(SourceBatch& batch, int batch_size, EpochMode mode) final;
  bool replace(SourceBatch& batch, int sample, uint32_t attempt) final;
  std::optional<ReaderMeta> meta() const final;
  int64_t batches_per_epoch(int batch_size, EpochMode mode) const final;
  std::vector<std::optional<Shape>> fixed_shapes() const final;
  std::optional<FirstEpoch> first_epoch() const final;
  int64_t number_of(uint64_t epoch, int64_t batch, int batch_size, EpochMode mode) const final;
  std::string why_no_numbers() const final { return {}; }
  void seek(uint64_t epoch, int64_t batch, int batch_size, EpochMode mode, bool follows) final;
  bool at_end_of_epoch() const final { return last_; }
  std::string state() const final;
  void begin_epoch(const std::string& delivered) final;
  void restore(const std::string& text) final { begin(SampleOrder(settings_, ReaderState::from_json(text))); }
  void set_batch_size(int batch_size) final;

 protected:
  explicit ReaderSource(const ReaderOptions& options);
  friend class MixSource;
  // A reader must call it when it knows its data. `seed`: of the order, where the options give none.
  void open(uint64_t seed, int64_t size, uint64_t list_hash);
  // Maps a place of the epoch's order to a sample of the data set.
  virtual int64_t index_of(uint64_t /*epoch*/, const OrderedSample& s) const { return s.index; }
  // A replacement for a sample that cannot be read.
  virtual int64_t index_instead(uint64_t epoch, int64_t position, int64_t index, uint32_t attempt) const;
  virtual void begin(SampleOrder order);

  uint64_t order_seed() const { return settings_.seed; }

  // For a reader that finds lengths and groups of its samples by itself; after open().
  void form_groups(std::vector<float> lengths, std::vector<int64_t> groups);
  // The length of each sample as bucket_by names it. A reader that knows others than "bytes" overrides it.
  virtual std::vector<float> lengths_by(const std::string& what) const;
  virtual const char* names_of_lengths() const { return "\"bytes\""; }  // for messages

  // Outputs for `samples` samples, with their types and without elements.
  virtual std::vector<Batch> make_outputs(int samples) const = 0;
  // The file or record of a sample of the data set, for messages and for source_info().
  virtual std::string source_of(int64_t index) const = 0;
  // What load() or a later step reads for a sample of the data set, for read-ahead; length -1: to the end of
  // the file.
  virtual void ranges_of(int64_t index, std::vector<ByteRange>& out) const { out.push_back({source_of(index), 0, -1}); }
  // Outputs of sample i of the batch that need no reading.
  virtual void put_known(SourceBatch& /*batch*/, int /*i*/, int64_t /*index*/) const {}

 private:
  struct Chosen {
    uint64_t epoch = 0;
    OrderedSample sample;
  };
  // What the order counts: samples, or batches if they are formed by length.
  BatchNumbers numbers(int batch_size, EpochMode mode) const { return {*order_, unit(batch_size), mode, dealing_}; }
  int64_t length(uint64_t epoch, int batch_size, EpochMode mode) const {
    return numbers(batch_size, mode).length(epoch);
  }
  int unit(int batch_size) const { return formed_ ? 1 : batch_size; }  // how many a batch takes
  void append(uint64_t epoch, const OrderedSample& counted, std::vector<Chosen>& samples) const;
  int choose(int batch_size, EpochMode mode);
  // With deal="batch" (readers/reader_dealing.cpp): what this shard has in the round of batches that begins at `at`, or
  // in the first one after it in which it has a batch. `at` moves to the round after it. True: the epoch has no other.
  bool deal_round(SampleOrder::Cursor& at, int batch_size, EpochMode mode, std::vector<Chosen>& counted) const;
  FirstEpoch first_epoch_of_rounds(uint64_t epoch) const;
  int announce_round(int batch_size, EpochMode mode);          // the one at ahead_; how many samples it is
  int announce(uint64_t epoch, const OrderedSample& counted);  // adds to ranges_; how many samples it is
  void check_bucketing() const;
  void form_batches(int batch_size);
  std::vector<float> checked_lengths();
  bool by_length() const { return formed_ || !bucketing_.bucket_by.empty() || !bucketing_.lengths.empty(); }
  void ask_for_what_follows(int batch_size, EpochMode mode);
  void announce_what_follows(int batch_size, EpochMode mode);
  void put(SourceBatch& batch, int i, int64_t index, const std::string& source) const;

  struct Bucketing {
    std::string bucket_by;
    std::vector<float> lengths;
    std::vector<int64_t> groups;
    float max_cost, width;
    int64_t window;  // of packing; 0: samples of near length meet
  };

  ReaderArguments arguments_;
  Dealing dealing_;  // of batches
  int batch_size_ = 1;
  Bucketing bucketing_;
  std::unique_ptr<FormedBatches> formed_;
  std::vector<Chosen> chosen_;
  OrderSettings settings_;
  std::optional<SampleOrder> order_;
  SampleOrder::Cursor cursor_;
  bool last_ = false;          // the previous batch was the last one of its epoch
  SampleOrder::Cursor ahead_;  // after what was announced
  bool follows_ = true;        // the batches after the next one are wanted after it
  int64_t announced_ = 0;      // samples between cursor_ and ahead_
  std::vector<ByteRange> ranges_;
  bool remote_ = false;    // the samples are in remote storage
  int64_t window_ = 0;     // announced_ at the last announcement
  uint64_t waited_ = 0;    // reads_that_waited() when last looked
  uint64_t absent_ = 0;    // read_ahead_->absent() at the last announcement
  int ahead_batches_ = 0;  // batches for which read-ahead continues although no read waits
  std::unique_ptr<ReadAhead> read_ahead_;
};

// An operator whose source is made of the pipeline's seed and the operator's struct.
template <class Op, class S> std::unique_ptr<Source> make_reader(SourceArguments& a) {
  return std::make_unique<S>(a.seed, a.options<Op>());
}
#define PENSTOCK_READER(Op, S) PENSTOCK_SOURCE(Op, (::penstock::make_reader<Op, S>))

// Puts bytes, which `owner` keeps alive, into sample i of an output.
void give(Batch& output, int i, Shape shape, const void* data, std::shared_ptr<void> owner);
// Sets an output's number of dimensions to that of its loaded samples, and its type if it has none. Error (data)
// if they differ.
void set_dimensions(Batch& output, DType dtype = DType::none);
// The same if each file has its own type; type_of() gives that of a sample. Error (data) if they differ.
void settle_type(SourceBatch& batch, int output, const std::function<DType(int64_t index)>& type_of);
// The folder of a path; for several paths, their longest common folder.
std::string common_folder(std::span<const std::string> paths);

}  // namespace penstock
