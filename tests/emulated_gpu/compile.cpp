// SPDX-License-Identifier: Apache-2.0
#include "emulated_gpu/compile.h"

#include <algorithm>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "cuda/kernels/vocabulary.h"

namespace penstock {

// Generated at build time of one_thread.h.
const std::vector<VocabularyPart>& one_thread_parts();

namespace {

namespace fs = std::filesystem;

uint64_t hash_of(const std::string& text) {  // FNV-1a
  uint64_t h = 0xcbf29ce484222325u;
  for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3u;
  return h;
}

}  // namespace

void HostKernel::run(const Launch& how, const char* table) const {
  if (cooperative_) return run_cooperative(cooperative_, how.blocks, how.threads, table);
  constexpr size_t kGuard = 32 * 1024;  // after what the launch requested
  std::vector<char> shared(how.shared_bytes + kGuard + 64);
  char* aligned = shared.data() + (64 - reinterpret_cast<uintptr_t>(shared.data()) % 64) % 64;
  std::memset(aligned, 0xA5, how.shared_bytes + kGuard);  // nothing may rely on what a block before it left
  run_blocks_(table, how.blocks, aligned);
  const char *guard = aligned + how.shared_bytes, *end = guard + kGuard;
  if (std::any_of(guard, end, [](char c) { return c != static_cast<char>(0xA5); }))
    fail(ErrorKind::internal, "a kernel wrote behind the {} bytes of shared memory that it was launched with",
         how.shared_bytes);
}

std::string library_for_host(const std::string& text, const std::string& entry) {
  const std::string whole = std::string(one_thread_parts().front().text) + text + R"(
extern "C" void penstock_run_blocks(const char* table, int64_t blocks, char* shared) {
  penstock_shared = shared;
  gridDim.x = static_cast<unsigned>(blocks);
  for (int64_t b = 0; b < blocks; ++b) {
    blockIdx.x = static_cast<unsigned>(b);
    )" + entry + R"((table);
  }
}
)";
  const fs::path folder = fs::temp_directory_path() / fmt::format("penstock-emulated-{}", getuid());
  fs::create_directories(folder);
  const fs::path library = folder / fmt::format("{:016x}.so", hash_of(whole));
  if (!fs::exists(library)) {
    const std::string own = (folder / fmt::format("{:016x}.{}", hash_of(whole), getpid())).string();
    std::ofstream(own + ".cpp") << whole;
    const std::string command = fmt::format(
        "g++ -std=c++20 -O1 -fPIC -shared -w -mfma -mf16c -ffp-contract=off -fno-math-errno -fno-trapping-math -o "
        "{0}.so {0}.cpp "
        "> {0}.log 2>&1",
        own);
    if (std::system(command.c_str()) != 0) {
      std::ostringstream log;
      log << std::ifstream(own + ".log").rdbuf();
      fail(ErrorKind::internal, "a kernel text does not compile ({}.cpp):\n{}", own, log.str().substr(0, 4000));
    }
    fs::rename(own + ".so", library);
    if (!std::getenv("PENSTOCK_KEEP_KERNELS")) fs::remove(own + ".cpp");
    fs::remove(own + ".log");
  }
  return library.string();
}

std::shared_ptr<const DeviceKernel> compile_for_host(const std::string& text, const std::string& entry) {
  const std::string library = library_for_host(text, entry);
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail(ErrorKind::internal, "{}", dlerror());
  return std::make_shared<HostKernel>(reinterpret_cast<HostKernel::RunBlocks>(dlsym(handle, "penstock_run_blocks")));
}

}  // namespace penstock
