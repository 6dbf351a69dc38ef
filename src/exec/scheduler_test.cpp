// SPDX-License-Identifier: Apache-2.0
// The scheduler alone: random jobs, whose steps note what happens to them.
#include "exec/scheduler.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "exec/job_consumer.h"

namespace penstock {
namespace {

int graphs(int normal) {  // PENSTOCK_TEST_COUNT scales the random tests: 20 is the normal count
  const char* wish = std::getenv("PENSTOCK_TEST_COUNT");
  return wish ? normal * std::max(1, std::atoi(wish) / 20) : normal;
}

struct StepPlan {
  int lane = kAnyStep;
  bool in_order = false, allocates = false, device = false;
  int items = 0, together = 1;
  bool handed_over = false;  // somebody else goes on with the job
  int items_after = 0;       // ... after so many further items
  int back = -1;             // once, the job goes on there
};

struct NotedJob final : Job {
  std::vector<std::vector<std::atomic<int>>> ran;  // by step and item
  std::vector<int> begun, ended;                   // by step
  int jump = -1;
  bool went_back = false, again = false, holds_memory = false, on_device = false;
};

class NotedWork final : public JobWork {
 public:
  NotedWork(std::vector<StepPlan> steps, int memory, int places, unsigned seed)
      : steps_(std::move(steps)), memory_(memory), places_(places), random_(seed) {}

  std::shared_ptr<NotedJob> make() const {
    auto job = std::make_shared<NotedJob>();
    for (const StepPlan& s : steps_) job->ran.emplace_back(static_cast<size_t>(std::max(s.items, s.items_after)));
    job->begun.assign(steps_.size(), 0), job->ended.assign(steps_.size(), 0);
    return job;
  }

  void set_step(Job& job, size_t step) const {
    job.step = step, job.lane = steps_[step].lane, job.in_order = steps_[step].in_order;
  }
  void begins(Job& job) override { set_step(job, 0); }
  bool next_step(Job& job) override {
    auto& noted = static_cast<NotedJob&>(job);
    const int jump = std::exchange(noted.jump, -1);
    if (jump < 0 && job.step + 1 == steps_.size()) return false;
    set_step(job, jump < 0 ? job.step + 1 : static_cast<size_t>(jump));
    return true;
  }
  Room room_for(const Job& job, size_t, bool wanted) override {
    const auto& noted = static_cast<const NotedJob&>(job);
    const StepPlan& s = steps_[job.step];
    if (s.device && !noted.on_device && on_device_ >= places_) return Room::full;
    if (!s.allocates || noted.holds_memory || wanted || used_ < memory_) return Room::yes;
    asked_ = true;
    return s.in_order ? Room::later : Room::soon;
  }
  void taken(Job& job) override {
    auto& noted = static_cast<NotedJob&>(job);
    const StepPlan& s = steps_[job.step];
    if (s.device && !std::exchange(noted.on_device, true)) ++on_device_;
    if (s.allocates && !std::exchange(noted.holds_memory, true)) ++used_;
  }
  bool abandon(Job&) override { return false; }
  bool runs_here(const Job& job) const override { return job.lane == kAnyStep && !job.in_order; }

  void prepare(Job& job, int) override {
    auto& noted = static_cast<NotedJob&>(job);
    const StepPlan& s = steps_[job.step];
    ++noted.begun[job.step];
    noted.again = false;
    if (s.in_order && noted.begun[job.step] == 1) {
      EXPECT_EQ(order_[job.step].fetch_add(1), static_cast<int>(job.number)) << "step " << job.step;
    }
    job.items = s.items, job.together = s.together;
  }
  void run(Job& job, int64_t first, int count, int) override {
    auto& noted = static_cast<NotedJob&>(job);
    EXPECT_EQ(noted.begun[job.step], noted.ended[job.step] + 1) << "an item without a prepared step";
    for (int64_t i = first; i < first + count; ++i) ++noted.ran[job.step][static_cast<size_t>(i)];
  }
  void finish(const std::shared_ptr<Job>& job, int) override {
    auto& noted = static_cast<NotedJob&>(*job);
    const StepPlan& s = steps_[job->step];
    const int times = noted.again ? s.items_after : s.items;
    for (int i = 0; i < times; ++i) EXPECT_EQ(noted.ran[job->step][static_cast<size_t>(i)].exchange(0), 1);
    if (s.handed_over && !noted.again) return hand_over(job, s);
    ++noted.ended[job->step];
    if (s.back >= 0 && !std::exchange(noted.went_back, true)) noted.jump = s.back;
    scheduler->go_on(*job);
  }
  bool ask_for_room() override { return !asked_.exchange(true); }
  void slept(int64_t, bool, int) override {}

  // Some time after the job was taken, its memory and its place on the device are free.
  void release(const std::shared_ptr<NotedJob>& job) {
    later([this, job] {
      if (std::exchange(job->on_device, false)) --on_device_;
      if (std::exchange(job->holds_memory, false)) {
        --used_;
        if (asked_.exchange(false)) scheduler->look_again();
      }
      scheduler->made_room();
    });
  }
  void join() {
    for (auto& t : others_) t.join();
    others_.clear();
  }

  Scheduler* scheduler = nullptr;

 private:
  void hand_over(const std::shared_ptr<Job>& job, const StepPlan& s) {
    scheduler->hold(*job);
    later([this, job, items = s.items_after] {
      auto& noted = static_cast<NotedJob&>(*job);
      if (items > 0) {
        noted.again = true;
        return scheduler->run_items(*job, items);
      }
      ++noted.ended[job->step];
      scheduler->go_on(*job);
    });
  }
  template <class F> void later(F f) {
    std::lock_guard lock(mutex_);
    others_.emplace_back([f = std::move(f), wait = random_() % 3] {
      if (wait) std::this_thread::sleep_for(std::chrono::microseconds(20 * wait));
      f();
    });
  }

  const std::vector<StepPlan> steps_;
  const int memory_, places_;
  std::atomic<int> used_{0}, on_device_{0};
  std::atomic<bool> asked_{false};
  std::atomic<int> order_[16] = {};
  std::mutex mutex_;
  std::mt19937 random_;
  std::vector<std::thread> others_;
};

std::vector<StepPlan> random_steps(std::mt19937& random, int lanes) {
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  std::vector<StepPlan> steps(1 + random() % 6);
  int own = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    StepPlan& s = steps[i];
    if (one_in(4) && own < lanes) s.lane = own++;
    s.in_order = s.lane != kAnyStep || one_in(4);
    s.allocates = one_in(3), s.device = one_in(4);
    if (one_in(2)) s.items = static_cast<int>(random() % 20), s.together = 1 + static_cast<int>(random() % 4);
    s.handed_over = one_in(5);
    if (s.handed_over && one_in(2)) s.items_after = 1 + static_cast<int>(random() % 5);
    if (i > 0 && one_in(8)) s.back = static_cast<int>(random() % i);
  }
  return steps;
}

void run_random_graph(unsigned seed, bool stepping = false, bool parks = false) {
  std::mt19937 random(seed);
  constexpr int kLanes = 2;
  const int threads = stepping ? 0 : 1 + static_cast<int>(random() % 3), jobs = 1 + static_cast<int>(random() % 12);
  const auto ahead = static_cast<size_t>(1 + random() % 4);
  // Room for all jobs in flight, so that none waits for a later one, and for one that has been taken.
  const int room = static_cast<int>(ahead) + 1;
  NotedWork work(random_steps(random, kLanes), room, room, seed);
  Scheduler scheduler(work, threads);
  work.scheduler = &scheduler;
  struct Join {
    NotedWork& work;
    ~Join() { work.join(); }
  } const join{work};
  JobConsumer consumer(scheduler, threads);
  for (int k = 0; k < kLanes; ++k) scheduler.add_lane();
  for (int k = 0; k < threads; ++k) scheduler.begin_thread(k, kAnyStep);
  for (int k = 0; k < kLanes && !stepping; ++k) scheduler.begin_thread(threads, k);
  const bool soon = random() % 2;
  uint64_t next = 0;
  for (int taken = 0, added = 0; taken < jobs; ++taken) {
    if (parks) scheduler.look_again(1 + static_cast<int>(random() % 3));
    while (added < jobs && scheduler.size() < ahead) scheduler.add(work.make(), soon && ahead == 1), ++added;
    const auto job = std::static_pointer_cast<NotedJob>(consumer.take({}, [](const auto&) {}));
    ASSERT_EQ(job->number, next++);
    ASSERT_TRUE(job->finished);
    for (size_t i = 0; i < job->begun.size(); ++i) {
      ASSERT_EQ(job->begun[i], job->ended[i]);
      ASSERT_EQ(job->begun[i], 1 + (job->went_back && job->begun[i] > 1)) << "step " << i;
    }
    work.release(job);
  }
  ASSERT_EQ(scheduler.size(), 0u);
}

TEST(Scheduler, RunsEachStepOfRandomJobsOnceAndInOrder) {
  for (int seed = 0; seed < graphs(300); ++seed) {
    run_random_graph(static_cast<unsigned>(seed));
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Scheduler, WithoutThreadsTheOneThatWaitsTakesAllSteps) {
  for (int seed = 0; seed < graphs(150); ++seed) {
    run_random_graph(static_cast<unsigned>(seed), true);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Scheduler, TakesAllStepsWhileItsThreadsFallAsleepAndWake) {
  for (int seed = 0; seed < graphs(150); ++seed) {
    run_random_graph(static_cast<unsigned>(seed), false, true);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Scheduler, StopsWhileJobsAreOnTheirWay) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    std::vector<StepPlan> steps = random_steps(random, 1);
    for (StepPlan& s : steps) s.handed_over = false;
    NotedWork work(std::move(steps), 3, 2, seed);
    Scheduler scheduler(work, 2);
    work.scheduler = &scheduler;
    scheduler.add_lane();
    for (int k = 0; k < 2; ++k) scheduler.begin_thread(k, kAnyStep);
    scheduler.begin_thread(2, 0);
    for (int k = 0; k < 6; ++k) scheduler.add(work.make());
    scheduler.ask_to_stop();
    EXPECT_TRUE(scheduler.stop_within(std::chrono::seconds(10)));
  }
}

TEST(Scheduler, TheThreadThatWaitsDoesTheWork) {
  std::vector<StepPlan> steps(4);
  NotedWork work(std::move(steps), 4, 1, 0);
  Scheduler scheduler(work, 1);  // no thread has begun
  work.scheduler = &scheduler;
  JobConsumer consumer(scheduler, 1);
  for (uint64_t k = 0; k < 3; ++k) {
    scheduler.add(work.make(), true);
    EXPECT_EQ(consumer.take({}, [](const auto&) {})->number, k);
  }
}

// Jobs that bring others and leave: those leave as well, in no order, and each three of them make one that is taken.
class BringingWork final : public JobWork {
 public:
  struct Brought final : Job {
    int kind = 0;  // 0 brings, 1 is brought, 2 is taken
  };
  std::shared_ptr<Job> make(int kind) const {
    auto job = std::make_shared<Brought>();
    job->kind = kind, job->leaves = kind < 2, job->unordered = kind == 1, job->has_number = kind > 0;
    return job;
  }

  void begins(Job& job) override { job.in_order = kind_of(job) == 0; }
  bool next_step(Job&) override { return false; }
  Room room_for(const Job&, size_t, bool) override { return Room::yes; }
  void taken(Job&) override {}
  bool abandon(Job&) override { return false; }
  bool runs_here(const Job&) const override { return true; }
  void prepare(Job& job, int) override { job.items = kind_of(job) == 1 ? 2 : 0, job.together = 2; }
  void run(Job&, int64_t, int, int) override {
    if (samples++ % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  void finish(const std::shared_ptr<Job>& job, int) override {
    std::vector<std::shared_ptr<Job>> made;
    if (kind_of(*job) == 0) made = {make(1), make(1), make(1), make(1)};
    else if (kind_of(*job) == 1 && ++ended % 3 == 0) made = {make(2)};
    if (!made.empty()) scheduler->add_made(std::move(made));
    scheduler->go_on(*job);
  }
  bool ask_for_room() override { return false; }
  void slept(int64_t, bool, int) override {}

  Scheduler* scheduler = nullptr;
  std::atomic<int> ended{0}, samples{0};

 private:
  static int kind_of(const Job& job) { return static_cast<const Brought&>(job).kind; }
};

TEST(Scheduler, TakesWhatJobsMakeThatLeave) {
  for (int round = 0; round < graphs(20); ++round) {
    BringingWork work;
    Scheduler scheduler(work, 3);
    work.scheduler = &scheduler;
    JobConsumer consumer(scheduler, 3);
    for (int k = 0; k < 3; ++k) scheduler.begin_thread(k, kAnyStep);
    for (int k = 0; k < 5; ++k) scheduler.add(work.make(0));  // 20 jobs, of which 18 make six that are taken
    int taken = 0;
    while (const auto job = consumer.take({}, [](const auto&) {})) {
      ASSERT_FALSE(job->leaves);
      ++taken;
    }
    ASSERT_EQ(taken, 6);
    ASSERT_EQ(work.ended, 20);
    ASSERT_EQ(scheduler.size(), 0u);
  }
}

}  // namespace
}  // namespace penstock
