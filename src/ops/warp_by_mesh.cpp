// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "families/gather/computed_field.h"
#include "ops/shared/displacement_field.h"
#include "ops/shared/distortion.h"
#include "ops/shared/mesh_cells.h"

namespace penstock {

struct WarpByMesh : Distortion {
  PerSample<std::vector<float>> columns, rows, moves;
  std::string pixel_origin = "corner";

  static Schema<WarpByMesh> schema() {
    using Op = WarpByMesh;
    return Schema<Op>(
               "warp_by_mesh",
               "Moves the corners of a mesh of rectangles, and the pixels of each cell with them.\n\nThe lines of the "
               "mesh are given for the input. A cell is shown between its four moved corners, by the perspective "
               "that maps them; the borders of cells stay straight. Where cells overlap the last one is seen, in the "
               "order of rows; a pixel that no cell shows stays. Boxes, points and masks of a Sample follow. Sums of "
               "uint8, int8, bool, float16 and float32 are in float32, those of other types in float64; positions "
               "are in float64. Layouts: HW, HWC, CHW, each also with a leading F; the output keeps the layout. "
               "Types: all.\n\nExample:\n>>> image = np.zeros((48, 64, 3), np.uint8)\n>>> moves = np.zeros((3, 3, 2))"
               "\n>>> moves[1, 1] = 8, -4  # the corner in the middle\n>>> result = fn.warp_by_mesh(image, "
               "columns=[0, 32, 64], rows=[0, 24, 48], moves=moves.ravel().tolist())")
        .required("columns", &Op::columns, "Where the vertical lines of the mesh are, in pixels, ascending.")
        .required("rows", &Op::rows, "Where the horizontal lines are, likewise.")
        .required("moves", &Op::moves,
                  "How far each corner moves, in pixels: x and y of the corners of the first row, from the left, then "
                  "of the next row.")
        .arg("pixel_origin", &Op::pixel_origin,
             "The position (0, 0): \"corner\" or \"center\" (as in OpenCV) of the first pixel.")
        .with(&distortion_arguments<Op>);
  }
  void ready() override { Distortion::ready(), shift_ = pixel_shift(pixel_origin); }
  void work(const SampleContext& s, std::span<const View> in, std::span<const View> out,
            SampleWork& to) const override {
    const gather::Images images = gather::images_of(in[0].shape, in[0].layout);
    const std::vector<double> cells = cells_of(s.index);
    if (out[0].volume() == 0) return;
    const MeshRule::Coef c = coef(images.height, images.width, cells);
    const auto host = [=](float* dx, float* dy) { displace_by_mesh(c, cells, dx, dy); };
    const gather::Field made = gather::computed_field<MeshRule>(images.height, images.width, c, cells, host, to);
    gather::sample<gather::FieldRule>(in[0], out[0], {made.x, made.y, images.width}, sampling(), to);
  }
  // As displacement_field.h says.
  void displace(const SampleContext& s, int32_t height, int32_t width, float* dx, float* dy) const {
    const std::vector<double> cells = cells_of(s.index);
    displace_by_mesh(coef(height, width, cells), cells, dx, dy);
  }

 private:
  static constexpr size_t kMostLines = 257;
  MeshRule::Coef coef(int32_t height, int32_t width, const std::vector<double>& cells) const {
    return {height, width, static_cast<int32_t>(cells.size() / 17), 0, shift_};
  }
  static void check_lines(const char* name, const std::vector<float>& lines) {
    if (lines.size() < 2 || lines.size() > kMostLines)
      bad_argument("{} must have 2 to {} numbers, got {}", name, kMostLines, lines.size());
    for (size_t k = 0; k < lines.size(); ++k)
      if (!(std::fabs(lines[k]) < 1e6f) || (k > 0 && !(lines[k] > lines[k - 1])))
        bad_argument("{} must ascend and be less than 1e6 in magnitude, got {} at {}", name, lines[k], k);
  }
  // The cells as the numbers of MeshCell.
  std::vector<double> cells_of(int sample) const {
    const std::vector<float> x = columns[sample], y = rows[sample], by = moves[sample];
    check_lines("columns", x), check_lines("rows", y);
    if (by.size() != 2 * x.size() * y.size())
      bad_argument("moves has {} numbers, but the {} x {} corners of the mesh need {}", by.size(), y.size(), x.size(),
                   2 * x.size() * y.size());
    for (const float v : by)
      if (!(std::fabs(v) < 1e6f)) bad_argument("moves must be less than 1e6 in magnitude, got {}", v);
    return mesh_cells(x, y, by);
  }
  double shift_ = 0;
};
PENSTOCK_OPERATOR(WarpByMesh);
PENSTOCK_DISPLACEMENTS(WarpByMesh);

}  // namespace penstock
