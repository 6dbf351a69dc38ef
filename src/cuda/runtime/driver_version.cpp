// SPDX-License-Identifier: Apache-2.0
#include "cuda/runtime/driver_version.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace penstock {

int driver_version() {
  static const int found = [] {
    int version = 0;
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    using Ask = int (*)(int*);
    const auto ask = library ? reinterpret_cast<Ask>(dlsym(library, "cuDriverGetVersion")) : nullptr;
    return ask && ask(&version) == 0 ? version : 0;
  }();
  return found;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

bool fits_driver(int cuda_major, int driver) { return driver == 0 || cuda_major <= driver / 1000; }

std::vector<const char*> names_that_fit(std::initializer_list<const char*> names, int driver) {
  std::vector<const char*> fit;
  for (const char* name : names) {
    const char* dot = std::strrchr(name, '.');
    if (dot && fits_driver(std::atoi(dot + 1), driver)) fit.push_back(name);
  }
  return fit;
}

const char* extra_for(int driver) {
  return fits_driver(kNewestCudaMajor, driver) ? "penstock[cuda13]" : "penstock[cuda12]";
}

std::string install_advice(int driver) {
  return fmt::format("pip install {}, or name its folder in PENSTOCK_NVIDIA_LIBS", extra_for(driver));
}

const char* driver_release(int cuda_major) { return cuda_major >= 13 ? "580" : "525"; }

}  // namespace penstock
