// SPDX-License-Identifier: Apache-2.0
// The geometry of all samples of a batch, the fastest way that gives each sample the numbers that StageGeometry gives
// it: one for all samples of one shape (uniform), one with a few numbers of each sample's own (alike), else sample by
// sample (general).
#pragma once
#include <algorithm>
#include <functional>
#include <optional>

#include "base/error_of.h"
#include "stage/arguments.h"
#include "stage/known_shapes.h"
#include "stage/sample_form.h"
#include "stage/window_weights.h"

namespace penstock {

// One sample, or one frame of it. `Device` has
//   Sample                     a SampleGeometry, and what the device adds to it
//   Kept                       what the device keeps with a geometry that is used again
//   finish(code, sample)       adds that
//   free_weights(sample)       whether it is the same for other weights of windows of the same sizes
//   form_taps(code, sample)    of a sample that others may be like: optional FormTaps
//   copied(sample)             after a copy
template <class Device> struct BatchEntry {
  const typename Device::Sample* geometry = nullptr;
  typename Device::Kept* packed = nullptr;
  int sample = 0;             // of the batch
  int alike = -1;             // of the call's alike samples: its numbers in place of the geometry's; -1: none
  int windows = -1;           // where in the call's weights its own windows begin; -1: those of the geometry
  bool same_windows = false;  // all are the one that is there
  const char* in[kMaxStageInputs] = {};
  char* out = nullptr;
};

// All samples of a batch, where they differ in addresses, coefficients, their own window and a form's numbers alone.
template <class Device> struct BatchRun {
  BatchEntry<Device> like;             // of sample 0, but for addresses
  int samples = 0;                     // 0: the batch has entries
  int window = 0;                      // weights of each sample's own window, contiguous; 0: none
  const AlikeSample* alike = nullptr;  // of each sample, the numbers of a form; null: there is none
};

// What the calls of a stage leave to each other. The results of a call are `run` or `entries`, and what they refer to.
template <class Device> struct BatchMemory {
  struct KnownShape : ShapeKey {
    Shape out;
    std::vector<typename Device::Sample> geometries;
    std::vector<typename Device::Kept> packed;
  };
  BatchRun<Device> run;  // all samples, in place of `entries`, where it has some
  std::vector<BatchEntry<Device>> entries;
  std::vector<SampleContext> contexts;  // of all samples, where they differ
  std::vector<float> weights;           // of all samples' windows
  std::vector<AlikeSample> alike;       // of entries

  KnownShapes<KnownShape> known;  // where geometry follows from shapes
  AxisWindows windows;            // of a sample
  bool all_windows = false;       // those of all samples are in `weights`: of one size, that of `windows`
  GeometryList<typename Device::Sample> samples;
  SampleForm form;               // of samples that are resampled
  typename Device::Sample like;  // the one that it was made of
  typename Device::Kept like_packed;
  int without_form = 0;                // calls that go without one: samples differ
  std::vector<AlikeSample> run_alike;  // of all samples at once: as many as a batch ever had
  std::vector<uint8_t> kind_of;        // which of those the maps treat alike
  std::vector<ImageExtent> images;     // of samples that are resampled, and their windows
  std::vector<ImageWindow> image_windows;
};

struct BatchGeometryCall {
  const StageCode& code;
  const BatchArguments& arguments;
  std::span<const Batch> inputs;
  int size;
  const std::function<SampleContext(int)>& context;  // of sample i
  PlaneRule rule = {};
  bool needs_entries = false;  // uniform samples have entries, too
};

template <class Device> class BatchGeometry {
 public:
  using Sample = typename Device::Sample;
  using Kept = typename Device::Kept;
  using Entry = BatchEntry<Device>;
  using Memory = BatchMemory<Device>;
  struct Failed {
    int sample;
    Error error;
    bool has_shape;
  };

  BatchGeometry(const BatchGeometryCall& call, Memory& memory) : call_(call), code_(call.code), memory_(memory) {}

  // All samples at once, as memory.run; the shape of all outputs. Null: they have to be looked at one by one.
  const Shape* add_together();
  // After that. The shapes of `out`, and its samples' entries; all have `ndim` dimensions. The samples that cannot be.
  std::vector<Failed> add_each(Batch& out, int& ndim);
  // The entries again, without a form.
  void add_general();

 private:
  using KnownShape = typename Memory::KnownShape;
  static constexpr int kWithoutForm = 16;  // calls
  const BatchArguments& arguments() const { return call_.arguments; }
  const Batch& input() const { return call_.inputs[0]; }
  const StageGeometry& geometry() {
    if (!geometry_) geometry_.emplace(code_, call_.rule);
    return *geometry_;
  }
  SampleContext context(int i) const {
    SampleContext c = call_.context(i);
    c.index = i;
    return c;
  }
  void begin();
  void make_contexts();
  std::span<const SampleContext> contexts_of(const StageNode& node);
  void make_windows();
  Entry& add_entry(int i, const Sample& g, Kept* packed);
  void set_run(const Sample& g, Kept* packed, int window);
  const Shape* add_uniform();
  void add_known_shape(int i, KnownShape& known, int windows, bool same_windows);
  int add_known(int i, Batch& out);
  const Shape* add_alike();
  bool add_alike_samples();
  bool has_plain_windows(int i);
  bool add_sample(int i, Shape& shape);
  bool add_unknown(int i, Shape& shape);
  bool make_form(const Shape& shape, const Sample& g);
  size_t add_geometries(int i, Shape& shape);

  const BatchGeometryCall& call_;
  const StageCode& code_;
  Memory& memory_;
  std::optional<StageGeometry> geometry_;  // made for the first sample that is not known yet
  std::optional<Placement> placement_;     // of a sample
};

inline bool are_dense(const Batch& b) {
  bool dense = true;
  for (int i = 0; i < b.size(); ++i) dense &= b.sample(i).strides.empty();
  return dense;
}

template <class Device> void BatchGeometry<Device>::begin() {
  Memory& m = memory_;
  m.samples.shrink(0), m.entries.clear(), m.alike.clear();
  m.run.samples = 0;
  m.known.begin_call();
  m.windows.sizes.clear();
  if (arguments().convolves < 0 || !m.all_windows) m.windows.clear(), m.weights.clear();
  if (m.without_form > 0) --m.without_form;
}

template <class Device> const Shape* BatchGeometry<Device>::add_together() {
  make_contexts();
  begin();
  make_windows();
  const Shape* shape = add_uniform();
  return shape ? shape : add_alike();
}

template <class Device>
std::vector<typename BatchGeometry<Device>::Failed> BatchGeometry<Device>::add_each(Batch& out, int& ndim) {
  Memory& m = memory_;
  std::vector<Failed> failed;
  for (int i = 0; i < call_.size; ++i) {
    size_t before = 0;
    auto error = error_of([&] {  // all samples, or up to one that throws
      for (; i < call_.size; ++i) {
        if (const int known = add_known(i, out); known > i) {
          ndim = out.shape(known - 1).size();
          if ((i = known) == call_.size) break;
        }
        Batch::Sample& sample = out.sample(i);
        before = m.entries.size();
        if (!add_sample(i, sample.shape)) {  // all are looked at one by one
          m.form.forget();
          m.without_form = kWithoutForm;
          failed.clear(), begin(), make_windows();
          i = -1;
          continue;
        }
        ndim = sample.shape.size();
      }
    });
    if (!error) break;
    failed.push_back({i, std::move(*error), !out.sample(i).shape.empty()});
    m.entries.resize(before);
  }
  return failed;
}

template <class Device> void BatchGeometry<Device>::add_general() {
  Memory& m = memory_;
  m.form.forget();
  m.without_form = kWithoutForm;
  begin();
  make_windows();
  Shape shape;
  for (int i = 0; i < call_.size; ++i) {
    const size_t before = m.entries.size();
    if (error_of([&] { add_sample(i, shape); })) m.entries.resize(before);  // known
  }
}

template <class Device> void BatchGeometry<Device>::make_contexts() {
  auto& contexts = memory_.contexts;
  if (arguments().constant) return contexts.clear();
  const auto n = static_cast<size_t>(call_.size);
  if (!arguments().random) {  // they hold an index, the same in every call
    const size_t held = contexts.size();
    contexts.resize(n);
    for (size_t i = held; i < n; ++i) contexts[i].index = static_cast<int>(i);
    return;
  }
  contexts.clear();
  contexts.reserve(n);
  for (int i = 0; i < call_.size; ++i) contexts.push_back(call_.context(i)), contexts.back().index = i;
}

template <class Device>
std::span<const SampleContext> BatchGeometry<Device>::contexts_of(const StageNode& node) {
  if (node.op->info->random)
    for (SampleContext& c : memory_.contexts) c.draws = node.draws;
  return memory_.contexts;
}

// The windows of all samples, where they can be had together.
template <class Device> void BatchGeometry<Device>::make_windows() {
  Memory& m = memory_;
  m.all_windows = false;
  if (arguments().convolves < 0) return;
  const StageNode& node = code_.program.nodes[static_cast<size_t>(arguments().convolves)];
  AxisWindows& w = m.windows;
  m.all_windows = as_operator(*node.op, [&] {
    return node.op->all_windows(contexts_of(node), code_.program.inputs[0].layout, input().ndim(), w);
  });
  if (m.all_windows) {
    m.all_windows = are_plain(w.weights, w.sizes[0]);
    std::swap(w.weights, m.weights);  // next time they are written over
  }
  if (!m.all_windows) w.clear(), m.weights.clear();
}

template <class Device>
typename BatchGeometry<Device>::Entry& BatchGeometry<Device>::add_entry(int i, const Sample& g, Kept* packed) {
  Entry& e = memory_.entries.emplace_back();
  e.geometry = &g, e.packed = packed, e.sample = i;
  for (size_t k = 0; k < call_.inputs.size(); ++k)
    e.in[k] = static_cast<const char*>(call_.inputs[k].sample(i).data) + g.in[k];
  return e;
}

template <class Device> void BatchGeometry<Device>::set_run(const Sample& g, Kept* packed, int window) {
  BatchRun<Device>& run = memory_.run;
  run.like = {};
  run.like.geometry = &g, run.like.packed = packed;
  if (window > 0) run.like.windows = 0, run.like.same_windows = true;
  run.samples = call_.size, run.window = window, run.alike = nullptr;
}

// Where they have one shape, which is known. Null: it is not, or they differ.
template <class Device> const Shape* BatchGeometry<Device>::add_uniform() {
  Memory& m = memory_;
  if ((!arguments().knows_shapes && !m.all_windows) || call_.needs_entries || call_.size == 0) return nullptr;
  for (const Batch& b : call_.inputs)
    if (!b.has_uniform_shapes() || !are_dense(b)) return nullptr;
  KnownShape* known = m.known.find(call_.inputs, 0, m.windows.sizes);
  if (!known || known->geometries.size() != 1) return nullptr;
  set_run(known->geometries[0], known->packed.data(), m.all_windows ? m.windows.sizes[0] : 0);
  return &known->out;
}

template <class Device>
void BatchGeometry<Device>::add_known_shape(int i, KnownShape& known, int windows, bool same_windows) {
  for (size_t k = 0; k < known.geometries.size(); ++k) {
    Entry& e = add_entry(i, known.geometries[k], &known.packed[k]);
    e.windows = windows, e.same_windows = same_windows;
  }
}

// Samples from `i` on whose geometry is known; the first that is not.
template <class Device> int BatchGeometry<Device>::add_known(int i, Batch& out) {
  Memory& m = memory_;
  if (!arguments().knows_shapes && !m.all_windows) return i;
  const int window = m.all_windows ? m.windows.sizes[0] : 0;
  KnownShape* known = nullptr;
  const auto is_same = [&] {
    for (size_t k = 0; k < call_.inputs.size(); ++k)
      if (!(call_.inputs[k].shape(i) == known->in[static_cast<int>(k)])) return false;
    return true;
  };
  for (; i < call_.size; ++i) {
    for (const Batch& b : call_.inputs)
      if (!b.sample(i).strides.empty()) return i;
    if (!known || !is_same()) known = m.known.find(call_.inputs, i, m.windows.sizes);
    if (!known) return i;
    out.sample(i).shape = known->out;
    add_known_shape(i, *known, window ? i * window : -1, window > 0);
  }
  return i;
}

// Where they are of the form that is known. Null: one of them is not, or something has to be said of it.
template <class Device> const Shape* BatchGeometry<Device>::add_alike() {
  Memory& m = memory_;
  if (arguments().resamples < 0 || !m.form.known() || m.without_form > 0 || call_.size == 0) return nullptr;
  m.images.resize(static_cast<size_t>(call_.size));
  for (int i = 0; i < call_.size; ++i) {
    const Batch::Sample& s = input().sample(i);
    if (!s.strides.empty() || s.shape.size() < 2) return nullptr;
    m.images[static_cast<size_t>(i)] = {s.shape[0], s.shape[1]};
  }
  for (const Batch* b : arguments().choices)
    for (int i = 0; i < call_.size; ++i)
      if (!b->shape(i).empty()) return nullptr;
  bool fits = geometry().maps_give_shape();
  const StageNode& node = code_.program.nodes[static_cast<size_t>(arguments().resamples)];
  m.image_windows.resize(m.images.size());
  const auto error = error_of([&] {
    fits = fits && node.op->image_windows(contexts_of(node), m.images, m.image_windows);
    fits = fits && add_alike_samples();
  });
  if (error || !fits) return nullptr;
  set_run(m.like, &m.like_packed, 0);
  m.run.alike = m.run_alike.data();
  return &m.form.out();
}

template <class Device> bool BatchGeometry<Device>::add_alike_samples() {
  constexpr int kMostKinds = 8, kMostChoices = 4;
  Memory& m = memory_;
  const auto& choices = arguments().choices;
  const size_t count = choices.size();
  if (count > kMostChoices) return false;
  int64_t chosen[kMostKinds][kMostChoices];  // of samples of one kind
  AlikeSample kinds[kMostKinds];
  size_t known = 0;
  m.kind_of.resize(static_cast<size_t>(call_.size));
  for (int i = 0; i < call_.size; ++i) {
    int64_t own[kMostChoices];
    for (size_t k = 0; k < count; ++k) own[k] = number_of(*choices[k], i);
    size_t kind = 0;
    const auto is_own = [&](const int64_t* other) {
      bool same = true;
      for (size_t k = 0; k < count; ++k) same &= own[k] == other[k];
      return same;
    };
    while (kind < known && !is_own(chosen[kind])) ++kind;
    m.kind_of[static_cast<size_t>(i)] = static_cast<uint8_t>(kind);
    if (kind < known) continue;
    if (known++ == kMostKinds) return false;
    geometry().place(m.contexts[static_cast<size_t>(i)], input().shape(i), placement_);
    if (!m.form.fits(*placement_, kinds[kind])) return false;
    std::copy_n(own, count, chosen[kind]);
  }
  if (m.run_alike.size() < m.kind_of.size()) m.run_alike.resize(m.kind_of.size());
  return m.form.fits(input(), m.image_windows, m.kind_of, {kinds, known},
                     std::span(m.run_alike).first(m.kind_of.size()));
}

// Whether the sample's windows are in memory.windows, and its geometry follows from their sizes.
template <class Device> bool BatchGeometry<Device>::has_plain_windows(int i) {
  Memory& m = memory_;
  const StageNode& node = code_.program.nodes[static_cast<size_t>(arguments().convolves)];
  SampleContext c = context(i);
  c.draws = node.draws;
  m.windows.clear();
  as_operator(*node.op, [&] { node.op->windows(c, code_.program.inputs[0].layout, input().ndim(), m.windows); });
  join_windows(m.windows);
  return are_plain(m.windows);
}

// The output's shape and the entries of a sample, but for where the output is. False: it is not of the form that the
// samples before it have.
template <class Device> bool BatchGeometry<Device>::add_sample(int i, Shape& shape) {
  Memory& m = memory_;
  const bool convolves = arguments().convolves >= 0;
  bool knowable = arguments().knows_shapes || convolves;
  for (const Batch& b : call_.inputs) knowable &= b.sample(i).strides.empty();
  if (knowable && convolves && !m.all_windows) knowable = has_plain_windows(i);
  if (!knowable) return add_unknown(i, shape);
  int windows = -1;
  bool same_windows = false;
  if (m.all_windows) {
    windows = i * m.windows.sizes[0], same_windows = true;
  } else if (convolves) {
    windows = static_cast<int>(m.weights.size());
    same_windows = static_cast<int>(m.windows.weights.size()) == m.windows.sizes[0];
    m.weights.insert(m.weights.end(), m.windows.weights.begin(), m.windows.weights.end());
  }
  KnownShape* known = m.known.find(call_.inputs, i, m.windows.sizes);
  if (!known) {
    const size_t before = add_geometries(i, shape);
    bool is_free = true;
    for (size_t k = before; k < m.samples.size() && convolves; ++k) is_free &= Device::free_weights(m.samples[k]);
    if (!is_free) {
      for (size_t k = before; k < m.samples.size(); ++k) add_entry(i, m.samples[k], nullptr);
      return true;
    }
    known = &m.known.add(call_.inputs, i, m.windows.sizes);
    known->out = shape;
    known->packed.resize(m.samples.size() - before);
    for (size_t k = before; k < m.samples.size(); ++k) known->geometries.push_back(m.samples[k]);
    for (Sample& g : known->geometries) Device::copied(g);
  }
  shape = known->out;
  add_known_shape(i, *known, windows, same_windows);
  return true;
}

// The same, where nothing is known of samples like it.
template <class Device> bool BatchGeometry<Device>::add_unknown(int i, Shape& shape) {
  Memory& m = memory_;
  const bool has_form = m.without_form == 0 && geometry().maps_give_shape() && input().sample(i).strides.empty();
  if (has_form) {
    geometry().place(context(i), input().shape(i), placement_);
    if (AlikeSample numbers; m.form.fits(*placement_, numbers)) {
      shape = m.form.out();
      m.alike.push_back(numbers);
      Entry& e = add_entry(i, m.like, &m.like_packed);
      e.in[0] = static_cast<const char*>(input().sample(i).data) + numbers.offset;
      e.alike = static_cast<int>(m.alike.size()) - 1;
      return true;
    }
    if (m.form.known()) return false;
  }
  const size_t before = add_geometries(i, shape);
  for (size_t k = before; k < m.samples.size(); ++k) add_entry(i, m.samples[k], nullptr);
  if (has_form && m.samples.size() == before + 1 && !make_form(shape, m.samples[before])) m.without_form = kWithoutForm;
  return true;
}

template <class Device> bool BatchGeometry<Device>::make_form(const Shape& shape, const Sample& g) {
  const std::optional<FormTaps> taps = Device::form_taps(code_, g);
  if (!taps || !memory_.form.make(*placement_, shape, g, *taps, size_of(input().dtype()))) return false;
  memory_.like = g, memory_.like_packed = {};
  memory_.like.in[0] = 0;  // AlikeSample::offset has all of it
  return true;
}

// Those of a sample, after the ones that memory.samples has; their first.
template <class Device> size_t BatchGeometry<Device>::add_geometries(int i, Shape& shape) {
  Memory& m = memory_;
  FixedVector<View, kMaxStageInputs> views;
  for (const Batch& b : call_.inputs) views.push_back(b.view(i));
  const size_t before = m.samples.size();
  geometry().add(context(i), views, shape, m.samples);
  for (size_t k = before; k < m.samples.size(); ++k) {
    Sample& g = m.samples[k];
    if (code_.source < 0) merge_dims(g, views.size());
    Device::finish(code_, g);
  }
  return before;
}

}  // namespace penstock
