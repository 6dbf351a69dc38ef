// SPDX-License-Identifier: Apache-2.0
// What traced code calls at each edge and comparison, in programs without libFuzzer. Its other calls are in the
// sanitizer's library.
extern "C" void __sanitizer_cov_trace_pc() {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
