// SPDX-License-Identifier: Apache-2.0
#include "cuda/jpeg/kernel_text.h"

#include "cuda/kernels/vocabulary.h"

namespace penstock::jpeg_gpu {

// Generated at build time.
const std::vector<VocabularyPart>& kernel_parts();

const std::string& kernel_text() {
  // The first line says that threads of a block cooperate: the emulated GPU has these kernels built in.
  static const auto& text = *new std::string("// Threads cooperate.\n" + text_of_parts(kernel_parts()));
  return text;
}

const char* entry_of(Kernel kernel) {
  static constexpr const char* kNames[kKernels] = {
      "penstock_jpeg_count_kept",       "penstock_jpeg_write_words",    "penstock_jpeg_find_restarts",
      "penstock_jpeg_lay_out_segments", "penstock_jpeg_write_segments", "penstock_jpeg_synchronize",
      "penstock_jpeg_make_entries",     "penstock_jpeg_decode_blocks",  "penstock_jpeg_sum_dc",
      "penstock_jpeg_transform_blocks", "penstock_jpeg_write_pixels"};
  return kNames[kernel];
}

}  // namespace penstock::jpeg_gpu
