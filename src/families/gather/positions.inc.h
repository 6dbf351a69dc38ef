// SPDX-License-Identifier: Apache-2.0
// The loop around an operator's at(), included once per target by rows.h. The compiler vectorizes it.

// at_of(i) for n outputs.
template <class V, bool nearest_pixel, class At>
inline __attribute__((always_inline)) void put_positions(int n, Positions<V>& to, const At& at_of) {
  int32_t* __restrict at_x = to.at[0], * __restrict at_y = to.at[1];
  V* __restrict weight_x = to.weight[0], * __restrict weight_y = to.weight[1];
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) {
    const Position<V> p = at_of(i);
    const Neighbor<V> nx = neighbor(p.x, p.rest_x), ny = neighbor(p.y, p.rest_y);
    if constexpr (nearest_pixel) {
      at_x[i] = nearest(nx), at_y[i] = nearest(ny);
    } else {
      at_x[i] = nx.at, weight_x[i] = nx.weight;
      at_y[i] = ny.at, weight_y[i] = ny.weight;
    }
  }
}

// The nearest pixels of n outputs.
template <class At> inline __attribute__((always_inline)) void put_pixels(int n, Positions<float>& to,
                                                                          const At& at_of) {
  int32_t* __restrict at_x = to.at[0], * __restrict at_y = to.at[1];
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) {
    const Pixel p = at_of(i);
    at_x[i] = p.x, at_y[i] = p.y;
  }
}

template <class Rule, class V, bool nearest_pixel>
void find(const PositionLoops& loops, int32_t image, int32_t y, int32_t x, int n, Positions<V>& to) {
  typename Rule::Coef c;  // a copy: nothing below writes to it
  std::memcpy(&c, loops.coef, sizeof c);
  if constexpr (kDraws<Rule>) {
    DrawnNumbers numbers;
    draw_numbers(c.draws, Rule::number(image, y, x, c), n, numbers);
    const uint32_t* drawn = numbers.first();
    if constexpr (nearest_pixel && kGivesPixels<Rule>)
      put_pixels(n, to, [&](int i) __attribute__((always_inline)) { return Rule::drawn_pixel(y, x + i, drawn[i], c); });
    else
      put_positions<V, nearest_pixel>(n, to, [&](int i) __attribute__((always_inline)) {
        return Rule::template drawn_at<V>(y, x + i, drawn[i], c);
      });
  } else if constexpr (kHasColumns<Rule>) {
    const V* columns = static_cast<const V*>(loops.columns.get()) + x;
    const auto row = Rule::template row<V>(y, c);
    if constexpr (nearest_pixel && kGivesPixels<Rule>)
      put_pixels(n, to,
                 [&](int i) __attribute__((always_inline)) { return Rule::crossing_pixel(y, x + i, row, columns[i]); });
    else
      put_positions<V, nearest_pixel>(n, to, [&](int i) __attribute__((always_inline)) {
        return Rule::template crossing<V>(y, x + i, row, columns[i]);
      });
  } else if constexpr (nearest_pixel && kGivesPixels<Rule>) {
    put_pixels(n, to, [&](int i) __attribute__((always_inline)) { return Rule::pixel(image, y, x + i, c); });
  } else {
    put_positions<V, nearest_pixel>(
        n, to, [&](int i) __attribute__((always_inline)) { return Rule::template at<V>(image, y, x + i, c); });
  }
}

template <class Rule, class V> void find_columns(const void* coef, int32_t width, V* to) {
  typename Rule::Coef c;
  std::memcpy(&c, coef, sizeof c);
#pragma GCC ivdep
  for (int32_t x = 0; x < width; ++x) to[x] = Rule::template column<V>(x, c);
}
