// SPDX-License-Identifier: Apache-2.0
#include "cuda/whole/sums.h"

#include <algorithm>
#include <array>

#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/given_numbers.h"
#include "cuda/whole/kernels/sums.h"

namespace penstock {
namespace {

using whole::kColumns;
using whole::kUnits;
constexpr int kFewest = 4, kFew = 16;  // elements of a result that one thread sums by itself

// Types of the kernels, as they are written there.
std::string folded_name(Fold fold, DType total) {
  constexpr const char* kNames[] = {"numbers", "squares", "integers", "least", "greatest"};
  return fmt::format("{}, Fold::{}", element(total), kNames[static_cast<int>(fold)]);
}
std::string finish_name(SumUse use, Statistic statistic, DType out_type) {
  constexpr const char* kNames[] = {"sum", "mean", "mean_square", "rms", "variance", "std_dev", "min", "max"};
  if (use == SumUse::mean) return "AsMean";
  if (use == SumUse::factor) return "AsFactor";
  return fmt::format("AsStatistic<{}, Statistic::{}>", element(out_type), kNames[static_cast<int>(statistic)]);
}

whole::ResultRow result_row(const SumOutput& o) { return {o.count, o.out, o.ddof, o.epsilon, o.scale}; }

// An entry of `work` for an input; its count is that of the input alone.
whole::SumRow& add_input(EntryTable<whole::SumRow>& entries, const SumInput& input, const ReductionLoops& loops,
                         int64_t work) {
  whole::SumRow& row = entries.add(work);
  row.result.count = input.plan->count;
  row.in = input.in.data;
  if (input.about) row.about = input.about->row(entries.data);
  row.width = loops.width;
  for (const auto& loop : loops.kept) row.kept_loop[row.kept++] = {loop.extent, loop.stride};
  for (const auto& loop : loops.summed) row.summed_loop[row.summed++] = {loop.extent, loop.stride};
  return row;
}

// The ways to sum, and the work of each.
enum Way { few4, few16, lines, columns, channels2, channels3, channels4, ways };
Way way_of(const ReductionLoops& loops) {
  if (loops.width > 1 && loops.width <= 4 && loops.summed.size() == 1 && loops.summed[0].stride == loops.width)
    return static_cast<Way>(channels2 + loops.width - 2);
  return loops.width >= kColumns / 2 ? columns : lines;
}
int64_t work_of(Way way, int64_t results, int64_t width) {
  if (way >= channels2) return results / width;
  return way == columns ? results / width * ((width + kColumns - 1) / kColumns) : results;
}

// The sums of a launch by way, and their folds.
struct SumTables {
  std::array<EntryTable<whole::SumRow>, ways> sums;
  EntryTable<whole::FoldRow> folds;
  bool wide = false;

  void enqueue(const std::string& summed, const std::string& folded, const std::string& finish, Launches& to) const {
    for (const Way way : {few4, few16})
      to.add({"sums.h", fmt::format("sum_few<Summed<{}>, {}, {}, {}>", summed, finish, wide ? "int64_t" : "int32_t",
                                    way == few4 ? kFewest : kFew)},
             sums[way], kStageThreads);
    to.add({"sums.h", fmt::format("sum_lines<Summed<{}>>", summed)}, sums[lines], kUnits, whole::kLinesBytes);
    to.add({"sums.h", fmt::format("sum_columns<Summed<{}>>", summed)}, sums[columns], 1, whole::kColumnsBytes);
    for (int width = 2; width <= 4; ++width)
      to.add({"sums.h", fmt::format("sum_channels<Summed<{}>, {}>", summed, width)}, sums[channels2 + width - 2],
             kUnits, static_cast<size_t>(width) * whole::kLinesBytes);
    to.add({"folds.h", fmt::format("fold_chunks<Folded<{}>, {}>", folded, finish)}, folds, kUnits, whole::kFoldBytes);
  }
};

}  // namespace

void enqueue_sums(std::span<const SumInput> inputs, std::span<const SumOutput> outputs, SumUse use, DType out_type,
                  Launches& to, Statistic statistic) {
  if (inputs.empty()) return;
  const DType type = inputs[0].in.dtype;
  const Fold fold = use == SumUse::mean     ? Fold::numbers
                    : use == SumUse::factor ? Fold::squares
                                            : fold_of(statistic, type);
  const bool together = outputs.size() == 1 && inputs.size() > 1;
  const DType total = folded_type(fold, type);
  SumTables tables;
  std::vector<whole::Segment> segments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ReductionPlan& plan = *inputs[i].plan;
    if (plan.results == 0) continue;
    const ReductionLoops loops(plan);
    tables.wide |= plan.in.volume() >= int64_t{1} << 31;
    if (plan.count <= kFew && !together) {
      add_input(tables.sums[plan.count <= kFewest ? few4 : few16], inputs[i], loops, plan.results).result =
          result_row(outputs[i]);
      continue;
    }
    const int64_t chunks = (plan.count + kReductionChunk - 1) / kReductionChunk;
    void* sums = to.scratch(static_cast<size_t>(chunks * plan.results) * size_of(total));
    if (chunks > 0) {
      const Way way = way_of(loops);
      whole::SumRow& row =
          add_input(tables.sums[way], inputs[i], loops, chunks * work_of(way, plan.results, loops.width));
      row.sums = sums, row.chunks = chunks;
    }
    segments.push_back({sums, chunks});
    if (together && i + 1 < inputs.size()) continue;
    const auto at = tables.folds.data.add(segments.data(), segments.size());
    tables.folds.add(plan.results) = {result_row(outputs[together ? 0 : i]), static_cast<int64_t>(segments.size()), at,
                                      loops.width};
    segments.clear();
  }
  const std::string folded = folded_name(fold, total);
  tables.enqueue(fmt::format("{}, {}", element(type), folded), folded, finish_name(use, statistic, out_type), to);
}

void enqueue_reductions(std::span<const ReductionStep> steps, Launches& to) {
  if (steps.empty()) return;
  const Statistic statistic = steps[0].rule.statistic;
  const auto same = [&](const ReductionStep& s) { return s.rule.statistic == statistic; };
  if (!std::ranges::all_of(steps, same)) {  // each statistic by itself
    std::vector<ReductionStep> first, others;
    for (const ReductionStep& s : steps) (same(s) ? first : others).push_back(s);
    enqueue_reductions(first, to);
    return enqueue_reductions(others, to);
  }
  const bool squares = fold_of(statistic, steps[0].in.dtype) == Fold::squares;
  std::vector<ResultNumbers> about(steps.size());
  GivenNumbers given;
  for (size_t i = 0; i < steps.size() && squares; ++i) {
    const View& v = steps[i].rule.about;
    if (!v.data) about[i] = {nullptr, {0.0}, 0};
    else if (v.dtype == DType::float64) about[i] = {v.as<const double>(), {}, v.volume() == 1 ? 0 : 1};
    else about[i] = given.numbers({{}, v}, steps[i].plan.results, {}, to);
  }
  given.enqueue(to);
  std::vector<SumInput> inputs;
  std::vector<SumOutput> outputs;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ReductionStep& s = steps[i];
    inputs.push_back({s.in, &s.plan, squares ? &about[i] : nullptr});
    outputs.push_back({s.out.data, s.plan.count, s.rule.ddof});
  }
  enqueue_sums(inputs, outputs, SumUse::statistic, steps[0].out.dtype, to, statistic);
}

}  // namespace penstock
