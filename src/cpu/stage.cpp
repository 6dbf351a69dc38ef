// SPDX-License-Identifier: Apache-2.0
// The path of one sample through a stage: prepare, decode, finish. Samples that decode go through it in pairs.
#include "cpu/stage.h"

#include <algorithm>

#include "base/clock.h"
#include "batch/view_part.h"
#include "cpu/frame_source.h"
#include "cpu/stage_state.h"
#include "stage/frame_pixels.h"
#include "stage/source_range.h"

namespace penstock {

CpuScratch::CpuScratch() {
  for (auto& s : state) s = std::make_unique<State>();
}
CpuScratch::~CpuScratch() = default;
CpuStage::~CpuStage() = default;
const StageProgram& CpuStage::program() const { return state_->program; }
int CpuStage::together() const { return state_->decodes && !state_->has_frames ? kDecodeTogether : 1; }

std::vector<Shape> CpuStage::value_shapes(const SampleContext& s, std::span<const Shape> in) const {
  return penstock::value_shapes(state_->program, s, in);
}

void CpuStage::shapes(const SampleContext& s, std::span<const Shape> in, std::span<Shape> out) const {
  const std::vector<Shape> shapes = value_shapes(s, in);
  for (size_t i = 0; i < state_->program.outputs.size(); ++i) out[i] = shapes[state_->program.outputs[i]];
}

// The state of one sample between the steps.
class CpuStage::Sample {
 public:
  Sample(const CpuStage& stage, const SampleContext& context, std::span<const StageInput> in,
         const AllocateOutput& allocate, CpuScratch& scratch, size_t turn)
      : stage_(stage),
        st_(*stage.state_),
        allocate_(allocate),
        scratch_(*scratch.state[turn]),
        run_{st_, context, scratch_, conversions(st_.target), scratch.cold_output} {
    prepare(in);
  }
  bool decodes() const { return st_.decodes && decode.region.height > 0 && decode.region.width > 0; }
  void finish();  // after `decode` has been decoded
  void tell(std::string lacking) const {
    if (lacking_) *lacking_ = std::move(lacking);
  }

  DecodeTask decode;

 private:
  const CpuStage& stage_;
  const State& st_;
  const AllocateOutput& allocate_;
  CpuScratch::State& scratch_;
  SampleRun run_;
  Shape in_shapes_[4], out_shape_;
  std::optional<Placement> placement_;
  std::optional<FrameSource> frames_;
  bool whole_is_output_ = false;  // the decoder writes into the output
  std::string* lacking_ = nullptr;

  const ValueType& out_type() const { return type_of(st_.program, st_.program.outputs[0]); }
  void prepare(std::span<const StageInput> in);
  void prepare_decode();
  void prepare_frames();
  bool fill_outside();
};

void CpuStage::Sample::prepare(std::span<const StageInput> in) {
  const auto& p = st_.program;
  for (size_t i = 0; i < in.size(); ++i) {
    run_.inputs[i] = in[i].view;
    in_shapes_[i] = in[i].view.shape;
  }
  if (st_.decodes) {
    decode.file = in[0].encoded;
    decode.index = in[0].index;
    lacking_ = in[0].lacking;
    decode.params = p.nodes[0].op->decode_params();
    read_headers(decode);
    in_shapes_[0] = {decode.info.height, decode.info.width, output_channels(decode.info, decode.params.type)};
    run_.inputs[0] = {nullptr, decode.params.dtype, "HWC", in_shapes_[0], dense_strides(in_shapes_[0])};
  }
  const std::span<const Shape> in_shapes(in_shapes_, in.size());
  if (p.sizes.empty()) {
    out_shape_ = st_.geometry->output_shape(run_.context, in_shapes, placement_);
  } else {
    const std::vector<Shape> shapes = stage_.value_shapes(run_.context, in_shapes);
    out_shape_ = shapes[p.outputs[0]];
    for (size_t k = 0; k < p.sizes.size(); ++k) write_size(p, static_cast<int>(k), shapes[p.sizes[k]], allocate_);
  }
  if (st_.reads_frames) in_shapes_[0] = pixel_shape(st_, run_.context, in_shapes_[0]);
  if (st_.maps && !placement_) st_.geometry->place(run_.context, in_shapes_[0], placement_);
  if (placement_) run_.placement = &*placement_;
  if (st_.decodes) prepare_decode();
  if (st_.reads_frames) prepare_frames();
}

// The smallest picture that still has a sample for each output of the resize that follows; 8: the whole.
static int choose_eighths(const Placement& p) {
  for (const int eighths : {1, 2, 4}) {
    bool enough = true;
    for (int d = 0; d < 2; ++d) {
      const auto& f = p[d].filter;
      enough &=
          f && f->kind != FilterKind::window && std::abs(f->hi - f->lo) * eighths >= 8.0 * static_cast<double>(f->out);
    }
    if (enough) return eighths;
  }
  return 8;
}

void CpuStage::Sample::prepare_decode() {
  if (decode.params.may_scale && !placement_->warps() && decode.info.scales) {
    decode.params.eighths = choose_eighths(*placement_);
    for (int d = 0; d < 2 && decode.params.eighths < 8; ++d) placement_->shrink_source(d, decode.params.eighths);
  }
  const SourceRange rows = source_range(*placement_, 0), columns = source_range(*placement_, 1);
  const Region region{rows.lo, columns.lo, rows.hi - rows.lo, columns.hi - columns.lo};
  const int64_t channels = in_shapes_[0][2];
  const int64_t row = region.width * channels;
  const int64_t row_bytes = row * static_cast<int64_t>(size_of(decode.params.dtype));
  decode.region = region;
  whole_is_output_ = st_.only_copies && out_type().layout == st_.geometry->layout() && (*placement_)[0].identity() &&
                     (*placement_)[1].identity() && (*placement_)[2].identity();
  if (whole_is_output_) {
    run_.output = allocate_(0, out_type().dtype, out_shape_, out_type().layout);
    const Shape& steps = run_.output.strides;  // a decoder writes rows without gaps
    whole_is_output_ = steps[2] == 1 && steps[1] == channels;
    if (whole_is_output_) {
      decode.sink = {run_.output.data, steps[0] * static_cast<int64_t>(size_of(decode.params.dtype))};
      return;
    }
  }
  const size_t bytes = checked_bytes(region.height * row, size_of(decode.params.dtype));
  auto& pixels = scratch_.pixels;
  if (pixels.size() < bytes + 65) pixels.resize(bytes + 65);
  // The bytes start at an odd address: libjpeg-turbo writes aligned rows past the caches, but they are read at once.
  uint8_t* const decoded = pixels.data() + (decode.params.dtype == DType::uint8);
  decode.sink = {decoded, row_bytes};
  decode.takes_rows = st_.filters && !st_.warps && decode.params.dtype == DType::uint8;
  run_.inputs[0].data = decoded;
  run_.inputs[0].shape = Shape{region.height, region.width, channels};
  run_.inputs[0].strides = dense_strides(run_.inputs[0].shape);
  run_.origin[0] = region.y, run_.origin[1] = region.x;
}

void CpuStage::Sample::prepare_frames() {
  run_.inputs[0].layout = st_.program.inputs[0].layout;
  frames_.emplace(st_, run_.inputs[0], in_shapes_[0], *placement_);
  run_.inputs[0] = frames_->pixels();
  frames_->set_origin(run_.origin);
}

void CpuStage::Sample::finish() {
  if (whole_is_output_) return;
  run_.rows = decode.rows;
  if (run_.rows && decode.params.may_scale) {
    run_.luma_chroma = run_.rows->stored_colors() == RegionRows::Colors::luma_chroma;
    run_.blue_first = decode.params.type == ImageType::bgr;
  }
  run_.output = allocate_(0, out_type().dtype, out_shape_, out_type().layout);
  if (out_shape_.volume() == 0) return;
  const StageGeometry& geometry = *st_.geometry;
  const int n = run_.placement ? run_.placement->ndim() : out_shape_.size();
  const std::span<const View> inputs(run_.inputs, st_.program.inputs.size());
  run_.out_dim = geometry.out_dims();
  const Planes planes = geometry.planes_of(inputs, run_.placement, n);
  run_.plane_dim = planes.dim, run_.in_planes = planes.in, run_.out_planes = planes.out;
  if (run_.placement && !fill_outside()) return;
  if (frames_) run_.inputs[0].data = frames_->convert(scratch_.pixels);
  scratch_.geometry.clear();
  geometry.add_loops(run_.context, inputs, run_.output.shape, run_.output.strides, run_.placement, scratch_.geometry);
  prepare_coefficients(run_, run_.in_planes);
  if (run_.placement && run_.placement->warps()) {
    if (!run_turned(run_)) run_affine(run_);
    return;
  }
  if (st_.source < 0) return run_direct(run_);
  if (run_.rows || !run_picked(run_)) run_filtered(run_);
}

// What no sample of the source covers: what lies before and after it, dimension by dimension. False: that is all.
bool CpuStage::Sample::fill_outside() {
  const Placement& placement = *run_.placement;
  const Coverage coverage = coverage_of(placement);
  if (coverage == Coverage::all) return true;
  const int channel_dim = run_.plane_dim >= 0 ? run_.out_dim[run_.plane_dim] : out_type().layout.find('C');
  const auto fill = [&](const View& v) { fill_strided(v, placement.fill_values(), channel_dim); };
  View covered = run_.output;
  for (int d = 0; d < placement.ndim() && coverage == Coverage::some; ++d) {
    int64_t lo, hi;
    placement[d].valid(lo, hi);
    const int dim = run_.out_dim[d];
    if (lo == 0 && hi == covered.shape[dim]) continue;
    if (dim < 0 || dim == channel_dim) return fill(covered), true;  // a part would begin with another channel's value
    fill(part(covered, dim, 0, lo));
    fill(part(covered, dim, hi, covered.shape[dim] - hi));
    covered = part(covered, dim, lo, hi - lo);
  }
  if (coverage == Coverage::none) fill(run_.output);
  return coverage != Coverage::none;
}

void CpuStage::blame_file(std::span<const StageInput> in, Error& e) const {
  if (!state_->decodes || e.kind() != ErrorKind::argument) return;
  std::vector<uint8_t> pixels;
  DecodeTask whole;
  auto error = error_of([&] {
    whole.file = in[0].encoded;
    whole.params = state_->program.nodes[0].op->decode_params();
    read_headers(whole);
    whole.region = {0, 0, whole.info.height, whole.info.width};
    const int64_t row = int64_t{whole.info.width} * output_channels(whole.info, whole.params.type);
    const size_t row_bytes = checked_bytes(row, size_of(whole.params.dtype));
    pixels.resize(checked_bytes(whole.info.height, row_bytes));
    whole.sink = {pixels.data(), static_cast<int64_t>(row_bytes)};
    decode_images(std::span(&whole, 1));
  });
  if (!error && whole.error) error = std::move(*whole.error);
  if (error && error->kind() == ErrorKind::data) e = std::move(*error);
}

void CpuStage::run_sample(const SampleContext& context, std::span<const StageInput> in, const AllocateOutput& allocate,
                          CpuScratch& scratch) const {
  const int64_t begin = clock_ns();
  std::optional<Sample> prepared;
  try {
    prepared.emplace(*this, context, in, allocate, scratch, 0);
  } catch (Error& e) {
    blame_file(in, e);
    throw;
  }
  Sample& sample = *prepared;
  int64_t decoded = begin;
  if (sample.decodes()) {
    decode_images(std::span(&sample.decode, 1));
    decoded = clock_ns();
    scratch.times.decode_ns += decoded - begin;
    if (sample.decode.error) throw *sample.decode.error;
    sample.tell(std::move(sample.decode.lacking));
  }
  sample.finish();
  scratch.times.pixels_ns += clock_ns() - decoded;
}

void CpuStage::run_together(std::span<StageTask> tasks, CpuScratch& scratch) const {
  if (state_->has_frames) {
    for (StageTask& t : tasks) t.guard([&] { run(t.context, t.in, t.allocate, scratch); });
    return;
  }
  if (tasks.size() > kDecodeTogether)
    fail(ErrorKind::internal, "at most {} samples can run together, got {}", kDecodeTogether, tasks.size());
  std::optional<Sample> samples[kDecodeTogether];
  DecodeTask decodes[kDecodeTogether];
  size_t of_decode[kDecodeTogether], n = 0;
  const int64_t begin = clock_ns();
  for (size_t i = 0; i < tasks.size(); ++i)
    tasks[i].guard([&] {
      samples[i].emplace(*this, tasks[i].context, tasks[i].in, tasks[i].allocate, scratch, i);
      if (!samples[i]->decodes()) return;
      decodes[n] = samples[i]->decode;
      of_decode[n++] = i;
    });
  for (StageTask& t : tasks)
    if (t.error) blame_file(t.in, *t.error);
  int64_t decoded = begin;
  if (n > 0) {
    decode_images(std::span(decodes, n));
    decoded = clock_ns();
    scratch.times.decode_ns += decoded - begin;
  }
  for (size_t k = 0; k < n; ++k) {
    tasks[of_decode[k]].error = decodes[k].error;
    samples[of_decode[k]]->decode.rows = decodes[k].rows;
    samples[of_decode[k]]->tell(std::move(decodes[k].lacking));
  }
  for (size_t i = 0; i < tasks.size(); ++i)
    if (!tasks[i].error) tasks[i].guard([&] { samples[i]->finish(); });
  scratch.times.pixels_ns += clock_ns() - decoded;
}

}  // namespace penstock
