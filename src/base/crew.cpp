// SPDX-License-Identifier: Apache-2.0
#include "base/crew.h"

#include <utility>

#include "base/spin.h"

namespace penstock {
namespace {

// To wake a thread takes as long as to write about a tenth of this.
constexpr int64_t kLeastPart = 256 << 10;
constexpr int64_t kPartsOfThread = 4;  // threads that come late, or are slow, take fewer
// The same where threads do not sleep.
constexpr int64_t kLeastSpinningPart = 32 << 10, kPartsOfSpinningThread = 2;

constinit thread_local Crew* crew_of_thread = nullptr;

}  // namespace

CrewMember::CrewMember(Crew* crew) : before_(std::exchange(crew_of_thread, crew)) {}
CrewMember::~CrewMember() { crew_of_thread = before_; }

Crew* Crew::of_thread() { return crew_of_thread; }

int64_t Crew::parts(int64_t bytes) {
  const Crew* const crew = crew_of_thread;
  if (!crew) return 1;
  const bool spins = crew->habit_ == Habit::spins;
  const int64_t least = spins ? kLeastSpinningPart : kLeastPart, idle = crew->idle();
  if (idle == 0 || bytes < 2 * least) return 1;
  return std::min(bytes / least, (spins ? kPartsOfSpinningThread : kPartsOfThread) * (idle + 1));
}

// The mutex is held for some instructions at a time.
void Crew::take(std::unique_lock<std::mutex>& lock) {
  if (habit_ != Habit::spins || !spin_until([&] { return lock.try_lock(); })) lock.lock();
}

void Crew::share(int64_t count, int64_t bytes, const std::function<void(int64_t, int64_t)>& body) {
  const int64_t n = std::min(count, parts(bytes));
  if (n <= 1) return body(0, count);
  crew_of_thread->run(n, [&](int64_t part) { body(count * part / n, count * (part + 1) / n); });
}

void Crew::close(Offer& offer) {
  offer.next = offer.parts;
  const auto at = std::find(offers_.begin(), offers_.end(), &offer);
  if (at == offers_.end()) return;
  offers_.erase(at);
  open_.fetch_sub(1, std::memory_order_release);
}

void Crew::work(Offer& offer, std::unique_lock<std::mutex>& lock) {
  ++offer.running;
  while (offer.next < offer.parts) {
    const int64_t part = offer.next++;
    if (offer.next == offer.parts) close(offer);
    lock.unlock();
    std::exception_ptr error;
    try {
      offer.body(part);
    } catch (...) {
      error = std::current_exception();
    }
    take(lock);
    if (!error) continue;
    if (part < offer.failed) offer.failed = part, offer.error = std::move(error);
    close(offer);
  }
  if (--offer.running == 0) done_.notify_all();
}

void Crew::run(int64_t parts, const Body& body) {
  if (parts <= 1 || idle() == 0) {
    for (int64_t i = 0; i < parts; ++i) body(i);
    return;
  }
  Offer offer{body, parts};
  std::unique_lock lock(mutex_, std::defer_lock);
  take(lock);
  offers_.push_back(&offer);
  open_.fetch_add(1, std::memory_order_release);
  lock.unlock();
  wake_();
  take(lock);
  work(offer, lock);
  if (habit_ == Habit::spins && offer.running > 0) {
    lock.unlock();
    spin_until([&] { return offer.running == 0; });
    take(lock);
  }
  done_.wait(lock, [&] { return offer.running == 0; });
  if (offer.error) std::rethrow_exception(offer.error);
}

void Crew::help() {
  const CrewMember member(this);
  std::unique_lock lock(mutex_, std::defer_lock);
  take(lock);
  while (!offers_.empty()) work(*offers_.front(), lock);
}

}  // namespace penstock
