// SPDX-License-Identifier: Apache-2.0
#include "exec/late_plan.h"

#include <algorithm>

#include "graph/arrangement.h"
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
  return takes_from_batch(n.op) || (mixes_samples(n.op) && is_true(n, "batch"));  // normalize has `batch`
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
    return fits_to_batch(n.op) || is_true(n, "batch_processing");
  });
}

// The steps from i on that belong together: a branch or loop is not divided.
size_t end_of_unit(const Plan& plan, size_t i) {
  int open = 0;
  for (;; ++i) {
    const Step::Flow flow = plan.steps[i].flow;
    const bool control = plan.steps[i].kind == Step::Kind::control;
    if (control && (flow == Step::Flow::begin_branch || flow == Step::Flow::begin_loop)) ++open;
    if (control && (flow == Step::Flow::end_branch || flow == Step::Flow::end_loop)) --open;
    if (open == 0) return i + 1;
  }
}

void add_made(const Plan& plan, const Step& s, std::set<ValueRef>& made) {
  if (s.output.node >= 0) made.insert(s.output);
  if (s.kind == Step::Kind::transfer) return;
  for (int id : s.nodes)
    for (int k = 0; k < plan.graph.node(id).outputs; ++k) made.insert({id, k});
}

// Which steps run on whole batches: those that need one, and those that read what such a step makes, or overwrite what
// it reads.
class BatchSteps {
 public:
  explicit BatchSteps(const Plan& plan) : of_batches(plan.steps.size(), 0), plan_(plan) {
    while (grows()) {
    }
  }

  std::vector<char> of_batches;
  std::set<ValueRef> read;

 private:
  bool grows() {
    bool grown = false;
    for (size_t i = 0, end; i < plan_.steps.size(); i = end) {
      end = end_of_unit(plan_, i);
      bool batch = false;
      for (size_t k = i; k < end; ++k) batch = batch || joins(k);
      if (!batch || of_batches[i]) continue;
      grown = true;
      for (size_t k = i; k < end; ++k) {
        of_batches[k] = 1;
        add_made(plan_, plan_.steps[k], made_);
        for_each_read(plan_, k, [&](ValueRef v) { read.insert(v); });
      }
    }
    return grown;
  }
  bool joins(size_t i) const {
    const Step& s = plan_.steps[i];
    if (s.kind == Step::Kind::source || s.kind == Step::Kind::read) return false;
    bool found = needs_batch(plan_, s) || (s.reuses && read.count(s.inputs[0]));
    for (const ValueRef& v : s.given) found = found || read.count(v);
    for_each_read(plan_, i, [&](ValueRef v) { found = found || made_.count(v); });
    return found;
  }

  const Plan& plan_;
  std::set<ValueRef> made_;
};

void check_sources(const Plan& plan, const PipelineOptions& options, const PipelineSources& sources) {
  const int primary = sources.primary();
  if (primary < 0) return;
  const Node& n = plan.graph.node(primary);
  const auto meta = sources.at(primary).meta();
  if (meta && meta->batches >= 0)
    refuse(n,
           "forms batches by length, and samples that change their batch would undo that: omit bucket_by and lengths");
  if (options.on_error != OnError::replace) return;
  if (!meta)
    refuse(
        n,
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
  BatchSteps batches(plan);
  late.of_batches = std::move(batches.of_batches);
  late.crossing = std::move(batches.read);
  late.crossing.insert(plan.graph.outputs().begin(), plan.graph.outputs().end());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    const bool only_names = s.kind == Step::Kind::source && !sources.loads_samples(s.nodes[0]);
    late.of_samples.push_back(!only_names && !late.of_batches[i]);
    if (late.of_samples[i]) late.last_of_samples = i;
    if (s.pinned && s.kind == Step::Kind::stage && late.of_samples[i]) late.pinned.insert(s.output);
  }
  if (!late.of_samples[late.last_of_samples])
    refuse(plan.graph.node(plan.steps.back().nodes[0]),
           "works on whole batches, as all operators of this pipeline do, so that no sample can come late: read or "
           "decode on the CPU");
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
