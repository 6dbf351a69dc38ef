// SPDX-License-Identifier: Apache-2.0
// One sample of a stage in bands of output rows, which several threads run.
#include <algorithm>

#include "base/crew.h"
#include "cpu/stage_state.h"

namespace penstock {

// Fewer rows than this would mostly make again what their neighbors have made: the rows that a filter reads.
static constexpr int64_t kLeastRows = 16;

void run_bands(SampleRun& run, int64_t rows, const BandBody& body) {
  if (rows <= 0) return;
  int64_t parts = Crew::parts(run.output.volume() * static_cast<int64_t>(size_of(run.output.dtype)));
  if (parts > 1 && rows > 1 && rows / parts < kLeastRows && run.stage.source >= 0) parts = rows / kLeastRows;
  parts = std::min(parts, rows);
  if (parts <= 1) return body(run, 0, rows);
  Crew::of_thread()->run(parts, [&](int64_t part) {
    thread_local CpuScratch::State scratch;
    scratch.geometry = run.scratch.geometry;
    scratch.coef = run.scratch.coef;
    scratch.coef_offset = run.scratch.coef_offset;
    SampleRun band{run.stage, run.context, scratch, run.convert, run.cold_output};
    std::copy(std::begin(run.inputs), std::end(run.inputs), band.inputs);
    band.output = run.output;
    band.out_dim = run.out_dim, band.plane_dim = run.plane_dim;
    band.in_planes = run.in_planes, band.out_planes = run.out_planes;
    band.placement = run.placement;
    std::copy(std::begin(run.origin), std::end(run.origin), band.origin);
    band.rows = run.rows, band.luma_chroma = run.luma_chroma, band.blue_first = run.blue_first;
    body(band, rows * part / parts, rows * (part + 1) / parts);
  });
}

}  // namespace penstock
