// SPDX-License-Identifier: Apache-2.0
// Which kernel a stage runs: its own, or the generic one while its own is being compiled or where nothing compiles.
#pragma once
#include <future>
#include <mutex>
#include <span>
#include <vector>

#include "cuda/stages/background_compiler.h"
#include "cuda/stages/stage_sample.h"

namespace penstock {

// PENSTOCK_KERNELS. automatic: the generic kernel until the stage's own is there; compiled: the stage's own, which is
// waited for; generic: no stage has its own.
enum class KernelChoice : uint8_t { automatic, compiled, generic };
KernelChoice kernel_choice();  // throws ErrorKind::argument for another word

// The kernels of one stage, shared by everything that is rebound from it.
class StageKernels {
 public:
  struct Chosen {
    std::shared_ptr<const DeviceKernel> kernel;
    StageVariant variant;  // of its table; `generic`: with a program
  };
  // For entries that `v` suits together. Throws NoKernel where the stage can have no kernel here.
  Chosen choose(Driver& driver, const StageCode& code, int device, const StageVariant& v,
                std::span<const StageEntry> entries);
  // The one that runs in front of a stage with arguments on the GPU. Throws NoKernel.
  std::shared_ptr<const DeviceKernel> fold(Driver& driver, int device);

 private:
  struct Known {
    int device;
    StageVariant variant;
    std::shared_ptr<const DeviceKernel> kernel;  // its own
    std::shared_future<std::optional<Error>> coming;
    std::string text;     // while it comes
    std::string why_not;  // it has none
  };
  struct Generic {
    int device;
    std::shared_ptr<const DeviceKernel> kernel;  // null: not here
    const std::string* text = nullptr;           // of a folding kernel: plug-ins make another one
  };
  Known* find(int device, const StageVariant& v);
  Known& add(int device, const StageVariant& v);
  void settle(Driver& driver, Known& known);
  std::shared_ptr<const DeviceKernel> generic(Driver& driver, int device);

  const KernelChoice choice_ = kernel_choice();
  std::mutex mutex_;
  std::vector<Known> known_;  // few
  std::vector<Generic> generic_, fold_;
};

}  // namespace penstock
