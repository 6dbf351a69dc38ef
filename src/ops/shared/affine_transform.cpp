// SPDX-License-Identifier: Apache-2.0
#include "ops/shared/affine_transform.h"

namespace penstock {

namespace {
// A product is the second map after the first one, in float64.
struct AffineProducts {
  PENSTOCK_PIXEL(
      struct Coef {
        int64_t n;
        int64_t frames;
        int64_t links;
        int64_t after_identity;
      };
      struct Link {
        const float* at;
        int64_t frame_step;
        int64_t own;
      };
      PENSTOCK_HD static double number(const Link& l, const double* own, int64_t frame, int64_t i) {
        const int64_t at = frame * l.frame_step + i;
        return l.at ? static_cast<double>(l.at[at]) : own[l.own + at];
      } PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        const Link* const links = reinterpret_cast<const Link*>(table);
        const double* const own = reinterpret_cast<const double*>(links + c.links);
        const int64_t columns = c.n + 1;
        const int64_t size = c.n * columns;
        double* m = reinterpret_cast<double*>(team.memory());
        double* product = m + size;
        for (int64_t f = 0; f < c.frames; ++f) {
          for (int64_t i = team.index; i < size; i += team.count) {
            const double one = i / columns == i % columns ? 1.0 : 0.0;
            m[i] = c.after_identity ? one : number(links[0], own, f, i);
          }
          for (int64_t k = c.after_identity ? 0 : 1; k < c.links; ++k) {
            team.sync();
            for (int64_t e = team.index; e < size; e += team.count) {
              const int64_t row = e / columns * columns;
              const int64_t j = e - row;
              double sum = j == c.n ? number(links[k], own, f, e) : 0.0;
              for (int64_t i = 0; i < c.n; ++i) sum += number(links[k], own, f, row + i) * m[i * columns + j];
              product[e] = sum;
            }
            double* const before = m;
            m = product;
            product = before;
          }
          for (int64_t i = team.index; i < size; i += team.count) {
            a.to<float>(0)[f * size + i] = static_cast<float>(m[i]);
          }
          team.sync();
        }
      });
};
static_assert(sizeof(AffineProducts::Link) == sizeof(AffineLink));
}  // namespace

void apply_in_turn(std::span<const AffineLink> links, const std::vector<double>& own, bool after_identity,
                   const View& out, SampleWork& to) {
  const int64_t n = affine_dims(out.shape), frames = out.shape.size() == 3 ? out.shape[0] : 1;
  const auto size = static_cast<size_t>(n * (n + 1));
  if (links.size() == 1 && !links[0].at) {  // nothing to do for a GPU
    std::vector<float> numbers(own.size());
    std::transform(own.begin(), own.end(), numbers.begin(), [](double v) { return static_cast<float>(v); });
    return give_numbers(out, numbers, to);
  }
  auto table = std::make_shared<std::vector<std::byte>>(links.size_bytes() + own.size() * sizeof(double));
  std::memcpy(table->data(), links.data(), links.size_bytes());
  if (!own.empty()) std::memcpy(table->data() + links.size_bytes(), own.data(), own.size() * sizeof(double));
  run_team<AffineProducts>(
      {.in = {}, .out = {out.data}, .memory = 2 * size * sizeof(double), .table = std::move(table)},
      {n, frames, static_cast<int64_t>(links.size()), after_identity}, to);
}

AffineLink link_of(const View& matrices) {
  const int64_t n = affine_dims(matrices.shape);
  return {matrices.as<const float>(), matrices.shape.size() == 3 ? n * (n + 1) : 0, 0};
}

void check_affine_type(const ValueType& in) {
  if (in.dtype != DType::none && in.dtype != DType::float32)
    bad_type("matrices must be float32, got {}", name_of(in.dtype));
  const bool frames = in.ndim == 3 && (in.layout.empty() || in.layout[0] == 'F');
  if (in.ndim >= 0 && in.ndim != 2 && !frames)
    bad_type("a matrix must have two dimensions, and a leading one for frames if its layout starts with F; got {}",
             in.ndim);
}

int affine_dims(const Shape& s) {
  const int64_t rows = s[s.size() - 2], columns = s[s.size() - 1];
  if (columns != rows + 1 || rows < 1)
    bad_argument("an affine map must have n rows of n + 1 numbers, got the shape {}", s.text());
  if (rows > kMostAffineDims) bad_argument("a map must have 1 to {} dimensions, got {}", kMostAffineDims, rows);
  return static_cast<int>(rows);
}

std::vector<float> each_of(const std::vector<float>& list, int n, const char* name) {
  if (list.size() == 1) return std::vector<float>(static_cast<size_t>(n), list[0]);
  if (static_cast<int>(list.size()) != n)
    bad_argument("{} has {} numbers, but the map has {} dimensions", name, list.size(), n);
  return list;
}

}  // namespace penstock
