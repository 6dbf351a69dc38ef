// SPDX-License-Identifier: Apache-2.0
// Threads that help the calls of one function, one call at a time.
#pragma once
#include <memory>
#include <mutex>
#include <optional>

#include "base/crew.h"

namespace penstock {

// They begin with the first call. While a call runs they wait for its parts without sleep, but not for long.
class FunctionThreads {
 public:
  explicit FunctionThreads(int threads);  // with the caller's
  ~FunctionThreads();
  FunctionThreads(const FunctionThreads&) = delete;

  // A call that they help while it lives. A second one at the same time runs on its own thread.
  class Turn {
   public:
    // `soon`: the call will have parts, so the threads wake up now. No threads: null.
    Turn(FunctionThreads* threads, bool soon);
    ~Turn();
    Turn(const Turn&) = delete;

   private:
    FunctionThreads* threads_ = nullptr;
    std::optional<CrewMember> member_;
  };

 private:
  class Team;
  Team* team();

  const int count_;
  std::mutex one_call_;
  std::unique_ptr<Team> team_;
};

}  // namespace penstock
