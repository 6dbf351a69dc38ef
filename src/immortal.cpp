// SPDX-License-Identifier: Apache-2.0
// Nothing of a library that this is linked into is destroyed when the program ends: threads that nobody waits for may
// still use it, such as a daemon thread of Python's in an operator, or those of a pipeline that was never closed. The
// compiler registers the destruction of statics by this function; here it ends (docs/decisions/0030).
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) noexcept { return 0; }
