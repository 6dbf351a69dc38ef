// SPDX-License-Identifier: Apache-2.0
// A libnvcuvid for tests, on machines without a GPU: FFmpeg decodes, and every call is checked against what NVIDIA's
// library asks of its callers. A breach is logged ("nvdec: breach: ...") and refused. It shows that the calls are right
// and in order and what becomes of the pixels; of the real library it shows nothing.
//   PENSTOCK_EMULATED_LOG             a line for each call of the decoder
//   PENSTOCK_STANDIN_TOP              rows of the surface above the picture (0)
//   PENSTOCK_STANDIN_DAMAGED          n: each n-th picture that is read is said to be damaged
//   PENSTOCK_STANDIN_LEAST            least width and height that it takes (16)
#pragma once
#include <ffnvcodec/dynlink_cuda.h>
#include <ffnvcodec/dynlink_nvcuvid.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stand_in {

constexpr CUresult kSuccess = CUDA_SUCCESS, kInvalid = static_cast<CUresult>(1),
                   kUnsupported = static_cast<CUresult>(801), kNoContext = static_cast<CUresult>(201);

// A decoded frame: Y, Cb, Cr.
struct Picture {
  int width = 0, height = 0, bits = 8;
  std::vector<uint8_t> plane[3];  // rows without gaps; two bytes a sample where it has more than 8 bits
  int top = 0;                    // of the picture in the coded one
  unsigned coded_width() const { return static_cast<unsigned>((width + 15) / 16 * 16); }
  unsigned coded_height() const { return static_cast<unsigned>((height + top + 15) / 16 * 16); }
};
// From the parser to the decoder, by the number in CUVIDPICPARAMS.
uint64_t hand_over(std::shared_ptr<const Picture> picture);
void set_picture(uint64_t number, std::shared_ptr<const Picture> picture);
std::shared_ptr<const Picture> picture_of(uint64_t number);
void forget(uint64_t number);

void log(const std::string& line);
CUresult breach(const std::string& what);
bool device_is_current();
int number_from(const char* variable, int otherwise);
// Within a parser's sequence callback of this thread.
bool& in_sequence_callback();

}  // namespace stand_in
