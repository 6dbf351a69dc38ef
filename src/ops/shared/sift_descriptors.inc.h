// SPDX-License-Identifier: Apache-2.0
// Places in the histograms of a descriptor, included once per target by sift_descriptors.cpp.

// For columns of a row: which cell they are in, and which of the directions they have.
inline void place_row(const DescriptorRule& rule, float row, float first, const float* angles, int64_t n,
                      float* __restrict down, float* __restrict across, float* __restrict direction) {
  for (int64_t k = 0; k < n; ++k) {
    const CellPlace p = place_in_cells(rule, row, first + static_cast<float>(static_cast<int32_t>(k)), angles[k]);
    down[k] = p.down;
    across[k] = p.across;
    direction[k] = p.direction;
  }
}
