// SPDX-License-Identifier: Apache-2.0
// The family gather, as operators use it: kernels/contract.h says what an operator gives.
#pragma once
#include "families/gather/kept_pixels.h"
#include "families/gather/kernels/sample.h"
#include "families/gather/rows.h"
#include "operator/image_work.h"
#include "operator/kernel_step.h"

namespace penstock::gather {

// For the pages of operators: see NumberOf in kernels/contract.h.
inline constexpr const char* kWhyFloat64 = "sums of 16-bit integers, because float32 leaves 8 bits for their fractions";

// How an operator samples. `fill`: the value of a constant border.
struct Sampling {
  Filter filter = kLinear;
  Border border = kConstant;
  float fill = 0;
};
// Images of (height, width, channels), one after another.
struct Images {
  int32_t count, height, width, channels;
};
// Of a view with H and W, channels last; throws for extents that int32 does not hold.
Images images_of(const Shape& shape, const Layout& layout);
Source source_of(const Images& in, const Sampling& sampling);
void* image_at(const View& v, const Images& images, int32_t i);
// The kernel's step, without the operator's coefficients, which follow the head of its row, and what the host does.
KernelStep step_for(const View& in, const View& out, const Source& source, std::string (*rule)());
// Makes one step of several that read at the same positions.
void join(std::vector<KernelStep>& steps);

template <class Rule> std::string rule_text() {
  std::string text;
  if constexpr (requires { Rule::base_text; }) text = Rule::base_text;  // members that rules share
  return text + Rule::pixel_text;
}

// Every pixel of `out` is one of `in`, of the same type, at the position that the rule gives. `kept`: of the operator,
// if positions depend on the image's size alone.
template <class Rule>
void sample(const View& in, const View& out, const typename Rule::Coef& coef, const Sampling& sampling, SampleWork& to,
            const std::shared_ptr<KeptPixels>& kept = nullptr) {
  if (out.volume() == 0) return;
  const Images from = images_of(in.shape, in.layout), made = images_of(out.shape, out.layout);
  const Source source = source_of(from, sampling);
  const auto host = [=] {
    const Target target = best_target();
    PositionLoops loops = position_loops<Rule>(coef, target, made.width, finds_in_float64(in.dtype, source.filter));
    const bool keeps = kept && source.filter == kNearest && source.border == kConstant;
    for (int32_t i = 0; i < made.count; ++i) {
      if (keeps) loops.pixels = kept->planes(made.height, made.width, loops);
      sample_image(target, in.dtype, image_at(in, from, i), source, loops, {i, made.height, made.width},
                   image_at(out, made, i));
    }
  };
  KernelStep step = step_for(in, out, source, &rule_text<Rule>);
  Row<typename Rule::Coef> row{{}, coef};
  std::memcpy(&row.head, step.row.data(), sizeof row.head);
  step.row = row_bytes(row);
  step.host = host;
  to.kernel(std::move(step));
}

}  // namespace penstock::gather
