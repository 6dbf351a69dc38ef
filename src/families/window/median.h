// SPDX-License-Identifier: Apache-2.0
// Medians of windows: 3 x 3 and 5 x 5 by sorting networks, others of bytes by counts; the slow twin for the rest.
#pragma once
#include "families/window/median_rows.h"
#include "families/window/median_steps.h"
#include "families/window/median_twin.h"

namespace penstock::window {

inline void median_on_host(const View& in, const View& out, const MedianTwin::Coef& c, Target target) {
  if (c.width == c.height && (c.width == 3 || c.width == 5)) {
    median_network(target, in.dtype, in.data, out.data, c.out, static_cast<int>(c.width));
    return;
  }
  if (size_of(in.dtype) == 1) {
    median_of_bytes(target, in.dtype, in.data, out.data, c.out, c.width, c.height);
    return;
  }
  dispatch(in.dtype,
           [&]<class T>(TypeTag<T>) { run_image_rule<MedianTwin>(in.as<const T>(), out.as<T>(), c, nullptr); });
}

// The median of the window around each element of `in`, which `out` has the shape and the type of.
inline void median_window(const View& in, const View& out, MedianTwin::Coef c, SampleWork& to) {
  if (out.volume() == 0) return;
  c.out.outer *= c.out.depth, c.out.depth = 1;
  const auto host = [=] { median_on_host(in, out, c, best_target()); };
  if (auto step = median_step(in, out, c.out, c.width, c.height)) {
    step->host = host;
    to.kernel(std::move(*step));
    return;
  }
  to.map(in, out, {&image_rule_text<MedianTwin>, coef_bytes_of(c), nullptr, nullptr, host});
}

}  // namespace penstock::window
