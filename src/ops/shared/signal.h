// SPDX-License-Identifier: Apache-2.0
// Shared by operators on signals.
#pragma once
#include <map>
#include <mutex>

#include "batch/view_part.h"
#include "operator/operator.h"
#include "operator/signal_work.h"

namespace penstock {

inline void check_float32(std::span<const ValueType> in) {
  if (in[0].dtype != DType::none && in[0].dtype != DType::float32)
    bad_type("expected float32, got {}", name_of(in[0].dtype));
}

// float32 samples of one channel: shape (n), (n, 1) or (1, n).
inline void check_signal(std::span<const ValueType> in) {
  if (in[0].dtype != DType::none && in[0].dtype != DType::float32)
    bad_type("expected a signal of float32, got {}", name_of(in[0].dtype));
}
inline int64_t signal_length(const Shape& shape) {
  int64_t length = 1;
  for (const int64_t extent : shape) {
    if (extent != 1 && length != 1) bad_argument("expected a signal of one channel, got {} dimensions", shape.size());
    length *= extent;
  }
  return length;
}

// The dimension of frequencies: 'f' of the layout; without a layout "f", "ft" or "*ft" is assumed.
inline int frequency_axis(const Layout& layout, int ndim) {
  if (const int f = layout.find('f'); f >= 0) return f;
  if (!layout.empty()) bad_argument("the layout {} has no dimension 'f'", layout.str());
  return ndim <= 1 ? 0 : ndim - 2;
}

// The dimensions of features and of frames: 'f' and 't' of the layout; without a layout the last two, in this order.
struct SpectrogramAxes {
  int features, frames;
  SpectrogramAxes(const Layout& layout, int ndim) {
    if (ndim < 2) bad_argument("a spectrogram must have features and frames, got {} dimensions", ndim);
    features = layout.empty() ? ndim - 2 : layout.find('f');
    frames = layout.empty() ? ndim - 1 : layout.find('t');
    if (features < 0 || frames < 0) bad_argument("the layout {} has no dimensions 'f' and 't'", layout.str());
  }
};

// Extents before an axis, of it, and after it.
struct AroundAxis {
  int64_t before = 1, extent = 1, after = 1;
  AroundAxis(const Shape& shape, int axis) : extent(shape[axis]) {
    for (int d = 0; d < axis; ++d) before *= shape[d];
    for (int d = axis + 1; d < shape.size(); ++d) after *= shape[d];
  }
};

// out (rows x after) = matrix (rows x columns; row r has numbers from first[r] to last[r]) x in (columns x after),
// summed in the order of columns; where `after` is not 1 and `fused` is set, by fused multiply-adds.
struct BandMatrix {
  int64_t rows = 0, columns = 0;
  bool fused = false;
  std::vector<float> values;  // rows x columns
  std::vector<int64_t> first, last;

  void fit() {  // the first and the last column that is not 0
    first.assign(rows, 0), last.assign(rows, 0);
    for (int64_t r = 0; r < rows; ++r) {
      while (first[r] < columns && values[r * columns + first[r]] == 0) ++first[r];
      last[r] = columns;
      while (last[r] > first[r] && values[r * columns + last[r] - 1] == 0) --last[r];
    }
  }
  void multiply(const float* in, int64_t after, float* out) const;
  // For kernels: for each row first, last and the position of its numbers; then the numbers from first to last.
  std::vector<std::byte> packed() const;
};

// The same product in a kernel, in the same order.
struct BandProduct {
  PENSTOCK_PIXEL(
      struct Coef { int64_t rows, columns, after, fused; }; template <class Out, class In>
      PENSTOCK_HD static Out value(const In* in, int64_t i, const Coef& c, const char* table) {
        const int64_t x = i % c.after, r = i / c.after % c.rows, o = i / c.after / c.rows;
        const int64_t* row = reinterpret_cast<const int64_t*>(table) + 3 * r;
        const float* weights = reinterpret_cast<const float*>(table + 24 * c.rows) + row[2];
        const In* from = in + o * c.columns * c.after + row[0] * c.after + x;
        const int64_t n = row[1] - row[0];
        float sum = 0;
        int64_t k = 0;
        if (c.after == 1) {
          float part[16] = {};
          for (; k + 16 <= n; k += 16)
            for (int p = 0; p < 16; ++p) part[p] += weights[k + p] * from[k + p];
          for (int p = 0; p < 16; ++p) sum += part[p];
        }
        if (c.fused && c.after != 1)
          for (; k < n; ++k) sum = fma(weights[k], from[k * c.after], sum);
        for (; k < n; ++k) sum += weights[k] * from[k * c.after];
        return sum;
      });
};

// The matrices of an operator by the extent that they multiply, each made once.
class KeptMatrices {
 public:
  template <class Make> std::shared_ptr<const BandMatrix> of(int64_t extent, const Make& make) const {
    const std::lock_guard lock(kept_->mutex);
    auto& found = kept_->by_extent[extent];
    if (!found) found = std::make_shared<const BandMatrix>(make());
    return found;
  }
  // The product along an axis, as a step.
  template <class Make>
  void multiply(const View& in, const View& out, int axis, SampleWork& to, const Make& make) const {
    if (out.volume() == 0) return;
    const AroundAxis a(in.shape, axis);
    const auto matrix = of(a.extent, make);
    const auto host = [=] {
      for (int64_t i = 0; i < a.before; ++i)
        matrix->multiply(in.as<const float>() + i * a.extent * a.after, a.after,
                         out.as<float>() + i * matrix->rows * a.after);
    };
    const BandProduct::Coef coef{matrix->rows, a.extent, a.after, matrix->fused};
    to.map(in, out,
           {[] { return std::string(BandProduct::pixel_text); }, coef_bytes_of(coef), matrix,
            [=] { return matrix->packed(); }, host});
  }

 private:
  struct Kept {
    std::mutex mutex;
    std::map<int64_t, std::shared_ptr<const BandMatrix>> by_extent;
  };
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

// out = multiplier * log10(max(least, in / reference))
void decibels(const float* in, int64_t n, float reference, float least, float multiplier, float* out);

}  // namespace penstock
