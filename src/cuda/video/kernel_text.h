// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace penstock::video_gpu {

// The text of the kernel that converts a frame to RGB, for its compiler, and its entry.
const std::string& kernel_text();
constexpr const char* kEntry = "penstock_video_frame";

}  // namespace penstock::video_gpu
