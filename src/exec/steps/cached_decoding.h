// SPDX-License-Identifier: Apache-2.0
// A stage on the CPU whose decoder keeps pictures (exec/picture_cache.h): a picture that is there goes through the rest
// of the stage.
#pragma once
#include <memory>
#include <mutex>

#include "cpu/stage.h"
#include "exec/picture_cache.h"
#include "exec/step_context.h"
#include "exec/worker.h"

namespace penstock {

class CachedDecoding {
 public:
  using Picture = std::shared_ptr<const CachedPicture>;
  // Null where the step's decoder keeps none, or what it decodes has no name.
  static std::unique_ptr<CachedDecoding> of(const StepContext& context, size_t index);
  CachedDecoding(const StepContext& context, size_t index, std::unique_ptr<PictureCache> cache)
      : context_(context), index_(index), cache_(std::move(cache)) {}

  Picture find(const std::string& name);
  // Decodes and keeps the picture, if the cache wants it; else null: the stage decodes what it needs of it.
  Picture decode(const std::string& name, Bytes file, const DecodeParams& params);
  // The stage without its decoder, for a sample whose picture is there. `in`: the inputs of the whole stage.
  void run(const std::shared_ptr<CpuStage>& stage, const CachedPicture& picture, const SampleContext& s,
           std::span<const StageInput> in, const AllocateOutput& allocate, CpuScratch& scratch);

 private:
  std::shared_ptr<CpuStage> rest_of(const std::shared_ptr<CpuStage>& stage);

  const StepContext& context_;
  const size_t index_;
  const std::unique_ptr<PictureCache> cache_;
  std::mutex mutex_;
  std::shared_ptr<CpuStage> whole_, rest_;  // the last stage, and what is left of it
};

}  // namespace penstock
