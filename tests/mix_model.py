# SPDX-License-Identifier: Apache-2.0
"""The order of readers.mix from its description in docs/explanation/order.md, one number at a time, without the
library: Philox, the permutation of an epoch, and the epoch's samples sorted by their time."""

import math

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def philox(counter, k0, k1):
    a, b, c, d = counter
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = q >> 32 ^ b ^ k0, q & M32, p >> 32 ^ d ^ k1, p & M32
        k0, k1 = (k0 + 0x9E3779B9) & M32, (k1 + 0xBB67AE85) & M32
    return a, b, c, d


def mix64(x):
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def below(bits, bound):
    return bits * bound >> 64


def permutation(size, seed, epoch, stream=0):
    """A list: the sample at each place of an order of size samples."""
    k0, k1, *_ = philox((epoch, 0, stream, 1), seed & M32, seed >> 32)

    def draw(i):
        words = philox((0, 0, i >> 1 & M32, i >> 33), k0, k1)
        low = (i & 1) * 2
        return words[low] | words[low + 1] << 32

    if size <= 256:
        table = list(range(size))
        for i in range(size - 1, 0, -1):
            j = below(draw(i), i + 1)
            table[i], table[j] = table[j], table[i]
        return table
    rows = math.isqrt(size - 1) + 1
    columns = -(-size // rows)
    keys = [draw(i) for i in range(8)]

    def place(x):
        while True:
            left, right = divmod(x, columns)
            for i in range(0, 8, 2):
                left = (left + below(mix64(right ^ keys[i]), rows)) % rows
                right = (right + below(mix64(left ^ keys[i + 1]), columns)) % columns
            x = left * columns + right
            if x < size:
                return x

    return [place(x) for x in range(size)]


def shares_of(sizes, weights=None, stop="first"):
    if weights is None:
        return list(sizes)
    passes = [n / w for n, w in zip(sizes, weights)]
    deciding = passes.index((min if stop == "first" else max)(passes))
    shares = [math.floor(sizes[deciding] * w / weights[deciding] + 0.5) for w in weights]
    shares = [(min if stop == "first" else max)(s, n) for s, n in zip(shares, sizes)]
    shares[deciding] = sizes[deciding]
    return shares


def epoch_of(sizes, shares, seed, epoch, shuffled=True, seeds=None):
    """[(source, index)] of an epoch, in the global order."""
    total = sum(shares)
    in_time = sorted(((2 * i + 1) * total // (2 * n), j) for j, n in enumerate(shares) for i in range(n))
    order, taken = [], [epoch * n for n in shares]
    own, passes = seeds or [mix64((mix64(seed) + j) & M64) for j in range(len(sizes))], {}
    for block, begin in enumerate(range(0, total, 4096)):
        part = sorted(j for _, j in in_time[begin : begin + 4096])
        for u in permutation(len(part), seed, epoch, block + 1):
            j = part[u]
            turn, place = divmod(taken[j], sizes[j])
            taken[j] += 1
            if shuffled and (j, turn) not in passes:
                passes[j, turn] = permutation(sizes[j], own[j], turn)
            order.append((j, passes[j, turn][place] if shuffled else place))
    return order
