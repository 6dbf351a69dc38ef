// SPDX-License-Identifier: Apache-2.0
#include "data/checkpoint.h"

#include <fmt/format.h>

#include <array>

#include "base/json_text.h"

namespace penstock {

static constexpr std::array<const char*, 4> shuffle_names{"none", "once", "every_epoch", "dealt"};

static const char* name_of(Shuffle shuffle) { return shuffle_names[static_cast<size_t>(shuffle)]; }

// Written by hand: every batch has a state, and the destructor of nlohmann's values terminates the process if an
// allocation fails.
std::string ReaderState::to_json() const {
  std::string text = fmt::format(R"({{"consumed":{},"epoch":{},"legs":[)", consumed, epoch);
  for (size_t i = 0; i < legs.size(); ++i)
    text += fmt::format("{}[{},{}]", i ? "," : "", legs[i].num_shards, legs[i].taken);
  text += "]";
  if (fingerprint.batches) text += fmt::format(R"(,"batches":{})", fingerprint.batches);
  return text + fmt::format(R"(,"list_hash":{},"seed":{},"shuffle":"{}","size":{},"stick_to_shard":{}}})",
                            fingerprint.list_hash, fingerprint.seed, name_of(fingerprint.shuffle), fingerprint.size,
                            fingerprint.stick_to_shard);
}

static uint64_t number_of(const nlohmann::json& value, const char* what, uint64_t most) {
  return whole_number(value, uint64_t{0}, most, ("the reader's checkpoint is damaged: " + std::string(what)).c_str());
}

ReaderState ReaderState::from_json(const std::string& text) {
  const nlohmann::json json = parse_json(text);
  if (!json.is_object()) bad_argument("the reader's checkpoint is damaged: not a JSON object");
  auto field = [&](const char* name) -> const nlohmann::json& {
    const auto it = json.find(name);
    if (it == json.end()) bad_argument("the reader's checkpoint is damaged: {} is missing", name);
    return *it;
  };
  auto number = [&](const char* name, uint64_t most) { return number_of(field(name), name, most); };
  ReaderState state;
  state.epoch = number("epoch", UINT32_MAX);
  state.consumed = number("consumed", INT64_MAX);
  state.fingerprint.size = static_cast<int64_t>(number("size", INT64_MAX));
  state.fingerprint.seed = number("seed", UINT64_MAX);
  state.fingerprint.list_hash = number("list_hash", UINT64_MAX);
  if (json.contains("batches")) state.fingerprint.batches = number("batches", UINT64_MAX);
  const auto& shuffle = field("shuffle");
  const auto& stick = field("stick_to_shard");
  size_t mode = 0;
  const auto* const name = shuffle.get_ptr<const std::string*>();
  while (mode < shuffle_names.size() && !(name && *name == shuffle_names[mode])) ++mode;
  if (mode == shuffle_names.size()) bad_argument("the reader's checkpoint is damaged: shuffle is {}", shuffle.dump());
  if (!stick.is_boolean()) bad_argument("the reader's checkpoint is damaged: stick_to_shard is {}", stick.dump());
  state.fingerprint.shuffle = static_cast<Shuffle>(mode);
  state.fingerprint.stick_to_shard = stick.get<bool>();
  const auto& legs = field("legs");
  if (!legs.is_array()) bad_argument("the reader's checkpoint is damaged: legs must be a list");
  for (const auto& leg : legs) {
    if (!leg.is_array() || leg.size() != 2) bad_argument("the reader's checkpoint is damaged: a leg is {}", leg.dump());
    state.legs.push_back({static_cast<int32_t>(number_of(leg[0], "num_shards", INT32_MAX)),
                          static_cast<int64_t>(number_of(leg[1], "taken", INT64_MAX))});
  }
  return state;
}

void check_fingerprint(const OrderFingerprint& saved, const OrderFingerprint& now) {
  if (saved.batches != now.batches)
    bad_argument("the checkpoint cannot be resumed: {}",
                 !saved.batches ? "its batches were not formed by length, those of this reader are"
                 : !now.batches
                     ? "its batches were formed by length, those of this reader are not"
                     : "its batches were formed by other lengths, another max_cost, bucket_width, packing_window or "
                       "batch size");
  std::string text;
  auto compare = [&](const char* what, auto before, auto after) {
    if (before != after) text += fmt::format("{}{} was {}, is {}", text.empty() ? "" : "; ", what, before, after);
  };
  compare("the number of samples", saved.size, now.size);
  if (saved.size == now.size && saved.list_hash != now.list_hash) text += "the list of files or their labels differ";
  compare("seed", saved.seed, now.seed);
  compare("shuffling", std::string(name_of(saved.shuffle)), std::string(name_of(now.shuffle)));
  compare("stick_to_shard", saved.stick_to_shard, now.stick_to_shard);
  if (!text.empty()) bad_argument("the checkpoint belongs to other data and cannot be resumed: {}", text);
}

}  // namespace penstock
