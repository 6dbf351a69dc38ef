// SPDX-License-Identifier: Apache-2.0
// Which CUDA the driver takes, and which libraries of CUDA fit it: a library of CUDA 13 does not work on a driver of
// CUDA 12, one of CUDA 12 works on both.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

namespace penstock {

constexpr int kNewestCudaMajor = 13;  // of the libraries that are looked for

// The newest CUDA that the driver takes, as 12040 for 12.4; 0: there is no driver. Does not initialize it.
int driver_version();
std::string version_text(int version);  // "12.4"
// Whether a library of this major version of CUDA works on the driver. Without a driver all do: NVRTC needs none.
bool fits_driver(int cuda_major, int driver);
// The names that fit the driver, of names that end in the major version: "libnvrtc.so.13", "libnvrtc.so.12".
std::vector<const char*> names_that_fit(std::initializer_list<const char*> names, int driver);
// What brings NVIDIA's libraries for the driver: "penstock[cuda12]" or "penstock[cuda13]".
const char* extra_for(int driver);
// "pip install penstock[cuda12], or name its folder in PENSTOCK_NVIDIA_LIBS": for a library that is missing.
std::string install_advice(int driver);
// The oldest release of the driver that takes this major version: "525" for 12.
const char* driver_release(int cuda_major);

}  // namespace penstock
