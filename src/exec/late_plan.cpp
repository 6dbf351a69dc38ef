// SPDX-License-Identifier: Apache-2.0
#include "exec/late_plan.h"

#include <algorithm>

#include "graph/batch_operators.h"

namespace penstock {
namespace {

constexpr const char* kOmit = "omit late=\"swap\"";

[[noreturn]] void refuse(const Node& n, const std::string& why) {
  Error e(ErrorKind::argument, fmt::format("{}, or {}", why, kOmit));
  e.op = n.op.empty() ? "late" : n.op;
  e.user_line = n.user_line;
  throw e;
}

bool is_true(const Node& n, const char* name) {
  for (const auto& [constant, value] : n.constants)
    if (constant == name) return value_as<bool>(value);
  return false;
}

// A batch of other samples gives it other values, not only another size.
bool depends_on_neighbours(const Node& n) {
  return n.op == "permute_batch" || n.op == "batch_permutation" || n.op == "multi_paste" ||
         (n.op == "normalize" && is_true(n, "batch"));
}

void check_step(const Plan& plan, const Step& s) {
  const Node& first = plan.graph.node(s.nodes[0]);
  if (s.kind == Step::Kind::control && s.flow == Step::Flow::change)
    refuse(first,
           "changes the number of samples, but with late=\"swap\" batches are formed of the samples that the sources "
           "give: drop samples by on_error=\"skip\" or before they are read");
  if (s.kind == Step::Kind::source && s.gpu)
    refuse(first, "brings its samples to the GPU as whole batches, in which none can come late: read them on the CPU");
  for (int id : s.nodes)
    if (const Node& n = plan.graph.node(id); depends_on_neighbours(n))
      refuse(n,
             "computes a sample from others of its batch, but with late=\"swap\" it is not known which ones those are: "
             "leave it out");
}

bool needs_batch(const Plan& plan, const Step& s) {
  if (s.kind == Step::Kind::source || s.kind == Step::Kind::read) return false;
  if (s.gpu || s.kind == Step::Kind::decode || s.kind == Step::Kind::transfer) return true;
  return std::any_of(s.nodes.begin(), s.nodes.end(), [&](int id) {
    const Node& n = plan.graph.node(id);
    return (mixes_samples(n.op) && n.op != "normalize") || is_true(n, "batch_processing");
  });
}

// The first step that needs a batch, or the node of control flow around it.
size_t cut_of(const Plan& plan) {
  size_t around = 0, cut = 0;
  for (int open = 0; cut < plan.steps.size() && !needs_batch(plan, plan.steps[cut]); ++cut) {
    const Step& s = plan.steps[cut];
    if (s.kind != Step::Kind::control) continue;
    if (s.flow == Step::Flow::begin_branch || s.flow == Step::Flow::begin_loop)
      if (open++ == 0) around = cut;
    if ((s.flow == Step::Flow::end_branch || s.flow == Step::Flow::end_loop) && --open == 0) around = 0;
  }
  return cut < plan.steps.size() && around > 0 ? around : cut;
}

void check_sources(const Plan& plan, const PipelineOptions& options, const PipelineSources& sources) {
  const int primary = sources.primary();
  if (primary < 0) return;
  const Node& n = plan.graph.node(primary);
  const auto meta = sources.at(primary).meta();
  if (meta && meta->batches >= 0)
    refuse(n, "forms batches by length, and samples that change their batch would undo that: omit bucket_by and lengths");
  if (options.on_error != OnError::replace) return;
  if (!meta)
    refuse(n,
           "has no other sample where one is replaced but those of its batch, which are not together with late=\"swap\": "
           "give on_error=\"skip\" or \"raise\"");
  for (const Step& s : plan.steps)
    if (s.kind == Step::Kind::decode)
      refuse(plan.graph.node(s.nodes[0]),
             "decodes whole batches, in which no sample can be replaced after others were swapped: give "
             "on_error=\"skip\" or \"raise\", or decode with device=\"cpu\"");
}

}  // namespace

LatePlan late_plan(const Plan& plan, const PipelineOptions& options, const PipelineSources& sources) {
  for (const Step& s : plan.steps) check_step(plan, s);
  check_sources(plan, options, sources);
  LatePlan late;
  late.cut = cut_of(plan);
  std::set<ValueRef> output_values(plan.graph.outputs().begin(), plan.graph.outputs().end());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    const bool brings = s.kind == Step::Kind::source && !sources.loads_samples(s.nodes[0]);
    late.of_samples.push_back(!brings && (i < late.cut || s.kind == Step::Kind::source || s.kind == Step::Kind::read));
    if (s.pinned && i < late.cut && s.kind == Step::Kind::stage) late.pinned.insert(s.output);
  }
  if (std::none_of(late.of_samples.begin(), late.of_samples.end(), [](char c) { return c != 0; })) {
    const Step& s = plan.steps[std::min(late.cut, plan.steps.size() - 1)];
    refuse(plan.graph.node(s.nodes[0]),
           "works on whole batches, and nothing before it works on single samples, so that none can come late: read or "
           "decode on the CPU");
  }
  for (const auto& [value, step] : plan.value_last_use)
    if (static_cast<size_t>(step) >= late.cut) late.crossing.insert(value);
  late.crossing.merge(output_values);
  return late;
}

void check_feeds(const Graph& graph, PipelineSources& sources) {
  for (const auto& [id, source] : sources.all())
    if (const auto* external = dynamic_cast<ExternalSource*>(source.get());
        external && external->feed()->numbered() != ExternalFeed::Numbered::full)
      refuse(graph.node(id),
             "gives whole batches, but late=\"swap\" forms batches of single samples: give batch=False and a callable "
             "that takes a SampleInfo");
}

}  // namespace penstock
