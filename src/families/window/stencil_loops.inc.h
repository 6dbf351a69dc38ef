// SPDX-License-Identifier: Apache-2.0
// Included once per target by stencil.h. A rule's members are those that are compiled for the same target.
constexpr int kLanes = PENSTOCK_TARGET_FLOATS ? PENSTOCK_TARGET_FLOATS : 4;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

struct RowNeighbors {
  const float* const* rows;
  int64_t at, pixel;
  inline __attribute__((always_inline)) Lanes operator()(int dy, int dx) const {
    Lanes v;
    std::memcpy(&v, rows[dy] + at + dx * pixel, sizeof v);
    return v;
  }
};

template <class Rule, class Coef>
void run(float* to, const float* const* rows, int64_t n, int64_t pixel, const void* coef, const RowMemory& memory) {
  const Coef c = *static_cast<const Coef*>(coef);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    if (memory.next) __builtin_prefetch(memory.next + i);
    const Lanes v = Rule::template result<Lanes>(RowNeighbors{rows, i, pixel}, c);
    std::memcpy(to + i, &v, sizeof v);
  }
  if (i == n) return;
  const Lanes v = Rule::template result<Lanes>(RowNeighbors{rows, i, pixel}, c);
  std::memcpy(to + i, &v, static_cast<size_t>(n - i) * sizeof(float));
}
