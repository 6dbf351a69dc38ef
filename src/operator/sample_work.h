// SPDX-License-Identifier: Apache-2.0
// The work of a whole operator on one sample, in steps that run on the host and on a GPU. The operator gives the steps
// once, in work(). The host runs each at once; a GPU collects the steps of all samples into a few kernels.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "numerics/fourier.h"
#include "numerics/loudness.h"
#include "numerics/reduction.h"
#include "operator/argument.h"
#include "pixel/philox.h"

namespace penstock {

struct ElementStep;
struct FourierLines;
struct GroupStep;
struct KernelStep;
struct Moments;

// Values of an argument for one sample. On a GPU (`there` has an address) only kernels read them.
struct SampleNumbers {
  std::vector<float> here;
  View there;
  bool on_gpu() const { return there.data != nullptr; }
  int64_t size() const { return on_gpu() ? there.volume() : static_cast<int64_t>(here.size()); }
  SampleNumbers part(int64_t begin, int64_t end) const;
};
SampleNumbers numbers_of(const PerSample<std::vector<float>>& argument, int sample);

// How a block of random bits becomes elements.
struct DrawRule {
  int per_block;          // elements that a block gives
  std::string (*text)();  // members of a struct: Coef, and `number(const PhiloxBlock&, int k, const Coef&)` of element
                          // k < per_block
  void (*fill)(const View& out, const RandomStream&, const std::byte* coef);  // the same on the host
  // The same for one element of each sample; at most kStreamsTogether, whose streams differ only in `sample`.
  void (*scalars)(DType, void* out, const RandomStream&, std::span<const uint64_t> samples,
                  const std::byte* coef) = nullptr;
};

// How the numbers along an axis become others.
struct AxisRule {
  std::string (*text)();  // members of a struct: Coef, and `number(const Row& in, int64_t j, const Coef&)`, in[k] a
                          // double: number j
  // The same on the host: from `outer` times n, `inner` elements to as many times m, `inner`.
  void (*apply)(const double* in, double* out, int64_t outer, int64_t n, int64_t m, int64_t inner,
                const std::byte* coef);
};

struct NormalizeRule {
  bool has_mean = false, has_stddev = false;  // given, else computed
  SampleNumbers mean, stddev;                 // one value or one for each result of the plan
  bool zero_divides = false;                  // a given deviation of 0 gives infinities
  bool batch = false;                         // computed statistics are over all samples
  const Moments* common = nullptr;            // then, on the host: already computed
  int ddof = 0;
  double epsilon = 0, scale = 1, shift = 0;
};

class SampleWork {
 public:
  virtual ~SampleWork() = default;
  // `from` and `to` have the same shape and any strides. Converts types as `cast` does.
  virtual void copy(const View& from, const View& to) = 0;
  // As fill_strided.
  virtual void fill(const View& to, const SampleNumbers& values, int channel_dim = -1) = 0;
  // The next steps may write to what the steps before have written.
  virtual void then() = 0;
  virtual void draw(const View& out, const RandomStream& stream, const DrawRule& rule,
                    std::span<const std::byte> coef) = 0;
  // `in` and `out` are dense here and below.
  virtual void reduce(const View& in, const ReductionPlan& plan, const ReductionRule& rule, const View& out) = 0;
  virtual void normalize(const View& in, const ReductionPlan& plan, const NormalizeRule& rule, const View& out) = 0;
  // `axis` of both; their other extents are equal.
  virtual void map_axis(const View& in, const View& out, int axis, const AxisRule& rule,
                        std::span<const std::byte> coef) = 0;
  // Each element of the output is a function of the input (image_work.h, signal_work.h).
  virtual void map(const View& in, const View& out, ElementStep step) = 0;
  // Groups of threads, each with its own memory (image_work.h). The groups of one call run before those of the next,
  // and before maps.
  virtual void groups(const View& in, GroupStep step) = 0;
  // A kernel of a family (kernel_step.h). Those of all samples that have the same kernel are one launch, after the
  // copies and fills since then().
  virtual void kernel(KernelStep step) = 0;
  // Memory that lives until the operator's work is done; one block per sample.
  virtual void* scratch(size_t bytes) = 0;

  // Signals (signal_work.h). The largest element of a float32 input, ignoring NaN; minus infinity if it is empty. The
  // next map() of the sample reads it.
  virtual const float* maximum(const View& in) = 0;
  // float32 in and out; `window` has lines.length factors, or none.
  virtual void transform(const View& in, const View& out, const FourierLines& lines,
                         std::shared_ptr<const RealFourier> transform,
                         std::shared_ptr<const std::vector<float>> window) = 0;
  // Where the signal has sound: two int32 scalars. The input is not empty.
  virtual void region(const View& in, const View& begin, const View& length, const HeardRule& rule) = 0;

  virtual bool at_once() const { return false; }  // steps run when they are given, on memory of the host
};

// At once.
SampleWork& host_work();

// The extents before an axis, of it, and after it.
struct AxisExtents {
  int64_t outer = 1, n, m, inner = 1;
  AxisExtents(const Shape& in, const Shape& out, int axis) : n(in[axis]), m(out[axis]) {
    for (int d = 0; d < axis; ++d) outer *= in[d];
    for (int d = axis + 1; d < in.size(); ++d) inner *= in[d];
  }
};

// The elements of a dense view in another shape.
inline View reshaped(View v, const Shape& shape) {
  v.shape = shape, v.strides = dense_strides(shape);
  return v;
}

}  // namespace penstock
