// SPDX-License-Identifier: Apache-2.0
// What the error policy does with samples that could not be read: another one takes their place, or they leave the
// iteration, wherever it stands: in bodies of control flow, and behind filter and its kind.
#include <algorithm>

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

// What is left of a list of places when those in `gone` are no more.
void renumber(std::vector<int>& places, const std::vector<int>& gone) {
  std::erase_if(places, [&](int p) { return std::binary_search(gone.begin(), gone.end(), p); });
  for (int& p : places) p -= static_cast<int>(std::lower_bound(gone.begin(), gone.end(), p) - gone.begin());
}

}  // namespace

// Another sample would need what was decided for the one before it.
void Executor::check_replacement() const {
  if (options.on_error != OnError::replace || primary < 0 || !sources_.at(primary)->meta()) return;
  bool changed = false;
  for (const Step& s : plan.steps) {
    const Node& n = graph.node(s.nodes[0]);
    changed |= s.kind == Step::Kind::control && changes_samples(n.control);
    if (s.kind != Step::Kind::stage && s.kind != Step::Kind::decode) continue;
    if ((n.region == 0 && !changed) || !stage_decodes(graph, n)) continue;
    Error e(ErrorKind::argument, "on_error=\"replace\" has no sample to put in the place of one that cannot be decoded inside of a "
                                 "condition or loop, or behind fn.filter and its kind: decode before, or use \"skip\"");
    e.op = n.op, e.user_line = n.user_line;
    throw e;
  }
}

void Executor::finish_source(Iteration& it, int node) {
  if (it.given.count({node, 0})) return;  // the iteration has begun again
  sources_.at(node)->loaded(it, node);
  if (options.on_error != OnError::replace) return;
  for (int k = 0; k < plan.graph.node(node).outputs; ++k) it.given[{node, k}] = it.values.at({node, k});
}

void Executor::bring_back_given(Iteration& it) {
  for (const auto& [ref, b] : it.given)
    if (Batch& value = it.values.at(ref); ref.node == primary && value.size() == 0) value = b;
}

// Whether steps in front of this one have used the sample that is no more.
bool Executor::computed_before(const Iteration& it) const {
  return plan.steps[it.step].kind != Step::Kind::source && std::any_of(plan.steps.begin(), plan.steps.begin() + static_cast<std::ptrdiff_t>(it.step), [](const Step& s) {
    return s.kind != Step::Kind::source && s.kind != Step::Kind::read;
  });
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
  it.jump = 0;
}

void Executor::settle_errors(Iteration& it, int thread) {
  bool replaced = false;
  auto errors = std::move(it.errors);
  it.errors.clear();
  std::sort(errors.begin(), errors.end(), [](const auto& a, const auto& b) { return a.sample < b.sample; });
  std::vector<int> gone;
  const Step& s = plan.steps[it.step];
  const bool whole = s.kind == Step::Kind::whole;
  const bool no_other = (s.gpu && (s.kind == Step::Kind::stage || s.kind == Step::Kind::transfer)) || s.kind == Step::Kind::call ||  // not for one sample of it
                        (whole && (!it.frames.empty() || it.domain != 0));  // a body's samples, or children, are not the reader's
  for (auto& bad : errors) {
    if (!is_of_data(bad.error) || options.on_error == OnError::raise || primary < 0) throw bad.error;
    const SampleOrigin& o = it.origin[bad.sample];
    const uint64_t position = o.position;
    if (!it.attempts.count(bad.sample))
      it.left_out.push_back({o.epoch, static_cast<int64_t>(position), bad.error.source, bad.error.what()});
    if (options.on_error == OnError::skip) {
      gone.push_back(bad.sample);
      continue;
    }
    bring_back_given(it);
    for (uint32_t& attempt = it.attempts[bad.sample];; ++attempt) {
      if (no_other || attempt == 64 || !sources_.at(primary)->replace(it, primary, bad.sample, attempt)) throw bad.error;
      if (s.kind != Step::Kind::source && get_op(graph.node(primary).op).loads_samples) {
        if (auto error = error_of([&] { sources_.at(primary)->load(it, primary, bad.sample); })) {
          if (!is_of_data(*error)) throw *error;
          continue;
        }
      }
      if (whole) break;  // what it reads is behind: the iteration tries the sample from its start
      run_items(it, bad.sample, 1, thread);
      if (it.errors.empty()) break;
      it.errors.clear();
    }
    ++it.attempts[bad.sample];
    it.origin[bad.sample].position = position;  // random numbers stay those of the position
    replaced = true;
  }
  if (!gone.empty()) drop_samples(it, gone);
  if (replaced && (whole || computed_before(it))) begin_again(it);
}

// They leave the values of the step's domain, of what was made of it, and of all bodies around.
void Executor::drop_samples(Iteration& it, std::vector<int> gone) {
  const auto drop_values = [&](int domain, int size, const std::vector<int>& places) {
    for (auto& [ref, b] : it.values)
      if (b.size() == size && plan.graph.node(ref.node).domain == domain) remove_at(b, places);
  };
  const auto read = static_cast<size_t>(it.frames.empty() ? it.size : it.frames.front().size);
  drop_files(it, gone);
  drop_values(it.domain, it.size, gone);
  remove_at(it.origin, gone);
  it.size -= static_cast<int>(gone.size());
  for (size_t k = it.frames.size(); k-- > 0;) {
    Frame& f = it.frames[k];
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
    for (auto& [node, indices] : it.indices)
      if (indices.size() == read) remove_at(indices, gone);
  if (const auto set = it.sets.find(it.domain); set != it.sets.end() && !set->second.from.empty()) remove_at(set->second.from, gone);
  drop_children(it, it.domain, gone);
}

void Executor::drop_children(Iteration& it, int domain, const std::vector<int>& gone) {
  for (auto& [id, set] : it.sets) {
    if (id == domain || plan.graph.domains()[static_cast<size_t>(id)].parent != domain) continue;
    std::vector<int> children;
    for (size_t i = 0; i < set.from.size(); ++i)
      if (std::binary_search(gone.begin(), gone.end(), set.from[i])) children.push_back(static_cast<int>(i));
    for (auto& [ref, b] : it.values)
      if (!children.empty() && b.size() == set.size && plan.graph.node(ref.node).domain == id) remove_at(b, children);
    remove_at(set.origin, children);
    renumber(set.from, gone);
    set.size -= static_cast<int>(children.size());
    drop_children(it, id, children);
  }
}

}  // namespace penstock
