// SPDX-License-Identifier: Apache-2.0
#include "families/team/team.h"
#include "ops/shared/displacement_field.h"
#include "ops/shared/distortion.h"

namespace penstock {

struct GridRule {
  PENSTOCK_PIXEL(
      struct Coef {
        const float* x;  // how far each column and each row is moved
        const float* y;
      };
      template <class V> PENSTOCK_INLINE static gather::Position<V> at(int32_t, int32_t y, int32_t x, const Coef& c) {
        const V by_x = gather::read_only(c.x + x);
        const V by_y = gather::read_only(c.y + y);
        return gather::displaced(static_cast<V>(x), static_cast<V>(y), by_x, by_y);
      });
};

struct GridDistortion : Distortion {
  PerSample<std::vector<float>> steps_x, steps_y;

  static Schema<GridDistortion> schema() {
    using Op = GridDistortion;
    return Schema<Op>(
               "grid_distortion",
               "Stretches and shrinks the columns and rows of a grid of cells.\n\nThe output is divided into "
               "columns of equal width, one for each number of `steps_x`; column i shows a part of the input "
               "that is steps_x[i] times as wide. The parts follow one another from the left border, and "
               "positions between two borders are linear; rows likewise. If the numbers add up to their count, "
               "the whole input is shown. Albumentations' GridDistortion divides by whole pixels and repeats the "
               "pixels at borders of cells. Sums of uint8, int8, bool, float16 and float32 are in float32, "
               "those of other types in float64. Layouts: HW, HWC, CHW, each also with a leading F; the output "
               "keeps the layout. Types: all.\n\nExample:\n>>> image = np.zeros((48, 64, 3), np.uint8)\n>>> "
               "result = fn.grid_distortion(image, steps_x=[0.8, 1.4, 0.8], steps_y=[1.2, 0.8])")
        .required("steps_x", &Op::steps_x, "The widths of the parts of the input, as multiples of those of the output.")
        .required("steps_y", &Op::steps_y, "The heights, likewise.")
        .with(&distortion_arguments<Op>)
        .reads_images();
  }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const gather::Images images = gather::images_of(in[0].shape, in[0].layout);
    std::vector<float> moves = moves_of(steps_x, "steps_x", s.index, images.width);
    const std::vector<float> down = moves_of(steps_y, "steps_y", s.index, images.height);
    if (out[0].volume() == 0) return;
    const size_t columns = moves.size();
    moves.insert(moves.end(), down.begin(), down.end());
    auto* const table = static_cast<float*>(to.scratch(moves.size() * sizeof(float)));
    give_numbers(View{table, DType::float32, {}, {}, {}}, moves, to);
    to.then();
    gather::sample<GridRule>(in[0], out[0], {table, table + columns}, sampling(), to);
  }
  // As displacement_field.h says.
  void displace(const SampleContext& s, int32_t height, int32_t width, float* dx, float* dy) const {
    const std::vector<float> across = moves_of(steps_x, "steps_x", s.index, width);
    const std::vector<float> down = moves_of(steps_y, "steps_y", s.index, height);
    for (size_t y = 0; y < down.size(); ++y) {
      dx = std::copy(across.begin(), across.end(), dx);
      dy = std::fill_n(dy, width, down[y]);
    }
  }

 private:
  static constexpr size_t kMostCells = 4096;
  // How far the n pixels along an axis are moved.
  static std::vector<float> moves_of(const PerSample<std::vector<float>>& argument, const char* name, int sample,
                                     int32_t n) {
    const std::vector<float> steps = argument[sample];
    if (steps.empty() || steps.size() > kMostCells)
      bad_argument("{} must have 1 to {} numbers, got {}", name, kMostCells, steps.size());
    std::vector<double> borders(steps.size() + 1, 0.0);  // in the input, in cells
    for (size_t i = 0; i < steps.size(); ++i) {
      if (!(std::fabs(steps[i]) <= 1e4f)) bad_argument("{} must be from -10000 to 10000, got {}", name, steps[i]);
      borders[i + 1] = borders[i] + static_cast<double>(steps[i]);
    }
    const double cell = static_cast<double>(n) / static_cast<double>(steps.size());
    std::vector<float> moves(static_cast<size_t>(n));
    for (size_t k = 0; k < moves.size(); ++k) {
      const double at = (static_cast<double>(k) + 0.5) / cell;
      const size_t i = std::min(static_cast<size_t>(at), steps.size() - 1);
      const double shown = borders[i] + (at - static_cast<double>(i)) * static_cast<double>(steps[i]);
      moves[k] = static_cast<float>((shown - at) * cell);
    }
    return moves;
  }
};
PENSTOCK_OPERATOR(GridDistortion);
PENSTOCK_DISPLACEMENTS(GridDistortion);

}  // namespace penstock
