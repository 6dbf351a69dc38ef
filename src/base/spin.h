// SPDX-License-Identifier: Apache-2.0
// Waiting without sleep, for what another thread does within the next microseconds.
#pragma once

namespace penstock {

// About as long as it takes to sleep and to be woken: who waits longer sleeps.
constexpr int kSpins = 2000;

// Whether done() became true soon.
template <class Done>
bool spin_until(const Done& done) {
  for (int i = 0; i < kSpins; ++i) {
    if (done()) return true;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }
  return done();
}

}  // namespace penstock
