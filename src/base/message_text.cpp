// SPDX-License-Identifier: Apache-2.0
#include "penstock/plugin/message_text.h"

#include <fmt/args.h>
#include <fmt/format.h>

namespace penstock::message_text {

std::string format_values(std::string_view text, std::initializer_list<Value> values) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const Value& value : values) std::visit([&](const auto& v) { store.push_back(v); }, value);
  try {
    return fmt::vformat(fmt::string_view(text.data(), text.size()), store);
  } catch (const fmt::format_error&) {
    return std::string(text);
  }
}

}  // namespace penstock::message_text
