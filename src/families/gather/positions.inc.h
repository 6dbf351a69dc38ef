// SPDX-License-Identifier: Apache-2.0
// The loop around an operator's at(), included once per target by rows.h. The compiler vectorizes it.
template <class Rule, class V, bool nearest_pixel>
void find(const void* coef, int32_t image, int32_t y, int32_t x, int n, Positions<V>& to) {
  typename Rule::Coef c;  // a copy: nothing below writes to it
  std::memcpy(&c, coef, sizeof c);
  int32_t* __restrict at_x = to.at[0], * __restrict at_y = to.at[1];
  V* __restrict weight_x = to.weight[0], * __restrict weight_y = to.weight[1];
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) {
    const Position<V> p = Rule::template at<V>(image, y, x + i, c);
    const Neighbor<V> nx = neighbor(p.x, p.rest_x), ny = neighbor(p.y, p.rest_y);
    if constexpr (nearest_pixel) {
      at_x[i] = nearest(nx), at_y[i] = nearest(ny);
    } else {
      at_x[i] = nx.at, weight_x[i] = nx.weight;
      at_y[i] = ny.at, weight_y[i] = ny.weight;
    }
  }
}
