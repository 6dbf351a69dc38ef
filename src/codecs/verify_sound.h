// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/audio/sound_format.h"
#include "codecs/verify_image.h"

namespace penstock {

// Like verify_image(), for recorded sound. `sound`: what find_sound() returned.
std::vector<Finding> verify_sound(AudioBytes file, const std::string& name, const FoundSound& sound);

}  // namespace penstock
