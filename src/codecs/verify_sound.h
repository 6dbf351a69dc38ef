// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codecs/audio/audio_decoder.h"
#include "codecs/verify_image.h"

namespace penstock {

// Like verify_image(), for recorded sound.
std::vector<Finding> verify_sound(AudioBytes file, const std::string& name);

}  // namespace penstock
