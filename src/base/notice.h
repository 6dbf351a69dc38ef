// SPDX-License-Identifier: Apache-2.0
// What a program should know although it goes on. Each text is kept once, until somebody takes it to show it.
#pragma once
#include <string>
#include <vector>

namespace penstock {

void notice(const std::string& text);     // does nothing for a text that came before
std::vector<std::string> take_notices();  // those that nobody has taken; cheap where there are none

}  // namespace penstock
