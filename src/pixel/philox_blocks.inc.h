// SPDX-License-Identifier: Apache-2.0
// The loop of philox_blocks.cpp, included once per target; the compiler vectorizes it.
inline void blocks_of(const RandomStream& stream, const uint64_t* samples, size_t n, uint64_t b, PhiloxColumns& out) {
  const uint32_t key0 = stream.key0, key1 = stream.key1;
  for (size_t i = 0; i < n; ++i) {
    const PhiloxBlock block = Philox::generate({{static_cast<uint32_t>(samples[i]),
                                                 static_cast<uint32_t>(samples[i] >> 32), static_cast<uint32_t>(b),
                                                 static_cast<uint32_t>(b >> 32)}},
                                               key0, key1);
    out.word[0][i] = block.word[0], out.word[1][i] = block.word[1];
    out.word[2][i] = block.word[2], out.word[3][i] = block.word[3];
  }
}
