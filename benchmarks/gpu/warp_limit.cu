// SPDX-License-Identifier: Apache-2.0
// What a kernel can reach that warps images of uint8 with three channels linearly, with nothing else in it: the mark
// for the kernels of src/cuda/kernels/emit_warped_boxes.cpp. Its weights are cut to 16 bits, theirs are rounded:
// results differ by a level where the exact value lies within 0.02 of a half. Checked against the same on the host.
//
//     nvcc -std=c++20 -O3 -arch=sm_90 -o warp_limit benchmarks/gpu/warp_limit.cu && ./warp_limit
//
// A block makes 64 x 64 outputs. The box of the source that they read comes to shared memory as one word a pixel, what
// is outside the image with it. A warp's threads take 8 x 4 outputs at a time, so that their words lie in different
// banks whatever the angle, and exchange results through shared memory, so that each stores four neighbors.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kTile = 64, kThreads = 256, kBlocks = 4, kPitch = 104, kRows = 94, kExchangePitch = 40;
constexpr int kExchangeWords = kThreads / 32 * 4 * kExchangePitch;
constexpr int kSharedBytes = (kPitch * kRows + kExchangeWords) * 4;

struct Image {
  const uint8_t* in;
  uint8_t* out;
  int width, height;
  double map[6];             // of an output's middle to a place in the source
  long long step_x, step_y;  // from output to output, in 2^-32
  uint32_t outside;
};
struct Tile {
  int image, x, y;
};
__host__ __device__ inline long long fixed(double v) { return static_cast<long long>(rint(v * 4294967296.0)); }

struct Weights {
  uint32_t top, bottom;  // of two neighbors each, 16 bits; all four make 65536, or 65535 where the place is a pixel's
};
__host__ __device__ inline Weights weights_of(long long x, long long y) {
  const uint32_t fx = static_cast<uint32_t>(x) >> 16, fy = static_cast<uint32_t>(y) >> 16;
  const uint32_t d = fx * fy >> 16, b = fx - d, c = fy - d, a = 65536u - fx - c;
  return {(a > 65535u ? 65535u : a) | b << 16, c | d << 16};
}

__device__ inline uint32_t blended(const uint32_t* box, long long x, long long y) {
  const uint32_t* p = box + static_cast<int>(y >> 32) * kPitch + static_cast<int>(x >> 32);
  const uint32_t a = p[0], b = p[1], c = p[kPitch], d = p[kPitch + 1];
  const Weights w = weights_of(x, y);
  const uint32_t first0 = __byte_perm(a, b, 0x5140), first1 = __byte_perm(c, d, 0x5140);
  const uint32_t third0 = __byte_perm(a, b, 0x0062), third1 = __byte_perm(c, d, 0x0062);
  const uint32_t red = __dp2a_lo(w.bottom, first1, __dp2a_lo(w.top, first0, 0x8000u));
  const uint32_t green = __dp2a_hi(w.bottom, first1, __dp2a_hi(w.top, first0, 0x8000u));
  const uint32_t blue = __dp2a_lo(w.bottom, third1, __dp2a_lo(w.top, third0, 0x8000u));
  return __byte_perm(__byte_perm(red, green, 0x0062), blue, 0x0610);
}

// Four neighbors of a row, whose first byte may lie anywhere.
__device__ inline void put_inner(const uint8_t* from, uint32_t* to) {
  const auto at = reinterpret_cast<uintptr_t>(from);
  const auto* words = reinterpret_cast<const uint32_t*>(at & ~uintptr_t{3});
  const int shift = static_cast<int>(at & 3) * 8;
  const uint32_t q = words[0], r = words[1], s = words[2], t = shift ? words[3] : 0;
  const uint32_t a = __funnelshift_r(q, r, shift), b = __funnelshift_r(r, s, shift), c = __funnelshift_r(s, t, shift);
  *reinterpret_cast<uint4*>(to) = make_uint4(a, __byte_perm(a, b, 0x0543), __byte_perm(b, c, 0x0432), c >> 8);
}
__device__ inline void put_words(const uint32_t* from, uint32_t* to) {
  const uint32_t a = from[0], b = from[1], c = from[2];
  *reinterpret_cast<uint4*>(to) = make_uint4(a, __byte_perm(a, b, 0x0543), __byte_perm(b, c, 0x0432), c >> 8);
}
// A row's neighbors, some of which are outside its `width`.
__device__ __noinline__ void put_border(const uint8_t* row, int x, int width, uint32_t outside, uint32_t* to) {
  for (int k = 0; k < 4; ++k) {
    const uint8_t* p = row + static_cast<long long>(x + k) * 3;
    to[k] = x + k >= 0 && x + k < width ? p[0] | p[1] << 8 | p[2] << 16 : outside;
  }
}

__global__ __launch_bounds__(kThreads, kBlocks) void warp(const Image* images, const Tile* tiles) {
  extern __shared__ __align__(16) uint32_t box[];
  __shared__ longlong2 start[kTile];
  const Tile tile = tiles[blockIdx.x];
  const Image im = images[tile.image];
  const int left = tile.x * kTile, top = tile.y * kTile, thread = threadIdx.x;
  if (thread < kTile) {
    const double x = left + 0.5, y = top + thread + 0.5;
    start[thread] = {fixed(im.map[0] * x + im.map[1] * y + im.map[2] - 0.5),
                     fixed(im.map[3] * x + im.map[4] * y + im.map[5] - 0.5)};
  }
  __syncthreads();
  const auto low = [](long long a, long long b, long long across) {
    return static_cast<int>(min(min(a, b), min(a + across, b + across)) >> 32);
  };
  const auto high = [](long long a, long long b, long long across) {
    return static_cast<int>(max(max(a, b), max(a + across, b + across)) >> 32);
  };
  const longlong2 first = start[0], last = start[kTile - 1];
  const long long across_x = (kTile - 1) * im.step_x, across_y = (kTile - 1) * im.step_y;
  const int x0 = low(first.x, last.x, across_x) & ~3, y0 = low(first.y, last.y, across_y);
  const int units = (high(first.x, last.x, across_x) + 2 - x0 + 3) / 4;
  const int rows = high(first.y, last.y, across_y) + 2 - y0;
  const uint32_t inverse = (65535 + units) / units;  // u / units for the few u there are
  const int row_bytes = im.width * 3;
  const bool words = (row_bytes & 3) == 0;
  const bool inside = x0 >= 0 && x0 + units * 4 <= im.width && y0 >= 0 && y0 + rows < im.height;
  const uint8_t* corner = im.in + static_cast<long long>(y0) * row_bytes + x0 * 3;
  // One loop for each kind: all in one, the kernel takes a quarter longer.
  if (inside && words) {
#pragma unroll 2
    for (int u = thread; u < units * rows; u += kThreads) {
      const int r = static_cast<int>(u * inverse >> 16), c = u - r * units;
      put_words(reinterpret_cast<const uint32_t*>(corner + r * row_bytes + c * 12), box + r * kPitch + c * 4);
    }
  } else if (inside) {
#pragma unroll 2
    for (int u = thread; u < units * rows; u += kThreads) {
      const int r = static_cast<int>(u * inverse >> 16), c = u - r * units;
      put_inner(corner + r * row_bytes + c * 12, box + r * kPitch + c * 4);
    }
  } else {
    for (int u = thread; u < units * rows; u += kThreads) {
      const int r = static_cast<int>(u * inverse >> 16), c = u - r * units, x = x0 + c * 4, y = y0 + r;
      uint32_t* to = box + r * kPitch + c * 4;
      if (y < 0 || y >= im.height || x <= -4 || x >= im.width)
        *reinterpret_cast<uint4*>(to) = make_uint4(im.outside, im.outside, im.outside, im.outside);
      else if (x >= 0 && x + 4 <= im.width && y + !words < im.height)
        put_inner(corner + static_cast<long long>(r) * row_bytes + c * 12, to);
      else put_border(im.in + static_cast<long long>(y) * row_bytes, x, im.width, im.outside, to);
    }
  }
  __syncthreads();
  const int lane = thread & 31, warp = thread >> 5, column = (warp & 1) * 32, own = column + (lane & 7) * 4;
  uint32_t* exchange = box + kPitch * kRows + warp * 4 * kExchangePitch + (lane >> 3) * kExchangePitch;
  const long long from_x = (column + (lane & 7)) * im.step_x - (static_cast<long long>(x0) << 32);
  const long long from_y = (column + (lane & 7)) * im.step_y - (static_cast<long long>(y0) << 32);
#pragma unroll 1
  for (int row = (lane >> 3) + (warp >> 1) * 4; row < kTile; row += kThreads / 64 * 4) {
    long long x = start[row].x + from_x, y = start[row].y + from_y;
#pragma unroll
    for (int k = 0; k < 4; ++k, x += 8 * im.step_x, y += 8 * im.step_y)
      exchange[(lane & 7) + 8 * k] = blended(box, x, y);
    __syncwarp();
    const uint4 v = *reinterpret_cast<const uint4*>(exchange + (lane & 7) * 4);
    __syncwarp();
    const uint32_t bytes[3] = {__byte_perm(v.x, v.y, 0x4210), __byte_perm(v.y, v.z, 0x5421),
                               __byte_perm(v.z, v.w, 0x6542)};
    const int count = top + row < im.height ? im.width - left - own : 0;
    uint8_t* to = im.out + (static_cast<long long>(top + row) * im.width + left + own) * 3;
    // The same for a row's eight threads.
    const int past = static_cast<int>(reinterpret_cast<uintptr_t>(to) & 3), shift = 32 - past * 8;
    const uint32_t before = __shfl_up_sync(~0u, bytes[2], 1);
    if (count >= 4 && past == 0) {
      for (int k = 0; k < 3; ++k) reinterpret_cast<uint32_t*>(to)[k] = bytes[k];
    } else if (count >= 4) {  // whole words of memory, with the lane before; the ends of the eight byte by byte
      auto* whole = reinterpret_cast<uint32_t*>(to - past);
      if ((lane & 7) > 0) whole[0] = __funnelshift_r(before, bytes[0], shift);
      else
        for (int k = past; k < 4; ++k) (to - past)[k] = static_cast<uint8_t>(bytes[0] >> (k - past) * 8);
      whole[1] = __funnelshift_r(bytes[0], bytes[1], shift), whole[2] = __funnelshift_r(bytes[1], bytes[2], shift);
      if ((lane & 7) == 7 || count < 8)
        for (int k = 0; k < past; ++k) (to + 12 - past)[k] = static_cast<uint8_t>(bytes[2] >> (shift + k * 8));
    } else {
      for (int k = 0; k < count * 3; ++k) to[k] = static_cast<uint8_t>(bytes[k >> 2] >> (k & 3) * 8);
    }
  }
}

// The same on the host.
uint8_t expected(const Image& im, const std::vector<uint8_t>& in, int column, int row, int channel) {
  const int run = column - column % kTile;
  const double mx = run + 0.5, my = row + 0.5;
  const long long x = fixed(im.map[0] * mx + im.map[1] * my + im.map[2] - 0.5) + (column - run) * im.step_x;
  const long long y = fixed(im.map[3] * mx + im.map[4] * my + im.map[5] - 0.5) + (column - run) * im.step_y;
  const auto tap = [&](int dx, int dy) -> uint32_t {
    const int tx = static_cast<int>(x >> 32) + dx, ty = static_cast<int>(y >> 32) + dy;
    if (tx < 0 || ty < 0 || tx >= im.width || ty >= im.height) return im.outside >> 8 * channel & 255;
    return in[(static_cast<size_t>(ty) * im.width + tx) * 3 + channel];
  };
  const Weights w = weights_of(x, y);
  const uint32_t sum = 0x8000u + (w.top & 0xFFFF) * tap(0, 0) + (w.top >> 16) * tap(1, 0) +
                       (w.bottom & 0xFFFF) * tap(0, 1) + (w.bottom >> 16) * tap(1, 1);
  return static_cast<uint8_t>(sum >> 16);
}

void measure(const char* name, int count, bool ragged, double degrees) {
  std::vector<Image> images;
  std::vector<Tile> tiles;
  std::vector<uint8_t> second;
  uint32_t random = 1;
  const auto draw = [&] { return (random = random * 1664525 + 1013904223) >> 8; };
  for (int i = 0; i < count; ++i) {
    Image m{};
    m.width = ragged ? 300 + static_cast<int>(draw() % 400) : 1920;
    m.height = ragged ? 250 + static_cast<int>(draw() % 250) : 1080;
    const double a = degrees * M_PI / 180, cx = m.width / 2.0, cy = m.height / 2.0, cosine = cos(a), sine = sin(a);
    const double map[6] = {cosine, -sine, cx - cosine * cx + sine * cy, sine, cosine, cy - sine * cx - cosine * cy};
    std::copy_n(map, 6, m.map);
    m.step_x = fixed(cosine), m.step_y = fixed(sine), m.outside = 0x112233;
    std::vector<uint8_t> bytes(static_cast<size_t>(m.width) * m.height * 3);
    for (auto& b : bytes) b = static_cast<uint8_t>(draw());
    uint8_t *in, *out;
    cudaMalloc(&in, bytes.size() + 16), cudaMalloc(&out, bytes.size() + 16);
    cudaMemcpy(in, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
    m.in = in, m.out = out;
    if (i == 1) second = bytes;
    images.push_back(m);
    for (int y = 0; y * kTile < m.height; ++y)
      for (int x = 0; x * kTile < m.width; ++x) tiles.push_back({i, x, y});
  }
  Image* device_images;
  Tile* device_tiles;
  cudaMalloc(&device_images, images.size() * sizeof(Image)), cudaMalloc(&device_tiles, tiles.size() * sizeof(Tile));
  cudaMemcpy(device_images, images.data(), images.size() * sizeof(Image), cudaMemcpyHostToDevice);
  cudaMemcpy(device_tiles, tiles.data(), tiles.size() * sizeof(Tile), cudaMemcpyHostToDevice);
  cudaFuncSetAttribute(warp, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  std::vector<float> times;
  for (int round = 0; round < 9; ++round) {
    cudaEventRecord(begin);
    for (int k = 0; k < 4; ++k)
      warp<<<static_cast<unsigned>(tiles.size()), kThreads, kSharedBytes>>>(device_images, device_tiles);
    cudaEventRecord(end), cudaEventSynchronize(end);
    float ms;
    cudaEventElapsedTime(&ms, begin, end);
    if (round > 0) times.push_back(ms / 4);
  }
  std::sort(times.begin(), times.end());
  const Image& m = images[1];
  std::vector<uint8_t> got(second.size());
  cudaMemcpy(got.data(), m.out, got.size(), cudaMemcpyDeviceToHost);
  long wrong = 0;
  for (int y = 0; y < m.height; ++y)
    for (int x = 0; x < m.width; ++x)
      for (int c = 0; c < 3; ++c)
        wrong += got[(static_cast<size_t>(y) * m.width + x) * 3 + c] != expected(m, second, x, y, c);
  std::printf("%-28s %6.1f us, %ld bytes wrong (%s)\n", name, times[times.size() / 2] * 1e3, wrong,
              cudaGetErrorString(cudaGetLastError()));
  for (const Image& image : images) cudaFree(const_cast<uint8_t*>(image.in)), cudaFree(image.out);
  cudaFree(device_images), cudaFree(device_tiles);
}

int main() {
  measure("64 of 1080p by 15 degrees", 64, false, 15);
  measure("64 of 1080p by 45 degrees", 64, false, 45);
  measure("64 of 1080p by 90 degrees", 64, false, 90);
  measure("256 ragged by 15 degrees", 256, true, 15);
}
