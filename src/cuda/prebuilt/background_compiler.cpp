// SPDX-License-Identifier: Apache-2.0
#include "cuda/prebuilt/background_compiler.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "cuda/nvrtc.h"

namespace penstock {
namespace {

class BackgroundCompiler {
 public:
  std::shared_future<CompiledKernel> request(Driver& driver, int device, std::string text, std::string entry) {
    std::lock_guard lock(mutex_);
    auto& known = requested_[{&driver, device, entry, text}];
    if (known.valid()) return known;
    jobs_.push_back({driver, device, std::move(text), std::move(entry), {}});
    known = jobs_.back().promise.get_future().share();
    if (!thread_.joinable()) start();
    wake_.notify_one();
    return known;
  }

 private:
  struct Job {
    Driver& driver;
    int device;
    std::string text, entry;
    std::promise<CompiledKernel> promise;
  };

  // The compiler must not be in the midst of its work when the process takes it apart. What is registered after the
  // compiler was loaded is called before that.
  void start() {
    std::string why;
    static_cast<void>(Nvrtc::find(why));
    static BackgroundCompiler* const self = this;
    std::atexit([] { self->stop(); });
    thread_ = std::thread([this] { serve(); });
  }
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  void serve() {
    for (std::unique_lock lock(mutex_);;) {
      wake_.wait(lock, [&] { return stopped_ || !jobs_.empty(); });
      if (stopped_) return;
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      CompiledKernel made;
      made.error = error_of([&] { made.kernel = job.driver.kernel(job.device, job.text, job.entry, made.why); });
      job.promise.set_value(std::move(made));
      lock.lock();
      requested_.erase({&job.driver, job.device, job.entry, job.text});  // from now on the driver has it
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  std::map<std::tuple<Driver*, int, std::string, std::string>, std::shared_future<CompiledKernel>> requested_;
  std::thread thread_;
  bool stopped_ = false;
};

}  // namespace

std::shared_future<CompiledKernel> compile_in_background(Driver& driver, int device, std::string text,
                                                         std::string entry) {
  static auto* compiler = new BackgroundCompiler;  // its thread may outlive static destruction
  return compiler->request(driver, device, std::move(text), std::move(entry));
}

}  // namespace penstock
