// SPDX-License-Identifier: Apache-2.0
#include "batch/copy_strided_on_gpu.h"

#include "batch/copy_boxes.h"

namespace penstock {
namespace {

// Runs of bytes at the places of the dimensions, the innermost of which are rows where rows() says so.
struct Runs {
  CopyDim dims[Shape::kMaxDims];  // the innermost first
  int n = 0;
  int64_t bytes = 0;

  Runs(const View& from, const View& to) : bytes(static_cast<int64_t>(size_of(from.dtype))) {
    const int64_t element = bytes;
    for (int d = from.shape.size() - 1; d >= 0; --d) {
      const CopyDim dim{from.shape[d], from.strides[d] * element, to.strides[d] * element};
      if (dim.extent == 1) continue;
      const CopyDim* const inner = n > 0 ? &dims[n - 1] : nullptr;
      if (!inner && dim.from == bytes && dim.to == bytes) bytes *= dim.extent;
      else if (inner && dim.from == inner->from * inner->extent && dim.to == inner->to * inner->extent)
        dims[n - 1].extent *= dim.extent;
      else dims[n++] = dim;
    }
  }
  bool rows() const { return n > 0 && dims[0].from >= bytes && dims[0].to >= bytes; }
};

struct Copy {
  DeviceRuntime& rt;
  int gpu;
  StreamHandle stream;
  const Runs& runs;

  void operator()(const char* from, char* to, int outer) const {
    const auto bytes = static_cast<size_t>(runs.bytes);
    if (outer == 0) return rt.copy(gpu, to, from, bytes, stream);
    const CopyDim& d = runs.dims[outer - 1];
    if (outer == 1 && runs.rows())
      return rt.copy_rows(gpu, to, static_cast<size_t>(d.to), from, static_cast<size_t>(d.from), bytes,
                          static_cast<size_t>(d.extent), stream);
    for (int64_t i = 0; i < d.extent; ++i) (*this)(from + i * d.from, to + i * d.to, outer - 1);
  }
};

}  // namespace

void copy_strided_on_gpu(DeviceRuntime& rt, int gpu, const View& from, const View& to, StreamHandle stream) {
  if (from.volume() == 0 || from.data == to.data) return;
  const Runs runs(from, to);
  Copy{rt, gpu, stream, runs}(static_cast<const char*>(from.data), static_cast<char*>(to.data), runs.n);
}

}  // namespace penstock
