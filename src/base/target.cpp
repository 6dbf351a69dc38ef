// SPDX-License-Identifier: Apache-2.0
#include "base/target.h"

#include "base/settings.h"

namespace penstock {

Target best_target() {
  static const Target target = [] {
    int best = 0;  // the loops of the processor that the library is compiled for: on aarch64 they are NEON's
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = 1;
    if (best && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      best = 2;
#endif
    const std::string_view wish = Setting("PENSTOCK_TARGET").text();
    const char* names[] = {"scalar", "avx2", "avx512"};
    for (int i = 0; i < best; ++i)
      if (wish == names[i]) best = i;
    return static_cast<Target>(best);
  }();
  return target;
}

}  // namespace penstock
