// SPDX-License-Identifier: Apache-2.0
#include "emulated_gpu/cooperative_kernels.h"

#include <map>

#include "emulated_gpu/fibers.h"

#include "cuda/jpeg/kernels.h"

namespace penstock {

CooperativeKernel find_cooperative(const std::string& text, const std::string& entry) {
  static const std::map<std::string, CooperativeKernel> kernels = {
      {"penstock_jpeg_count_kept", penstock_jpeg_count_kept},
      {"penstock_jpeg_write_words", penstock_jpeg_write_words},
      {"penstock_jpeg_find_restarts", penstock_jpeg_find_restarts},
      {"penstock_jpeg_lay_out_segments", penstock_jpeg_lay_out_segments},
      {"penstock_jpeg_write_segments", penstock_jpeg_write_segments},
      {"penstock_jpeg_synchronize", penstock_jpeg_synchronize},
      {"penstock_jpeg_make_entries", penstock_jpeg_make_entries},
      {"penstock_jpeg_decode_blocks", penstock_jpeg_decode_blocks},
      {"penstock_jpeg_sum_dc", penstock_jpeg_sum_dc},
      {"penstock_jpeg_transform_blocks", penstock_jpeg_transform_blocks},
      {"penstock_jpeg_write_pixels", penstock_jpeg_write_pixels},
  };
  if (!text.starts_with("// Threads cooperate.\n")) return nullptr;
  const auto found = kernels.find(entry);
  return found == kernels.end() ? nullptr : found->second;
}

void run_cooperative(CooperativeKernel kernel, long blocks, int threads, const char* table) {
  fibers::run(static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads), [&] { kernel(table); });
}

}  // namespace penstock
