// SPDX-License-Identifier: Apache-2.0
// Texts that are read: the manifest of recordings, and the state of a reader in a checkpoint with the order that goes
// on from it.
#include "data/manifest.h"
#include "data/sample_order.h"
#include "fuzz_containers.h"

using namespace penstock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(data, data + size);
  fuzz::may_refuse([&] {
    for (const auto& e : parse_manifest(text, "manifest"))
      if (e.audio.empty() || e.line < 1) std::abort();
  });
  try {
    const ReaderState state = ReaderState::from_json(text);
    if (!(ReaderState::from_json(state.to_json()) == state)) std::abort();
    OrderSettings settings;
    settings.size = state.fingerprint.size, settings.seed = state.fingerprint.seed,
    settings.list_hash = state.fingerprint.list_hash;
    settings.shuffle = state.fingerprint.shuffle, settings.stick_to_shard = state.fingerprint.stick_to_shard;
    settings.num_shards = 3, settings.shard_id = 1;
    const SampleOrder order(settings, state);
    auto cursor = order.begin();
    for (int i = 0; i < 20; ++i)
      if (const auto s = order.next(cursor); s.index < 0 || s.index >= settings.size) std::abort();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::argument) std::abort();
  }
  return 0;
}
