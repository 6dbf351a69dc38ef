// SPDX-License-Identifier: Apache-2.0
// The decoder that an operator's argument `decoder` requests.
#pragma once
#include "device/batch_decoder.h"
#include "operator/bound_op.h"

namespace penstock {

// Nothing: "cpu".
std::optional<DecodeEngine> engine_of(const OpInfo& info, std::span<const Argument> args);
// Null for DecodeEngine::automatic if this GPU has none. For an engine that is requested by name but not available, an
// error that lists the available ones.
std::unique_ptr<BatchDecoder> make_batch_decoder(int gpu, DecodeEngine engine);

}  // namespace penstock
