// SPDX-License-Identifier: Apache-2.0
// nlohmann::json, whose code is compiled once, in json.cpp, and not in each file that uses it.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace penstock {

using JsonText =
    nlohmann::detail::iterator_input_adapter<std::string::const_iterator>;  // what parse(std::string) reads

}  // namespace penstock

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::lexer<nlohmann::json, penstock::JsonText>;
extern template class nlohmann::detail::parser<nlohmann::json, penstock::JsonText>;
