// SPDX-License-Identifier: Apache-2.0
#include "operator/signal_work.h"

#include <algorithm>
#include <limits>

#include "numerics/mirrored.h"
#include "operator/host_work.h"

namespace penstock {
namespace {

constexpr int64_t kColumns = 8 * kFourierLanes;
constexpr int kMostTiled = 2048;  // such a tile stays in the second-level cache of a processor

// The elements of a line that starts at `begin`.
void gather(const float* from, int64_t n, const FourierLines& lines, int64_t begin, float* to) {
  for (int64_t i = 0; i < lines.length; ++i) {
    const int64_t at = begin + i * lines.in_stride;
    to[i] = at >= 0 && at < n ? from[at] : lines.mirrored ? from[mirrored(at, n)] : 0.0f;
  }
}

}  // namespace

void HostWork::map(const View&, const View&, ElementStep step) { step.host(); }

const float* HostWork::maximum(const View& in) {
  thread_local float top;
  const auto* from = in.as<const float>();
  top = -std::numeric_limits<float>::infinity();
  float part[16];  // which vectorizes
  std::fill_n(part, 16, top);
  const int64_t n = in.volume();
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int k = 0; k < 16; ++k) part[k] = from[i + k] > part[k] ? from[i + k] : part[k];
  for (const float p : part) top = p > top ? p : top;
  for (; i < n; ++i) top = from[i] > top ? from[i] : top;
  return &top;
}

void HostWork::transform(const View& in, const View& out, const FourierLines& lines,
                         std::shared_ptr<const RealFourier> transform,
                         std::shared_ptr<const std::vector<float>> window) {
  const auto* from = in.as<const float>();
  const int64_t n = in.volume(), reach = (lines.length - 1) * lines.in_stride;
  const Target target = best_target();
  std::vector<float> outside;  // lines that extend beyond the signal, put together
  const float* line_in[kFourierLanes];
  float* line_out[kFourierLanes];
  // Transposes lines to columns: as many at a time as rows of the output fit without a page for each.
  const bool columns = lines.inner == 1 && lines.out_outer == 1 && transform->bins() <= kMostTiled;
  thread_local std::vector<float> tile;
  if (columns) tile.resize(static_cast<size_t>(transform->bins()) * kColumns);
  for (int64_t l = 0; l < lines.count; l += kFourierLanes) {
    const int some = static_cast<int>(std::min<int64_t>(kFourierLanes, lines.count - l));
    int64_t begin[kFourierLanes];
    bool inside = true;
    for (int k = 0; k < some; ++k) {
      const int64_t outer = (l + k) / lines.inner, inner = (l + k) % lines.inner;
      begin[k] = lines.begin + outer * lines.in_outer + inner * lines.in_inner;
      inside = inside && begin[k] >= 0 && begin[k] + reach < n;
      line_out[k] =
          columns ? &tile[(l + k) % kColumns] : out.as<float>() + outer * lines.out_outer + inner * lines.out_inner;
    }
    if (!inside) outside.resize(static_cast<size_t>(lines.length) * kFourierLanes);
    for (int k = 0; k < some; ++k) {
      line_in[k] = inside ? from + begin[k] : &outside[k * lines.length];
      if (!inside) gather(from, n, lines, begin[k], &outside[k * lines.length]);
    }
    std::fill(line_in + some, line_in + kFourierLanes, line_in[some - 1]);
    transform->magnitudes(target,
                          {line_in, lines.length, inside ? lines.in_stride : 1, window ? window->data() : nullptr},
                          {line_out, some, columns ? kColumns : lines.out_stride, lines.squared});
    if (const int64_t done = l + some; columns && (done % kColumns == 0 || done == lines.count)) {
      const int64_t first = (done - 1) / kColumns * kColumns;
      for (int64_t f = 0; f < transform->bins(); ++f)
        std::copy_n(&tile[f * kColumns], done - first, out.as<float>() + f * lines.out_stride + first);
    }
  }
}

namespace {

// The largest mean power of each chunk. Where whole windows lie before four chunks, their sums grow in turn: one alone
// waits for each addition. A quotient grows with its dividend, so only the largest sum is divided; the numbers are
// those of Loudness::chunk.
template <class T> std::vector<double> tops_of(const T* x, int64_t n, int64_t window, int64_t chunks) {
  constexpr int64_t kTogether = 4;
  const int64_t length = Loudness::chunk_length(window);
  std::vector<double> tops(static_cast<size_t>(chunks));
  for (int64_t c = 0; c < chunks;) {
    if (c * length < window || (c + kTogether) * length > n) {
      tops[static_cast<size_t>(c)] = Loudness::chunk(x, n, window, c, 0).top;
      ++c;
      continue;
    }
    double sum[kTogether], top[kTogether] = {};
    for (int64_t k = 0; k < kTogether; ++k) sum[k] = Loudness::sum_of(x, (c + k) * length - window, (c + k) * length);
    for (int64_t i = c * length; i < (c + 1) * length; ++i)
      for (int64_t k = 0; k < kTogether; ++k) {
        const int64_t at = i + k * length;
        sum[k] += Loudness::power(x, at) - Loudness::power(x, at - window);
        top[k] = sum[k] > top[k] ? sum[k] : top[k];
      }
    for (int64_t k = 0; k < kTogether; ++k) tops[static_cast<size_t>(c + k)] = top[k] / static_cast<double>(window);
    c += kTogether;
  }
  return tops;
}

}  // namespace

void HostWork::region(const View& in, const View& begin, const View& length, const HeardRule& rule) {
  const int64_t n = in.volume(), chunks = (n - 1) / Loudness::chunk_length(rule.window) + 1;
  int64_t first = -1, last = -1;
  dispatch(in.dtype, [&]<class T>(TypeTag<T>) {
    const T* x = in.as<const T>();
    const std::vector<double> tops = tops_of(x, n, rule.window, chunks);
    const double reference = rule.reference == 0 ? *std::max_element(tops.begin(), tops.end()) : rule.reference;
    const double least = reference * rule.ratio;
    const auto heard = [&](double top) { return top >= least; };
    const auto from = std::find_if(tops.begin(), tops.end(), heard);
    if (reference == 0 || from == tops.end()) return;
    const int64_t until = tops.rend() - std::find_if(tops.rbegin(), tops.rend(), heard) - 1;
    first = Loudness::begin_of(Loudness::chunk(x, n, rule.window, from - tops.begin(), least).first, rule.window);
    last = Loudness::chunk(x, n, rule.window, until, least).last;
  });
  *begin.as<int32_t>() = static_cast<int32_t>(first < 0 ? 0 : first);
  *length.as<int32_t>() = static_cast<int32_t>(first < 0 ? 0 : last - first + 1);
}

}  // namespace penstock
