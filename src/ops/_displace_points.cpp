// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "operator/stored.h"
#include "ops/shared/inverse_field.h"

namespace penstock {

struct DisplacePoints : WholeOperator {
  static Schema<DisplacePoints> schema() {
    return Schema<DisplacePoints>(
               "_displace_points",
               "Moves points as a field of displacements moves the pixels.\n\nInputs: points (N, n), x and y first, in "
               "pixels; the field (2, height, width), float32: output (x, y) of the image is its input at (x + dx, y + "
               "dy). Types of points: all; integers are rounded half to even and saturated.")
        .inputs(2)
        .input_names({"points", "displacements"})
        .read_on_host({"points", "displacements"})
        .hidden()
        .oracle("numpy");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    if (in[0].ndim == 0) bad_type("points must have at least one dimension");
    check_field_type(in[1]);
    out[0] = in[0];
  }
  void shapes(const SampleContext&, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = in[0];
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    const int64_t numbers = in[0].shape[in[0].shape.size() - 1];
    if (numbers < 2) bad_argument("points of {} numbers have no x and y", numbers);
    if (in[0].volume() == 0) return;
    const InverseField field(in[1]);
    dispatch(in[0].dtype, [&]<class T>(TypeTag<T>) {
      const T* const from = in[0].as<const T>();
      std::vector<Stored<T>> made(reinterpret_cast<const Stored<T>*>(from),
                                  reinterpret_cast<const Stored<T>*>(from) + in[0].volume());
      for (size_t i = 0; i < made.size(); i += static_cast<size_t>(numbers)) {
        const auto p = field.moved({static_cast<double>(from[i]), static_cast<double>(from[i + 1])});
        for (size_t a = 0; a < 2; ++a) {
          const T v = stored<T>(p[a]);
          std::memcpy(&made[i + a], &v, sizeof v);
        }
      }
      give_numbers(out[0], made, to);
    });
  }

 private:
  // std::vector<bool> has no addresses.
  template <class T> using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
};
PENSTOCK_OPERATOR(DisplacePoints);

}  // namespace penstock
