// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "batch/view_part.h"
#include "families/team/team.h"
#include "operator/operator.h"

namespace penstock {

struct SelectMasks : WholeOperator {
  bool reindex_masks = false;

  static Schema<SelectMasks> schema() {
    return Schema<SelectMasks>(
               "segmentation.select_masks",
               "Selects the polygons of some masks, with their vertices.\n\nInputs: the ids of the masks, 1-D int32, "
               "each once; polygons, (N, 3) int32, as (id, first vertex, vertex after the last); vertices, (M, "
               "coordinates) of any type. Outputs: the polygons of these masks, mask by mask in the order of the ids, "
               "with the new positions of their vertices; these vertices.\n\n"
               "Example:\n"
               ">>> polygons = np.int32([[0, 0, 3], [1, 3, 6]])\n"
               ">>> corners = np.random.rand(6, 2).astype(np.float32)\n"
               ">>> polygons, corners = fn.segmentation.select_masks(np.int32([1]), polygons, corners)\n"
               ">>> polygons.tolist()\n"
               "[[1, 0, 3]]")
        .arg("reindex_masks", &SelectMasks::reindex_masks, "Replace each id by its position in the list of ids.")
        .inputs(3)
        .input_names({"mask_ids", "polygons", "vertices"})
        .read_on_host({"mask_ids", "polygons"})
        .outputs(2)
        .batch_wide()
        .oracle("dali");
  }
  void infer(std::span<const ValueType> in, std::span<ValueType> out) const override {
    const char* const names[] = {"mask_ids", "polygons", "vertices"};
    for (int k = 0; k < 3; ++k) {
      if (k < 2 && in[k].dtype != DType::none && in[k].dtype != DType::int32)
        bad_type("{} must be int32, got {}", names[k], name_of(in[k].dtype));
      if (in[k].ndim >= 0 && in[k].ndim != (k ? 2 : 1))
        bad_type("{} must have {} dimension{}, got {}", names[k], k ? 2 : 1, k ? "s" : "", in[k].ndim);
    }
    out[0] = {DType::int32, 2, {}};
    out[1] = {in[2].dtype, 2, in[2].layout};
  }
  void shapes(const SampleContext& s, std::span<const Shape> in, std::span<const ValueType>,
              std::span<Shape> out) const override {
    out[0] = {-1, 3}, out[1] = {-1, in[2][1]};
    if (!s.batch_state) return;
    const auto& values = *static_cast<const std::span<const Batch>*>(s.batch_state);
    Tensor owners[2];
    const View list[2] = {dense(values[0].view(s.index), owners[0]), dense(values[1].view(s.index), owners[1])};
    out[0][0] = out[1][0] = 0;
    for (const Picked& p : picked(list[0], list[1], in[2][0])) ++out[0][0], out[1][0] += p.end - p.begin;
  }
  void work(const SampleContext&, std::span<const View> in, std::span<const View> out, SampleWork& to) const override {
    std::vector<int32_t> polygons;
    int64_t next = 0;
    for (const Picked& p : picked(in[0], in[1], in[2].shape[0])) {
      const int64_t count = p.end - p.begin;
      polygons.insert(polygons.end(), {p.id, static_cast<int32_t>(next), static_cast<int32_t>(next + count)});
      to.copy(part(in[2], 0, p.begin, count), part(out[1], 0, next, count));
      next += count;
    }
    give_numbers(out[0], polygons, to);
  }

 private:
  struct Picked {
    int32_t id;
    int64_t begin, end;  // of vertices
  };
  static View dense(const View& v, Tensor& owner) {
    if (v.dense()) return v;
    owner = Tensor::empty(v.dtype, v.shape, v.layout);
    copy_strided(v, owner.view);
    return owner.view;
  }
  std::vector<Picked> picked(const View& ids, const View& polygons, int64_t vertices) const {
    if (polygons.shape[1] != 3) bad_argument("polygons must have 3 numbers each, got {}", polygons.shape[1]);
    const int32_t *id = ids.as<const int32_t>(), *rows = polygons.as<const int32_t>();
    const int64_t n = ids.volume();
    std::vector<Picked> found;
    int64_t total = 0;
    for (int64_t k = 0; k < n; ++k) {
      if (std::find(id, id + k, id[k]) != id + k) bad_argument("mask_ids has {} twice", id[k]);
      const size_t before = found.size();
      for (int64_t i = 0; i < polygons.shape[0]; ++i) {
        const int32_t* r = rows + 3 * i;
        if (r[0] != id[k]) continue;
        if (r[1] < 0 || r[2] > vertices || r[1] > r[2])
          bad_argument("polygon {} has the vertices {} to {}, but there are {}", i, r[1], r[2], vertices);
        found.push_back({reindex_masks ? static_cast<int32_t>(k) : id[k], r[1], r[2]});
        if ((total += r[2] - r[1]) > INT32_MAX) bad_argument("the masks have more than {} vertices", INT32_MAX);
      }
      if (found.size() == before) bad_argument("the mask {} has no polygon", id[k]);
    }
    return found;
  }
};
PENSTOCK_OPERATOR(SelectMasks);

}  // namespace penstock
