// SPDX-License-Identifier: Apache-2.0
// readers.mds: samples of MosaicML's streaming shards.
#include <algorithm>

#include "data/hash.h"
#include "data/kept_groups.h"
#include "data/mds.h"
#include "data/raw_blocks.h"
#include "data/read_tally.h"
#include "data/remote_client.h"
#include "readers/container_source.h"
#include "readers/later_groups.h"

namespace penstock {
namespace {

struct ReadersMds : ReaderOptions {
  std::string path;
  std::vector<std::string> columns;
  bool check_hashes = false;
  int64_t shuffle_groups = 4;
  int count_outputs() const override { return static_cast<int>(columns.size()); }
  void infer(std::span<const ValueType>, std::span<ValueType> out) const override {
    if (columns.empty()) bad_argument("name at least one column in columns");
    const MdsIndex index = read_mds_index(path);
    for (size_t k = 0; k < out.size() && k < columns.size(); ++k) {
      const MdsColumn& column = index.columns[find_mds_column(index, columns[k])];
      if (column.bytes) out[k] = {DType::uint8, 1, {}};
      else if (column.shape && column.dtype != DType::none) out[k] = {column.dtype, column.shape->size(), {}};
    }
  }

  static Schema<ReadersMds> schema() {
    using Op = ReadersMds;
    return Schema<Op>(
               "readers.mds",
               "Reads columns of MDS shards, the format of MosaicML's streaming.\n\nOne output for each column: bytes, "
               "str, json, jpeg and png are uint8, 1-D; a number is a scalar of its type; an ndarray has its shape, "
               "all of "
               "a batch with one type and number of dimensions. Columns of pickled objects are refused. Shards that "
               "are "
               "compressed by zstd or gzip are decompressed when they are needed, and with random_shuffle their order "
               "is that of shuffle_groups.\n\nExample:\n@pipeline_def(batch_size=32)\ndef photos():\n    jpegs, labels "
               "= "
               "fn.readers.mds(path=\"train\", columns=[\"image\", \"label\"], random_shuffle=True)\n    "
               "return fn.decoders.image(jpegs), labels")
        .inputs(0)
        .loads_samples()
        .required("path", &Op::path, "The folder or URL that holds index.json and the shards.")
        .required("columns", &Op::columns, "Names of the columns, an output for each.")
        .arg("check_hashes", &Op::check_hashes,
             "Compare each shard with its hashes (sha1, xxh64) when the pipeline is made; those of compressed shards "
             "are "
             "compared whenever they are read.")
        .arg("shuffle_groups", &Op::shuffle_groups,
             "Of compressed shards: a shuffle reads the shards in random order, and the samples of so many of them in "
             "random order. About twice as many are in memory.",
             at_least(1))
        .with(reader_arguments<Op>);
  }
};

struct Unpacked {
  std::shared_ptr<void> owner;
  Bytes bytes;
  ContainerIndex places;
  std::unique_ptr<const OpenFile> file;  // where samples are read from it one by one, instead of the members above
  RawBlocks blocks;
};

// Bytes of a sample, on average. One call for a smaller one takes longer than what it saves: that large memory is
// written once more.
constexpr int64_t kLeastToReadAlone = 16 << 10;

bool is_packed(const MdsIndex& index) {
  return std::any_of(index.shards.begin(), index.shards.end(),
                     [](const MdsShard& s) { return !s.compression.empty(); });
}

// Compressed shards are the groups of a shuffle, which is then not one of single samples.
struct MdsOrder final : ReaderOptions {
  MdsOrder(const ReadersMds& options, bool packed) : ReaderOptions(options) {
    if (!packed) return;
    if (shuffle_after_epoch)
      bad_argument("shuffle_after_epoch does not go with compressed shards: use random_shuffle=True");
    random_shuffle = shuffle = false;
  }
  void infer(std::span<const ValueType>, std::span<ValueType>) const override {}
};

// Memory of a pool: shards are large, and fresh memory would be filled twice with zeros before it is used.
Unpacked whole_file(const MdsShard& shard, int64_t bytes) {
  Unpacked file;
  read_file_to(shard.path, [&](int64_t n) {
    if (n != bytes) fail_on(shard.path, ErrorKind::data, "the shard has {} bytes, its index says {}", n, bytes);
    file.owner = allocate_shared(default_memory(), static_cast<size_t>(n));
    return static_cast<uint8_t*>(file.owner.get());
  });
  file.bytes = {static_cast<const uint8_t*>(file.owner.get()), static_cast<size_t>(bytes)};
  return file;
}

template <class F> auto on_shard(const MdsShard& shard, F&& f) {
  try {
    return f();
  } catch (Error& e) {
    if (e.source.empty()) e.source = shard.path;
    throw;
  }
}

ContainerIndex places_of(const MdsShard& shard) {
  return on_shard(shard, [&] {
    const OpenFile file(shard.path);
    if (file.stamp().bytes != shard.bytes)
      bad_data("the shard has {} bytes, its index says {}", file.stamp().bytes, shard.bytes);
    std::vector<uint8_t> start(static_cast<size_t>(std::min(shard.bytes, 8 + 4 * shard.samples)));
    file.read(0, static_cast<int64_t>(start.size()), start.data());
    return mds_places(start, shard);
  });
}

class MdsSource final : public ReaderSource {
 public:
  MdsSource(uint64_t seed, const ReadersMds& a) : MdsSource(seed, a, read_mds_index(a.path)) {}

  void load(SourceBatch& batch, int i) const override {
    const int64_t index = batch.indices[i];
    try {
      const LoadedRecord record = record_of(index, [&] { return unpack_one_after(batch, i); });
      std::vector<Bytes> values;
      split_mds_sample(record.bytes, index_.columns, values);
      for (size_t k = 0; k < columns_.size(); ++k) take(batch.outputs[k], i, columns_[k], values[columns_[k]], record);
    } catch (Error& e) {
      if (e.source.empty()) e.source = source_of(index);
      throw;
    }
  }
  void loaded(SourceBatch& batch) const override {
    for (size_t k = 0; k < columns_.size(); ++k)
      if (const MdsColumn& c = index_.columns[columns_[k]]; !c.bytes && !c.shape) set_dimensions(batch.outputs[k]);
  }
  std::string data_set() const override { return path_; }

 protected:
  std::vector<Batch> make_outputs(int n) const override {
    std::vector<Batch> out;
    for (size_t k = 0; k < columns_.size(); ++k) {
      const MdsColumn& c = index_.columns[columns_[k]];
      out.push_back(c.shape ? Batch::uniform(types_[k], *c.shape, {}, n) : Batch(types_[k], 1, {}, n));
    }
    return out;
  }
  std::string source_of(int64_t index) const override {
    if (container_) return container_->source(index);
    const int shard = shard_of(index);
    return fmt::format("{}, sample {}", index_.shards[shard].path, index - first_[shard]);
  }
  void ranges_of(int64_t index, std::vector<ByteRange>& out) const override {
    if (container_) out.push_back(container_->range(index));
  }
  int64_t index_of(uint64_t epoch, const OrderedSample& s) const override { return sample_at(epoch, s.index); }
  int64_t index_instead(uint64_t epoch, int64_t position, int64_t index, uint32_t attempt) const override {
    return sample_at(epoch, ReaderSource::index_instead(epoch, position, index, attempt));
  }

 private:
  MdsSource(uint64_t seed, const ReadersMds& a, MdsIndex index)
      : ReaderSource(MdsOrder(a, is_packed(index))),
        path_(a.path),
        index_(std::move(index)),
        later_(a, static_cast<size_t>(2 * a.shuffle_groups)),
        unpacked_(static_cast<size_t>(2 * a.shuffle_groups + 2)) {
    for (const auto& name : a.columns) columns_.push_back(find_mds_column(index_, name));
    uint64_t hash = 0;
    for (const MdsShard& shard : index_.shards) {
      first_.push_back(first_.back() + shard.samples);
      hash = mix64(hash ^ mix64(static_cast<uint64_t>(shard.samples)) ^ static_cast<uint64_t>(shard.bytes));
      if (a.check_hashes && shard.compression.empty())
        on_shard(shard, [&] { return check_mds_hashes(shard, whole_file(shard, shard.bytes).bytes); });
    }
    if (first_.back() == 0) fail_on(path_, ErrorKind::data, "the data set has no samples");
    if (!is_packed(index_)) open_container();
    else if (a.random_shuffle || a.shuffle) order_.emplace(first_, a.shuffle_groups);
    set_types();
    ReaderSource::open(seed, first_.back(), hash ^ (order_ ? static_cast<uint64_t>(a.shuffle_groups) : 0));
  }

  void open_container() {
    std::vector<std::string> paths;
    std::vector<ContainerIndex> places;
    for (const MdsShard& shard : index_.shards) paths.push_back(shard.path), places.push_back(places_of(shard));
    container_.emplace("mds", std::move(paths), std::move(places));
  }

  // An array that says its own type: the first sample's is that of all.
  void set_types() {
    for (const int column : columns_) {
      types_.push_back(index_.columns[column].dtype);
      if (types_.back() != DType::none) continue;
      std::vector<Bytes> values;
      const LoadedRecord record = record_of(0, [] { return false; });
      split_mds_sample(record.bytes, index_.columns, values);
      types_.back() = mds_array(index_.columns[column], values[column]).dtype;
    }
  }

  int shard_of(int64_t index) const {
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), index) - first_.begin()) - 1;
  }
  int64_t sample_at(uint64_t epoch, int64_t place) const {
    return order_ ? order_->at(order_seed(), epoch, place) : place;
  }

  // meanwhile: see KeptGroups.
  template <class F> LoadedRecord record_of(int64_t index, F&& meanwhile) const {
    if (container_) {
      const auto bytes = static_cast<size_t>(container_->length(index));
      if (container_->length(index) > default_file_limit) bad_data("the sample has {} bytes", bytes);
      LoadedRecord record{allocate_shared(memory_, std::max<size_t>(1, bytes)), {}};
      container_->read(index, static_cast<uint8_t*>(record.owner.get()));
      record.bytes = {static_cast<const uint8_t*>(record.owner.get()), bytes};
      return record;
    }
    const int number = shard_of(index);
    const auto shard = unpacked_.get(number, [&] { return unpack(index_.shards[number]); }, meanwhile);
    const int64_t k = index - first_[number];
    if (shard->file) {
      const auto bytes = shard->places.lengths[k];
      LoadedRecord record{allocate_shared(memory_, std::max<size_t>(1, static_cast<size_t>(bytes))), {}};
      auto* out = static_cast<uint8_t*>(record.owner.get());
      shard->blocks.read(*shard->file, shard->places.offsets[k], bytes, out);
      record.bytes = {out, static_cast<size_t>(bytes)};
      return record;
    }
    return {std::const_pointer_cast<Unpacked>(shard),
            shard->bytes.subspan(static_cast<size_t>(shard->places.offsets[k]),
                                 static_cast<size_t>(shard->places.lengths[k]))};
  }

  // False: others unpack, or have unpacked, all that is needed soon.
  bool unpack_one_after(const SourceBatch& batch, int i) const {
    const auto shards = later_.after(batch, i, static_cast<int>(index_.shards.size()), order_ ? &*order_ : nullptr,
                                     [&](int64_t k) { return shard_of(k); });
    return std::any_of(shards.begin(), shards.end(), [&](int number) {
      return unpacked_.load_early(number, [&] { return unpack(index_.shards[number]); });
    });
  }

  static std::shared_ptr<const Unpacked> unpack(const MdsShard& shard) {
    return on_shard(shard, [&] {
      auto made = std::make_shared<Unpacked>();
      if (find_blocks(shard, *made)) return std::shared_ptr<const Unpacked>(std::move(made));
      if (shard.compression.empty()) {
        *made = whole_file(shard, shard.bytes);
      } else {
        const auto room = [&](size_t bytes) {
          made->owner = allocate_shared(default_memory(), bytes);
          made->bytes = {static_cast<const uint8_t*>(made->owner.get()), bytes - 1};
          return static_cast<uint8_t*>(made->owner.get());
        };
        if (!unpack_blocks(shard, room)) {
          const Unpacked file = whole_file(shard, shard.packed_bytes);
          check_mds_hashes(shard, file.bytes);
          unpack_mds(shard, file.bytes, room);
        }
      }
      made->places = mds_places(made->bytes, shard);
      return std::shared_ptr<const Unpacked>(std::move(made));
    });
  }

  // False: the shard is read whole.
  static bool find_blocks(const MdsShard& shard, Unpacked& made) {
    if (shard.compression != "zstd" || !shard.hashes.empty() || is_url(shard.path)) return false;
    if (shard.bytes / std::max<int64_t>(1, shard.samples) < kLeastToReadAlone) return false;
    auto file = std::make_unique<const OpenFile>(shard.path);
    if (file->stamp().bytes != shard.packed_bytes) return false;
    // Not from a medium: that is read fastest from begin to end.
    const auto peek = [&](int64_t at, int64_t n, uint8_t* out) { return file->read_if_cached(at, n, out); };
    auto blocks = RawBlocks::find(peek, shard.packed_bytes, shard.bytes);
    if (!blocks) return false;
    std::vector<uint8_t> start(static_cast<size_t>(std::min(shard.bytes, 8 + 4 * shard.samples)));
    blocks->read(*file, 0, static_cast<int64_t>(start.size()), start.data());
    made.places = mds_places(start, shard);
    made.file = std::move(file), made.blocks = std::move(*blocks);
    return true;
  }

  // False: the whole file is needed, for its hashes or because it comes in one piece.
  static bool unpack_blocks(const MdsShard& shard, const std::function<uint8_t*(size_t)>& room) {
    if (!shard.hashes.empty() || is_url(shard.path)) return false;
    CountedRead counted(false);
    const OpenFile file(shard.path);
    if (file.stamp().bytes != shard.packed_bytes)
      bad_data("the shard has {} bytes, its index says {}", file.stamp().bytes, shard.packed_bytes);
    counted.of(shard.packed_bytes);
    return unpack_mds(shard, file, room);
  }

  void take(Batch& output, int i, int number, Bytes value, const LoadedRecord& record) const {
    const MdsColumn& column = index_.columns[number];
    if (column.bytes) return give(output, i, {static_cast<int64_t>(value.size())}, value.data(), record.owner);
    try {
      const MdsArray array = mds_array(column, value);
      if (array.dtype != output.dtype())
        bad_data("the array has the type {}, the first sample's has {}", name_of(array.dtype), name_of(output.dtype()));
      if (column.shape) {
        std::copy(array.data.begin(), array.data.end(), static_cast<uint8_t*>(output.view(i).data));
        return;
      }
      auto own = allocate_shared(memory_, std::max<size_t>(1, array.data.size()));  // aligned for its type
      std::copy(array.data.begin(), array.data.end(), static_cast<uint8_t*>(own.get()));
      give(output, i, array.shape, own.get(), own);
    } catch (const Error& e) {
      throw Error(e.kind(), fmt::format("column '{}': {}", column.name, e.what()));
    }
  }

  std::string path_;
  MdsIndex index_;
  std::vector<int> columns_;
  std::vector<DType> types_;
  std::vector<int64_t> first_{0};
  std::optional<Container> container_;  // where no shard is compressed
  std::optional<GroupOrder> order_;
  LaterGroups later_;
  mutable KeptGroups<Unpacked> unpacked_;
};

PENSTOCK_READER(ReadersMds, MdsSource);

}  // namespace
}  // namespace penstock
