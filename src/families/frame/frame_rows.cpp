// SPDX-License-Identifier: Apache-2.0
#include "families/frame/frame.h"

#include <algorithm>
#include <cstring>

#include "base/crew.h"
#include "base/intrinsics.h"
#include "families/frame/hue.h"
#include "families/frame/lab.h"
#include "families/frame/luma.h"
#include "families/frame/twin.h"

namespace penstock::frame {
namespace {

constexpr int64_t kRun = 1024;  // pixels whose planes stay in the first cache

#define PENSTOCK_LOOPS frame
#define PENSTOCK_LOOPS_TEXT "families/frame/frame_rows.inc.h"
#include "base/foreach_target.h"

template <class T> void make_rows(const FrameRow& r, int64_t first, int64_t end) {
  with_kinds(r.in.kind, r.out.kind, [&]<int from, int to>() {
    constexpr bool bytes = from >= chroma || to >= chroma;
    if constexpr (!bytes || sizeof(T) == 1) frame_twin<T, from, to>(r, first, end);
  });
}

}  // namespace

void frame_rows(Target target, DType dtype, const FrameRow& r, int64_t first) {
  const int64_t rows = r.height - first, bytes = rows * r.width * 4 * static_cast<int64_t>(size_of(dtype));
  const bool fast = dtype == DType::uint8 && PENSTOCK_FOR_TARGET(target, frame, has_loops(r));
  // Rows that share chroma stay together.
  const int64_t both = r.out.kind == chroma && r.out.half_y ? 2 : 1;
  Crew::share((rows + both - 1) / both, bytes, [&](int64_t from, int64_t end) {
    from = first + from * both, end = std::min(first + end * both, r.height);
    if (fast) PENSTOCK_FOR_TARGET(target, frame, convert_rows(r, from, end));
    else if (dtype == DType::uint8) make_rows<uint8_t>(r, from, end);
    else if (dtype == DType::uint16) make_rows<uint16_t>(r, from, end);
    else make_rows<float>(r, from, end);
  });
}

bool hue_pixels(Target target, const HueNumbers& m, const uint8_t* in, uint8_t* out, int64_t n) {
  return PENSTOCK_FOR_TARGET(target, frame, hue_pixels(m, in, out, n));
}
bool turn_pixels(Target target, const TurnNumbers& m, const uint8_t* in, uint8_t* out, int64_t n) {
  return PENSTOCK_FOR_TARGET(target, frame, turn_pixels(m, in, out, n));
}
bool lab_pixels(Target target, const LabTables& t, const uint8_t* in, uint8_t* out, int64_t n) {
  return PENSTOCK_FOR_TARGET(target, frame, lab_pixels(t, in, out, n));
}
bool luma_pixels(Target target, const LumaNumbers& m, const uint8_t* in, uint8_t* out, int64_t n) {
  return PENSTOCK_FOR_TARGET(target, frame, luma_pixels(m, in, out, n));
}

}  // namespace penstock::frame
