// SPDX-License-Identifier: Apache-2.0
#include "function/renew.h"

namespace penstock {

void renew(Batch& b, DType dtype, int ndim, const Layout& layout, int size) {
  if (b.dtype() != dtype || b.ndim() != ndim || b.size() != size) {
    b = Batch(dtype, ndim, layout, size);
    return;
  }
  let_go(b);
  b.set_layout(layout);
  b.set_device({});
}

void let_go(Batch& b) {
  b.block = nullptr, b.stream = nullptr, b.ready = nullptr;
  for (int i = 0; i < b.size(); ++i) {
    Batch::Sample& s = b.sample(i);
    s.data = nullptr, s.owner = nullptr;
    s.shape = {}, s.strides = {};
    s.source.clear();
  }
}

}  // namespace penstock
