// SPDX-License-Identifier: Apache-2.0
// Places in the histograms of a descriptor, included once per target by sift_descriptors.cpp.

// For columns of a row: which cell they are in, turned by the keypoint's angle, and which of the directions they have.
inline void place_row(const TurnedCells& c, float row, float first, const float* angles, int64_t n, float* down,
                      float* across, float* direction) {
  for (int64_t k = 0; k < n; ++k) {
    const float column = first + static_cast<float>(static_cast<int32_t>(k));
    across[k] = column * c.cosine - row * c.sine + 1.5f;
    down[k] = column * c.sine + row * c.cosine + 1.5f;
    direction[k] = (angles[k] - c.angle) * (8.0f / 360.0f);
  }
}
