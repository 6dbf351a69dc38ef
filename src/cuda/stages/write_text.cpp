// SPDX-License-Identifier: Apache-2.0
// kernel_text NAME FOLDER: writes a prebuilt text for nvcc as NAME.cu, and NAME.key, by which it is found at run time.
// A file that would not change is not written, so that nothing is rebuilt.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/checksum.h"
#include "cuda/stages/texts.h"

namespace {

bool write(const std::string& path, const std::string& content) {
  std::ostringstream held;
  if (std::ifstream file(path, std::ios::binary); file) held << file.rdbuf();
  if (held.str() == content) return true;
  return static_cast<bool>(std::ofstream(path, std::ios::binary) << content << std::flush);
}

}  // namespace

int main(int count, char** args) {
  if (count != 3) return 2;
  for (const penstock::PrebuiltText& t : penstock::prebuilt_texts()) {
    if (std::strcmp(t.name, args[1]) != 0) continue;
    const std::string& text = t.text();
    const uint64_t hash = penstock::content_hash({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    const std::string path = fmt::format("{}/{}", args[2], t.name);
    return write(path + ".cu", text) && write(path + ".key", fmt::format("0x{:016x}u, {}u\n", hash, text.size())) ? 0
                                                                                                                  : 1;
  }
  std::fprintf(stderr, "there is no prebuilt text '%s'\n", args[1]);
  return 2;
}
