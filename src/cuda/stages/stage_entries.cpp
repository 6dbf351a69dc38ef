// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage_entries.h"

#include <algorithm>

#include "base/error_of.h"
#include "cuda/stages/fold_arguments.h"
#include "cuda/stages/stage_table.h"

namespace penstock {
namespace {

constexpr int kWithoutForm = 16;  // calls

bool is_random(const StageCode& code) {
  const auto& nodes = code.program.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const StageNode& n) { return n.op->info->random; });
}

bool are_dense(const Batch& b) {
  bool dense = true;
  for (int i = 0; i < b.size(); ++i) dense &= b.sample(i).strides.empty();
  return dense;
}

// One number a sample.
int64_t choice(const Batch& b, int i) {
  return b.dtype() == DType::int32 ? *static_cast<const int32_t*>(b.sample(i).data) : sample_as<int64_t>(b, i);
}

}  // namespace

StageArguments::StageArguments(const StageCode& code)
    : constant(has_constant_arguments(code)),
      knows_shapes(constant || ignores_arguments(code)),
      folds(has_arguments_on_gpu(code)),
      random(is_random(code)),
      convolves(knows_shapes ? -1 : convolving_node(code)),
      resamples(knows_shapes || convolves >= 0 ? -1 : resampling_node(code, choices)) {}

void StageEntries::begin() {
  pad_.samples.shrink(0), pad_.entries.clear(), pad_.alike.clear();
  pad_.run.samples = 0;
  pad_.known.begin_call();
  pad_.windows.sizes.clear();
  if (arguments_.convolves < 0 || !pad_.all_windows) pad_.windows.clear(), pad_.weights.clear();
  if (pad_.without_form > 0) --pad_.without_form;
}

const Shape* StageEntries::add_together() {
  make_contexts();
  begin();
  make_windows();
  const Shape* shape = add_uniform();
  return shape ? shape : add_alike();
}

void StageEntries::add_all(Batch& out, int& ndim, std::vector<SampleError>& errors, std::vector<int>& bad) {
  const size_t errors_before = errors.size();
  for (int i = 0; i < call_.size; ++i) {
    size_t before = 0;
    auto error = error_of([&] {  // all samples, or up to one that throws
      for (; i < call_.size; ++i) {
        if (const int known = add_known(i, out); known > i) {
          ndim = out.shape(known - 1).size();
          if ((i = known) == call_.size) break;
        }
        Batch::Sample& sample = out.sample(i);
        before = pad_.entries.size();
        if (!add_sample(i, sample.shape)) {  // all go the long way
          pad_.form.forget();
          pad_.without_form = kWithoutForm;
          errors.erase(errors.begin() + static_cast<ptrdiff_t>(errors_before), errors.end());
          bad.clear(), begin(), make_windows();
          i = -1;
          continue;
        }
        ndim = sample.shape.size();
      }
    });
    if (!error) break;
    errors.push_back({i, std::move(*error)});
    pad_.entries.resize(before);
    if (out.sample(i).shape.empty()) bad.push_back(i);
  }
}

void StageEntries::add_the_long_way() {
  pad_.form.forget();
  pad_.without_form = kWithoutForm;
  begin();
  make_windows();
  Shape shape;
  for (int i = 0; i < call_.size; ++i) {
    const size_t before = pad_.entries.size();
    if (error_of([&] { add_sample(i, shape); })) pad_.entries.resize(before);  // known
  }
}

void StageEntries::make_contexts() {
  auto& contexts = pad_.contexts;
  if (arguments_.constant) return contexts.clear();
  const auto n = static_cast<size_t>(call_.size);
  if (!arguments_.random) {  // they hold an index, the same in every call
    const size_t held = contexts.size();
    contexts.resize(n);
    for (size_t i = held; i < n; ++i) contexts[i].index = static_cast<int>(i);
    return;
  }
  contexts.clear();
  contexts.reserve(n);
  for (int i = 0; i < call_.size; ++i) contexts.push_back(call_.context(i)), contexts.back().index = i;
}

std::span<const SampleContext> StageEntries::contexts_of(const StageNode& node) {
  if (node.op->info->random)
    for (SampleContext& c : pad_.contexts) c.draws = node.draws;
  return pad_.contexts;
}

// The windows of all samples, where they can be had together.
void StageEntries::make_windows() {
  pad_.all_windows = false;
  if (arguments_.convolves < 0) return;
  const StageNode& node = code_.program.nodes[arguments_.convolves];
  AxisWindows& w = pad_.windows;
  pad_.all_windows = node.op->all_windows(contexts_of(node), code_.program.inputs[0].layout, call_.inputs[0].ndim(), w);
  if (pad_.all_windows) {
    pad_.all_windows = are_plain(w.weights, w.sizes[0]);
    std::swap(w.weights, pad_.weights);  // next time they are written over
  }
  if (!pad_.all_windows) w.clear(), pad_.weights.clear();
}

StageEntry& StageEntries::add_entry(int i, const SampleGeometry& g, PackedWords* packed) {
  StageEntry& e = pad_.entries.emplace_back();
  e.geometry = &g, e.packed = packed, e.sample = i;
  for (size_t k = 0; k < call_.inputs.size(); ++k)
    e.in[k] = static_cast<const char*>(call_.inputs[k].sample(i).data) + g.in[k];
  return e;
}

void StageEntries::set_run(const SampleGeometry& g, PackedWords* packed, int window) {
  StageRun& run = pad_.run;
  run.like = {};
  run.like.geometry = &g, run.like.packed = packed;
  if (window > 0) run.like.windows = 0, run.like.same_windows = true;
  run.samples = call_.size, run.window = window, run.alike = nullptr;
}

// Where they have one shape, which is known. Null: it is not, or they differ.
const Shape* StageEntries::add_uniform() {
  if ((!arguments_.knows_shapes && !pad_.all_windows) || arguments_.folds || call_.size == 0) return nullptr;
  for (const Batch& b : call_.inputs)
    if (!b.has_uniform_shapes() || !are_dense(b)) return nullptr;
  KnownShape* known = pad_.known.find(call_.inputs, 0, pad_.windows.sizes);
  if (!known || known->geometries.size() != 1) return nullptr;
  set_run(known->geometries[0], known->packed.data(), pad_.all_windows ? pad_.windows.sizes[0] : 0);
  return &known->out;
}

void StageEntries::add_known_shape(int i, KnownShape& known, int windows, bool same_windows) {
  for (size_t k = 0; k < known.geometries.size(); ++k) {
    StageEntry& e = add_entry(i, known.geometries[k], &known.packed[k]);
    e.windows = windows, e.same_windows = same_windows;
  }
}

// Samples from `i` on whose geometry is known; the first that is not.
int StageEntries::add_known(int i, Batch& out) {
  if (!arguments_.knows_shapes && !pad_.all_windows) return i;
  const int window = pad_.all_windows ? pad_.windows.sizes[0] : 0;
  KnownShape* known = nullptr;
  const auto is_same = [&] {
    for (size_t k = 0; k < call_.inputs.size(); ++k)
      if (!(call_.inputs[k].shape(i) == known->in[static_cast<int>(k)])) return false;
    return true;
  };
  for (; i < call_.size; ++i) {
    for (const Batch& b : call_.inputs)
      if (!b.sample(i).strides.empty()) return i;
    if (!known || !is_same()) known = pad_.known.find(call_.inputs, i, pad_.windows.sizes);
    if (!known) return i;
    out.sample(i).shape = known->out;
    add_known_shape(i, *known, window ? i * window : -1, window > 0);
  }
  return i;
}

// Where they are of the form that is known. Null: one of them is not, or something has to be said of it.
const Shape* StageEntries::add_alike() {
  if (arguments_.resamples < 0 || !pad_.form.known() || pad_.without_form > 0 || call_.size == 0) return nullptr;
  const Batch& in = call_.inputs[0];
  pad_.images.resize(static_cast<size_t>(call_.size));
  for (int i = 0; i < call_.size; ++i) {
    const Batch::Sample& s = in.sample(i);
    if (!s.strides.empty() || s.shape.size() < 2) return nullptr;
    pad_.images[static_cast<size_t>(i)] = {s.shape[0], s.shape[1]};
  }
  for (const Batch* b : arguments_.choices)
    for (int i = 0; i < call_.size; ++i)
      if (!b->shape(i).empty()) return nullptr;
  if (!geometry_) geometry_.emplace(code_);
  bool fits = geometry_->maps_give_shape();
  const StageNode& node = code_.program.nodes[arguments_.resamples];
  pad_.image_windows.resize(pad_.images.size());
  const auto error = error_of([&] {
    fits = fits && node.op->image_windows(contexts_of(node), pad_.images, pad_.image_windows);
    fits = fits && add_alike_samples();
  });
  if (error || !fits) return nullptr;
  set_run(pad_.form.geometry(), &pad_.form.packed, 0);
  pad_.run.alike = pad_.run_alike.data();
  return &pad_.form.out();
}

bool StageEntries::add_alike_samples() {
  constexpr int kMostKinds = 8, kMostChoices = 4;
  const auto& choices = arguments_.choices;
  const size_t count = choices.size();
  if (count > kMostChoices) return false;
  int64_t chosen[kMostKinds][kMostChoices];  // of samples of one kind
  AlikeSample kinds[kMostKinds];
  size_t known = 0;
  auto& kind_of = pad_.kind_of;
  kind_of.resize(static_cast<size_t>(call_.size));
  for (int i = 0; i < call_.size; ++i) {
    int64_t own[kMostChoices];
    for (size_t k = 0; k < count; ++k) own[k] = choice(*choices[k], i);
    size_t kind = 0;
    const auto is_own = [&](const int64_t* other) {
      bool same = true;
      for (size_t k = 0; k < count; ++k) same &= own[k] == other[k];
      return same;
    };
    while (kind < known && !is_own(chosen[kind])) ++kind;
    kind_of[static_cast<size_t>(i)] = static_cast<uint8_t>(kind);
    if (kind < known) continue;
    if (known++ == kMostKinds) return false;
    geometry_->place(pad_.contexts[static_cast<size_t>(i)], call_.inputs[0].shape(i), placement_);
    if (!pad_.form.fits(*placement_, kinds[kind])) return false;
    std::copy_n(own, count, chosen[kind]);
  }
  if (pad_.run_alike.size() < kind_of.size()) pad_.run_alike.resize(kind_of.size());
  return pad_.form.fits(call_.inputs[0], pad_.image_windows, kind_of, {kinds, known},
                        std::span(pad_.run_alike).first(kind_of.size()));
}

// Of the last of pad.alike.
void StageEntries::add_alike_entry(int i) {
  StageEntry& e = add_entry(i, pad_.form.geometry(), &pad_.form.packed);
  e.in[0] = static_cast<const char*>(call_.inputs[0].sample(i).data) + pad_.alike.back().offset;
  e.alike = static_cast<int>(pad_.alike.size()) - 1;
}

// Whether the sample's windows are in pad.windows, and its geometry follows from their sizes.
bool StageEntries::has_plain_windows(int i) {
  const StageNode& node = code_.program.nodes[arguments_.convolves];
  SampleContext c = call_.context(i);
  c.index = i, c.draws = node.draws;
  pad_.windows.clear();
  const ValueType& type = code_.program.inputs[0];
  node.op->windows(c, type.layout, call_.inputs[0].ndim(), pad_.windows);
  join_windows(pad_.windows);
  return are_plain(pad_.windows);
}

// The output's shape and the entries of a sample, but for where the output is. False: it is not of the form that the
// samples before it have.
bool StageEntries::add_sample(int i, Shape& shape) {
  bool knowable = arguments_.knows_shapes || arguments_.convolves >= 0;
  for (const Batch& b : call_.inputs) knowable &= b.sample(i).strides.empty();
  if (knowable && arguments_.convolves >= 0 && !pad_.all_windows) knowable = has_plain_windows(i);
  if (!knowable) return add_unknown(i, shape);
  int windows = -1;
  bool same_windows = false;
  if (pad_.all_windows) {
    windows = i * pad_.windows.sizes[0], same_windows = true;
  } else if (arguments_.convolves >= 0) {
    windows = static_cast<int>(pad_.weights.size());
    same_windows = static_cast<int>(pad_.windows.weights.size()) == pad_.windows.sizes[0];
    pad_.weights.insert(pad_.weights.end(), pad_.windows.weights.begin(), pad_.windows.weights.end());
  }
  KnownShape* known = pad_.known.find(call_.inputs, i, pad_.windows.sizes);
  if (!known) {
    const size_t before = add_geometries(i, shape);
    bool tiled = true;  // other tables hold taps, which are made of the weights
    if (arguments_.convolves >= 0)
      for (size_t k = before; k < pad_.samples.size(); ++k)
        tiled &= pad_.samples[k].variant.kind == StageVariant::Kind::tiled;
    if (!tiled) {
      for (size_t k = before; k < pad_.samples.size(); ++k) add_entry(i, pad_.samples[k], nullptr);
      return true;
    }
    known = &pad_.known.add(call_.inputs, i, pad_.windows.sizes);
    known->out = shape;
    known->packed.resize(pad_.samples.size() - before);
    for (size_t k = before; k < pad_.samples.size(); ++k) known->geometries.push_back(pad_.samples[k]);
    for (SampleGeometry& g : known->geometries) refer_to_own_windows(g);
  }
  shape = known->out;
  add_known_shape(i, *known, windows, same_windows);
  return true;
}

// The same, where nothing is known of samples like it.
bool StageEntries::add_unknown(int i, Shape& shape) {
  if (!geometry_) geometry_.emplace(code_);
  const bool has_form =
      pad_.without_form == 0 && geometry_->maps_give_shape() && call_.inputs[0].sample(i).strides.empty();
  if (has_form) {
    SampleContext c = call_.context(i);
    c.index = i;
    geometry_->place(c, call_.inputs[0].shape(i), placement_);
    if (AlikeSample numbers; pad_.form.fits(*placement_, numbers)) {
      shape = pad_.form.out();
      pad_.alike.push_back(numbers);
      add_alike_entry(i);
      return true;
    }
    if (pad_.form.known()) return false;
  }
  const size_t before = add_geometries(i, shape);
  for (size_t k = before; k < pad_.samples.size(); ++k) add_entry(i, pad_.samples[k], nullptr);
  if (has_form && pad_.samples.size() == before + 1 && !pad_.form.make(code_, *placement_, shape, pad_.samples[before]))
    pad_.without_form = kWithoutForm;
  return true;
}

// Those of a sample, behind the ones that pad.samples has; their first.
size_t StageEntries::add_geometries(int i, Shape& shape) {
  if (!geometry_) geometry_.emplace(code_);
  SampleContext c = call_.context(i);
  c.index = i;
  FixedVector<View, kMaxStageInputs> views;
  for (const Batch& b : call_.inputs) views.push_back(b.view(i));
  const size_t before = pad_.samples.size();
  geometry_->add(c, views, shape, pad_.samples);
  for (size_t k = before; k < pad_.samples.size(); ++k) {
    SampleGeometry& g = pad_.samples[k];
    if (code_.source < 0) merge_dims(g, views.size());
    choose_variant(code_, g);
  }
  return before;
}

}  // namespace penstock
