// SPDX-License-Identifier: Apache-2.0
#include "exec/trace.h"

#include "base/json.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

double microseconds(int64_t ns) { return static_cast<double>(ns) / 1e3; }

std::string name_of(const TraceEvent& e, const std::vector<std::string>& steps) {
  switch (e.kind) {
    case TraceKind::step: return steps[static_cast<size_t>(e.step)];
    case TraceKind::waits_for_work: return "waits for work";
    case TraceKind::waits_for_room: return "waits: the loop holds its batches";
    case TraceKind::waits_for_batch: return "waits for a batch";
    case TraceKind::waits_for_lock: return "waits for Python's lock";
  }
  return {};
}

Json arguments_of(const TraceEvent& e) {
  Json a = Json::object();
  if (e.kind != TraceKind::waits_for_work && e.kind != TraceKind::waits_for_room) a["iteration"] = e.iteration;
  if (e.first >= 0) a["sample"] = e.first, a["samples"] = e.count;
  if (!e.files.empty()) a["file"] = e.files;
  if (e.read_ns) a["read_us"] = microseconds(e.read_ns);
  if (e.decode_ns) a["decode_us"] = microseconds(e.decode_ns);
  if (e.pixels_ns) a["pixels_us"] = microseconds(e.pixels_ns);
  return a;
}

Json meta(const char* what, size_t row, Json arguments) {
  return {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", row}, {"args", std::move(arguments)}};
}

}  // namespace

std::string trace_text(const std::vector<TraceRow>& rows, const std::vector<std::string>& steps) {
  Json events = Json::array();
  events.push_back(meta("process_name", 0, {{"name", "penstock"}}));
  for (size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].events.empty()) continue;
    events.push_back(meta("thread_name", r, {{"name", rows[r].name}}));
    events.push_back(meta("thread_sort_index", r, {{"sort_index", r}}));
    for (const TraceEvent& e : rows[r].events)
      events.push_back({{"name", name_of(e, steps)},
                        {"cat", e.kind == TraceKind::step ? "step" : "wait"},
                        {"ph", "X"},
                        {"pid", 1},
                        {"tid", r},
                        {"ts", microseconds(e.begin_ns)},
                        {"dur", microseconds(e.end_ns - e.begin_ns)},
                        {"args", arguments_of(e)}});
  }
  const Json all{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);  // a path need not be UTF-8
}

}  // namespace penstock
