// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/stage_kernels.h"

#include <chrono>
#include <utility>

#include "base/settings.h"
#include "cuda/kernels/fold_text.h"
#include "cuda/stages/generic_stage.h"
#include "device/batch_stage.h"

namespace penstock {
namespace {

// A kernel that was compiled by an earlier process is there sooner than the generic one would have done its work.
constexpr std::chrono::milliseconds kPatience{5};

}  // namespace

KernelChoice kernel_choice() {
  const std::string_view word = Setting("PENSTOCK_KERNELS").text();
  if (word.empty() || word == "auto") return KernelChoice::automatic;
  if (word == "compiled") return KernelChoice::compiled;
  if (word == "generic") return KernelChoice::generic;
  bad_argument("PENSTOCK_KERNELS is '{}': it may be auto, compiled or generic", word);
}

StageKernels::Known* StageKernels::find(int device, const StageVariant& v) {
  for (Known& k : known_)
    if (k.device == device && k.variant == v) return &k;
  return nullptr;
}

StageKernels::Known& StageKernels::add(int device, const StageVariant& v) {
  if (Known* known = find(device, v)) return *known;
  known_.push_back({device, v, nullptr, {}, {}, {}});
  return known_.back();
}

// Takes what was compiled, if it is there by now. Code comes to a GPU on the threads that use it alone.
void StageKernels::settle(Driver& driver, Known& known) {
  if (!known.coming.valid() || known.coming.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  const std::optional<Error> failed = known.coming.get();
  known.coming = {};
  const std::string text = std::exchange(known.text, {});
  if (failed) throw Error(*failed);  // not kept: memory may have run out
  known.kernel = driver.kernel(known.device, text, kStageEntry, known.why_not);
}

std::shared_ptr<const DeviceKernel> StageKernels::generic(Driver& driver, int device) {
  for (const Generic& g : generic_)
    if (g.device == device) return g.kernel;
  std::shared_ptr<const DeviceKernel> kernel = driver.prebuilt_kernel(device, generic_stage_text(), kStageEntry);
  std::string why;
  if (!kernel && choice_ == KernelChoice::generic)
    kernel = driver.kernel(device, generic_stage_text(), kStageEntry, why);
  generic_.push_back({device, kernel});
  return kernel;
}

std::shared_ptr<const DeviceKernel> StageKernels::fold(Driver& driver, int device) {
  std::lock_guard lock(mutex_);
  const std::string& text = fold_text();
  for (const Generic& g : fold_)
    if (g.device == device && g.text == &text) return g.kernel;
  std::string why;
  auto kernel = driver.kernel(device, text, kFoldEntry, why);
  if (!kernel) throw NoKernel(why);
  fold_.push_back({device, kernel, &text});
  return kernel;
}

StageKernels::Chosen StageKernels::choose(Driver& driver, const StageCode& code, int device, const StageVariant& v,
                                          std::span<const StageEntry> entries) {
  {
    std::lock_guard lock(mutex_);
    if (Known* known = find(device, v)) {
      settle(driver, *known);
      if (known->kernel) return {known->kernel, v};
    }
    std::string why = "PENSTOCK_KERNELS is generic, and the generic kernel does not take this stage";
    if (choice_ != KernelChoice::compiled) {
      if (const auto variant = generic_variant(code, v, entries)) {
        if (auto kernel = generic(driver, device)) {
          if (choice_ == KernelChoice::generic) return {std::move(kernel), *variant};
          Known& known = add(device, v);
          if (!known.why_not.empty()) return {std::move(kernel), *variant};
          if (!known.coming.valid()) {
            known.text = emit_stage(code, v);
            known.coming = compile_in_background(driver, device, known.text, kStageEntry);
            if (known.coming.valid()) known.coming.wait_for(kPatience);
            else known.kernel = driver.kernel(device, std::exchange(known.text, {}), kStageEntry, known.why_not);
          }
          settle(driver, known);
          if (known.kernel) return {known.kernel, v};
          return {std::move(kernel), *variant};
        }
        why = "the generic kernel has no code for this GPU";
      }
      if (choice_ == KernelChoice::generic) throw NoKernel(why);
    }
    if (const Known* known = find(device, v); known && !known->why_not.empty()) throw NoKernel(known->why_not);
  }
  std::string why;
  auto kernel = driver.kernel(device, emit_stage(code, v), kStageEntry, why);
  std::lock_guard lock(mutex_);
  add(device, v).kernel = kernel;
  if (!kernel) throw NoKernel(add(device, v).why_not = why);
  return {std::move(kernel), v};
}

}  // namespace penstock
