// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/generic_stage.h"

#include <algorithm>

#include "cuda/stages/stage_table.h"

namespace penstock {
namespace {

// Steps of a stage and the slots of its values; a slot is reused after the last read of its value.
class GenericSteps {
 public:
  GenericSteps(const StageCode& code, const int planes_in)
      : slot_(code.values.size(), -1), planes_(code.values.size(), planes_in) {
    int planes = planes_in;
    const auto n = static_cast<int>(code.code.size());
    std::vector<int> last(code.values.size(), -1);
    for (int i = 0; i < n; ++i) {
      const Instruction& in = code.code[i];
      last[in.value] = i;
      if (in.kind != Instruction::load)
        for (int f : in.from)
          if (f >= 0) last[f] = i;
    }
    last[code.result] = n;
    if (code.source >= 0) take(code.source);
    size_t coef = 0;
    for (int i = 0; i < n && fits; ++i) {
      const Instruction& in = code.code[i];
      GenericStep s{};
      s.kind = in.kind, s.lane = static_cast<int>(in.lane), s.from_lane = static_cast<int>(in.from_lane);
      s.dtype = static_cast<int>(in.dtype);
      for (int k = 0; k < 3; ++k)
        s.from[k] = in.kind == Instruction::load || in.from[k] < 0 ? in.from[k] : slot_[in.from[k]];
      if (in.kind == Instruction::tile) {
        const BoundOp& op = *code.program.nodes[in.node].op;
        const StageTraits& t = code.traits[in.node];
        s.planes_before = planes;
        planes = op.channels(planes);
        changes |= planes != s.planes_before;
        mixes |= t.mixes_channels;
        planes_[in.value] = planes;
        s.op = generic_operator(op.info, in.lane);
        fits &= s.op >= 0;
        s.faults = t.faults;
        const size_t bytes = op.coef_bytes(in.lane);
        s.coef = static_cast<int32_t>(coef);
        s.coef_step = t.per_channel ? static_cast<int32_t>(bytes) : 0;
        coef += (bytes * (t.per_channel ? std::max(1, planes_in) : 1) + 15) / 16 * 16;
      } else if (in.kind == Instruction::convert) {
        planes_[in.value] = planes_[in.from[0]];
      } else if (in.kind == Instruction::chain) {
        fits = false;
      }
      // A step reads a plane before it writes it, so the result may replace a value that is read for the last time.
      if (in.kind != Instruction::load && in.kind != Instruction::round)
        for (int f : in.from)
          if (f >= 0 && last[f] == i && slot_[f] >= 0) give(f);
      if (slot_[in.value] < 0) take(in.value);
      s.to = slot_[in.value];
      s.planes = planes_[in.value];
      most_planes = std::max({most_planes, s.planes, s.planes_before});
      steps.push_back(s);
      if (last[in.value] == i) give(in.value);
    }
  }
  int slot(int value) const { return value < 0 ? 0 : slot_[value]; }
  bool chunked(int planes) const { return planes > kGenericPlanes; }
  bool has_room(int planes) const {
    return fits && (chunked(planes) ? !mixes && !changes : most_planes <= kGenericPlanes);
  }

  std::vector<GenericStep> steps;
  bool fits = true, mixes = false, changes = false;
  int most_planes = 0;

 private:
  void take(int value) {
    for (int s = 0; s < kGenericSlots; ++s)
      if (!(used_ >> s & 1)) {
        used_ |= 1u << s;
        slot_[value] = s;
        return;
      }
    fits = false;
  }
  void give(int value) { used_ &= ~(1u << slot_[value]); }

  std::vector<int> slot_, planes_;
  uint32_t used_ = 0;
};

// Filtered dimensions, innermost first, as in the entries of a table.
int axis_dims(const StageVariant& v, int32_t* dims) {
  int n = 0;
  for (int d = v.dims - 1; d >= 0; --d)
    if (v.filtered >> d & 1) {
      if (n < kGenericAxes) dims[n] = d;
      ++n;
    }
  return n;
}

}  // namespace

std::optional<StageVariant> generic_variant(const StageCode& code, const StageVariant& v,
                                            std::span<const StageEntry> entries) {
  using Kind = StageVariant::Kind;
  if (code.reads_frames) return std::nullopt;
  StageVariant g = v;
  g.generic = true, g.by_value = g.one_row = false, g.table = false, g.wide = false, g.narrow_source = false;
  g.path = StageVariant::Path::indexed,
  g.averages = g.nearest = g.boxes = g.pixel_rows = g.moved_rows = g.reverses = false;
  g.filter_x = g.filter_y = -1, g.window_x = g.window_y = 0;
  if (v.kind == Kind::elements) g.kind = Kind::positions;
  if (v.kind == Kind::tiled) {
    g.kind = Kind::filtered;
    for (const StageEntry& e : entries) {
      const SampleGeometry& own = *e.geometry;
      const int missing = g.dims - own.dims.size();
      for (int d = 0; d < own.dims.size(); ++d)
        if (own.dims[d].filter >= 0) g.filtered |= 1u << (d + missing);
      g.vertical = std::max(g.vertical, vertical_dim(own));
    }
  }
  int32_t dims[kGenericAxes];
  if (g.dims > Shape::kMaxDims || axis_dims(g, dims) > kGenericAxes || !GenericSteps(code, g.planes).has_room(g.planes))
    return std::nullopt;
  return g;
}

void append_generic_program(const StageCode& code, const StageVariant& v, TableWriter& table) {
  const GenericSteps steps(code, v.planes);
  const RowLayout at = row_layout(code, v);
  const DType out = type_of(code.program, code.program.outputs[0]).dtype;
  GenericProgram p{};
  p.steps = static_cast<int32_t>(steps.steps.size());
  p.kind = v.kind == StageVariant::Kind::filtered ? 1 : v.kind == StageVariant::Kind::warped ? 2 : 0;
  p.inputs = at.inputs;
  for (int k = 0; k < at.inputs; ++k) {
    const DType t = input_dtype(code, k);
    p.in_dtype[k] = static_cast<int32_t>(t), p.in_size[k] = static_cast<int32_t>(size_of(t));
  }
  p.out_dtype = static_cast<int32_t>(out), p.out_size = static_cast<int32_t>(size_of(out));
  p.copies = code.only_copies;
  p.dims = v.dims, p.planes = v.planes, p.out_planes = std::max(1, v.out_planes), p.chunked = steps.chunked(v.planes);
  p.source = steps.slot(code.source), p.result = steps.slot(code.result);
  if (code.source >= 0) p.source_lane = static_cast<int32_t>(code.values[code.source].lane);
  p.result_lane = static_cast<int32_t>(code.values[code.result].lane);
  std::fill_n(p.axis_dim, 3, -1);
  p.axes = axis_dims(v, p.axis_dim);
  p.vertical = v.vertical;
  p.warp_dim[0] = v.warp_x, p.warp_dim[1] = v.warp_y, p.warp_dim[2] = v.warp_z;
  p.in_integers = code.source_stays_bytes && v.warp_z < 0;
  p.has_plane = v.has_plane, p.fills = v.fills, p.picks_planes = v.picks_planes;
  p.row = at;
  const size_t bytes = steps.steps.size() * sizeof(GenericStep);
  const int64_t place = table.room(sizeof p + bytes);
  std::memcpy(table.at(place), &p, sizeof p);
  if (bytes) std::memcpy(table.at(place) + sizeof p, steps.steps.data(), bytes);
  reinterpret_cast<TableHeader*>(table.at(0))->program = place;
}

}  // namespace penstock
