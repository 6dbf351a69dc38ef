// SPDX-License-Identifier: Apache-2.0
// The decoder that an operator's argument `decoder` asks for.
#pragma once
#include "base/gpu.h"
#include "ops/machine/bound_op.h"

namespace penstock {

// Nothing: "cpu".
std::optional<DecodeEngine> engine_of(const OpInfo& info, std::span<const Argument> args);
// Null for DecodeEngine::automatic where this GPU has none. An engine that is asked for by name and is not there is an
// error that says which are.
std::unique_ptr<BatchDecoder> make_batch_decoder(int gpu, DecodeEngine engine);

}  // namespace penstock
