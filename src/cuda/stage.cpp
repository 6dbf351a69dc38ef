// SPDX-License-Identifier: Apache-2.0
#include "cuda/stage.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "batch/batch.h"
#include "cuda/fold_arguments.h"
#include "cuda/prebuilt/generic_stage.h"
#include "cuda/prebuilt/stage_kernels.h"
#include "cuda/stage_pack.h"
#include "cuda/stage_shapes.h"
#include "cuda/stage_table.h"

namespace penstock {
namespace {

constexpr int kWithoutForm = 16;  // calls

// What a call works on, kept for the next one.
struct StageScratchpad {
  std::vector<SampleContext> contexts;  // of all samples, where they differ
  KnownShapes known;       // where geometry follows from shapes
  AxisWindows windows;     // of a sample
  std::vector<float> weights;  // of all samples' windows
  bool all_windows = false;    // they are made: of one size, that of `windows`
  GeometryList samples;
  SampleForm form;         // of samples that are resampled
  std::vector<AlikeSample> alike;
  std::vector<ImageExtent> images;  // of samples that are resampled, and their windows
  std::vector<ImageWindow> image_windows;
  int without_form = 0;    // calls that go without one: samples differ
  std::vector<StageEntry> entries, group;
  std::vector<StageVariant> variants;
  std::vector<int> group_of;
  size_t table_bytes = 0;  // of the last table in device memory
  const std::shared_ptr<void> small = allocate_shared(default_memory(), kTableParameter);
  size_t too_many = SIZE_MAX;  // entries whose table did not fit into that
  StageScratchpad() { std::memset(small.get(), 0, kTableParameter); }  // a launch reads all of it
};
// As many as there are calls at once.
struct StageScratchpads {
  std::mutex mutex;
  std::vector<std::unique_ptr<StageScratchpad>> idle;
};
class BorrowedScratchpad {
 public:
  explicit BorrowedScratchpad(StageScratchpads& all) : all_(all) {
    std::lock_guard lock(all_.mutex);
    if (all_.idle.empty()) return;
    own_ = std::move(all_.idle.back());
    all_.idle.pop_back();
  }
  ~BorrowedScratchpad() {
    std::lock_guard lock(all_.mutex);
    all_.idle.push_back(std::move(own_));
  }
  StageScratchpad& operator*() {
    if (!own_) own_ = std::make_unique<StageScratchpad>();
    return *own_;
  }

 private:
  StageScratchpads& all_;
  std::unique_ptr<StageScratchpad> own_;
};

bool same_structure(const StageProgram& a, const StageProgram& b) {
  if (a.inputs.size() != b.inputs.size() || a.nodes.size() != b.nodes.size() || a.outputs != b.outputs ||
      a.sizes != b.sizes)
    return false;
  auto same = [](const ValueType& x, const ValueType& y) {
    return x.dtype == y.dtype && x.ndim == y.ndim && x.layout == y.layout;
  };
  for (size_t i = 0; i < a.inputs.size(); ++i)
    if (!same(a.inputs[i], b.inputs[i])) return false;
  for (size_t i = 0; i < a.nodes.size(); ++i)
    if (a.nodes[i].op->info != b.nodes[i].op->info || a.nodes[i].operands != b.nodes[i].operands ||
        a.nodes[i].id != b.nodes[i].id || !same(a.nodes[i].type, b.nodes[i].type))
      return false;
  return true;
}

class GpuStage final : public BatchStageRunner {
 public:
  GpuStage(const StageProgram& program, Driver& driver)
      : driver_(driver),
        kernels_(std::make_shared<StageKernels>()),
        scratchpads_(std::make_shared<StageScratchpads>()) {
    compile_stage(program, code_);
    look_at_arguments();
    if (code_.positional) fail(ErrorKind::internal, "a stage on the GPU with an operator that depends on the position");
  }
  const StageProgram& program() const override { return code_.program; }

  std::unique_ptr<BatchStageRunner> rebound(const StageProgram& program) const override {
    if (!same_structure(code_.program, program)) return nullptr;
    auto other = std::make_unique<GpuStage>(*this);
    bool same = true;
    for (size_t i = 0; i < program.nodes.size(); ++i) same &= code_.program.nodes[i].op == program.nodes[i].op;
    other->code_.program = program;
    other->look_at_arguments();
    // What is known of shapes may be so for other constants.
    if (!same && (constant_ || other->constant_) && !ignores_arguments(code_))
      other->scratchpads_ = std::make_shared<StageScratchpads>();
    // Arguments may decide whether a map filters.
    for (size_t i = 0; i < program.nodes.size(); ++i) {
      const StageTraits t = program.nodes[i].op->traits(), &own = code_.traits[i];
      if (t.filters != own.filters || t.warps != own.warps || t.fills != own.fills) return nullptr;
    }
    return other;
  }

  void run(const BatchStageCall& call, std::span<Batch> outputs, std::vector<SampleError>& errors) override {
    const auto& p = code_.program;
    const ValueType& type = type_of(p, p.outputs[0]);
    BorrowedScratchpad borrowed(*scratchpads_);
    StageScratchpad& pad = *borrowed;
    make_contexts(call, pad);
    begin(pad);
    make_windows(call, pad);
    Batch out(type.dtype, type.ndim, type.layout.size() == type.ndim ? type.layout : Layout{}, call.size);
    std::vector<int> bad;
    const size_t errors_before = errors.size();
    int ndim = type.ndim;
    std::optional<StageGeometry> geometry;  // made for the first sample that is not known yet
    std::optional<Placement> placement;     // of a sample
    if (!call.inputs.empty())
      for (int i = 0; i < call.size; ++i)
        if (const std::string& source = call.inputs[0].sample(i).source; !source.empty()) out.sample(i).source = source;
    const bool alike = add_alike(call, geometry, placement, out, pad);
    if (alike) ndim = pad.form.out().size();
    for (int i = alike ? call.size : 0; i < call.size; ++i) {
      size_t before = 0;
      auto error = error_of([&] {  // all samples, or up to one that throws
        for (; i < call.size; ++i) {
          if (const int known = add_known(call, i, out, pad); known > i) {
            ndim = out.shape(known - 1).size();
            if ((i = known) == call.size) break;
          }
          Batch::Sample& sample = out.sample(i);
          before = pad.entries.size();
          if (!add_sample(call, geometry, placement, i, sample.shape, pad)) {  // all go the long way
            pad.form.forget();
            pad.without_form = kWithoutForm;
            errors.erase(errors.begin() + static_cast<ptrdiff_t>(errors_before), errors.end());
            bad.clear(), begin(pad), make_windows(call, pad);
            i = -1;
            continue;
          }
          ndim = sample.shape.size();
        }
      });
      if (!error) break;
      errors.push_back({i, std::move(*error)});
      pad.entries.resize(before);
      if (out.sample(i).shape.empty()) bad.push_back(i);
    }
    if (ndim != type.ndim) out = of_rank(out, ndim);
    for (int i : bad) out.sample(i).shape = Shape::filled(ndim, 0);
    out.allocate(call.memory, call.stream);
    write_sizes(call, bad, outputs);
    if (code_.has_frames && p.nodes.size() > 1 && frames_differ(call)) run_nodes(call, out, errors);
    else if (!enqueue(call, out, pad, errors)) {
      go_the_long_way(call, pad);
      enqueue(call, out, pad, errors);
    }
    outputs[0] = std::move(out);
  }

 private:
  Driver& driver_;
  StageCode code_;
  std::shared_ptr<StageKernels> kernels_;
  std::shared_ptr<StageScratchpads> scratchpads_;
  bool constant_ = false;      // arguments are
  bool knows_shapes_ = false;  // the geometry follows from them
  bool folds_ = false;         // arguments lie on the GPU
  int convolves_ = -1;         // the node whose windows the geometry follows from, beside shapes
  int resamples_ = -1;         // the node that may know all images' windows at once
  std::vector<const Batch*> choices_;  // numbers that the maps behind it follow from, but for extents

  void look_at_arguments() {
    constant_ = has_constant_arguments(code_);
    knows_shapes_ = constant_ || ignores_arguments(code_);
    convolves_ = knows_shapes_ ? -1 : convolving_node(code_);
    resamples_ = knows_shapes_ || convolves_ >= 0 ? -1 : resampling_node(code_, choices_);
    folds_ = has_arguments_on_gpu(code_);
  }

  void make_contexts(const BatchStageCall& call, StageScratchpad& pad) const {
    pad.contexts.clear();
    if (constant_) return;
    pad.contexts.reserve(static_cast<size_t>(call.size));
    for (int i = 0; i < call.size; ++i) pad.contexts.push_back(call.context(i)), pad.contexts.back().index = i;
  }
  static std::span<const SampleContext> contexts_of(StageScratchpad& pad, uint32_t node) {
    for (SampleContext& c : pad.contexts) c.node = node;
    return pad.contexts;
  }

  // The windows of all samples, where they can be had together.
  void make_windows(const BatchStageCall& call, StageScratchpad& pad) const {
    pad.all_windows = false;
    if (convolves_ < 0) return;
    const StageNode& node = code_.program.nodes[convolves_];
    AxisWindows& w = pad.windows;
    pad.all_windows =
        node.op->all_windows(contexts_of(pad, node.id), code_.program.inputs[0].layout, call.inputs[0].ndim(), w);
    if (pad.all_windows) {
      pad.all_windows = are_plain(w.weights, w.sizes[0]);
      std::swap(w.weights, pad.weights);
      w.weights.clear();
    }
    if (!pad.all_windows) w.clear(), pad.weights.clear();
  }

  StageEntry& add_entry(const BatchStageCall& call, int i, const SampleGeometry& g, PackedWords* packed,
                        StageScratchpad& pad) const {
    StageEntry& e = pad.entries.emplace_back();
    e.geometry = &g, e.packed = packed, e.sample = i;
    for (size_t k = 0; k < call.inputs.size(); ++k)
      e.in[k] = static_cast<const char*>(call.inputs[k].sample(i).data) + g.in[k];
    return e;
  }
  void add_known_shape(const BatchStageCall& call, int i, KnownShape& known, int windows, bool same_windows,
                       StageScratchpad& pad) const {
    for (size_t k = 0; k < known.geometries.size(); ++k) {
      StageEntry& e = add_entry(call, i, known.geometries[k], &known.packed[k], pad);
      e.windows = windows, e.same_windows = same_windows;
    }
  }

  // Samples from `i` on whose geometry is known; the first that is not.
  int add_known(const BatchStageCall& call, int i, Batch& out, StageScratchpad& pad) const {
    if (!knows_shapes_ && !pad.all_windows) return i;
    const int window = pad.all_windows ? pad.windows.sizes[0] : 0;
    KnownShape* known = nullptr;
    const auto is_same = [&] {
      for (size_t k = 0; k < call.inputs.size(); ++k)
        if (!(call.inputs[k].shape(i) == known->in[static_cast<int>(k)])) return false;
      return true;
    };
    for (; i < call.size; ++i) {
      for (const Batch& b : call.inputs)
        if (!b.sample(i).strides.empty()) return i;
      if (!known || !is_same()) known = pad.known.find(call.inputs, i, pad.windows.sizes);
      if (!known) return i;
      out.sample(i).shape = known->out;
      add_known_shape(call, i, *known, window ? i * window : -1, window > 0, pad);
    }
    return i;
  }

  // All samples at once, where they are of the form that is known. False: one of them is not, or something has to be
  // said of it.
  bool add_alike(const BatchStageCall& call, std::optional<StageGeometry>& geometry,
                 std::optional<Placement>& placement, Batch& out, StageScratchpad& pad) const {
    if (resamples_ < 0 || !pad.form.known() || pad.without_form > 0) return false;
    const Batch& in = call.inputs[0];
    pad.images.clear();
    for (int i = 0; i < call.size; ++i) {
      const Batch::Sample& s = in.sample(i);
      if (!s.strides.empty() || s.shape.size() < 2) return false;
      pad.images.push_back({s.shape[0], s.shape[1]});
    }
    for (const Batch* b : choices_)
      for (int i = 0; i < call.size; ++i)
        if (!b->shape(i).empty()) return false;
    if (!geometry) geometry.emplace(code_);
    bool fits = geometry->maps_give_shape();
    const StageNode& node = code_.program.nodes[resamples_];
    pad.image_windows.resize(pad.images.size());
    const auto error = error_of([&] {
      fits = fits && node.op->image_windows(contexts_of(pad, node.id), pad.images, pad.image_windows);
      fits = fits && add_alike_samples(call, *geometry, placement, out, pad);
    });
    if (error || !fits) pad.entries.clear(), pad.alike.clear();
    return !error && fits;
  }

  bool add_alike_samples(const BatchStageCall& call, const StageGeometry& geometry,
                         std::optional<Placement>& placement, Batch& out, StageScratchpad& pad) const {
    constexpr int kMostKinds = 8, kMostChoices = 4;
    struct Kind {  // of samples of the same choices
      int64_t chosen[kMostChoices];
      AlikeSample one;
    };
    const auto count = static_cast<int>(choices_.size());
    if (count > kMostChoices) return false;
    FixedVector<Kind, kMostKinds> kinds;
    const Batch& in = call.inputs[0];
    for (int i = 0; i < call.size; ++i) {
      int64_t chosen[kMostChoices] = {};
      for (int k = 0; k < count; ++k) chosen[k] = choice(*choices_[static_cast<size_t>(k)], i);
      const Kind* kind = nullptr;
      for (const Kind& known : kinds)
        if (std::equal(chosen, chosen + count, known.chosen)) kind = &known;
      AlikeSample& numbers = pad.alike.emplace_back();
      if (kind) {
        const ImageWindow& window = pad.image_windows[static_cast<size_t>(i)];
        if (!pad.form.fits(kind->one, in.shape(i), window, numbers)) return false;
      } else {
        if (kinds.size() == kMostKinds) return false;
        geometry.place(pad.contexts[static_cast<size_t>(i)], in.shape(i), placement);
        if (!pad.form.fits(*placement, numbers)) return false;
        Kind& made = kinds.emplace_back();
        std::copy(chosen, chosen + kMostChoices, made.chosen);
        made.one = numbers;
      }
      out.sample(i).shape = pad.form.out();
      add_alike_entry(call, i, pad);
    }
    return true;
  }
  // One number a sample.
  static int64_t choice(const Batch& b, int i) {
    return b.dtype() == DType::int32 ? *static_cast<const int32_t*>(b.sample(i).data) : sample_as<int64_t>(b, i);
  }
  // Of the last of pad.alike.
  void add_alike_entry(const BatchStageCall& call, int i, StageScratchpad& pad) const {
    StageEntry& e = add_entry(call, i, pad.form.geometry(), &pad.form.packed, pad);
    e.in[0] = static_cast<const char*>(call.inputs[0].sample(i).data) + pad.alike.back().offset;
    e.alike = static_cast<int>(pad.alike.size()) - 1;
  }

  // Whether the sample's windows are in pad.windows, and its geometry follows from their sizes.
  bool has_plain_windows(const BatchStageCall& call, int i, StageScratchpad& pad) const {
    SampleContext c = call.context(i);
    c.index = i, c.node = code_.program.nodes[convolves_].id;
    pad.windows.clear();
    const ValueType& type = code_.program.inputs[0];
    code_.program.nodes[convolves_].op->windows(c, type.layout, call.inputs[0].ndim(), pad.windows);
    join_windows(pad.windows);
    return are_plain(pad.windows);
  }

  static void begin(StageScratchpad& pad) {
    pad.samples.shrink(0), pad.entries.clear(), pad.alike.clear();
    pad.known.begin_call();
    pad.windows.clear(), pad.weights.clear();
    if (pad.without_form > 0) --pad.without_form;
  }

  // The output's shape and the entries of a sample, but for where the output is. False: it is not of the form that
  // the samples before it have.
  bool add_sample(const BatchStageCall& call, std::optional<StageGeometry>& geometry,
                  std::optional<Placement>& placement, int i, Shape& shape, StageScratchpad& pad) {
    int windows = -1;
    bool same_windows = false;
    const auto add_known = [&](KnownShape& known) {
      shape = known.out;
      add_known_shape(call, i, known, windows, same_windows, pad);
    };
    bool knowable = knows_shapes_ || convolves_ >= 0;
    for (const Batch& b : call.inputs) knowable &= b.sample(i).strides.empty();
    if (knowable && convolves_ >= 0 && !pad.all_windows) knowable = has_plain_windows(call, i, pad);
    if (knowable) {
      if (pad.all_windows) {
        windows = i * pad.windows.sizes[0], same_windows = true;
      } else if (convolves_ >= 0) {
        windows = static_cast<int>(pad.weights.size());
        same_windows = static_cast<int>(pad.windows.weights.size()) == pad.windows.sizes[0];
        pad.weights.insert(pad.weights.end(), pad.windows.weights.begin(), pad.windows.weights.end());
      }
      if (KnownShape* known = pad.known.find(call.inputs, i, pad.windows.sizes)) {
        add_known(*known);
        return true;
      }
    }
    if (!geometry) geometry.emplace(code_);
    SampleContext c = call.context(i);
    c.index = i;
    const bool has_form = !knowable && pad.without_form == 0 && geometry->maps_give_shape() &&
                          call.inputs[0].sample(i).strides.empty();
    if (has_form) {
      geometry->place(c, call.inputs[0].shape(i), placement);
      if (AlikeSample numbers; pad.form.fits(*placement, numbers)) {
        shape = pad.form.out();
        pad.alike.push_back(numbers);
        add_alike_entry(call, i, pad);
        return true;
      }
      if (pad.form.known()) return false;
    }
    FixedVector<View, kMaxStageInputs> views;
    for (const Batch& b : call.inputs) views.push_back(b.view(i));
    const size_t before = pad.samples.size();
    geometry->add(c, views, shape, pad.samples);
    const auto settle = [&](SampleGeometry& g) {
      if (code_.source < 0) merge_dims(g, views.size());
      choose_variant(code_, g);
    };
    if (!knowable) {
      for (size_t k = before; k < pad.samples.size(); ++k) {
        settle(pad.samples[k]);
        add_entry(call, i, pad.samples[k], nullptr, pad);
      }
      if (has_form && pad.samples.size() == before + 1 &&
          !pad.form.make(code_, *placement, shape, pad.samples[before]))
        pad.without_form = kWithoutForm;
      return true;
    }
    if (convolves_ >= 0) {
      bool tiled = true;  // other tables hold taps, which are made of the weights
      for (size_t k = before; k < pad.samples.size(); ++k) {
        settle(pad.samples[k]);
        tiled &= pad.samples[k].variant.kind == StageVariant::Kind::tiled;
      }
      if (!tiled) {
        for (size_t k = before; k < pad.samples.size(); ++k) add_entry(call, i, pad.samples[k], nullptr, pad);
        return true;
      }
    }
    KnownShape& known = pad.known.add(call.inputs, i, pad.windows.sizes);
    known.out = shape;
    known.packed.resize(pad.samples.size() - before);
    for (size_t k = before; k < pad.samples.size(); ++k) known.geometries.push_back(pad.samples[k]);
    for (auto& g : known.geometries) settle(g);
    add_known(known);
    return true;
  }

  // The entries again, without a form.
  void go_the_long_way(const BatchStageCall& call, StageScratchpad& pad) {
    pad.form.forget();
    pad.without_form = kWithoutForm;
    begin(pad);
    std::optional<StageGeometry> geometry;
    std::optional<Placement> placement;
    Shape shape;
    make_windows(call, pad);
    for (int i = 0; i < call.size; ++i) {
      const size_t before = pad.entries.size();
      if (error_of([&] { add_sample(call, geometry, placement, i, shape, pad); })) pad.entries.resize(before);  // known
    }
  }

  static Batch of_rank(const Batch& b, int ndim) {
    Batch like(b.dtype(), ndim, {}, b.size());
    for (int i = 0; i < b.size(); ++i) like.sample(i).shape = b.shape(i), like.sample(i).source = b.sample(i).source;
    return like;
  }

  void write_sizes(const BatchStageCall& call, const std::vector<int>& bad, std::span<Batch> outputs) const {
    const auto& p = code_.program;
    for (size_t k = 0; k < p.sizes.size(); ++k) {
      const Layout& layout = type_of(p, p.sizes[k]).layout;
      const Shape one{spatial_extents(layout, Shape::filled(layout.size(), 1)).size()};
      Batch sizes = Batch::uniform(kSizeType.dtype, one, kSizeType.layout, call.size);
      for (int i = 0; i < call.size; ++i) {
        if (std::find(bad.begin(), bad.end(), i) != bad.end()) continue;
        FixedVector<Shape, kMaxStageInputs> in;
        for (const Batch& b : call.inputs) in.push_back(b.shape(i));
        SampleContext c = call.context(i);
        c.index = i;
        write_size(p, static_cast<int>(k), value_shapes(p, c, in)[p.sizes[k]],
                   [&](int, DType, const Shape&, const Layout&) { return sizes.view(i); });
      }
      outputs[p.outputs.size() + k] = std::move(sizes);
    }
  }

  bool frames_differ(const BatchStageCall& call) const {
    for (const auto& node : code_.program.nodes)
      for (const auto& [argument, batch] : node.op->frame_arguments)
        for (int i = 0; i < call.size; ++i)
          if (frames_of(*batch, i) != 1) return true;
    return false;
  }

  // Frames that move between operators: each operator is a stage of its own.
  void run_nodes(const BatchStageCall& call, Batch& out, std::vector<SampleError>& errors) {
    const auto& p = code_.program;
    std::vector<Batch> values(call.inputs.begin(), call.inputs.end());
    for (const auto& node : p.nodes) {
      StageProgram one;
      one.nodes.push_back(node);
      std::vector<Batch> operands;
      for (size_t k = 0; k < node.operands.size(); ++k) {
        one.inputs.push_back(type_of(p, node.operands[k]));
        one.nodes[0].operands[k] = static_cast<int>(k);
        operands.push_back(values[node.operands[k]]);
      }
      one.outputs = {static_cast<int>(operands.size())};
      BatchStageCall part = call;
      part.inputs = operands;
      Batch result[1];
      GpuStage(one, driver_).run(part, result, errors);
      values.push_back(std::move(result[0]));
    }
    out = values[p.outputs[0]];
  }

  // False: the kernel reads tables that samples of a form have no numbers for.
  bool enqueue(const BatchStageCall& call, Batch& out, StageScratchpad& pad, std::vector<SampleError>& errors) {
    // Mostly one group; samples of different numbers of channels, say, make more.
    pad.variants.clear();
    pad.group_of.resize(pad.entries.size());
    const SampleGeometry* last = nullptr;
    size_t g = 0;
    for (size_t e = 0; e < pad.entries.size(); ++e) {
      StageEntry& entry = pad.entries[e];
      entry.out = static_cast<char*>(out.sample(entry.sample).data) + entry.geometry->out;
      if (entry.geometry != last && !(last && entry.geometry->variant == last->variant)) {
        g = 0;
        while (g < pad.variants.size() && !unite(pad.variants[g], entry.geometry->variant)) ++g;
        if (g == pad.variants.size()) pad.variants.push_back(entry.geometry->variant);
      }
      last = entry.geometry;
      pad.group_of[e] = static_cast<int>(g);
    }
    std::shared_ptr<void> faults;
    if (code_.faults) {
      faults = allocate_shared(driver_.memory(call.device), call.size * sizeof(int32_t), call.stream);
      driver_.set_zero(call.device, faults.get(), call.size * sizeof(int32_t), call.stream);
    }
    for (g = 0; g < pad.variants.size(); ++g) {
      if (pad.variants.size() > 1) {
        pad.group.clear();
        for (size_t e = 0; e < pad.entries.size(); ++e)
          if (pad.group_of[e] == static_cast<int>(g)) pad.group.push_back(pad.entries[e]);
      }
      PackCall pack;
      pack.entries = pad.variants.size() > 1 ? pad.group : pad.entries;
      pack.faults = static_cast<int32_t*>(faults.get());
      pack.multiprocessors = driver_.multiprocessors(call.device);
      pack.constant = constant_;
      pack.contexts = pad.contexts;
      pack.windows = pad.weights, pack.alike = pad.alike.data();
      const auto works = [](const StageEntry& e) { return e.geometry->positions() > 0; };
      if (std::none_of(pack.entries.begin(), pack.entries.end(), works)) continue;
      if (!launch(call, pack, pad.variants[g], pad)) return false;
    }
    if (faults) find_faults(call, faults.get(), errors);
    return true;
  }

  bool launch(const BatchStageCall& call, const PackCall& pack, StageVariant v, StageScratchpad& pad) {
    std::optional<StageKernels::Chosen> chosen;
    const size_t n = pack.entries.size();
    const bool may_join = v.kind == StageVariant::Kind::elements && constant_;
    if (!folds_ && n < pad.too_many && (may_join || n * EntryLayout(code_, v).words * 8 < kTableParameter)) {
      TableWriter table(nullptr, nullptr, kTableParameter, pad.small);
      const PackedTable packed = pack_table(code_, v, pack, table);
      if (table.size() <= kTableParameter) {
        v.by_value = true;
        chosen = kernels_->choose(driver_, code_, call.device, v, pack.entries);
        if (!chosen->variant.generic) {
          driver_.launch(call.device, *chosen->kernel, {packed.blocks, kStageThreads, packed.shared_bytes, true},
                         table.block().get(), call.stream);
          return true;
        }
      } else {
        pad.too_many = n;
      }
    }
    if (!chosen) chosen = kernels_->choose(driver_, code_, call.device, v, pack.entries);
    if (!pad.alike.empty() && chosen->variant.kind != StageVariant::Kind::tiled) return false;
    TableWriter table(driver_.pinned_memory(), call.stream, pad.table_bytes + 4096);
    const PackedTable packed = pack_table(code_, chosen->variant, pack, table);
    if (chosen->variant.generic) append_generic_program(code_, chosen->variant, table);
    pad.table_bytes = table.size();
    const auto on_device = allocate_shared(driver_.memory(call.device), table.size(), call.stream);
    driver_.copy(call.device, on_device.get(), table.block().get(), table.size(), call.stream);
    if (packed.fold_rows > 0) {
      const auto fold = kernels_->fold(driver_, call.device);
      driver_.launch(call.device, *fold, {(packed.fold_rows + kFoldThreads - 1) / kFoldThreads, kFoldThreads},
                     static_cast<const char*>(on_device.get()) + packed.fold_at, call.stream);
    }
    driver_.launch(call.device, *chosen->kernel, {packed.blocks, kStageThreads, packed.shared_bytes}, on_device.get(),
                   call.stream);
    return true;
  }

  // Operands that an operator refuses are known once the kernel has run: this is the one stage that waits.
  void find_faults(const BatchStageCall& call, const void* faults, std::vector<SampleError>& errors) {
    std::vector<int32_t> flags(call.size);
    driver_.copy(call.device, flags.data(), faults, flags.size() * sizeof(int32_t), call.stream);
    driver_.synchronize(call.device, call.stream);
    for (int i = 0; i < call.size; ++i)
      if (flags[i])
        for (const auto& node : code_.program.nodes)
          if (const char* what = node.op->fault(); *what) {
            Error e(ErrorKind::argument, what);
            e.op = node.op->info->name;
            errors.push_back({i, std::move(e)});
            break;
          }
  }
};

}  // namespace

std::unique_ptr<BatchStageRunner> make_gpu_stage(const StageProgram& program, Driver& driver) {
  return std::make_unique<GpuStage>(program, driver);
}

}  // namespace penstock
