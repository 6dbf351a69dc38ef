// SPDX-License-Identifier: Apache-2.0
// The loop around fold(), included once per target by fold_samples.h; the compiler vectorizes it.
template <class Op, class V, size_t... values, size_t... members>
__attribute__((flatten)) void fold_rows(const FoldRows<Op>& in, const typename Op::Known& known, size_t n,
                                        FoldedRows<Op, V>& out, std::index_sequence<values...>,
                                        std::index_sequence<members...>) {
  using Values = typename Op::Values;
  using Words = std::array<V, sizeof...(members)>;
  const typename Op::Known k = known;
  for (size_t i = 0; i < n; ++i) {
    const auto v = std::bit_cast<Values>(std::array<float, sizeof...(values)>{in.row[values][i]...});
    const auto c = std::bit_cast<Words>(Op::template fold<V>(v, k));
    ((out.row[members][i] = c[members]), ...);
  }
}
