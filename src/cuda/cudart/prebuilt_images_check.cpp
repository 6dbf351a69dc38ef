// SPDX-License-Identifier: Apache-2.0
// Checks that every prebuilt text has its image in this build: an image of an older text would never be found.
#include <cstdio>
#include <cstring>

#include "cuda/cudart/prebuilt_images.h"
#include "cuda/stages/texts.h"

int main() {
  int missing = 0;
  for (const penstock::PrebuiltText& t : penstock::prebuilt_texts()) {
    const std::byte* image = penstock::find_prebuilt_image(t.text());
    constexpr unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};  // of a fat binary
    if (image && std::memcmp(image, magic, sizeof magic) == 0) continue;
    std::printf("%s: no image of this text\n", t.name);
    ++missing;
  }
  return missing;
}
