// SPDX-License-Identifier: Apache-2.0
// readers.file: files of a folder and their labels.
#include "data/file_list.h"
#include "data/replacement.h"
#include "data/sample_order.h"
#include "exec/source.h"
#include "ops/machine/operator.h"

namespace penstock {
namespace {

struct ReadersFile {
  std::string file_root, file_list;
  std::vector<std::string> files, dir_filters;
  std::vector<int64_t> labels;
  std::vector<std::string> file_filters = FileList::default_file_filters();
  bool case_sensitive_filter = false, random_shuffle = false, shuffle_after_epoch = false, stick_to_shard = false;
  bool pad_last_batch = false, read_ahead = false, dont_use_mmap = false, lazy_init = false;
  bool skip_cached_images = false, shuffle = false;
  int64_t num_shards = 1, shard_id = 0, initial_fill = 1024, prefetch_queue_depth = 1, tensor_init_bytes = 1048576;
  Optional<int64_t> shuffle_after_epoch_seed, seed;
  static constexpr bool source = true;
  void infer(std::span<const ValueType>, std::span<ValueType> out) const {
    out[0] = {DType::uint8, 1, {}};
    out[1] = {DType::int32, 1, {}};
  }

  static Schema<ReadersFile> schema() {
    using Op = ReadersFile;
    return Schema<Op>("readers.file",
                      "Reads files and their integer labels.\n\n"
                      "Give one of file_root (each subfolder is a class, labels count the sorted subfolders), file_list (a "
                      "text file of lines \"path label\") or files. Outputs: the bytes of the file (uint8, 1-D) and the "
                      "label (int32, shape (1,)).")
        .inputs(0).outputs(2).lazy_files()
        .arg("file_root", &Op::file_root, "Folder with one subfolder a class; or what relative paths start from.")
        .arg("file_list", &Op::file_list, "Text file with a path and a label on each line.")
        .arg("files", &Op::files, "Paths of the files.")
        .arg("labels", &Op::labels, "Labels of `files`; default 0, 1, 2 ...")
        .arg("file_filters", &Op::file_filters, "Glob patterns; names that match one are read.")
        .arg("dir_filters", &Op::dir_filters, "Glob patterns for the names of class folders; empty: all.")
        .arg("case_sensitive_filter", &Op::case_sensitive_filter, "Match patterns with their case.")
        .arg("random_shuffle", &Op::random_shuffle, "Another random order of the whole data set in each epoch.")
        .arg("shuffle", &Op::shuffle, "The same as random_shuffle.")
        .arg("shuffle_after_epoch", &Op::shuffle_after_epoch, "Another random order in each epoch.")
        .arg("shuffle_after_epoch_seed", &Op::shuffle_after_epoch_seed, "Seed of that order.")
        .arg("num_shards", &Op::num_shards, "Number of parts that the data set is cut into.", at_least(1))
        .arg("shard_id", &Op::shard_id, "The part that this pipeline reads.", at_least(0))
        .arg("stick_to_shard", &Op::stick_to_shard, "Read the same contiguous part in every epoch.")
        .arg("pad_last_batch", &Op::pad_last_batch, "Fill the last batch of an epoch by repeating its last sample.")
        .arg("initial_fill", &Op::initial_fill, "Accepted; the shuffle is always over the whole data set.")
        .arg("read_ahead", &Op::read_ahead, "Accepted without effect.")
        .arg("dont_use_mmap", &Op::dont_use_mmap, "Accepted without effect.")
        .arg("lazy_init", &Op::lazy_init, "Accepted without effect.")
        .arg("skip_cached_images", &Op::skip_cached_images, "Accepted without effect.")
        .arg("prefetch_queue_depth", &Op::prefetch_queue_depth, "Accepted without effect.")
        .arg("tensor_init_bytes", &Op::tensor_init_bytes, "Accepted without effect.")
        .arg("seed", &Op::seed, "Seed of the order; default: the pipeline's.");
  }
};
PENSTOCK_OPERATOR(ReadersFile);

FileList list_files(const ReadersFile& a) {
  const int ways = !a.file_list.empty() + !a.files.empty() + (!a.file_root.empty() && a.file_list.empty() && a.files.empty());
  if (ways != 1) bad_argument("give exactly one of file_root, file_list and files");
  if (!a.labels.empty() && a.labels.size() != a.files.size())
    bad_argument("{} labels for {} files", a.labels.size(), a.files.size());
  if (!a.files.empty()) return FileList::from_names(a.files, {a.labels.begin(), a.labels.end()}, a.file_root);
  if (!a.file_list.empty()) return FileList::from_text(a.file_list, a.file_root);
  return FileList::from_folder(a.file_root, {a.file_filters, a.dir_filters, a.case_sensitive_filter});
}

class FileSource final : public Source {
 public:
  FileSource(const Graph& g, const ReadersFile& a) : args_(a), list_(list_files(a)) {
    if (a.shard_id >= a.num_shards) bad_argument("shard_id {} of {} shards", a.shard_id, a.num_shards);
    ReaderArguments r;
    r.random_shuffle = a.random_shuffle || a.shuffle;
    r.shuffle_after_epoch = a.shuffle_after_epoch;
    r.stick_to_shard = a.stick_to_shard;
    r.pad_last_batch = a.pad_last_batch;
    r.num_shards = static_cast<int32_t>(a.num_shards);
    r.shard_id = static_cast<int32_t>(a.shard_id);
    if (a.seed.given() && *a.seed >= 0) r.seed = *a.seed;
    if (a.shuffle_after_epoch_seed.given()) r.shuffle_after_epoch_seed = *a.shuffle_after_epoch_seed;
    settings_ = order_settings(r, g.seed(), list_.size(), list_.hash());
    begin(SampleOrder(settings_));
  }

  int next(Iteration& it, int node, int batch_size, EpochMode mode, bool primary) override {
    int n = batch_size;
    if (mode != EpochMode::stream) {
      for (int tries = 0;; ++tries) {
        const int64_t left = order_->length(cursor_.epoch) - cursor_.taken;
        n = static_cast<int>(std::min<int64_t>(batch_size, left));
        if (n > 0 && !(mode == EpochMode::drop && n < batch_size)) break;
        if (tries > 1) bad_argument("an epoch of this reader holds no full batch of {} samples", batch_size);
        cursor_ = {cursor_.epoch + 1, 0};
      }
    }
    Batch label = Batch::uniform(DType::int32, Shape{1}, {}, n);
    Batch bytes(DType::uint8, 1, {}, n);
    if (primary) it.origin.resize(n);
    for (int i = 0; i < n; ++i) {
      OrderedSample s;
      uint64_t epoch = cursor_.epoch;
      if (mode == EpochMode::stream) {
        const auto before = cursor_;
        s = order_->next(cursor_, batch_size);
        epoch = cursor_.taken == 1 ? cursor_.epoch : before.epoch;
      } else {
        s = order_->at(cursor_.epoch, cursor_.taken++);
      }
      SampleOrigin o{epoch, static_cast<uint64_t>(s.position), s.index, list_.path(s.index)};
      label.view(i).as<int32_t>()[0] = list_.label(s.index);
      bytes.sample(i).source = o.path;
      if (primary) it.origin[i] = std::move(o);
    }
    it.values[{node, 0}] = std::move(bytes);
    it.values[{node, 1}] = std::move(label);
    return n;
  }

  bool replace(Iteration& it, int node, int i, uint32_t attempt) override {
    SampleOrigin& o = it.origin[i];
    const int64_t position = replacement_position(settings_.seed, o.epoch, static_cast<int64_t>(o.position) % settings_.size,
                                                  attempt, settings_.size);
    const int64_t index = order_->index_at(o.epoch, position);
    o.path = list_.path(index);
    o.index = index;
    it.values[{node, 0}].sample(i).source = o.path;
    it.values[{node, 1}].view(i).as<int32_t>()[0] = list_.label(index);
    return true;
  }

  std::string data_set() const override {
    if (!args_.file_root.empty()) return args_.file_root;
    const auto folder = [](std::string path) {
      const size_t slash = path.rfind('/');
      return slash == std::string::npos ? std::string(".") : path.substr(0, slash + 1);
    };
    if (!args_.file_list.empty()) return folder(args_.file_list);
    // What all names begin with.
    std::string common = args_.files.front();
    for (const auto& f : args_.files)
      common.resize(static_cast<size_t>(std::mismatch(common.begin(), common.end(), f.begin(), f.end()).first -
                                        common.begin()));
    return folder(common);
  }
  std::optional<ReaderMeta> meta() const override {
    ReaderMeta m;
    m.epoch_size = order_->epoch_size();
    m.epoch_size_padded = order_->epoch_size_padded();
    m.shard_size = order_->shard_size(settings_.shard_id);
    m.number_of_shards = settings_.num_shards, m.shard_id = settings_.shard_id;
    m.pad_last_batch = args_.pad_last_batch, m.stick_to_shard = args_.stick_to_shard;
    return m;
  }
  int64_t batches_per_epoch(int batch_size, EpochMode mode) const override {
    const int64_t n = order_->length(order_->first_epoch() + 1);
    return mode == EpochMode::drop ? n / batch_size : (n + batch_size - 1) / batch_size;
  }
  std::string state() const override { return order_->state_at(cursor_.epoch, cursor_.taken).to_json(); }
  void restore(const std::string& text) override { begin(SampleOrder(settings_, ReaderState::from_json(text))); }

 private:
  void begin(SampleOrder order) {
    order_.emplace(std::move(order));
    settings_ = order_->settings();
    cursor_ = order_->begin();
  }
  ReadersFile args_;
  FileList list_;
  OrderSettings settings_;
  std::optional<SampleOrder> order_;
  SampleOrder::Cursor cursor_;
};

const bool registered = (register_source("readers.file", [](const Graph& g, const Node& n) -> std::unique_ptr<Source> {
  const auto args = g.arguments(n, [](ValueRef) -> const Batch* { return nullptr; });
  const auto op = bind_op(get_op(n.op), args);
  return std::make_unique<FileSource>(g, *static_cast<const ReadersFile*>(op->members()));
}), true);

}  // namespace
}  // namespace penstock
