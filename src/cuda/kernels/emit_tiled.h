// SPDX-License-Identifier: Apache-2.0
// The parts of a tiled kernel's text.
#pragma once
#include "cuda/kernels/kernel_writer.h"

namespace penstock {

class TiledKernel {
 public:
  explicit TiledKernel(KernelWriter& writer)
      : w(writer), v(writer.variant), type(input_dtype(writer.code, 0)), bytes(type == DType::uint8) {}
  void write();

 private:
  KernelWriter& w;
  const StageVariant& v;
  const DType type;
  const bool bytes;

  int planes() const { return v.planes; }
  std::string plane_offset() const;
  // A byte of a word, as the factor of a weight: where sums are averages, both made larger and smaller (kEnlarge).
  std::string byte_value(const std::string& word, const std::string& byte) const;
  const char* lane_number() const { return number(w.code.values[w.code.source].lane); }

  void setup();
  void taps();
  // A loop over groups of q neighbors: x, y are the first's place in the tile; each makes the source's value
  // v<source>[p] of output j by `value`, runs the instructions and stores. `count`, `place`: other groups than all of
  // the tile, how many and where group i is.
  using Part = std::function<void()>;
  void groups(int q, const Part& begin, const Part& value, const std::string& count = {},
              const std::string& place = {});
  void group(int q, const Part& begin, const Part& value,
             const Part& store = {});  // `store`: ends in what may precede the usual one
  void tap_place();
  void set_source();
  void resampled();  // bytes, planes side by side (emit_resampled.cpp)
};

}  // namespace penstock
