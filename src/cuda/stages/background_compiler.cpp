// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/background_compiler.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "base/begin_thread.h"
#include "base/error_of.h"

namespace penstock {
namespace {

class BackgroundCompiler {
 public:
  std::shared_future<std::optional<Error>> request(Driver& driver, int device, const std::string& text,
                                                   const std::string& entry) {
    std::lock_guard lock(mutex_);
    Key key{&driver, device, entry, text};
    if (const auto known = requested_.find(key); known != requested_.end()) return known->second;
    auto work = driver.compilation(device, text, entry);
    if (!work) return {};
    if (!began_) {
      begin_thread([this] { serve(); }).detach();
      began_ = true;
    }
    jobs_.push_back({key, std::move(work), {}});
    wake_.notify_one();
    return requested_[std::move(key)] = jobs_.back().promise.get_future().share();
  }

 private:
  using Key = std::tuple<Driver*, int, std::string, std::string>;
  struct Job {
    Key key;
    std::function<void()> work;
    std::promise<std::optional<Error>> promise;
  };

  void serve() {
    for (std::unique_lock lock(mutex_);;) {
      wake_.wait(lock, [&] { return !jobs_.empty(); });
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job.promise.set_value(error_of(job.work));
      lock.lock();
      requested_.erase(job.key);  // from now on the driver has it
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  std::map<Key, std::shared_future<std::optional<Error>>> requested_;
  bool began_ = false;
};

}  // namespace

std::shared_future<std::optional<Error>> compile_in_background(Driver& driver, int device, const std::string& text,
                                                               const std::string& entry) {
  static auto* compiler = new BackgroundCompiler;  // its thread outlives static destruction
  return compiler->request(driver, device, text, entry);
}

}  // namespace penstock
