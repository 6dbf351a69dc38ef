// SPDX-License-Identifier: Apache-2.0
// readers.mix: samples of several readers, by weight.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/widening.h"
#include "batch/sample_lists.h"
#include "data/hash.h"
#include "data/mix_order.h"
#include "data/remote.h"
#include "readers/reader_source.h"

namespace penstock {

namespace {

struct ReadersMix : ReaderOptions {
  std::vector<double> weights;
  std::string stop = "first";
  int64_t size = 0, num_outputs = 1;
  bool source_ids = false;
  int count_outputs() const override { return static_cast<int>(num_outputs) + source_ids; }
  void infer(std::span<const ValueType>, std::span<ValueType>) const override {
  }  // the graph derives it from the readers

  static Schema<ReadersMix> schema() {
    using Op = ReadersMix;
    return Schema<Op>(
               "readers.mix",
               "Mixes readers by weight: the order of the epoch decides which reader gives each sample.\n\nInputs: "
               "the outputs of each reader, num_outputs of each in turn; value k must have one type in all of them, "
               "or be signed integers, which become the widest of their types (labels of int32 and int64 become "
               "int64). Outputs: num_outputs values, and with source_ids=True the number of their source (int32, "
               "shape (1,)). An epoch has each source's exact share, spread evenly in random order. A source whose "
               "samples are all read starts again with the order of its next epoch, and continues there in the mix's "
               "next epoch: no sample is read twice before all samples of its source are read once. Shards and "
               "padding belong to the mix; each source has its own random_shuffle.\n\nExample:\n"
               "@pipeline_def(batch_size=32)\ndef photos():\n    sources = [fn.readers.file(file_root=folder) for "
               "folder in (\"day\", \"night\")]\n    jpegs, labels = fn.readers.mix(sources, weights=[0.75, 0.25])\n   "
               " "
               "return fn.decoders.image(jpegs), labels")
        .inputs(1, 1 << 15)
        .loads_samples()
        .arg("weights", &Op::weights,
             "How often each source is read, in any unit; default: in proportion to its samples, so that an epoch has "
             "each sample of each source once.")
        .arg("stop", &Op::stop,
             "With weights: an epoch ends with the \"first\" source whose samples are all read, or when the samples "
             "of \"all\" sources are read.")
        .arg("size", &Op::size, "Samples in an epoch, instead of stop.", at_least(0))
        .arg("num_outputs", &Op::num_outputs, "Number of values of each reader.", at_least(1))
        .arg("source_ids", &Op::source_ids, "Add an output: the number of the sample's source, int32 of shape (1,).")
        .arg("num_shards", &Op::num_shards, "Number of parts that the mix is divided into.", at_least(1))
        .arg("shard_id", &Op::shard_id, "The part that this pipeline reads.", at_least(0))
        .arg("deal", &Op::deal, kDeal)
        .arg("pad_last_batch", &Op::pad_last_batch, "Fill the last batch of an epoch by repeating its last sample.")
        .arg("seed", &Op::seed, kOrderSeed);
  }
};
}  // namespace

// Converts signed integers to a wider type; readers give dense values.
static void widen(const void* from, DType narrow, void* to, DType wide, size_t count) {
  dispatch(narrow, [&](auto a) {
    dispatch(wide, [&](auto b) {
      using From = typename decltype(a)::type;
      using To = typename decltype(b)::type;
      if constexpr (widens_to(dtype_of<From>, dtype_of<To>))
        std::copy_n(static_cast<const From*>(from), count, static_cast<To*>(to));
    });
  });
}

// A batch holds the values of each reader beside the mix's, with the same number of samples; one reader fills each
// sample. So whoever removes samples removes them everywhere.
class MixSource final : public ReaderSource {
 public:
  MixSource(SourceArguments& given, const ReadersMix& a);
  void load(SourceBatch& batch, int i) const override;
  void loaded(SourceBatch& batch) const override;
  int loaded_together() const override;
  void set_threads(int n) override;
  void set_memory(std::shared_ptr<MemoryResource> memory) override;
  Source* mixed(int node) override;
  std::string data_set() const override { return parts_.front().source->data_set(); }

 protected:
  std::vector<Batch> make_outputs(int n) const override;
  std::string source_of(int64_t index) const override { return reader(index).source_of(local(index)); }
  void ranges_of(int64_t index, std::vector<ByteRange>& out) const override {
    reader(index).ranges_of(local(index), out);
  }
  void put_known(SourceBatch& batch, int i, int64_t index) const override;
  int64_t index_of(uint64_t epoch, const OrderedSample& s) const override;
  int64_t index_instead(uint64_t epoch, int64_t position, int64_t index, uint32_t attempt) const override;
  void begin(SampleOrder order) override;

 private:
  struct Part {
    int node = 0;
    std::vector<int> outputs;
    std::vector<DType> types;  // of these outputs; none: known after reading
    std::string called;        // "'name' (line)"
    int64_t first = 0;         // index of its first sample when the samples of all sources are numbered consecutively
    bool lazy = false, loads = false, seeded = false;
    std::unique_ptr<Source> owner;
    ReaderSource* source = nullptr;
  };
  size_t part_of(int64_t index) const {
    return static_cast<size_t>(
        std::upper_bound(parts_.begin(), parts_.end(), index, [](int64_t i, const Part& p) { return i < p.first; }) -
        parts_.begin() - 1);
  }
  const ReaderSource& reader(int64_t index) const { return *parts_[part_of(index)].source; }
  int64_t local(int64_t index) const { return index - parts_[part_of(index)].first; }
  void hand_on(SourceBatch& batch, int i, size_t j) const;

  std::vector<Part> parts_;
  std::vector<Batch> prototypes_;  // of the outputs; with memory if all readers have one shape
  bool source_ids_;
  std::optional<MixOrder> mix_;
};

MixSource::MixSource(SourceArguments& given, const ReadersMix& a) : ReaderSource(a), source_ids_(a.source_ids) {
  if (a.stop != "first" && a.stop != "all") bad_argument("stop must be \"first\" or \"all\", got \"{}\"", a.stop);
  std::vector<int64_t> sizes;
  uint64_t hash = 0;
  for (MixedSource& reader : given.mixed) {
    Part p;
    p.node = reader.node, p.outputs = reader.outputs, p.called = reader.name;
    p.lazy = reader.op->lazy_files, p.loads = reader.op->loads_samples;
    p.owner = std::move(reader.source);
    p.source = dynamic_cast<ReaderSource*>(p.owner.get());
    if (!p.source) bad_argument("{} is not a reader: {} cannot be mixed", p.called, reader.op->name);
    const ReaderArguments& own = p.source->arguments_;
    if (own.num_shards != 1 || p.source->dealing_.workers != 1 || own.pad_last_batch || own.stick_to_shard)
      bad_argument(
          "{} is mixed: give num_shards, shard_id, deal and pad_last_batch to the mix, and omit stick_to_shard",
          p.called);
    if (p.source->by_length())
      bad_argument("{} forms batches by length, which a mix would take apart: omit bucket_by and lengths", p.called);
    p.seeded = !p.source->settings_.adopt_seed;
    p.first = parts_.empty() ? 0 : parts_.back().first + sizes.back();
    const OrderFingerprint f = p.source->order_->fingerprint();
    sizes.push_back(f.size);
    for (const uint64_t x :
         {static_cast<uint64_t>(f.size), f.list_hash, static_cast<uint64_t>(f.shuffle), p.seeded ? f.seed : 0})
      hash = mix64(hash ^ x);
    parts_.push_back(std::move(p));
  }
  std::vector<int64_t> shares = mix_shares(sizes, a.weights, a.stop == "all" ? MixStop::all : MixStop::first, a.size);
  for (size_t j = 0; j < shares.size(); ++j) {
    if (shares[j] == 0)
      bad_argument("the weight of {} is so small that an epoch has none of its samples", parts_[j].called);
    hash = mix64(hash ^ static_cast<uint64_t>(shares[j]));
  }
  mix_.emplace(std::move(sizes), std::move(shares));
  std::vector<std::vector<Batch>> made;
  for (Part& p : parts_) {
    made.push_back(p.source->make_outputs(1));
    for (const int output : p.outputs) p.types.push_back(made.back()[static_cast<size_t>(output)].dtype());
  }
  for (size_t k = 0; k < parts_.front().outputs.size(); ++k) {
    const ValueType& type = given.types[k];
    const auto of = [&](size_t j) -> const Batch& { return made[j][parts_[j].outputs[k]]; };
    const DType dtype = type.dtype == DType::none ? of(0).dtype() : type.dtype;
    const auto fits = [&](const Batch& b) {
      return b.block && (b.dtype() == dtype || widens_to(b.dtype(), dtype)) && b.shape(0) == of(0).shape(0);
    };
    bool dense = true;
    for (size_t j = 0; j < parts_.size(); ++j) dense = dense && fits(of(j));
    if (dense) prototypes_.push_back(Batch::uniform(dtype, of(0).shape(0), type.layout, 1));
    else
      prototypes_.emplace_back(type.dtype, std::max(0, type.ndim),
                               type.layout.size() == type.ndim ? type.layout : Layout{}, 1);
  }
  if (source_ids_) prototypes_.push_back(Batch::uniform(DType::int32, Shape{1}, {}, 1));
  open(given.seed, mix_->size(), hash);
}

// The positions of the mix are dealt to the shards, whatever the orders of the sources. Each reader without its own
// seed gets a different one from the mix.
void MixSource::begin(SampleOrder order) {
  OrderSettings settings = order.settings();
  if (settings.shuffle != Shuffle::dealt) {
    settings.shuffle = Shuffle::dealt;
    settings_ = settings;
    order = SampleOrder(settings);
  }
  uint64_t number = 0;
  for (Part& p : parts_) {
    OrderSettings own = p.source->settings_;
    if (!p.seeded) own.seed = mix64(mix64(settings.seed) + number);
    ++number;
    p.source->begin(SampleOrder(own));
  }
  ReaderSource::begin(std::move(order));
}

int64_t MixSource::index_of(uint64_t epoch, const OrderedSample& s) const {
  const MixedSample m = mix_->at(settings_.seed, epoch, s.index);
  const Part& p = parts_[static_cast<size_t>(m.source)];
  return p.first + p.source->index_of(m.pass, {p.source->order_->index_at(m.pass, m.place), m.place});
}

// A sample of the same source, so that the shares are kept.
int64_t MixSource::index_instead(uint64_t epoch, int64_t position, int64_t index, uint32_t attempt) const {
  const Part& p = parts_[part_of(index)];
  return p.first + p.source->index_instead(epoch, position, index - p.first, attempt);
}

std::vector<Batch> MixSource::make_outputs(int n) const {
  std::vector<Batch> out;
  for (const Batch& b : prototypes_)
    out.push_back(b.block ? Batch::uniform(b.dtype(), b.shape(0), b.layout(), n)
                          : Batch(b.dtype(), b.ndim(), b.layout(), n));
  return out;
}

void MixSource::put_known(SourceBatch& batch, int i, int64_t index) const {
  const size_t j = part_of(index);
  const Part& p = parts_[j];
  const int n = batch.outputs[0].size();
  batch.parts.resize(parts_.size());
  SourceBatch& own = batch.parts[j];
  if (own.outputs.empty() || own.outputs[0].size() != n) own.outputs = p.source->make_outputs(n);
  own.indices.resize(static_cast<size_t>(n), -1);
  own.stream = batch.stream;
  p.source->put(own, i, index - p.first, batch.outputs[0].sample(i).source);
  if (source_ids_) batch.outputs[p.outputs.size()].view(i).as<int32_t>()[0] = static_cast<int32_t>(j);
  hand_on(batch, i, j);
}

// Moves the reader's values for sample i to the mix.
void MixSource::hand_on(SourceBatch& batch, int i, size_t j) const {
  const Part& p = parts_[j];
  for (size_t k = 0; k < p.outputs.size(); ++k) {
    Batch& to = batch.outputs[k];
    const Batch& from = batch.parts[j].outputs[p.outputs[k]];
    const Batch::Sample& s = from.sample(i);
    Batch::Sample& out = to.sample(i);
    const bool wider = widens_to(p.types[k], prototypes_[k].dtype());
    if (prototypes_[k].block) {
      const auto count = static_cast<size_t>(to.shape(i).volume());
      if (wider) widen(from.view(i).data, p.types[k], to.view(i).data, to.dtype(), count);
      else std::memcpy(to.view(i).data, from.view(i).data, size_of(to.dtype()) * count);
      continue;
    }
    out.shape = s.shape;
    if (wider && s.data) {
      const auto count = static_cast<size_t>(s.shape.volume());
      out.owner = allocate_shared(memory_, std::max<size_t>(1, checked_bytes(s.shape.volume(), size_of(to.dtype()))));
      out.strides = {}, out.data = out.owner.get();
      widen(s.data, p.types[k], out.data, to.dtype(), count);
      continue;
    }
    out.strides = s.strides, out.data = s.data;
    out.owner = s.owner ? s.owner : from.block;
  }
}

void MixSource::load(SourceBatch& batch, int i) const {
  const size_t j = part_of(batch.indices[i]);
  const Part& p = parts_[j];
  SourceBatch& own = batch.parts[j];
  try {
    if (p.loads) p.source->load(own, i);
    if (p.lazy) {
      Batch::Sample& s = own.outputs[0].sample(i);
      std::shared_ptr<void> memory;
      const auto room = [&](int64_t bytes) {
        memory = allocate_shared(memory_, static_cast<size_t>(bytes));
        return static_cast<uint8_t*>(memory.get());
      };
      const int64_t bytes = read_file_to(s.source, room, default_file_limit, nullptr);
      s.shape = Shape{bytes}, s.data = memory.get(), s.owner = std::move(memory);
    }
  } catch (Error& e) {
    if (e.source.empty()) e.source = own.outputs[0].sample(i).source;
    throw;
  }
  hand_on(batch, i, j);
}

static SourceBatch gathered(const SourceBatch& from, std::span<const int> own) {
  SourceBatch some;
  for (const int i : own) some.indices.push_back(from.indices[static_cast<size_t>(i)]);
  for (const Batch& output : from.outputs) some.outputs.push_back(gathered(output, own));
  for (const SourceBatch& part : from.parts)
    some.parts.push_back(part.indices.empty() ? SourceBatch() : gathered(part, own));
  return some;
}

// Readers whose files have their own types settle them for their own samples; then the readers must agree.
void MixSource::loaded(SourceBatch& batch) const {
  std::vector<DType> types(prototypes_.size(), DType::none);
  std::vector<const Part*> said(prototypes_.size(), nullptr);
  for (size_t j = 0; j < batch.parts.size(); ++j) {
    const Part& p = parts_[j];
    std::vector<int> own;
    for (size_t i = 0; i < batch.indices.size(); ++i)
      if (part_of(batch.indices[i]) == j) own.push_back(static_cast<int>(i));
    if (own.empty()) continue;
    SourceBatch alone = gathered(std::exchange(batch.parts[j], {}), own);
    p.source->loaded(alone);
    for (size_t k = 0; k < p.outputs.size(); ++k) {
      const DType mine = alone.outputs[p.outputs[k]].dtype(), whole = prototypes_[k].dtype();
      const DType type = mine == p.types[k] && widens_to(mine, whole) ? whole : mine;
      if (whole != DType::none && type != whole)
        bad_data("value {} is {} of {}, but in the mix it is {}", k, name_of(type), p.called, name_of(whole));
      if (said[k] && types[k] != type)
        bad_data("value {} is {} of {} and {} of {} in one batch", k, name_of(types[k]), said[k]->called, name_of(type),
                 p.called);
      types[k] = type, said[k] = &p;
    }
  }
  for (size_t k = 0; k < parts_.front().outputs.size(); ++k)
    if (!prototypes_[k].block) set_dimensions(batch.outputs[k], types[k]);
}

int MixSource::loaded_together() const {
  int least = 8;
  for (const Part& p : parts_) least = std::min(least, p.source->loaded_together());
  return least;
}
void MixSource::set_threads(int n) {
  ReaderSource::set_threads(n);
  for (Part& p : parts_) p.source->set_threads(n);
}
void MixSource::set_memory(std::shared_ptr<MemoryResource> memory) {
  for (Part& p : parts_) p.source->set_memory(memory);
  ReaderSource::set_memory(std::move(memory));
}
Source* MixSource::mixed(int node) {
  for (Part& p : parts_)
    if (Source* inner = p.node == node ? p.source : p.source->mixed(node)) return inner;
  return nullptr;
}

PENSTOCK_SOURCE(ReadersMix, [](SourceArguments& a) -> std::unique_ptr<Source> {
  return std::make_unique<MixSource>(a, a.options<ReadersMix>());
});

}  // namespace penstock
