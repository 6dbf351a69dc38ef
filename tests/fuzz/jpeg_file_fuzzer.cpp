// SPDX-License-Identifier: Apache-2.0
// Any bytes as a JPEG file: what the decoder of our own gives, libjpeg-turbo gives too. The last 8 bytes choose the
// region, the type, the size and the step of an index that is made on the way and then used. And so in pieces, as three
// threads decode it.
#include "base/crew.h"
#include "fuzz_images.h"

using namespace penstock;

// Threads that never come: one decodes all pieces, always in the same order.
static Crew& crew_of_three() {
  static Crew crew([] {}, Crew::Habit::spins);
  static const bool once = (crew.sleeps(), crew.sleeps(), true);
  static_cast<void>(once);
  return crew;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 16) return 0;
  const uint8_t* choice = data + size - 8;
  const std::vector<uint8_t> exact(data, data + size - 8);  // its end is the end of its memory
  DecodeParams params;
  params.max_pixels = 1 << 16;
  params.type = static_cast<ImageType>(choice[4] % 5);
  params.fancy_upsampling = choice[5] % 4 != 0;
  if (choice[7] % 4 == 3) params.eighths = 1 << choice[7] / 4 % 3;
  ImageInfo info;
  try {
    info = probe_image(exact, params);
  } catch (const Error&) {
    return 0;
  }
  const Region region = fuzz::region_of(choice, info, params);
  const auto want = test::decode_by(JpegEngine::libjpeg_turbo, exact, info, params, region);
  {
    const CrewMember member(&crew_of_three());
    test::KeptIndex pieces;
    pieces.step = choice[6] / 8 % 4;
    if (test::decode_by(JpegEngine::automatic, exact, info, params, region, &pieces) != want) std::abort();
  }
  test::KeptIndex index;
  index.step = 1 + choice[6] % 6;
  if (test::decode_by(JpegEngine::automatic, exact, info, params, region, &index) != want) std::abort();
  if (!index.has) return 0;
  if (test::decode_by(JpegEngine::automatic, exact, info, params, region, &index) != want) std::abort();
  return 0;
}
