// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/resize_arguments.h"

#include <algorithm>

namespace penstock {
namespace {

// One value or one per axis.
void spread(const char* name, std::span<const float> v, int axes, double* out) {
  if (v.size() != 1 && static_cast<int>(v.size()) != axes)
    bad_argument("{} must have 1 or {} values, got {}", name, axes, v.size());
  for (int i = 0; i < axes; ++i) out[i] = v[v.size() == 1 ? 0 : i];
}

}  // namespace

void ResizeArguments::check_resize_arguments() const {
  const int ways = size.given() + (resize_x.given() || resize_y.given() || resize_z.given()) + resize_shorter.given() +
                   resize_longer.given();
  if (ways != 1)
    bad_argument(
        "give the size in one way only: size, or resize_x, resize_y, resize_z, or resize_shorter, or resize_longer; "
        "got {} of them",
        ways);
  const ResizeMode m = resize_mode(mode);
  if (m != ResizeMode::default_ && (resize_shorter.given() || resize_longer.given()))
    bad_argument("mode='{}' cannot be combined with resize_shorter or resize_longer", mode);
  if (*outside != "repeat" && *outside != "cut") bad_argument("outside must be 'repeat' or 'cut', got '{}'", *outside);
  if (!compat.empty() && compat != "opencv" && compat != "torchvision" && compat != "pillow")
    bad_argument("compat must be 'opencv', 'torchvision' or 'pillow', got '{}'", compat);
  const bool cuts = compat == "pillow" || (compat == "torchvision" && antialias);
  if (!compat.empty() && outside.given() && *outside != (cuts ? "cut" : "repeat"))
    bad_argument("compat='{}' has another rule than outside='{}': leave outside out", compat, *outside);
  if (compat == "pillow" && !antialias) bad_argument("compat='pillow' is antialiased: leave antialias=False out");
  if (weights != "float32" && weights != "int16")
    bad_argument("weights must be 'float32' or 'int16', got '{}'", weights);
  if (roi_start.given() != roi_end.given()) bad_argument("roi_start and roi_end must be given together");
}

ResizeRequest ResizeArguments::resize_request(const SampleContext& s, const Layout& layout) const {
  ResizeRequest q;
  q.axes = 0;
  for (int i = 0; i < layout.size(); ++i) {
    const char c = layout[i];
    if (c != 'D' && c != 'H' && c != 'W') continue;
    if (q.axes == kMaxResized)
      bad_type("expected at most {} spatial axes, got the layout '{}'", kMaxResized, layout.str());
    double& wanted = q.wanted[q.axes++];
    if (resize_shorter.given()) wanted = resize_shorter[s.index];
    else if (resize_longer.given()) wanted = resize_longer[s.index];
    else if (!size.given()) wanted = c == 'W' ? resize_x[s.index] : c == 'H' ? resize_y[s.index] : resize_z[s.index];
  }
  if (size.given()) spread("size", size.values(s.index), q.axes, q.wanted);
  q.mode = resize_shorter.given()  ? ResizeMode::not_smaller
           : resize_longer.given() ? ResizeMode::not_larger
                                   : resize_mode(mode);
  if (!max_size.empty()) spread("max_size", max_size, q.axes, q.limit);
  q.subpixel = subpixel_scale;
  q.relative = roi_relative;
  if (roi_start.given()) {
    q.region = true;
    spread("roi_start", roi_start.values(s.index), q.axes, q.lo);
    spread("roi_end", roi_end.values(s.index), q.axes, q.hi);
  }
  return q;
}

void ResizeArguments::resize(const SampleContext& s, Placement& p) const {
  const ResizeRequest q = resize_request(s, p.layout());
  int64_t extents[kMaxResized] = {};
  int dims[kMaxResized], n = 0;
  for (int d = 0; d < p.ndim(); ++d)
    if (const char c = p.layout()[d]; c == 'D' || c == 'H' || c == 'W') dims[n] = d, extents[n++] = p.extent(d);
  ResizedAxis axes[kMaxResized];
  resized_axes(q, extents, axes);
  AxisFilter filters[kMaxResized];
  for (int i = 0; i < n; ++i) filters[i] = filter_of(axis_window(s.index, axes[i].lo, axes[i].hi, axes[i].out));
  join_areas({filters, static_cast<size_t>(n)});
  const int channel = p.layout().find('C');
  const bool halves = n == 2 && std::all_of(filters, filters + n, [](const AxisFilter& f) {
                        return f.kind == FilterKind::area && std::fabs(f.hi - f.lo) == 2.0 * static_cast<double>(f.out);
                      });
  for (int i = 0; i < n; ++i) {
    AxisFilter& f = filters[i];
    // A nearest neighbor and an area always read inside.
    const bool cuts = *outside == "cut" || compat == "pillow" || (compat == "torchvision" && antialias);
    if (cuts && f.kind != FilterKind::nearest && !is_area(f.kind)) f.border = FilterBorder::cut;
    f.int16_weights = weights == "int16";
    as_peer(f);
    f.rounds_up = halves && i == n - 1 && rounds_halves_up(channel < 0 ? 1 : p.extent(channel));
    p.filter(dims[i], f);
  }
}

// OpenCV's mean of four bytes is rounded up from a half; other means are rounded to the even one.
bool ResizeArguments::rounds_halves_up(int64_t channels) const {
  return (resized_type == DType::uint8 || resized_type == DType::uint16) &&
         (channels == 1 || channels == 3 || channels == 4);
}

void ResizeArguments::as_peer(AxisFilter& f) const {
  const bool opencv = compat == "opencv", torchvision = compat == "torchvision";
  if (opencv) {
    f.antialias = false;
    f.nearest = NearestRule::edge_of_opencv;
    if (f.kind == FilterKind::lanczos3) f.kind = FilterKind::lanczos4;
    if (resized_type == DType::uint8 && f.kind == FilterKind::lanczos4 && weights == "float32") f.bits = 11;
  }
  if (torchvision) f.nearest = NearestRule::edge_of_torch;
  if (f.kind != FilterKind::nearest) f.nearest = NearestRule::center;
  if (f.kind == FilterKind::cubic && (opencv || (torchvision && !f.antialias && !antialias)))
    f.kind = FilterKind::cubic_75;
}

}  // namespace penstock
