// SPDX-License-Identifier: Apache-2.0
// The loops of gaussian_windows.cpp, included once per target; the compiler vectorizes them over the windows. Half a
// window has a row for each weight, from the outermost to the middle, and a column for each window.
template <int kColumns>
__attribute__((flatten)) void windows_of(const float* sigmas, int size, double* half, float* to) {
  const int middle = size / 2;
  double spread[kColumns], sum[kColumns] = {};
  for (int i = 0; i < kColumns; ++i) {
    const float sigma = sigmas[i] <= 0 ? deviation_of(size) : sigmas[i];
    spread[i] = 2.0 * sigma * sigma;
  }
  for (int k = 0; k < middle; ++k) {
    const double x = k - middle, square = -x * x;
    for (int i = 0; i < kColumns; ++i) half[k * kColumns + i] = exp(square / spread[i]);
  }
  for (int i = 0; i < kColumns; ++i) half[middle * kColumns + i] = 1;
  for (int k = 0; k < size; ++k) {
    const double* row = half + std::min(k, size - 1 - k) * kColumns;
    for (int i = 0; i < kColumns; ++i) sum[i] += row[i];
  }
  for (int k = 0; k <= middle; ++k) {
    float weight[kColumns];
    for (int i = 0; i < kColumns; ++i) weight[i] = static_cast<float>(half[k * kColumns + i] / sum[i]);
    for (int i = 0; i < kColumns; ++i) to[i * size + k] = to[i * size + size - 1 - k] = weight[i];
  }
}
