// SPDX-License-Identifier: Apache-2.0
// Pictures of which only a part is decoded: a batch has their full shapes, but only the region has memory. The address
// of the first pixel is where it would be; the stage that reads the batch never leaves the region.
#pragma once
#include "batch/batch.h"
#include "codecs/image_decoder.h"
#include "stage/program.h"

namespace penstock {

inline bool is_whole(const Region& r, const Shape& picture) { return r.height == picture[0] && r.width == picture[1]; }
inline Shape shape_of(const Region& r, const Shape& picture) { return Shape{r.height, r.width, picture[2]}; }

// The region that the maps of a stage read from a picture of this shape (H, W, C); the whole picture if a map has an
// error, which the stage will report. One pixel if nothing is read.
Region region_read(const StageProgram& stage, const Shape& picture,
                   const std::function<SampleContext(const StageNode&)>& context);
// Describes the sample, whose region has its memory at `pixels`.
void show_region(Batch::Sample& sample, const Shape& picture, const Region& region, void* pixels, DType dtype);

// Memory of a GPU for regions: kernels read whole words up to the end of a picture, and so some bytes after the region
// if nothing of the picture is there.
std::shared_ptr<MemoryResource> memory_of_regions(std::shared_ptr<MemoryResource> memory);

// Decodes on the CPU into new memory, dense. `header`: what probe_image() kept; `lacking`: as decode_image()'s.
std::shared_ptr<void> decode_region(Bytes file, const ImageInfo& info, const ParsedHeader& header,
                                    const DecodeParams& params, const Region& region,
                                    const std::shared_ptr<MemoryResource>& memory, StreamHandle stream,
                                    std::string* lacking = nullptr);

}  // namespace penstock
