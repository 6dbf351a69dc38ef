// SPDX-License-Identifier: Apache-2.0
#include "exec/decode_engine.h"

#include "device/gpu_backend.h"

namespace penstock {

constexpr std::pair<const char*, DecodeEngine> kEngines[] = {
    {"auto", DecodeEngine::automatic}, {"cuda", DecodeEngine::cuda}, {"hardware", DecodeEngine::hardware}};

std::optional<DecodeEngine> engine_of(const OpInfo& info, std::span<const Argument> args) {
  std::string name = "auto";
  for (size_t i = 0; i < args.size(); ++i)
    if (info.args[i].name == "decoder" && args[i].given()) name = value_as<std::string>(args[i].value);
  for (const auto& [known, engine] : kEngines)
    if (name == known) return engine;
  return std::nullopt;
}

std::unique_ptr<BatchDecoder> make_batch_decoder(int gpu, DecodeEngine engine) {
  std::string why;
  auto decoder = gpu_backend().make_decoder(gpu, engine, why);
  if (decoder || engine == DecodeEngine::automatic) return decoder;
  std::string asked, there;
  for (const auto& [name, other] : kEngines) {
    std::string other_why;
    if (other == engine) asked = name;
    else if (other != DecodeEngine::automatic && gpu_backend().make_decoder(gpu, other, other_why))
      there += fmt::format("'{}', ", name);
  }
  bad_argument("decoder='{}' is not available on GPU {} ({}); available are {}'cpu' and 'auto'", asked, gpu, why,
               there);
}

}  // namespace penstock
