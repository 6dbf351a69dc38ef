// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

template class nlohmann::basic_json<>;
template class nlohmann::detail::serializer<nlohmann::json>;
template class nlohmann::detail::lexer<nlohmann::json, penstock::JsonText>;
template class nlohmann::detail::parser<nlohmann::json, penstock::JsonText>;
