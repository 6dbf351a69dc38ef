// SPDX-License-Identifier: Apache-2.0
// Transforms of lines: a block takes some at a time through shared memory, long ones through its part of device memory.
// The butterflies are the CPU's, and so are the bits.
#include <algorithm>
#include <map>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/numbers.h"
#include "cuda/whole/signals.h"

namespace penstock {
namespace {

enum Word {
  kWork,
  kIn,
  kOut,
  kElements,
  kInner,
  kBegin,
  kInOuter,
  kInInner,
  kInStride,
  kOutOuter,
  kOutInner,
  kOutStride,
  kLength,
  kMirrored,
  kSquared,
  kWindow,
  kTransform,
  kLines,
  kBuffers,
  kTransformWords
};
constexpr size_t kSharedBytes = 40 * 1024;
constexpr int64_t kMostLines = 16;   // at a time
constexpr int64_t kLongBlocks = 64;  // that work on long lines, in addition to one per entry

constexpr const char* kTransformText = R"(
struct Pair { float re, im; };
template <int radix> __device__ inline void stage(const int64_t* d, const float* numbers, int lines, int64_t line,
    const Pair* x, Pair* y) {
  const int n = radix ? radix : static_cast<int>(d[0]);
  const int64_t m = d[1], span = d[2], work = m * span * (radix ? 1 : n);
  const float *twiddles = numbers + d[3], *roots = numbers + d[4];
  for (int64_t item = threadIdx.x; item < lines * work; item += blockDim.x) {
    const Pair* from = x + item / work * line;
    Pair* to = y + item / work * line;
    const int64_t rest = item % work, q = rest % span, j = rest / span % m;
    const float* w = twiddles + 2 * (n - 1) * j;
    from += q + span * j;
    to += q + span * n * j;
    if constexpr (radix == 0) {
      const int k = static_cast<int>(rest / span / m);
      const Pair r = Butterflies::many(from, span * m, n, k, roots);
      to[span * k] = k ? Butterflies::times(r, w[2 * k - 2], w[2 * k - 1]) : r;
    } else {
      Pair in[radix], out[radix];
      PENSTOCK_UNROLL
      for (int r = 0; r < radix; ++r) in[r] = from[span * m * r];
      if constexpr (radix == 2) Butterflies::two(in, out);
      else if constexpr (radix == 3) Butterflies::three(in, out);
      else if constexpr (radix == 4) Butterflies::four(in, out);
      else Butterflies::five(in, out);
      to[0] = out[0];
      PENSTOCK_UNROLL
      for (int k = 1; k < radix; ++k) to[span * k] = Butterflies::times(out[k], w[2 * k - 2], w[2 * k - 1]);
    }
  }
}
__device__ inline void run(const char* table) {
%ENTRY%
  const float* in = reinterpret_cast<const float*>(s[1]);
  float* out = reinterpret_cast<float*>(s[2]);
  const int64_t n = s[3], inner = s[4], stride = s[8], length = s[12];
  const float* window = s[15] < 0 ? nullptr : reinterpret_cast<const float*>(data + s[15]);
  const int64_t* plan = reinterpret_cast<const int64_t*>(data + s[16]);
  const float* numbers = reinterpret_cast<const float*>(plan + plan[3]);
  const int64_t elements = plan[0], m = plan[1], bins = elements / 2 + 1, line = m + 1, most = s[17];
  const bool halves = m != elements, neighbors = inner == 1 && s[9] == 1;
  PENSTOCK_SHARED(Pair, shared);
  Pair* first_buffer = s[18] ? reinterpret_cast<Pair*>(s[18]) + blockIdx.x * 2 * most * line : shared;
  for (int64_t first = begin; first < end; first += most) {
    const int lines = static_cast<int>(end - first < most ? end - first : most);
    Pair *x = first_buffer, *y = x + most * line;
    for (int64_t item = threadIdx.x; item < lines * elements; item += blockDim.x) {
      const int64_t k = item / elements, i = item % elements, l = first + k;
      float v = 0;
      if (i < length) {
        int64_t at = s[5] + l / inner * s[6] + l % inner * s[7] + i * stride;
        const bool outside = at < 0 || at >= n;
        if (outside && s[13]) at = Mirror::place(at, n);
        if (!outside || s[13]) v = window ? in[at] * window[i] : in[at];
      }
      if (halves) {
        reinterpret_cast<float*>(x + k * line)[i] = v;
      } else {
        x[k * line + i].re = v;
        x[k * line + i].im = 0;
      }
    }
    __syncthreads();
    for (int64_t d = 0; d < plan[2]; ++d) {
      const int64_t* stage_words = plan + 5 + 5 * d;
      switch (stage_words[0]) {
        case 2: stage<2>(stage_words, numbers, lines, line, x, y); break;
        case 3: stage<3>(stage_words, numbers, lines, line, x, y); break;
        case 4: stage<4>(stage_words, numbers, lines, line, x, y); break;
        case 5: stage<5>(stage_words, numbers, lines, line, x, y); break;
        default: stage<0>(stage_words, numbers, lines, line, x, y);
      }
      __syncthreads();
      Pair* other = x;
      x = y;
      y = other;
    }
    const float* turns = numbers + plan[4];
    for (int64_t item = threadIdx.x; item < lines * bins; item += blockDim.x) {
      const int64_t k = neighbors ? item % lines : item / bins, f = neighbors ? item / lines : item % bins;
      const int64_t l = first + k;
      const Pair* z = x + k * line;
      const Pair a = z[halves && f == m ? 0 : f], b = z[halves && f > 0 ? m - f : 0];
      const float power = halves ? Butterflies::power(a, b, turns[2 * f], turns[2 * f + 1]) : a.re * a.re + a.im * a.im;
      out[l / inner * s[9] + l % inner * s[10] + f * s[11]] = s[14] ? power : sqrt(power);
    }
    __syncthreads();
  }
}
)";

}  // namespace

void enqueue_transforms(std::span<const TransformStep> steps, Launches& to) {
  if (steps.empty()) return;
  for (const bool in_shared : {true, false}) {
    EntryTable entries(kTransformWords);
    std::map<const void*, int64_t> kept;
    size_t largest = 0;
    int64_t total = 0;
    std::vector<const TransformStep*> taken;
    const auto line_bytes = [](const TransformStep& s) {
      const auto n = static_cast<size_t>(s.transform->length());
      return ((n % 2 ? n : n / 2) + 1) * 2 * 2 * sizeof(float);
    };
    for (const TransformStep& s : steps) {
      if ((line_bytes(s) <= kSharedBytes) != in_shared) continue;
      taken.push_back(&s);
      total += s.lines.count;
      largest = std::max(largest, line_bytes(s));
    }
    if (taken.empty()) continue;
    const int64_t lines =
        in_shared ? std::clamp<int64_t>(static_cast<int64_t>(kSharedBytes / largest), 1, kMostLines) : 1;
    const int64_t granule = in_shared ? lines : std::max<int64_t>(1, total / kLongBlocks);
    void* buffers = in_shared ? nullptr : to.scratch(largest * (kLongBlocks * 2 + taken.size()));
    const auto data = [&](const void* key, const void* bytes, size_t size) {
      const auto [found, fresh] = kept.try_emplace(key, 0);
      if (fresh) found->second = entries.data(bytes, size);
      return found->second;
    };
    for (const TransformStep* s : taken) {
      const FourierLines& l = s->lines;
      const int64_t window =
          s->window ? data(s->window.get(), s->window->data(), s->window->size() * sizeof(float)) : -1;
      int64_t transform = 0;
      if (const auto found = kept.find(s->transform.get()); found != kept.end()) transform = found->second;
      else if (const auto packed = s->transform->packed())
        transform = data(s->transform.get(), packed->data(), packed->size());
      int64_t* w = entries.add(l.count);
      w[kIn] = reinterpret_cast<int64_t>(s->in.data), w[kOut] = reinterpret_cast<int64_t>(s->out.data);
      w[kElements] = s->in.volume(), w[kInner] = l.inner, w[kBegin] = l.begin;
      w[kInOuter] = l.in_outer, w[kInInner] = l.in_inner, w[kInStride] = l.in_stride;
      w[kOutOuter] = l.out_outer, w[kOutInner] = l.out_inner, w[kOutStride] = l.out_stride;
      w[kLength] = l.length, w[kMirrored] = l.mirrored, w[kSquared] = l.squared;
      w[kWindow] = window, w[kTransform] = transform;
      w[kLines] = lines, w[kBuffers] = reinterpret_cast<int64_t>(buffers);
    }
    to.add(to.kernel("transform",
                     [] {
                       return whole_text(kTransformWords, std::string("struct Mirror { ") + Mirror::pixel_text +
                                                              " };\nstruct Butterflies { " +
                                                              RealFourier::butterflies_text() + " };\n" +
                                                              with_entry(kTransformText));
                     }),
           entries, granule, in_shared ? static_cast<size_t>(lines) * largest : 0);
  }
}

}  // namespace penstock
