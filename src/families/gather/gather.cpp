// SPDX-License-Identifier: Apache-2.0
#include "families/gather/gather.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

namespace penstock::gather {

Images images_of(const Shape& shape, const Layout& layout) {
  const ImageRule::Extents e = image_extents(shape, layout);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (const int64_t n : {e.outer * e.depth, e.height, e.width, e.inner})
    if (n > kMost) bad_argument("images of {} are too large: extents end at {}", shape.text(), kMost);
  return {static_cast<int32_t>(e.outer * e.depth), static_cast<int32_t>(e.height), static_cast<int32_t>(e.width),
          static_cast<int32_t>(e.inner)};
}

Source source_of(const Images& in, const Sampling& sampling) {
  const bool empty = in.height == 0 || in.width == 0;  // nothing but the border
  return {in.height, in.width, in.channels, sampling.filter, empty ? kConstant : sampling.border, sampling.fill};
}

void* image_at(const View& v, const Images& images, int32_t i) {
  const int64_t elements = int64_t{i} * images.height * images.width * images.channels;
  return v.as<char>() + elements * static_cast<int64_t>(size_of(v.dtype));
}

namespace {

struct Kernel {
  int bytes, channels, filter;  // of an element

  // Of a step's kernel.
  explicit Kernel(const FamilyKernel& k)
      : bytes(static_cast<int>(size_of(k.types[0]))), channels(k.numbers[0]), filter(k.numbers[1]) {}
  int64_t units(int64_t images, const RowHead& row, int samples) const {
    const Tiles tiles(row.height, row.width, pixels_of_thread(bytes, channels, filter, samples));
    return units_of(static_cast<int32_t>(images), tiles);
  }
};
RowHead head_of(const KernelStep& step) {
  RowHead head;
  std::memcpy(&head, step.row.data(), sizeof head);
  return head;
}
// Whether the positions of two steps are the same, and one thread can read both.
bool alike(const KernelStep& a, const KernelStep& b) {
  if (!(a.kernel == b.kernel) || a.row.size() != b.row.size() || a.work != b.work) return false;
  RowHead x = head_of(a), y = head_of(b);
  if ((reinterpret_cast<uint64_t>(x.out[0]) & 3) != (reinterpret_cast<uint64_t>(y.out[0]) & 3)) return false;
  std::fill_n(x.in, kTogether, nullptr), std::fill_n(y.in, kTogether, nullptr);
  std::fill_n(x.out, kTogether, nullptr), std::fill_n(y.out, kTogether, nullptr);
  return std::memcmp(&x, &y, sizeof x) == 0 &&
         std::memcmp(a.row.data() + sizeof x, b.row.data() + sizeof x, a.row.size() - sizeof x) == 0;
}
KernelStep joined(std::span<const KernelStep> steps) {
  KernelStep all = steps[0];
  RowHead head = head_of(all);
  const Kernel kernel(all.kernel);
  const int64_t images = all.work / kernel.units(1, head, 1);
  for (size_t k = 0; k < kTogether; ++k) {  // a sample that is not there is the first one once more
    const RowHead other = head_of(steps[k < steps.size() ? k : 0]);
    head.in[k] = other.in[0], head.out[k] = other.out[0];
  }
  std::memcpy(all.row.data(), &head, sizeof head);
  all.kernel.numbers[2] = kTogether;
  all.work = kernel.units(images, head, kTogether);
  return all;
}

// Blocks that share a multiprocessor, with less registers than they take else. Bytes wait for memory: more warps help.
// Floats do not fit into the first cache with more.
int blocks_of(DType type, Filter filter) {
  if (type != DType::uint8 || filter == kCubic) return 4;
  return filter == kNearest ? 6 : 5;
}

}  // namespace

KernelStep step_for(const View& in, const View& out, const Source& source, std::string (*rule)()) {
  const Images made = images_of(out.shape, out.layout);
  const auto bytes = static_cast<int64_t>(size_of(in.dtype)), pixel = source.channels * bytes;
  const int channels = source.channels == 1 || source.channels == 3 || source.channels == 4 ? source.channels : 0;
  KernelStep step;
  step.kernel.header = "families/gather/kernels/sample.h", step.kernel.name = "gather::sample_pixels";
  step.kernel.types = {in.dtype}, step.kernel.numbers = {channels, source.filter, 1};
  step.kernel.rule = rule, step.kernel.blocks = blocks_of(in.dtype, source.filter);
  const int taps = source.filter == kCubic ? 4 : source.filter == kLinear ? 2 : 1;
  RowHead head{{in.data},
               {out.data},
               int64_t{source.height} * source.width * pixel,
               int64_t{made.height} * made.width * pixel,
               source,
               plane_of(source, taps, pixel, reinterpret_cast<uint64_t>(in.data)),
               made.height,
               made.width};
  step.row = row_bytes(head);
  step.work = Kernel(step.kernel).units(made.count, head, 1);
  if (channels != 0) step.join = &join;
  return step;
}

void join(std::vector<KernelStep>& steps) {
  std::vector<KernelStep> found;
  for (size_t i = 0; i < steps.size();) {
    size_t end = i + 1;
    while (end < steps.size() && end - i < kTogether && alike(steps[i], steps[end])) ++end;
    if (end - i + 1 >= kTogether) {
      found.push_back(joined(std::span(steps).subspan(i, end - i)));
    } else {
      std::move(steps.begin() + static_cast<std::ptrdiff_t>(i), steps.begin() + static_cast<std::ptrdiff_t>(end),
                std::back_inserter(found));
    }
    i = end;
  }
  steps = std::move(found);
}

}  // namespace penstock::gather
