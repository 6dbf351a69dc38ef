// SPDX-License-Identifier: Apache-2.0
// Steps of operators on signals, like those of sample_work.h: they run on the host and on a GPU. Views are dense.
#pragma once
#include <functional>
#include <memory>

#include "numerics/fourier.h"
#include "numerics/loudness.h"
#include "operator/sample_work.h"

namespace penstock {

// Each element of the output is a function of the input.
struct ElementStep {
  // Members of a struct: Coef, and `value<Out>(const In* in, int64_t i, const Coef&, const char* table)`: element i of
  // the output.
  std::string (*text)();
  std::vector<std::byte> coef;
  std::shared_ptr<const void> shared;  // owner of the table: samples with the same one share it
  std::function<std::vector<std::byte>()> table;
  std::function<void()> host;  // the same there
};

// Lines of elements, each transformed by itself. Element i of line l is
//   in[begin + l / inner * in_outer + l % inner * in_inner + i * in_stride],
// mirrored at the ends of the input, or 0 outside it; frequency f of it is
//   out[l / inner * out_outer + l % inner * out_inner + f * out_stride].
struct FourierLines {
  int64_t count = 0, inner = 1, begin = 0, in_outer = 0, in_inner = 0, in_stride = 1, out_outer = 0, out_inner = 0,
          out_stride = 1;
  int64_t length = 0;  // elements of a line; zeros follow up to the transform's length
  bool mirrored = false;
  bool squared = true;  // the squares of magnitudes, else the magnitudes
};

template <class C> std::vector<std::byte> coef_bytes_of(const C& coef) {
  const auto bytes = std::as_bytes(std::span(&coef, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace penstock
