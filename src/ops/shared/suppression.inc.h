// SPDX-License-Identifier: Apache-2.0
// Included once per target by suppression.cpp. The compiler vectorizes the loop.

template <OverlapKind kind> inline bool meets_group(const Corners& box, const float* sides, float threshold) {
  int32_t met = 0;
  for (int k = 0; k < kTogether; ++k) {
    const Corners other{sides[k], sides[kTogether + k], sides[2 * kTogether + k], sides[3 * kTogether + k]};
    met |= overlap_of<kind>(other, box) > threshold ? 1 : 0;
  }
  return met != 0;
}
template <OverlapKind kind> inline bool meets_any(const Corners& box, const float* sides, int64_t n, float threshold) {
  for (int64_t at = 0; at < n; at += kTogether)
    if (meets_group<kind>(box, sides + 4 * at, threshold)) return true;
  return false;
}
inline bool meets(const Corners& box, const float* sides, int64_t n, float threshold, int32_t kind) {
  return kind == kIou    ? meets_any<kIou>(box, sides, n, threshold)
         : kind == kGiou ? meets_any<kGiou>(box, sides, n, threshold)
                         : meets_any<kDiou>(box, sides, n, threshold);
}
