// SPDX-License-Identifier: Apache-2.0
// What the error policy does with samples that could not be read: another one takes their place, or they leave the
// iteration, wherever it stands: in bodies of control flow, and behind filter and its kind.
#include <algorithm>
#include <set>

#include "exec/executor.h"
#include "graph/stage_growth.h"

namespace penstock {
namespace {

// gone: places, in order.
template <class T> void remove_at(std::vector<T>& list, const std::vector<int>& gone) {
  for (size_t k = gone.size(); k-- > 0;) list.erase(list.begin() + gone[k]);
}

void remove_at(Batch& b, const std::vector<int>& gone) {
  Batch kept(b.dtype(), b.ndim(), b.layout(), b.size() - static_cast<int>(gone.size()));
  kept.block = b.block;
  kept.stream = b.stream, kept.ready = b.ready;
  kept.set_device(b.device());
  int to = 0;
  for (int i = 0; i < b.size(); ++i)
    if (!std::binary_search(gone.begin(), gone.end(), i)) kept.sample(to++) = b.sample(i);
  b = std::move(kept);
}

// In a batch of so many samples.
void remove_at(SourceBatch& b, size_t size, const std::vector<int>& gone) {
  if (b.indices.size() == size) remove_at(b.indices, gone);
  for (Batch& output : b.outputs)
    if (static_cast<size_t>(output.size()) == size) remove_at(output, gone);
  for (SourceBatch& part : b.parts) remove_at(part, size, gone);
}

// What is left of a list of places when those in `gone` are no more.
void renumber(std::vector<int>& places, const std::vector<int>& gone) {
  std::erase_if(places, [&](int p) { return std::binary_search(gone.begin(), gone.end(), p); });
  for (int& p : places) p -= static_cast<int>(std::lower_bound(gone.begin(), gone.end(), p) - gone.begin());
}

LeftOut left_out_of(const SampleOrigin& o, const Error& error) {
  return {o.epoch, static_cast<int64_t>(o.position), error.source, error.what(), o.number};
}

}  // namespace

void Executor::take_values(Iteration& it, int node) {
  const auto found = it.sources.find(node);
  if (found == it.sources.end()) return;
  int k = 0;
  for (Batch& b : found->second.outputs) it.values.at({node, k++}) = std::move(b);
  found->second.outputs.clear();
}

struct Executor::Lent {
  Lent(Iteration& it, int node, int outputs)
      : iteration(it), source(node), batch(it.sources.at(node)), lends(batch.outputs.empty()) {
    for (int k = 0; lends && k < outputs; ++k) batch.outputs.push_back(std::move(it.values.at({node, k})));
  }
  ~Lent() {
    if (lends) take_values(iteration, source);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  Iteration& iteration;
  const int source;
  SourceBatch& batch;
  const bool lends;
};

void Executor::load_sample(Iteration& it, int node, int i) {
  const Lent lent(it, node, graph.node(node).outputs);
  sources_.at(node)->load(lent.batch, i);
}

void Executor::finish_source(Iteration& it, int node) {
  if (it.given.count({node, 0})) return;  // the iteration has begun again
  if (loads_samples(node)) {
    const Lent lent(it, node, graph.node(node).outputs);
    sources_.at(node)->loaded(lent.batch);
  }
  if (options.on_error != OnError::replace) return;
  for (int k = 0; k < plan.graph.node(node).outputs; ++k) it.given[{node, k}] = it.values.at({node, k});
}

void Executor::bring_back_given(Iteration& it) {
  for (const auto& [ref, b] : it.given)
    if (Batch& value = it.values.at(ref); ref.node == primary && value.size() == 0) value = b;
}

// Whether steps in front of this one have used the sample that is no more.
bool Executor::computed_before(const Iteration& it) const {
  return plan.steps[it.step].kind != Step::Kind::source &&
         std::any_of(plan.steps.begin(), plan.steps.begin() + static_cast<std::ptrdiff_t>(it.step),
                     [](const Step& s) { return s.kind != Step::Kind::source && s.kind != Step::Kind::read; });
}

// Which of the samples that the sources gave sample i of the step was made of.
int Executor::given_sample(const Iteration& it, int i) const {
  size_t frames = it.frames.size();
  for (int domain = it.domain;; domain = plan.graph.domains()[static_cast<size_t>(domain)].parent) {
    for (; frames > 0 && it.frames[frames - 1].domain == domain; --frames)
      i = it.frames[frames - 1].inside[static_cast<size_t>(i)];
    if (domain == 0) return i;
    i = it.sets.at(domain).from[static_cast<size_t>(i)];
  }
}

// Out of all bodies, to the samples that the sources gave.
void Executor::unwind(Iteration& it) {
  while (!it.frames.empty() || it.domain != 0) {
    if (it.frames.empty() || it.frames.back().domain != it.domain) {
      use_domain(it, plan.graph.domains()[static_cast<size_t>(it.domain)].parent);
      continue;
    }
    if (Frame& f = it.frames.back(); !f.all) it.size = f.size, it.origin = std::move(f.origin);
    it.frames.pop_back();
  }
  it.trips_key = 0;
  it.sets.clear();
  it.skipped = false;
  for (const auto& [ref, b] : it.given)
    if (ref.node == primary) it.values.at(ref) = b;
}

// The iteration goes through all steps once more, with what its sources gave and with the samples that were put in.
void Executor::begin_again(Iteration& it) {
  for (auto& [ref, b] : it.given)
    if (ref.node == primary) b = it.values.at(ref);
  for (auto& [ref, b] : it.values) {
    const auto given = it.given.find(ref);
    b = given == it.given.end() ? Batch() : given->second;
  }
  it.step_state = nullptr;
  it.log = nullptr;
  it.jump = 0;
}

void Executor::settle_errors(Iteration& it, int thread) {
  auto errors = std::move(it.errors);
  it.errors.clear();
  std::sort(errors.begin(), errors.end(), [](const auto& a, const auto& b) { return a.sample < b.sample; });
  for (auto& bad : errors)
    if (!is_of_data(bad.error) || options.on_error == OnError::raise || primary < 0) throw bad.error;
  if (options.on_error == OnError::replace) return replace_samples(it, errors, thread);
  std::vector<int> gone;
  for (auto& bad : errors) {
    const SampleOrigin& o = it.origin[bad.sample];
    it.left_out.push_back(left_out_of(o, bad.error));
    gone.push_back(bad.sample);
  }
  drop_samples(it, gone);
}

// Several external sources bring parts of one sample: all of them give the other one's.
bool Executor::find_other(Iteration& it, int i, uint32_t attempt) {
  const auto replace = [&](Source& source, SourceBatch& batch) {
    batch.origin.swap(it.origin);
    const bool found = source.replace(batch, i, attempt);
    batch.origin.swap(it.origin);
    return found;
  };
  Source& first = *sources_.at(primary);
  if (!dynamic_cast<ExternalSource*>(&first)) {
    const Lent lent(it, primary, graph.node(primary).outputs);
    return replace(first, lent.batch);
  }
  const auto among_given = [&](int node, Source& source) {  // of those that the source gave, none has been dropped
    SourceBatch batch;
    const int outputs = graph.node(node).outputs;
    for (int k = 0; k < outputs; ++k) batch.outputs.push_back(std::move(it.given.at({node, k})));
    const bool found = replace(source, batch);
    for (int k = 0; k < outputs; ++k) {
      Batch &given = it.given.at({node, k}), &value = it.values.at({node, k});
      given = std::move(batch.outputs[k]);
      if (found && value.size() == given.size()) value.sample(i) = given.sample(i);  // else it was dropped
    }
    return found;
  };
  if (!among_given(primary, first)) return false;
  for (auto& [node, source] : sources_)
    if (node != primary && dynamic_cast<ExternalSource*>(source.get())) among_given(node, *source);
  return true;
}

// Where steps have used a sample that is no more, or decided for it, the iteration begins again with the other one.
void Executor::replace_samples(Iteration& it, std::vector<SampleError>& errors, int thread) {
  const Step& s = plan.steps[it.step];
  const bool no_other =
      (s.gpu && (s.kind == Step::Kind::stage || s.kind == Step::Kind::transfer)) ||  // not for one sample of it
      s.kind == Step::Kind::call;
  const bool parted = !it.frames.empty() || it.domain != 0;
  const bool again = parted || s.kind == Step::Kind::whole;
  std::set<int> done;  // children of one sample may be bad together
  std::vector<int> given;
  for (const auto& bad : errors) given.push_back(given_sample(it, bad.sample));
  if (parted) unwind(it);
  for (size_t k = 0; k < errors.size(); ++k) {
    auto& bad = errors[k];
    const int i = given[k];
    if (!done.insert(i).second) continue;
    const SampleOrigin& o = it.origin[static_cast<size_t>(i)];
    const uint64_t position = o.position;
    if (!it.attempts.count(i)) it.left_out.push_back(left_out_of(o, bad.error));
    bring_back_given(it);
    for (uint32_t& attempt = it.attempts[i];; ++attempt) {
      if (no_other || attempt == 64 || !find_other(it, i, attempt)) throw bad.error;
      if (s.kind != Step::Kind::source && get_op(graph.node(primary).op).loads_samples) {
        if (auto error = error_of([&] { load_sample(it, primary, i); })) {
          if (!is_of_data(*error)) throw *error;
          continue;
        }
      }
      if (again) break;  // what it reads is behind: the iteration tries the sample from its start
      run_items(it, i, 1, thread);
      if (it.errors.empty()) break;
      it.errors.clear();
    }
    ++it.attempts[i];
    it.origin[static_cast<size_t>(i)].position = position;  // random numbers stay those of the position
  }
  if (again || computed_before(it)) begin_again(it);
}

// They leave the values of the step's domain, of what was made of it, and of all bodies around that part its samples.
void Executor::drop_samples(Iteration& it, std::vector<int> gone) {
  const auto drop_values = [&](int domain, int size, const std::vector<int>& places) {
    for (auto& [ref, b] : it.values)
      if (b.size() == size && plan.graph.domain_of(ref) == domain) remove_at(b, places);
  };
  const auto read = static_cast<size_t>(it.frames.empty() ? it.size : it.frames.front().size);
  drop_files(it, gone);
  drop_values(it.domain, it.size, gone);
  remove_at(it.origin, gone);
  it.size -= static_cast<int>(gone.size());
  size_t k = it.frames.size();
  for (; k > 0 && it.frames[k - 1].domain == it.domain; --k) {
    Frame& f = it.frames[k - 1];
    drop_children(it, it.domain, k, gone);  // that this body has made
    std::vector<int> outside;
    for (int i : gone) outside.push_back(f.inside[static_cast<size_t>(i)]);
    if (!f.all) {
      drop_values(it.domain, f.size, outside);  // those that the body does not read
      remove_at(f.origin, outside);
      for (auto& [ref, b] : f.outside) remove_at(b, outside);
    }
    for (Batch& b : f.kept)  // of a loop; a branch keeps those of the other side
      if (plan.graph.node(f.node).control == Control::loop && b.size() == f.size) remove_at(b, outside);
    if (!f.counts.empty()) remove_at(f.counts, outside);
    renumber(f.inside, outside);
    renumber(f.others, outside);
    f.size -= static_cast<int>(outside.size());
    gone = std::move(outside);
  }
  if (it.domain == 0)
    for (auto& [node, batch] : it.sources) remove_at(batch, read, gone);
  if (const auto set = it.sets.find(it.domain); set != it.sets.end() && !set->second.from.empty())
    remove_at(set->second.from, gone);
  drop_children(it, it.domain, k, gone);
}

// Those that were made of samples of a domain, in the body that `depth` nodes of control flow lie around.
void Executor::drop_children(Iteration& it, int domain, size_t depth, const std::vector<int>& gone) {
  const auto& regions = plan.graph.regions();
  const int here = plan.region_of(plan.steps[it.step]);
  for (auto& [id, set] : it.sets) {
    const Domain& d = plan.graph.domains()[static_cast<size_t>(id)];
    if (id == domain || d.parent != domain || !plan.graph.within(here, d.region)) continue;
    size_t around = 0;
    for (int r = d.region, last = -1; r > 0; r = regions[static_cast<size_t>(r)].parent)
      if (const int owner = regions[static_cast<size_t>(r)].owner; owner != last) last = owner, ++around;
    if (around != depth) continue;
    std::vector<int> children;
    for (size_t i = 0; i < set.from.size(); ++i)
      if (std::binary_search(gone.begin(), gone.end(), set.from[i])) children.push_back(static_cast<int>(i));
    for (auto& [ref, b] : it.values)
      if (!children.empty() && b.size() == set.size && plan.graph.domain_of(ref) == id) remove_at(b, children);
    remove_at(set.origin, children);
    renumber(set.from, gone);
    set.size -= static_cast<int>(children.size());
    drop_children(it, id, depth, children);
  }
}

}  // namespace penstock
