// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage_pack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "cuda/stages/fold_arguments.h"
#include "cuda/stages/stage_table.h"
#include "pixel/affine.h"

namespace penstock {

TableWriter::TableWriter(std::shared_ptr<MemoryResource> memory, StreamHandle stream, size_t capacity,
                         std::shared_ptr<void> block)
    : memory_(std::move(memory)),
      stream_(stream),
      capacity_(capacity),
      block_(block ? std::move(block) : allocate_shared(memory_, capacity, stream)),
      data_(static_cast<std::byte*>(block_.get())) {}

void TableWriter::grow() {
  const size_t held = capacity_;
  capacity_ = std::max(2 * capacity_, size_);
  if (!memory_) memory_ = default_memory();
  auto larger = allocate_shared(memory_, capacity_, stream_);
  std::memcpy(larger.get(), data_, held);
  block_ = std::move(larger);
  data_ = static_cast<std::byte*>(block_.get());
}

namespace {

constexpr int64_t kMostWork = int64_t{1} << 31;

// Large blocks hide what each spends on finding its entry; small ones keep all multiprocessors busy until the end.
// Measured on an H200: benchmarks/results/gpu_blocks.txt.
int64_t block_of(int64_t work, int64_t granule, int multiprocessors) {
  const int64_t blocks = int64_t{128} * multiprocessors;
  return std::clamp<int64_t>((work / blocks + granule - 1) / granule, 1, 16) * granule;
}

int64_t tiles_of(const SampleGeometry& g, const Tile& t) {
  const int64_t w = g.dims.back().extent, h = g.dims[g.dims.size() - 2].extent;
  return w && h ? g.positions() / (w * h) * ((w + t.width - 1) / t.width) * ((h + t.height - 1) / t.height) : 0;
}

// The taps of a dimension that has none of its own, where others have some.
void plain_taps(const LoopDim& d, TapTable& t) {
  t.taps = 1, t.copies = true;
  t.first.resize(std::max<int64_t>(0, d.hi - d.lo));
  for (size_t i = 0; i < t.first.size(); ++i) t.first[i] = static_cast<int32_t>(d.lo + static_cast<int64_t>(i));
  t.weight.assign(t.first.size(), 1.0f);
}

void put_dim(LoopRow& to, const LoopDim& d, int inputs) {
  to.extent = d.extent, to.lo = d.lo, to.hi = d.hi, to.out_stride = d.out_stride;
  for (int k = 0; k < inputs; ++k) to.in_stride[k] = d.in_stride[k];
}

// A window of taps in a row is an offset.
void put_window_at(TileAxisRow& to, int64_t offset) { to.taps.window = reinterpret_cast<const float*>(offset); }

// A geometry's words hold no offsets but that of a convolution's window.
bool is_simple(const StageVariant& v) { return !v.filtered && !v.picks_planes && v.kind != StageVariant::Kind::warped; }
// Whether samples whose elements lie one behind the other are one entry.
bool joins(const StageCode& code, const StageVariant& v, const PackCall& call) {
  return v.kind == StageVariant::Kind::elements && call.constant && !code.faults && !v.wide;
}

// Writes one table.
class Packing {
 public:
  Packing(const StageCode& code, const StageVariant& v, const PackCall& call, TableWriter& table)
      : code_(code), v_(v), call_(call), table_(table), at_(row_layout(code, v)), row_bytes_(at_.bytes()) {
    const auto& p = code.program;
    out_type_ = type_of(p, p.outputs[0]).dtype;
    for (int k = 0; k < at_.inputs; ++k) in_bytes_[k] = static_cast<int64_t>(size_of(input_dtype(code, k)));
    for (const auto& i : code.code) {
      if (i.kind != Instruction::tile) continue;
      const int copies = code.traits[i.node].per_channel ? std::max(1, v.planes) : 1;
      const BoundOp& op = *p.nodes[i.node].op;
      coefs_.push_back({&op, p.nodes[i.node].draws, i.lane, copies, coef_bytes_, {}, {}});
      if (op.per_sample())
        if (const FoldedArguments f = op.folded(); has_arguments_on_gpu(f)) coefs_.back().folded = f, folds_ = true;
      coefs_vary_ |= !call.constant && op.coefs_vary();
      const size_t bytes = op.coef_bytes(i.lane) * copies;
      coef_gaps_ |= bytes % 16 != 0;
      coef_bytes_ += (bytes + 15) / 16 * 16;
    }
    simple_ = is_simple(v);
  }

  PackedTable pack() {
    const bool tiled = v_.kind == StageVariant::Kind::tiled || v_.boxes;
    if (call_.run && !simple_) expand_run();
    find_rows();
    const int64_t n = rows();
    TableHeader header{};
    const int64_t head = table_.room(sizeof header), starts_at = v_.one_row ? 0 : table_.room((n + 1) * 4);
    rows_at_ = table_.room(static_cast<size_t>((v_.one_row ? 1 : n) * row_bytes_));
    PackedTable result;
    int64_t block = 1;
    if (!tiled) {
      int64_t total = 0;
      for (const Row& r : rows_) total += r.work * r.samples;
      const int64_t granule = work_granule(code_, v_);
      // There is nothing to find in a table of one dense row.
      const bool small = v_.kind == StageVariant::Kind::elements && n == 1 && total / granule < kMostWork;
      block = small ? granule : block_of(total, granule, call_.multiprocessors);
      result.shared_bytes = shared_bytes(code_, v_);
    }
    auto* starts = reinterpret_cast<int32_t*>(table_.at(starts_at));
    for (const Row& r : rows_) {
      const int64_t blocks = tiled ? r.work : (r.work + block - 1) / block;
      if (result.blocks + blocks * r.samples >= kMostWork) bad_argument("a batch of more than 2^31 blocks of work");
      if (v_.one_row) header.blocks = blocks, result.blocks = blocks * r.samples;
      else
        for (int k = 0; k < r.samples; ++k, result.blocks += blocks) *starts++ = static_cast<int32_t>(result.blocks);
      if (tiled) result.shared_bytes = std::max(result.shared_bytes, r.tile.bytes);
    }
    if (!v_.one_row) *starts = static_cast<int32_t>(result.blocks);
    if (coefs_vary_ && !folds_) make_coefficients();
    for (size_t e = 0; e < rows_.size(); ++e) put_entry(static_cast<int64_t>(e));
    header.entries = n, header.starts = starts_at, header.rows = rows_at_, header.block = block;
    if (v_.one_row) set_steps(header);
    std::memcpy(table_.at(head), &header, sizeof header);
    if (!v_.one_row && is_run() && rows_[0].samples == call_.run->samples) put_run();
    if (folds_) {
      result.fold_rows = static_cast<int64_t>(fold_rows_.size());
      result.fold_at = table_.room(sizeof(FoldHeader) + fold_rows_.size() * sizeof(FoldRow));
      const FoldHeader fold{result.fold_rows, result.fold_at};
      std::memcpy(table_.at(result.fold_at), &fold, sizeof fold);
      if (!fold_rows_.empty())
        std::memcpy(table_.at(result.fold_at) + sizeof fold, fold_rows_.data(), fold_rows_.size() * sizeof(FoldRow));
    }
    return result;
  }

 private:
  struct Coefficients {
    const BoundOp* op;
    DrawKey draws;
    Lane lane;
    int copies;
    size_t offset;
    FoldedArguments folded;  // bytes 0: the host makes them
    TableWriter::Block last_values;
  };
  // An entry of the table: one of the call's, or several whose elements lie one behind the other. Of a run: one for
  // each of its samples.
  struct Row {
    const StageEntry* entry;
    Tile tile;
    int64_t work;  // what its threads count: elements, positions or groups of them; tiled: blocks
    int samples = 1;
  };
  const StageCode& code_;
  const StageVariant& v_;
  const PackCall& call_;
  TableWriter& table_;
  const RowLayout at_;
  const int64_t row_bytes_;
  DType out_type_;
  int64_t in_bytes_[kMaxStageInputs] = {}, rows_at_ = 0;
  size_t coef_bytes_ = 0;
  std::vector<Coefficients> coefs_;
  std::vector<Row> rows_;
  std::vector<StageEntry> expanded_;  // of a run that is written entry by entry
  std::vector<FoldRow> fold_rows_;
  bool folds_ = false;
  bool coefs_vary_ = false;
  bool simple_ = false;
  TableWriter::Block last_coefs_, last_fill_, last_window_[2], last_outside_;
  const PackedWords* packed_ = nullptr;  // the last that were known
  const SampleGeometry* last_geometry_ = nullptr;
  int64_t positions_ = 0;     // of that
  int64_t own_windows_ = -1;  // where the entries' own are in the table
  TapTable taps_;
  std::vector<std::byte> fill_, values_;
  int64_t made_coefs_ = -1;  // where those of all rows are in the table
  bool coef_gaps_ = false;   // bytes between them that nobody writes
  int64_t fill_values_ = -1;

  // Valid until something is appended to the table.
  StageRow<std::byte> row(int64_t e) { return {at_, table_.at(rows_at_) + e * row_bytes_}; }

  int64_t rows() const { return rows_.size() == 1 ? rows_[0].samples : static_cast<int64_t>(rows_.size()); }
  bool is_run() const { return call_.run && expanded_.empty(); }
  std::span<const StageEntry> entries() const {
    if (!call_.run) return call_.entries;
    return is_run() ? std::span(&call_.run->like, 1) : std::span<const StageEntry>(expanded_);
  }
  const char* input_of(int k, int sample) const {
    const char* const at = static_cast<const char*>(call_.inputs[static_cast<size_t>(k)].sample(sample).data);
    const StageEntry& like = call_.run->like;
    return at + like.geometry->in[k] + (k == 0 && call_.run->alike ? call_.run->alike[sample].offset : 0);
  }
  char* output_of(int sample) const {
    return static_cast<char*>(call_.output->sample(sample).data) + call_.run->like.geometry->out;
  }

  void expand_run() {
    const StageRun& run = *call_.run;
    expanded_.assign(static_cast<size_t>(run.samples), run.like);
    for (int i = 0; i < run.samples; ++i) {
      StageEntry& e = expanded_[static_cast<size_t>(i)];
      e.sample = i;
      if (run.window > 0) e.windows = i * run.window;
      for (int k = 0; k < at_.inputs; ++k) e.in[k] = input_of(k, i);
      e.out = output_of(i);
    }
  }

  // Whether the samples' elements lie one behind the other.
  bool run_continues(int64_t work) const {
    const int n = call_.run->samples;
    if (work * n >= kMostWork) return false;
    const int64_t out = work * static_cast<int64_t>(size_of(out_type_));
    for (int i = 1; i < n; ++i) {
      if (output_of(i) - output_of(i - 1) != out) return false;
      for (int k = 0; k < at_.inputs; ++k)
        if (input_of(k, i) - input_of(k, i - 1) != work * in_bytes_[k]) return false;
    }
    return true;
  }

  // What a shared row's entries differ in.
  void set_steps(TableHeader& header) const {
    const StageRun& run = *call_.run;
    for (int k = 0; k < at_.inputs; ++k) header.in_step[k] = input_of(k, 1) - input_of(k, 0);
    header.out_step = output_of(1) - output_of(0);
    if (made_coefs_ >= 0) header.coefs_step = static_cast<int64_t>(coef_bytes_);
    if (code_.faults) header.fault_step = sizeof(int32_t);
    if (run.window > 0) header.window_step = run.window * static_cast<int64_t>(sizeof(float));
  }

  bool continues(const Row& row, const StageEntry& e, int64_t work) const {
    if (row.work + work >= kMostWork || row.entry->out + row.work * static_cast<int64_t>(size_of(out_type_)) != e.out)
      return false;
    for (int k = 0; k < at_.inputs; ++k)
      if (row.entry->in[k] + row.work * in_bytes_[k] != e.in[k]) return false;
    return true;
  }

  void find_rows() {
    using Kind = StageVariant::Kind;
    using Path = StageVariant::Path;
    const bool joins = penstock::joins(code_, v_, call_);
    const int64_t q = group_positions(code_, v_);
    const auto count = is_run() ? call_.run->samples : static_cast<int64_t>(entries().size());
    rows_.reserve(entries().size());
    const StageSample* last = nullptr;
    Tile tile;
    int64_t work = 0;
    for (const StageEntry& e : entries()) {
      const StageSample& g = *e.geometry;
      if (&g != last) {
        last = &g;
        if (v_.kind == Kind::tiled) {
          tile = v_.path == g.variant.path ? g.tiling.tile : choose_tile(g, v_.path);
          work = tiles_of(g, tile);
          // Of a few images every multiprocessor should have a part. Tiles in shared memory take unlike times: several
          // parts even them out.
          const int64_t parts = v_.path == Path::direct ? 2 : v_.path == Path::shared ? 8 : 0;
          while (!v_.generic && tile.height > 16 && work * count < parts * call_.multiprocessors)
            tile.height /= 2, tile.band = std::min(tile.band, tile.height), work = tiles_of(g, tile);
        } else {
          work = g.positions();
          if (v_.boxes) {
            tile = {kBoxTile, kBoxTile, kBoxTile, kBoxBytes};
            work = tiles_of(g, tile);
          } else if (work > 0 && warps_image(code_, v_)) {
            const int64_t row = g.dims.back().extent, rows = g.dims[g.dims.size() - 2].extent;
            constexpr int64_t across = kWarpAcross * kWarpGroup, down = kWarpDown * kWarpStack;
            work = work / (row * rows) * ((row + across - 1) / across) * ((rows + down - 1) / down) * 32 * kWarpStack;
          } else if (q > 1 && !g.dims.empty() && work > 0) {
            const int64_t row = g.dims.back().extent;
            work = work / row * ((row + q - 1) / q);
          }
        }
      }
      if (joins && !rows_.empty() && continues(rows_.back(), e, work)) rows_.back().work += work;
      else rows_.push_back({&e, tile, work});
    }
    if (!is_run()) return;
    if (joins && run_continues(work)) rows_[0].work = work * count;
    else rows_[0].samples = call_.run->samples;
  }

  void put_entry(int64_t e) {
    const StageEntry& entry = *rows_[e].entry;
    const StageSample& g = *entry.geometry;
    const int64_t coefs = coefficients(e), fill = v_.fills ? fill_of(g) : 0;
    StageRow<std::byte> own = row(e);
    if (is_packed(entry)) {
      std::memcpy(own.row, entry.packed->words.data(), static_cast<size_t>(row_bytes_));
      if (entry.same_windows && own_windows_ >= 0) {
        const int64_t at = own_windows_ + entry.windows * static_cast<int64_t>(sizeof(float));
        if (g.tiling.x.window) put_window_at(own.tile().x, at);
        if (g.tiling.y.window) put_window_at(own.tile().y, at);
      } else if (entry.windows >= 0) {
        put_window(g, e, 0), put_window(g, e, 1);
        own = row(e);
      }
    } else {
      std::memset(own.row, 0, static_cast<size_t>(row_bytes_));
      put_geometry(g, e);
      own = row(e);
      if (simple_ && entry.packed && (entry.windows >= 0 || (!g.tiling.x.window && !g.tiling.y.window))) {
        entry.packed->variant = v_;
        entry.packed->words.resize(static_cast<size_t>(row_bytes_) / sizeof(int64_t));
        std::memcpy(entry.packed->words.data(), own.row, static_cast<size_t>(row_bytes_));
      }
    }
    if (&g != last_geometry_) last_geometry_ = &g, positions_ = g.positions();
    if (entry.alike >= 0) put_alike(call_.alike[entry.alike], own);
    RowHead& head = own.head();
    for (int k = 0; k < at_.inputs; ++k) head.in[k] = is_run() ? input_of(k, 0) : entry.in[k];
    head.in[0] += plane_offset(g);
    head.out = is_run() ? output_of(0) : entry.out;
    head.positions = v_.kind == StageVariant::Kind::tiled ? positions_ : rows_[e].work;
    if (v_.kind == StageVariant::Kind::tiled) own.tile().y.extent = rows_[e].tile.height;  // of this call
    head.coefs = coefs;
    if (v_.fills) own.fill() = fill;
    if (code_.faults) own.fault() = call_.faults + entry.sample;
  }

  // Planes that are read begin at the first valid one; the kernel counts them from 0.
  int64_t plane_offset(const SampleGeometry& g) const {
    return g.has_plane && g.plane_pick < 0 && !at_.frames ? g.plane.lo * g.plane.in_stride[0] * in_bytes_[0] : 0;
  }

  // The entries of a run, all like the first one, which is there.
  void put_run() {
    const StageRun& run = *call_.run;
    const StageSample& g = *run.like.geometry;
    const int n = run.samples;
    std::byte* const first = table_.at(rows_at_);
    constexpr int64_t kAtOnce = 3072;  // bytes: longer copies begin slowly
    const int most = std::max(1, static_cast<int>(kAtOnce / row_bytes_));
    for (int made = 1, more; made < n; made += more) {
      more = std::min({made, most, n - made});
      std::memcpy(first + made * row_bytes_, first, static_cast<size_t>(more * row_bytes_));
    }
    // One number of all entries at a time.
    const StageRow<std::byte> own = row(0);
    for (int k = 0; k < at_.inputs; ++k) {
      const Batch::Sample* from = &call_.inputs[static_cast<size_t>(k)].sample(0);
      const int64_t offset = g.in[k] + (k == 0 ? plane_offset(g) : 0);
      for_all(own.head().in[k], [&](const char*& in) { in = static_cast<const char*>(from++->data) + offset; });
    }
    const Batch::Sample* to = &call_.output->sample(0);
    const int64_t offset = g.out;
    for_all(own.head().out, [&](char*& out) { out = static_cast<char*>(to++->data) + offset; });
    if (made_coefs_ >= 0) count_up(own.head().coefs, static_cast<int64_t>(coef_bytes_));
    if (code_.faults) count_up(own.fault(), 1);
    if (run.window > 0) {
      if (g.tiling.x.window) count_up_window(own.tile().x, run.window);
      if (g.tiling.y.window) count_up_window(own.tile().y, run.window);
    }
    if (!run.alike) return;
    StageRow<std::byte> one = own;
    for (int i = 0; i < n; ++i, one.row += row_bytes_) {
      put_alike(run.alike[i], one);
      one.head().in[0] += run.alike[i].offset;
    }
  }

  // f(the same part of each entry), of which this is the first one's.
  template <class T, class F> void for_all(T& first, F&& f) const {
    auto* at = reinterpret_cast<std::byte*>(&first);
    const int64_t step = row_bytes_;
    for (std::byte* const end = at + call_.run->samples * step; at != end; at += step) f(*reinterpret_cast<T*>(at));
  }
  // A number of all entries, which grows from entry to entry.
  template <class T> void count_up(T& first, int64_t by) const {
    T value = first;
    for_all(first, [&](T& own) { own = value, value += by; });
  }
  void count_up_window(TileAxisRow& first, int window) const {
    auto offset = reinterpret_cast<int64_t>(first.taps.window);
    for_all(first, [&](TileAxisRow& own) {
      put_window_at(own, offset), offset += window * static_cast<int64_t>(sizeof(float));
    });
  }

  SampleContext context_of(const StageEntry& entry) const {
    if (!entry.packed) return entry.geometry->context;
    if (!call_.contexts.empty()) return call_.contexts[static_cast<size_t>(entry.sample)];  // others share the geometry
    SampleContext c;
    c.index = entry.sample;
    return c;
  }

  // Whether the words of its geometry are known for this variant.
  bool is_packed(const StageEntry& entry) {
    if (entry.packed && entry.packed == packed_) return true;
    if (!simple_ || !entry.packed || entry.packed->words.empty() || entry.packed->variant != v_) return false;
    packed_ = entry.packed;
    return true;
  }

  // Of all rows, operator by operator, straight into the table.
  void make_coefficients() {
    std::vector<SampleContext> own;
    std::span<SampleContext> contexts = call_.contexts;
    if (!is_run()) {
      own.reserve(rows_.size());
      for (const Row& r : rows_) own.push_back(context_of(*r.entry));
      contexts = own;
    }
    const size_t bytes = contexts.size() * coef_bytes_;
    made_coefs_ = table_.room(bytes);
    std::byte* const at = table_.at(made_coefs_);
    if (coef_gaps_) std::memset(at, 0, bytes);
    for (const auto& one : coefs_) {
      if (one.op->info->random)
        for (SampleContext& c : contexts) c.draws = one.draws;
      as_operator(*one.op, [&] { one.op->coefs(contexts, one.lane, one.copies, at + one.offset, coef_bytes_); });
    }
  }

  int64_t coefficients(int64_t e) {
    if (made_coefs_ >= 0) return made_coefs_ + e * static_cast<int64_t>(coef_bytes_);
    if (!coefs_vary_ && last_coefs_.at >= 0) return last_coefs_.at;
    const int64_t at = table_.room(coef_bytes_);
    if (coef_bytes_) std::memset(table_.at(at), 0, coef_bytes_);
    SampleContext c = context_of(*rows_[e].entry);
    for (auto& one : coefs_) {
      c.draws = one.draws;
      as_operator(*one.op, [&] {
        if (one.folded.bytes) fold(one, c, at);
        else one.op->coef(c, one.lane, one.copies, table_.at(at) + one.offset);
      });
    }
    if (!folds_) last_coefs_ = {at, coef_bytes_};
    return at;
  }

  // A row of the kernel that writes these coefficients.
  void fold(Coefficients& one, const SampleContext& c, int64_t coefs) {
    FoldRow row = fold_row(one.folded, fold_number(one.op->info, one.lane), c);
    values_.resize(one.folded.bytes);
    one.op->values(c, values_.data());
    row.values = table_.append_once(one.last_values, values_.data(), values_.size());
    row.coefs = coefs + static_cast<int64_t>(one.offset);
    fold_rows_.push_back(row);
  }

  int64_t fill_of(const SampleGeometry& g) {
    const int64_t values = v_.has_plane ? std::max<int64_t>(g.plane.extent, 1) : 1;
    if (call_.constant && fill_values_ == values) return last_fill_.at;
    fill_values_ = values;
    fill_.resize(values * size_of(out_type_));
    const Shape s{values};
    fill_strided({fill_.data(), out_type_, {}, s, dense_strides(s)}, g.fill_values, v_.has_plane ? 0 : -1);
    return table_.append_once(last_fill_, fill_.data(), fill_.size());
  }

  // What the geometry alone says. append() moves the table: row() again after it.
  void put_geometry(const StageSample& g, int64_t e) {
    using Kind = StageVariant::Kind;
    const int inputs = at_.inputs;
    // Dimensions that this sample lacks are in front, with one position.
    const int missing = v_.kind == Kind::elements ? 0 : v_.dims - g.dims.size();
    static const LoopDim absent;
    const auto dim = [&](int d) -> const LoopDim& { return d < missing ? absent : g.dims[d - missing]; };
    if (v_.filtered) put_taps(g, e, dim);
    if (v_.picks_planes) put_pick(g, e);
    if (v_.kind == Kind::tiled)
      for (int k = 0; k < 2; ++k) put_tile(g, e, k);
    if (g.affine) put_affine(g, e);
    if (at_.frames) put_frame(g, row(e).frame());
    const StageRow<std::byte> own = row(e);
    if (at_.filters) own.indexed() = g.indexed;
    if (v_.has_plane) {
      put_dim(own.plane(), g.plane, inputs);
      if (g.plane.extent == g.plane.hi - g.plane.lo)
        own.plane().extent = v_.out_planes;  // an operator may change their number
    }
    for (int d = 0; d < at_.dims; ++d) put_dim(own.dim(d), dim(d), inputs);
  }

  template <class Dim> void put_taps(const SampleGeometry& g, int64_t e, const Dim& dim) {
    int axis = 0;
    for (int d = v_.dims - 1; d >= 0; --d) {
      if (!(v_.filtered >> d & 1)) continue;
      const LoopDim& own = dim(d);
      if (own.filter < 0) {
        plain_taps(own, taps_);
      } else if (const float* weights = own_weights(g, *rows_[e].entry, own.filter)) {
        DimFilter f = g.filters[own.filter];
        f.filter.window.assign(weights, weights + f.filter.window.size());
        f.table(std::max<int64_t>(0, own.hi - own.lo), taps_);
      } else {
        g.filters[own.filter].table(std::max<int64_t>(0, own.hi - own.lo), taps_);
      }
      const int64_t first = table_.append(taps_.first.data(), taps_.first.size() * 4);
      const int64_t weight = table_.append(taps_.weight.data(), taps_.weight.size() * 4);
      row(e).axis(axis++) = {taps_.taps, first, weight, own.filter < 0 ? 1 : own.step};
    }
  }

  void put_pick(const SampleGeometry& g, int64_t e) {
    std::vector<int32_t> planes(v_.planes);
    if (g.plane_pick >= 0) g.filters[g.plane_pick].table(v_.planes, taps_);
    for (int k = 0; k < v_.planes; ++k)
      planes[k] = g.plane_pick < 0 ? k : static_cast<int32_t>(taps_.first[k] * g.plane.step);
    const int64_t pick = table_.append(planes.data(), planes.size() * 4);
    row(e).plane_pick() = pick;
  }

  void put_tile(const StageSample& g, int64_t e, int k) {
    const AxisTaps& taps = k == 0 ? g.tiling.x : g.tiling.y;
    static_assert(offsetof(AxisTaps, nearest) + sizeof taps.nearest == offsetof(AxisTaps, taps),
                  "what lies between members nobody writes: a table would have it");
    std::memcpy(&tile_axis(e, k).taps, &taps, sizeof taps);
    put_window(g, e, k);
    TileAxisRow& to = tile_axis(e, k);
    const LoopDim& d = g.dims[g.dims.size() - 1 - k];
    const DimFilter* f = d.filter < 0 ? nullptr : &g.filters[d.filter];
    to.begin = f ? f->begin : d.lo, to.step = f ? f->step : 1;
    to.extent = k == 0 ? rows_[e].tile.width : rows_[e].tile.height;
    to.hop = f ? d.step * d.in_stride[0] : d.in_stride[0];
    row(e).tile().band = rows_[e].tile.band;
  }
  TileAxisRow& tile_axis(int64_t e, int k) {
    TileRow& tile = row(e).tile();
    return k == 0 ? tile.x : tile.y;
  }

  // Of an entry whose windows are not its geometry's: those of a filter. Null: the geometry's.
  const float* own_weights(const SampleGeometry& g, const StageEntry& entry, int filter) const {
    if (entry.windows < 0) return nullptr;
    const float* weights = call_.windows.data() + entry.windows;
    for (int f = 0; f < filter && !entry.same_windows; ++f) weights += g.filters[f].filter.window.size();
    return weights;
  }

  // The weights of a convolution, and where they are.
  void put_window(const StageSample& g, int64_t e, int k) {
    const AxisTaps& taps = k == 0 ? g.tiling.x : g.tiling.y;
    if (!taps.window) return;
    const StageEntry& entry = *rows_[e].entry;
    const float* own = own_weights(g, entry, g.dims[g.dims.size() - 1 - k].filter);
    if (own && own_windows_ < 0) own_windows_ = table_.append(call_.windows.data(), call_.windows.size_bytes());
    const int64_t at = own ? own_windows_ + (own - call_.windows.data()) * static_cast<int64_t>(sizeof *own)
                           : table_.append_once(last_window_[k], taps.window, taps.full * sizeof(float));
    put_window_at(tile_axis(e, k), at);
  }

  void put_affine(const SampleGeometry& g, int64_t e) {
    const float outside = g.fill_values.empty() ? 0.0f : g.fill_values[0];
    const int64_t outside_at = table_.append_once(last_outside_, &outside, sizeof outside);
    WarpRow& to = row(e).warp();
    std::copy_n(g.affine->m, 12, to.m);
    if (v_.boxes) {
      const auto reciprocal = [](const LoopDim& d) {
        return 1.0f / static_cast<float>((d.extent + kBoxTile - 1) / kBoxTile);
      };
      BoxRow& box = row(e).box();
      box.step_x = affine_step(g.affine->m[0]), box.step_y = affine_step(g.affine->m[3]);
      box.tiles_across = reciprocal(g.dims.back()), box.tiles_down = reciprocal(g.dims[g.dims.size() - 2]);
    }
    to.source = {{g.source_extent[0], g.source_extent[1], g.source_extent[2]},
                 outside_at,
                 g.affine->kind == FilterKind::nearest,
                 g.affine->border_fill,
                 is_near(g)};
  }
};

}  // namespace

bool can_share_row(const StageCode& code, const StageVariant& v, const PackCall& call) {
  constexpr int64_t kMost = int64_t{1} << 22;  // positions: of more the kernel takes longer than the host
  if (!call.run || call.run->samples < 2 || call.run->alike || !is_simple(v) || joins(code, v, call) ||
      call.run->like.geometry->positions() > kMost / call.run->samples)
    return false;
  const auto lie_evenly = [n = call.run->samples](const Batch& b) {
    const Batch::Sample* const s = &b.sample(0);
    const auto* const first = static_cast<const char*>(s->data);
    const ptrdiff_t step = static_cast<const char*>(s[1].data) - first;
    bool even = true;
    for (int i = 2; i < n; ++i) even &= static_cast<const char*>(s[i].data) - first == i * step;
    return even;
  };
  return lie_evenly(*call.output) && std::all_of(call.inputs.begin(), call.inputs.end(), lie_evenly);
}

PackedTable pack_table(const StageCode& code, const StageVariant& v, const PackCall& call, TableWriter& table) {
  return Packing(code, v, call, table).pack();
}

}  // namespace penstock
