# SPDX-License-Identifier: Apache-2.0
"""Files as disks and networks leave them: every third one truncated, others with a few flipped bits, also near the start."""

import numpy as np


def damaged(file, count, head, seed):
    random = np.random.default_rng(seed)
    for i in range(count):
        bad = file.copy()
        if i % 3 == 0:
            bad = bad[: random.integers(0, len(file))]
        else:
            for _ in range(1 + i % 4):
                bad[random.integers(0, min(len(file), head if i % 3 == 1 else len(file)))] ^= 1 << random.integers(0, 8)
        yield bad
