// SPDX-License-Identifier: Apache-2.0
// What the NAL units of H.264 (ITU-T H.264, 7.3 and 7.4) say without being decoded.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "codecs/video/video_file.h"

namespace penstock::h264 {

// Whether later pictures may refer to that of a packet: what its first slice says, or true if there is no slice.
// `headers`: of the stream; they define how units are separated.
bool is_referred_to(std::span<const uint8_t> headers, std::span<const uint8_t> packet);

// For each packet whether a picture begins in it. Empty if that is unknown: a stream that has fields, or begins with a
// picture that refers to others, has pictures of two packets, or packets without one.
std::vector<bool> packets_with_pictures(const VideoFile& file);

}  // namespace penstock::h264
