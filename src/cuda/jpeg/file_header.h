// SPDX-License-Identifier: Apache-2.0
// What the GPU's decoder needs from a file's header. Made from the header that the host has read, by the thread that
// reads the file, and small, because another thread plans with it.
#pragma once
#include <memory>

#include "codecs/image_decoder.h"
#include "codecs/jpeg/scan_header.h"
#include "cuda/jpeg/batch_table.h"

namespace penstock::jpeg_gpu {

// In larger files bit offsets would overflow.
constexpr uint64_t kMostFileBytes = uint64_t{1} << 27;

struct FileHeader {
  int width = 0, height = 0, components = 0;
  int h = 1, v = 1;                         // sampling of the first component; the others have 1
  int chroma_width = 0, chroma_height = 0;  // 0: gray
  int mcu_columns = 0, mcu_rows = 0, restart_interval = 0;
  size_t scan = 0;                                                                // first entropy-coded byte
  uint32_t selectors = 0, component_of = 0, mcu_blocks = 0, sync_mcu_blocks = 0;  // as in Picture
  std::shared_ptr<const TableSpec> tables;  // shared by files of one writer that one thread reads
  uint16_t quant[3][64] = {};               // columns first
  int64_t mcus() const { return int64_t{mcu_columns} * mcu_rows; }
};

// Null if the decoder accepts the file and `into` describes it, else why it does not. `read`: what probe_image() kept.
const char* read_file_header(Bytes file, const ParsedHeader& read, FileHeader& into);
// All reasons at once, or nothing: then `kept`, if not null, gets a FileHeader.
std::string jpeg_cuda_declines(Bytes file, const ImageInfo& info, const DecodeParams& params,
                               const ParsedHeader& read = {}, ParsedHeader* kept = nullptr);

}  // namespace penstock::jpeg_gpu
