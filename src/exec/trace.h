// SPDX-License-Identifier: Apache-2.0
// What a trace has, in Chrome's trace event format.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

enum class TraceKind : uint8_t { step, waits_for_work, waits_for_room, waits_for_batch, waits_for_lock };

struct TraceEvent {
  TraceKind kind = TraceKind::step;
  int step = -1;
  uint64_t iteration = 0;
  int64_t begin_ns = 0, end_ns = 0;
  int64_t read_ns = 0, decode_ns = 0, pixels_ns = 0;
  int first = -1, count = 0;  // samples of the batch
  std::string files = {};
};

// A row of the picture.
struct TraceRow {
  std::string name;
  std::vector<TraceEvent> events;
};

std::string trace_text(const std::vector<TraceRow>& rows, const std::vector<std::string>& steps);

}  // namespace penstock
