// SPDX-License-Identifier: Apache-2.0
// Changes JSON as JSON: most changes of its bytes would end in the parser.
#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace penstock::fuzz {

using Json = nlohmann::json;

inline void collect(Json& j, std::vector<Json*>& all) {
  all.push_back(&j);
  if (j.is_structured())
    for (auto& e : j) collect(e, all);
}

// One value becomes another one: a hostile number, one that stands elsewhere, none, twice.
inline void change_json(Json& j, std::minstd_rand& random, const std::vector<std::string>& words) {
  static const Json kValues[] = {0,
                                 1,
                                 2,
                                 3,
                                 -1,
                                 7,
                                 1023,
                                 65536,
                                 INT32_MAX,
                                 INT32_MIN,
                                 INT64_MAX,
                                 INT64_MIN,
                                 UINT64_MAX,
                                 0.5,
                                 -0.0,
                                 1e300,
                                 1e-300,
                                 true,
                                 false,
                                 nullptr,
                                 "",
                                 Json::array(),
                                 Json::object(),
                                 Json::array({-5, 9})};
  std::vector<Json*> all;
  collect(j, all);
  const auto any = [&](const auto& list) -> auto& { return list[random() % std::size(list)]; };
  Json& at = *any(all);
  switch (random() % 8) {
    case 0: at = any(kValues); break;
    case 1:
    case 2: {
      const Json other = *any(all);
      at = other;
      break;
    }
    case 3:
      if (at.is_array() && !at.empty()) at.erase(random() % at.size());
      else if (at.is_object() && !at.empty())
        at.erase(std::next(at.begin(), static_cast<int64_t>(random() % at.size())));
      break;
    case 4:
      if (at.is_array() && !at.empty()) {
        const Json again = at[random() % at.size()];
        at.insert(at.begin() + static_cast<int64_t>(random() % (at.size() + 1)), again);
      }
      break;
    case 5:
      if (at.is_object()) at[any(words)] = any(kValues);
      else if (at.is_string()) at = any(words);
      break;
    case 6:
      if (at.is_number_integer()) at = static_cast<int64_t>(at.get<uint64_t>() + (random() % 2 ? 1 : ~uint64_t{0}));
      else if (at.is_array()) at.push_back(any(kValues));
      break;
    default: at = Json::array({at});
  }
}

// libFuzzer's hook: a few changes; now and then of the bytes.
inline size_t mutate_json(uint8_t* data, size_t size, size_t most, unsigned seed,
                          const std::vector<std::string>& words) {
  std::minstd_rand random(seed);
  Json j = Json::parse(data, data + size, nullptr, false);
  if (j.is_discarded() || random() % 16 == 0) return LLVMFuzzerMutate(data, size, most);
  for (unsigned k = 0; k < 1 + seed % 3; ++k) change_json(j, random, words);
  const std::string text = j.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

}  // namespace penstock::fuzz
