// SPDX-License-Identifier: Apache-2.0
// Constants over boxes, from values on the host or on the device.
#include "cuda/kernels/kernel_writer.h"
#include "cuda/whole/device_work.h"
#include "cuda/whole/numbers.h"

namespace penstock {

const char* const kNumbersOfArguments = R"(
// Element i of an argument's values, as the host reads it: by way of float32.
__device__ inline float argument_at(const void* values, int64_t type, int64_t i) {
  switch (type) {
    case 0: return static_cast<float>(static_cast<double>(static_cast<const uint8_t*>(values)[i]));
    case 1: return static_cast<float>(static_cast<double>(static_cast<const uint16_t*>(values)[i]));
    case 2: return static_cast<float>(static_cast<double>(static_cast<const uint32_t*>(values)[i]));
    case 3: return static_cast<float>(static_cast<double>(static_cast<const uint64_t*>(values)[i]));
    case 4: return static_cast<float>(static_cast<double>(static_cast<const int8_t*>(values)[i]));
    case 5: return static_cast<float>(static_cast<double>(static_cast<const int16_t*>(values)[i]));
    case 6: return static_cast<float>(static_cast<double>(static_cast<const int32_t*>(values)[i]));
    case 7: return static_cast<float>(static_cast<double>(static_cast<const int64_t*>(values)[i]));
    case 8: return static_cast<float>(static_cast<const Half*>(values)[i]);
    case 10: return static_cast<float>(static_cast<const double*>(values)[i]);
    case 11: return static_cast<const bool*>(values)[i] ? 1.0f : 0.0f;
    default: return static_cast<const float*>(values)[i];
  }
}
)";

int64_t argument_type(DType t) {
  switch (t) {
    case DType::uint8: return 0;
    case DType::uint16: return 1;
    case DType::uint32: return 2;
    case DType::uint64: return 3;
    case DType::int8: return 4;
    case DType::int16: return 5;
    case DType::int32: return 6;
    case DType::int64: return 7;
    case DType::float16: return 8;
    case DType::float64: return 10;
    case DType::bool_: return 11;
    default: return 9;
  }
}

namespace {

constexpr int kGroupBytes = 16;  // of a row, per thread
enum Word { kWork, kOut, kThere, kType, kHere, kCount, kChannel, kDims, kDim, kFillWords = kDim + 2 * Shape::kMaxDims };

// Dimensions innermost first: extent, stride. Without values per channel, channels are an ordinary dimension.
constexpr const char* kFill = R"(
struct alignas(sizeof(Out) * kGroup) Pack { Out v[kGroup]; };
__device__ inline void run(const char* table) {
%ENTRY%
  Out* out = reinterpret_cast<Out*>(s[1]);
  const void* there = reinterpret_cast<const void*>(s[2]);
  const float* here = reinterpret_cast<const float*>(data + s[4]);
  const int64_t count = s[5], channel = s[6], dims = s[7], extent = s[8], stride = s[9];
  const int64_t groups = (extent + kGroup - 1) / kGroup;
  const auto value = [&](int64_t c) {
    if (c >= count && count > 1) return stored<Out>(0.0);
    const int64_t i = count > 1 ? c : 0;
    return stored<Out>(static_cast<double>(there ? argument_at(there, s[3], i) : here[i]));
  };
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const int64_t first = i % groups * kGroup;
    int64_t rest = i / groups, offset = first * stride, c = 0;
    for (int d = 1; d < dims; ++d) {
      const int64_t x = rest % s[8 + 2 * d];
      rest /= s[8 + 2 * d];
      offset += x * s[9 + 2 * d];
      c = d == channel ? x : c;
    }
    const int64_t n = extent - first < kGroup ? extent - first : kGroup;
    if (channel == 0) {
      for (int64_t k = 0; k < n; ++k) out[offset + k * stride] = value(first + k);
    } else if (const Out v = value(c); stride == 1 && n == kGroup &&
        reinterpret_cast<uint64_t>(out + offset) % sizeof(Pack) == 0) {
      Pack p;
      for (int k = 0; k < kGroup; ++k) p.v[k] = v;
      *reinterpret_cast<Pack*>(out + offset) = p;
    } else {
      for (int64_t k = 0; k < n; ++k) out[offset + k * stride] = v;
    }
  }
}
)";

struct FillDim {
  int64_t extent, stride;
  bool channel;
};

}  // namespace

void enqueue_fills(std::span<const FillStep> steps, Launches& to) {
  if (steps.empty()) return;
  EntryTable entries(kFillWords);
  const int64_t group = kGroupBytes / static_cast<int64_t>(size_of(steps[0].to.dtype));
  for (const FillStep& step : steps) {
    FixedVector<FillDim, Shape::kMaxDims> dims;  // innermost first
    const View& v = step.to;
    const bool each = step.channel_dim >= 0 && step.values.size() > 1;
    for (int d = v.shape.size() - 1; d >= 0; --d) {
      const bool channel = each && d == step.channel_dim;
      if (v.shape[d] == 1 && !channel) continue;
      if (!dims.empty() && !channel && !dims.back().channel && v.strides[d] == dims.back().stride * dims.back().extent)
        dims.back().extent *= v.shape[d];
      else dims.push_back({v.shape[d], v.strides[d], channel});
    }
    if (dims.empty()) dims.push_back({1, 1, false});
    int64_t work = (dims[0].extent + group - 1) / group;
    for (int d = 1; d < dims.size(); ++d) work *= dims[d].extent;
    const int64_t here =
        step.values.on_gpu() ? 0 : entries.data(step.values.here.data(), step.values.here.size() * sizeof(float));
    int64_t* w = entries.add(work);
    w[kOut] = reinterpret_cast<int64_t>(v.data);
    w[kThere] = reinterpret_cast<int64_t>(step.values.there.data);
    w[kType] = argument_type(step.values.there.dtype);
    w[kHere] = here;
    w[kCount] = each ? step.values.size() : 1;
    w[kChannel] = -1;
    w[kDims] = dims.size();
    for (int d = 0; d < dims.size(); ++d) {
      w[kDim + 2 * d] = dims[d].extent, w[kDim + 2 * d + 1] = dims[d].stride;
      if (dims[d].channel) w[kChannel] = d;
    }
  }
  const DType type = steps[0].to.dtype;
  to.add(to.kernel(fmt::format("fill {}", name_of(type)),
                   [&] {
                     return whole_text(kFillWords, fmt::format("typedef {} Out;\nconstexpr int kGroup = {};\n",
                                                               element(type), group) +
                                                       kNumbersOfArguments + with_entry(kFill));
                   }),
         entries, kStageThreads);
}

}  // namespace penstock
