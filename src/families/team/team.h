// SPDX-License-Identifier: Apache-2.0
// Rules that a team of threads runs on a sample: for operators with a few numbers a sample, and for those whose results
// depend on the sample as a whole. On a GPU a team is a block, on the host one thread. A rule is
//
//     struct Rule {
//       PENSTOCK_PIXEL(
//       struct Coef { ... };                       // what the host knows
//       PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team,
//                                   Refusal& refusal) { ... });
//     };
//
// or with `template <class In>` before run(), for inputs of any type. All threads of a team run it. Each takes a share
// of the items, in order; before(), least() and sync() are called by all threads or by none. A rule that finds
// something wrong sets Refusal::what in the thread that finds it: the first thread's counts, so that a rule whose
// threads take shares in order refuses the first item that is wrong. The work of a sample may have many units, of which
// [team.begin, team.end) belong to a team; then all teams of a sample find the same thing wrong, or nothing.
#pragma once
#include "families/team/kernels/arrays.h"
#include "families/team/kernels/team.h"
#include "operator/kernel_step.h"

namespace penstock {

struct Team {
  int64_t begin = 0, end = 1;
  static constexpr int index = 0, count = 1;
  std::byte* own = nullptr;

  void sync() const {}
  char* memory() const { return reinterpret_cast<char*>(own); }
  Share share(int64_t n) const { return {0, n}; }
  int64_t before(int64_t v, int64_t& total) const {
    total = v;
    return 0;
  }
  int64_t least(int64_t v) const { return v; }
  void raise(int64_t* at, int64_t v) const { *at = std::max(*at, v); }
};

using TeamTable = std::shared_ptr<const std::vector<std::byte>>;
template <class T> TeamTable team_table(std::span<const T> numbers) {
  const auto bytes = std::as_bytes(numbers);
  return std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

struct TeamCall {
  std::vector<const void*> in;
  std::vector<void*> out;
  DType type = DType::none;                               // In of a rule that has it
  int64_t units = 1;                                      // of work
  const char* header = "families/team/kernels/team.h";    // or one that includes it
  size_t memory = 0;                                      // bytes of a team: at most kTeamBytes
  bool unit_for_team = false;                             // all threads of a team work on each unit
  TeamTable table = nullptr;                              // goes along with the coefficients; samples may share it
  std::function<void(const Refusal&)> refused = nullptr;  // throws
};
constexpr size_t kTeamBytes = kBlockBytes - (whole::kThreads + 2) * sizeof(int64_t);

template <class Rule> void run_team_here(const TeamCall& call, const Arrays& arrays, const typename Rule::Coef& coef) {
  std::vector<std::byte> memory(call.memory);
  const Team team{0, call.units, memory.data()};
  Refusal refusal;
  const char* table = call.table ? reinterpret_cast<const char*>(call.table->data()) : nullptr;
  if constexpr (requires { Rule::run(arrays, coef, table, team, refusal); })
    Rule::run(arrays, coef, table, team, refusal);
  else dispatch(call.type, [&]<class In>(TypeTag<In>) { Rule::template run<In>(arrays, coef, table, team, refusal); });
  if (refusal.what) call.refused(refusal);
}

template <class Rule> void run_team(TeamCall call, const typename Rule::Coef& coef, SampleWork& to) {
  if (call.units == 0) return;
  Arrays arrays{};
  std::copy(call.in.begin(), call.in.end(), arrays.in);
  std::copy(call.out.begin(), call.out.end(), arrays.out);
  if (to.at_once()) return run_team_here<Rule>(call, arrays, coef);
  using Row = whole::TeamRow<typename Rule::Coef>;
  constexpr bool typed =
      !requires(const char* table, Refusal refusal) { Rule::run(arrays, coef, table, Team{}, refusal); };
  KernelStep step;
  step.kernel = {call.header,
                 typed ? "run_typed_team" : "run_team",
                 {},
                 {},
                 [] { return std::string(Rule::pixel_text); },
                 call.units == 1 || call.unit_for_team ? 1 : whole::kThreads};
  if (typed) step.kernel.types.push_back(call.type);
  step.row = row_bytes(Row{arrays, nullptr, {}, coef});
  step.work = call.units;
  step.shared_bytes = kBlockBytes - kTeamBytes + call.memory;
  step.data = std::move(call.table);
  step.data_member = offsetof(Row, table);
  step.refused = std::move(call.refused);
  step.refusal_member = offsetof(Row, refusal);
  to.kernel(std::move(step));
}

// Bytes that the host knows.
struct GivenBytes {
  PENSTOCK_PIXEL(
      struct Coef { int64_t bytes; };
      PENSTOCK_HD static void run(const Arrays& a, const Coef& c, const char* table, const Team& team, Refusal&) {
        for (int64_t i = team.index; i < c.bytes; i += team.count) a.to<char>(0)[i] = table[i];
      });
};
inline void give_bytes(const View& to, std::span<const std::byte> bytes, SampleWork& work) {
  if (bytes.empty()) return;
  if (work.at_once()) std::memcpy(to.data, bytes.data(), bytes.size());
  else
    run_team<GivenBytes>({.in = {}, .out = {to.data}, .table = team_table(bytes)}, {static_cast<int64_t>(bytes.size())},
                         work);
}
template <class T> void give_numbers(const View& to, const std::vector<T>& numbers, SampleWork& work) {
  give_bytes(to, std::as_bytes(std::span(numbers)), work);
}

}  // namespace penstock
