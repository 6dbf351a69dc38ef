// SPDX-License-Identifier: Apache-2.0
// Pictures of which a decoder makes a part: a batch shows them whole, but only the region has memory. The address of
// the first pixel is where it would be; the stage that reads the batch never goes outside of the region.
#pragma once
#include "batch/batch.h"
#include "codecs/image_decoder.h"
#include "ops/machine/stage_program.h"

namespace penstock {

inline bool is_whole(const Region& r, const Shape& picture) { return r.height == picture[0] && r.width == picture[1]; }
inline Shape shape_of(const Region& r, const Shape& picture) { return Shape{r.height, r.width, picture[2]}; }

// What the maps of a stage read of a picture of this shape (H, W, C); all of it where a map finds something wrong,
// which the stage will say. One pixel where nothing is read.
Region region_read(const StageProgram& stage, const Shape& picture,
                   const std::function<SampleContext(const StageNode&)>& context);
// The sample, whose region has its memory at `pixels`.
void show_region(Batch::Sample& sample, const Shape& picture, const Region& region, void* pixels, DType dtype);

// Decodes on the CPU into new memory, dense.
std::shared_ptr<void> decode_region(Bytes file, const ImageInfo& info, const DecodeParams& params, const Region& region,
                                    const std::shared_ptr<MemoryResource>& memory, StreamHandle stream);

}  // namespace penstock
