// SPDX-License-Identifier: Apache-2.0
// What a program should know although it continues. Each text is kept once, until somebody takes it to show it.
#pragma once
#include <string>
#include <vector>

namespace penstock {

void notice(const std::string& text);  // ignores a text that was given before
// Of one sample: a text that was given before counts as well. Those that nobody takes are bounded.
void notice_of_sample(const std::string& text);
std::vector<std::string> take_notices();  // texts that nobody has taken yet; cheap if there are none

}  // namespace penstock
