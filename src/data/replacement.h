// SPDX-License-Identifier: Apache-2.0
// What happens to samples that cannot be read or decoded. Policies go by position, so that the samples after a bad one
// are the same whether or not it was bad.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace penstock {

enum class OnError { raise, skip, replace };

// The position whose sample stands in for the one at `position`, by hash: the same on every rank and in every run.
// Never `position` itself, unless size is 1. attempt: 0 for the first replacement, 1 where that was bad too, and so on.
int64_t replacement_position(uint64_t seed, uint64_t epoch, int64_t position, uint32_t attempt, int64_t size);

struct LeftOut {
  uint64_t epoch = 0;
  int64_t position = 0;
  std::string source;   // file or record
  std::string message;  // why
  int number = 0;       // of the sample in the batch that the source gave, whatever else has left it
  int64_t batch = 0;    // how many batches the pipeline had handed out before this one
};

// Counts what was left out and ends the run where it is too much. All members may be called from any thread.
class ErrorBudget {
 public:
  // The number of samples that one epoch may lose.
  static ErrorBudget unlimited();
  static ErrorBudget count(int64_t most);                  // most >= 0
  static ErrorBudget fraction(double most, int64_t size);  // of the size of the data set; 0 <= most <= 1
  ErrorBudget(ErrorBudget&&) noexcept;
  ErrorBudget& operator=(ErrorBudget&&) noexcept;
  ~ErrorBudget();

  // Adds to the list. A position of an epoch counts once, however often it is reported. Throws an Error (data) with the
  // sample's file and cause where the epoch has now lost more than it may.
  void add(LeftOut sample);
  int64_t total() const;              // over all epochs
  std::vector<LeftOut> list() const;  // sorted by epoch and position; the first list_limit of each run are kept
  static constexpr int64_t list_limit = 10000;

 private:
  explicit ErrorBudget(int64_t most);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace penstock
