// SPDX-License-Identifier: Apache-2.0
#include "cuda/stages/texts.h"

#include "cuda/jpeg/kernel_text.h"
#include "cuda/kernels/fold_text.h"
#include "cuda/stages/generic_stage.h"
#include "cuda/video/kernel_text.h"

namespace penstock {

std::span<const PrebuiltText> prebuilt_texts() {
  static constexpr PrebuiltText texts[] = {{"stage", &generic_stage_text},
                                           {"fold", &fold_text},
                                           {"jpeg", &jpeg_gpu::kernel_text},
                                           {"video", &video_gpu::kernel_text}};
  return texts;
}

}  // namespace penstock
