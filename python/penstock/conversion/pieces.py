# SPDX-License-Identifier: Apache-2.0
"""How the samples of a data set are divided into pieces, which are files of the target.

Blocks of samples are divided each for itself, so that processes can write blocks at the same time, and the files do not depend on
their number. The first samples decide how large a block is.
"""

from __future__ import annotations

import contextlib
import itertools

from .. import _core
from .fields import bytes_of, sum_of_sample
from .reading import BATCH

LARGEST = 2 << 30  # bytes of a piece: MDS has addresses of 32 bits, and a piece is in memory while it is written
_FULL_PIECES = 4  # of a block: its last one is shorter


def block_size(data, target, scaling, shard_size):
    """Returns how many samples a block has. The target learns what it needs to know of the first sample.

    Args:
        data: The data set that is read.
        target: The data set that is written.
        scaling: What makes pictures smaller, or None.
        shard_size: Bytes of samples in a piece, at most.
    """
    sizes = []
    with contextlib.suppress(OSError, ValueError, _core.DataError):  # who converts the sample says it
        with contextlib.closing(data.samples(0, 1, scaling, batch=1)) as samples:
            for _, values, _ in itertools.islice(samples, BATCH):
                values = target.stored(values)
                if not sizes:
                    target.learn(values)
                sizes.append(bytes_of(target.fields, values))
    mean = max(1, sum(sizes) // max(1, len(sizes)))
    return max(BATCH, _FULL_PIECES * shard_size // mean // BATCH * BATCH)


def pieces(data, target, samples, block, threads, scaling, shard_size):
    """Reads samples.

    Args:
        data: The data set that is read.
        target: The data set that is written.
        samples: A range of their numbers, which begins where a piece does.
        block: How many samples a block has.
        threads: How many threads read, decode and encode.
        scaling: What makes pictures smaller, or None.
        shard_size: Bytes of samples in a piece, at most.

    Returns:
        A generator of pieces: lists of (name, values, the file or record).

    Raises:
        DataError: A sample cannot be read, or is too large.
    """
    waiting, size = [], 0
    with contextlib.closing(data.samples(samples.start, threads, scaling)) as read:
        for number, (key, values, record) in zip(samples, read):
            values = target.stored(values)
            more = bytes_of(target.fields, values)
            if more > LARGEST:
                raise _core.DataError(f"a sample of {more} bytes is larger than {LARGEST} (file: {record})")
            if waiting and (size + more > shard_size or number % block == 0):
                yield waiting
                waiting, size = [], 0
            waiting.append((key, values, record))
            size += more
    if waiting:
        yield waiting


def written(target, number, piece):
    """Writes a piece, and returns what the manifest says of it.

    Args:
        target: The data set that is written.
        number: The number of the piece.
        piece: One of pieces().
    """
    entry = target.write(number, piece)
    sums = "".join(f"{sum_of_sample(target.fields, values):08x}" for _, values, _ in piece)
    return {**entry, "samples": len(piece), "sums": sums}
