// SPDX-License-Identifier: Apache-2.0
// One tile through the instructions of a stage.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "cpu/stage_state.h"

namespace penstock {

bool has_large_output(const SampleRun& run) {
  constexpr int64_t kLargeOutput = 1 << 20;
  return run.output.volume() * static_cast<int64_t>(size_of(run.output.dtype)) >= kLargeOutput || run.cold_output;
}

int64_t tile_length(int planes) { return planes == 1 ? 2048 : std::max<int64_t>(64, 1536 / planes / 16 * 16); }

// Calls f(instruction, node) for every node that the code runs.
template <class F> static void for_each_tile_node(const CpuStage::State& st, F&& f) {
  for (const auto& i : st.code) {
    if (i.kind == Instruction::tile) f(i, i.node);
    if (i.kind == Instruction::chain)
      for (const auto& link : st.chains[i.node])
        if (link.node >= 0) f(i, link.node);
  }
}

void prepare_coefficients(SampleRun& run, int planes) {
  const auto& st = run.stage;
  auto& s = run.scratch;
  s.coef_offset.assign(st.program.nodes.size(), 0);
  size_t total = 0;
  for_each_tile_node(st, [&](const Instruction& i, int node) {
    const int copies = st.traits[node].per_channel ? planes : 1;
    s.coef_offset[node] = total;
    total += (st.program.nodes[node].op->coef_bytes(i.lane) * copies + 15) / 16 * 16;
  });
  if (s.coef.size() < total) s.coef.resize(total);
  for_each_tile_node(st, [&](const Instruction& i, int node) {
    SampleContext c = run.context;
    c.draws = st.program.nodes[node].draws;
    const BoundOp& op = *st.program.nodes[node].op;
    as_operator(
        op, [&] { op.coef(c, i.lane, st.traits[node].per_channel ? planes : 1, s.coef.data() + s.coef_offset[node]); });
  });
}

TileProgram::TileProgram(SampleRun& run, int64_t tile_n)
    : run_(run), tile_n_(tile_n), read_(run.scratch.read), chains_(run.scratch.chains), alias_(run.scratch.alias) {
  planes_ = std::max({1, run.in_planes, run.out_planes});
  const size_t plane_bytes = static_cast<size_t>(tile_n + 16) * 8;
  const size_t bytes = plane_bytes * planes_ * run.stage.slots + 64;
  auto& memory = run.scratch.registers;
  if (memory.size() < bytes) memory.resize(bytes);
  auto* base = memory.data();
  base += (64 - reinterpret_cast<uintptr_t>(base) % 64) % 64;
  for (int s = 0; s < run.stage.slots; ++s)
    for (int p = 0; p < planes_; ++p) slot_planes_[s][p] = base + (static_cast<size_t>(s) * planes_ + p) * plane_bytes;
  if (run.stage.source >= 0)
    for (int p = 0; p < planes_; ++p) source_planes_[p] = slot_planes_[run.stage.values[run.stage.source].slot][p];
  large_output_ = has_large_output(run);
  const size_t values = run.stage.values.size(), chains = run.stage.chains.size();
  read_.assign(values, nullptr);
  if (alias_.size() < values) alias_.resize(values);
  if (chains_.size() < chains) chains_.resize(chains);
  for (size_t c = 0; c < chains; ++c) {
    const auto& links = run.stage.chains[c];
    std::vector<ChainStep>& steps = chains_[c];
    steps.clear();
    for (int p = 0; p < planes_; ++p)
      for (const auto& link : links) {
        if (link.node < 0) {
          steps.push_back({0.0f, link.dtype == DType::uint8 ? 255.0f : 65535.0f, true});
          continue;
        }
        const auto& op = *run.stage.program.nodes[link.node].op;
        const size_t plane = run.stage.traits[link.node].per_channel && p < run.in_planes ? p : 0;
        float pairs[4];
        const int n = op.fused_multiply_adds(
            run.scratch.coef.data() + run.scratch.coef_offset[link.node] + plane * op.coef_bytes(Lane::f32), pairs);
        for (int k = 0; k < n; ++k) steps.push_back({pairs[2 * k], pairs[2 * k + 1], false});
      }
  }
}

// Nothing else orders stores that bypass the caches.
TileProgram::~TileProgram() {
  if (large_output_) std::atomic_thread_fence(std::memory_order_seq_cst);
}

void TileProgram::execute(const TilePlace& place) {
  const auto& st = run_.stage;
  const Conversions& cv = run_.convert;
  const DType out_type = run_.output.dtype;
  const int64_t n = place.n;
  int planes = run_.in_planes;
  if (st.words && place.in_step[0] == 1 && place.out_step == 1) {
    const auto& steps = chains_[0];
    const size_t count = steps.size() / planes_;
    for (int p = 0; p < planes; ++p)
      cv.chain_words(reinterpret_cast<const uint16_t*>(place.in[0]) + p * place.in_plane[0],
                     reinterpret_cast<uint16_t*>(place.out) + p * place.out_plane, n, steps.data() + p * count,
                     static_cast<int>(count), large_output_);
    return;
  }
  if (st.source >= 0) read_[st.source] = source_planes_;
  bool stored = false;
  void* direct[kMaxPlanes];
  // Where the instruction writes: its register, or the output itself if no conversion is needed.
  auto destination = [&](size_t k, const Instruction& i, int n_planes, void** own) -> void* const* {
    const bool into_output =
        k + 1 == st.code.size() && i.value == st.result && place.out_step == 1 &&
        ((i.lane == Lane::f32 && out_type == DType::float32) || (i.lane == Lane::f64 && out_type == DType::float64) ||
         (i.lane == Lane::i32 && out_type == DType::int32) || (i.lane == Lane::i64 && out_type == DType::int64));
    if (!into_output) return own;
    for (int p = 0; p < n_planes; ++p)
      direct[p] = place.out + p * place.out_plane * static_cast<int64_t>(size_of(out_type));
    stored = true;
    return direct;
  };
  if (place.skip) read_[st.code[place.skip - 1].value] = planes_after(place.skip);
  for (auto k = static_cast<size_t>(place.skip); k < st.code.size(); ++k) {
    const Instruction& i = st.code[k];
    void** own = slot_planes_[i.slot];
    switch (i.kind) {
      case Instruction::load: {
        const int input = i.from[0];
        const bool same =
            (i.dtype == DType::float32 && i.lane == Lane::f32) || (i.dtype == DType::float64 && i.lane == Lane::f64) ||
            (i.dtype == DType::int64 && i.lane == Lane::i64) || (i.dtype == DType::int32 && i.lane == Lane::i32) ||
            (i.dtype == DType::uint64 && i.lane == Lane::u64);
        if (same && place.in_step[input] == 1) {
          auto& a = alias_[i.value];
          a.resize(run_.in_planes);
          for (int p = 0; p < run_.in_planes; ++p)
            a[p] =
                const_cast<char*>(place.in[input]) + p * place.in_plane[input] * static_cast<int64_t>(size_of(i.dtype));
          read_[i.value] = a.data();
        } else {
          cv.load[static_cast<int>(i.dtype)][static_cast<int>(i.lane)](
              place.in[input], place.in_step[input], place.in_plane[input], destination(k, i, run_.in_planes, own),
              run_.in_planes, n);
          read_[i.value] = own;
        }
        break;
      }
      case Instruction::tile: {
        const StageNode& node = st.program.nodes[i.node];
        TileCall call;
        call.n = n;
        call.in_planes = planes;
        planes = call.planes = node.op->channels(planes);
        for (int f = 0; f < kMaxOperands; ++f)
          if (i.from[f] >= 0) call.in[f] = read_[i.from[f]];
        call.coef = run_.scratch.coef.data() + run_.scratch.coef_offset[i.node];
        call.coef_stride = st.traits[i.node].per_channel ? node.op->coef_bytes(i.lane) : 0;
        call.x = place.x, call.y = place.y;
        bool fault = false;
        call.fault = &fault;
        call.out = destination(k, i, planes, own);
        node.op->tile(st.target, i.lane)(call);
        if (fault) as_operator(*node.op, [&] { bad_argument("{}", node.op->fault()); });
        read_[i.value] = own;
        break;
      }
      case Instruction::chain: {
        void* const* to = destination(k, i, planes, own);
        const auto& steps = chains_[i.node];
        const size_t count = steps.size() / planes_;
        for (int p = 0; p < planes; ++p)
          cv.chain(static_cast<const float*>(read_[i.from[0]][p]), static_cast<float*>(to[p]), n,
                   steps.data() + p * count, static_cast<int>(count), to == direct && large_output_);
        read_[i.value] = own;
        break;
      }
      case Instruction::round:
        for (int p = 0; p < planes; ++p) cv.round[static_cast<int>(i.dtype)][static_cast<int>(i.lane)](own[p], n);
        break;
      case Instruction::convert:
        for (int p = 0; p < planes; ++p)
          cv.lane[static_cast<int>(i.from_lane)][static_cast<int>(i.lane)](read_[i.from[0]][p], own[p], n);
        read_[i.value] = own;
        break;
    }
  }
  if (!stored)
    cv.store[static_cast<int>(out_type)][static_cast<int>(st.values[st.result].lane)](
        read_[st.result], planes, n, place.out, place.out_step, place.out_plane, large_output_);
}

}  // namespace penstock
