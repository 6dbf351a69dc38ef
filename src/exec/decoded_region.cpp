// SPDX-License-Identifier: Apache-2.0
#include "exec/decoded_region.h"

#include "base/error_of.h"
#include "stage/source_range.h"

namespace penstock {
namespace {

constexpr size_t kReadAfter = 64;  // more than any kernel reads at once

class MemoryOfRegions final : public MemoryResource {
 public:
  explicit MemoryOfRegions(std::shared_ptr<MemoryResource> memory) : memory_(std::move(memory)) {}
  void* allocate(size_t bytes, StreamHandle stream) override { return memory_->allocate(bytes + kReadAfter, stream); }
  void deallocate(void* p, size_t bytes, StreamHandle stream) noexcept override {
    memory_->deallocate(p, bytes + kReadAfter, stream);
  }
  Device device() const override { return memory_->device(); }

 private:
  const std::shared_ptr<MemoryResource> memory_;
};

}  // namespace

std::shared_ptr<MemoryResource> memory_of_regions(std::shared_ptr<MemoryResource> memory) {
  return std::make_shared<MemoryOfRegions>(std::move(memory));
}

Region region_read(const StageProgram& stage, const Shape& picture,
                   const std::function<SampleContext(const StageNode&)>& context) {
  Placement placement(picture, "HWC");
  const auto place = [&] {
    for (const StageNode& node : stage.nodes)
      if (node.op->traits().maps) node.op->map(context(node), placement);
  };
  if (error_of(place)) return {0, 0, picture[0], picture[1]};
  const SourceRange y = source_range(placement, 0), x = source_range(placement, 1);
  if (y.hi <= y.lo || x.hi <= x.lo) return {0, 0, 1, 1};
  return {y.lo, x.lo, y.hi - y.lo, x.hi - x.lo};
}

void show_region(Batch::Sample& sample, const Shape& picture, const Region& region, void* pixels, DType dtype) {
  sample.shape = picture;
  sample.data = pixels;
  sample.strides = {};
  if (is_whole(region, picture)) return;
  sample.strides = Shape{region.width * picture[2], picture[2], 1};
  const int64_t before = (region.y * region.width + region.x) * picture[2];
  sample.data = static_cast<char*>(pixels) - before * static_cast<int64_t>(size_of(dtype));
}

std::shared_ptr<void> decode_region(Bytes file, const ImageInfo& info, const ParsedHeader& header,
                                    const DecodeParams& params, const Region& region,
                                    const std::shared_ptr<MemoryResource>& memory, StreamHandle stream,
                                    std::string* lacking) {
  const size_t row = checked_bytes(region.width * output_channels(info, params.type), size_of(params.dtype));
  auto pixels = allocate_shared(memory, checked_bytes(region.height, row), stream);
  decode_image(file, info, params, region, {pixels.get(), static_cast<int64_t>(row)}, header, lacking);
  return pixels;
}

}  // namespace penstock
