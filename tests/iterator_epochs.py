# SPDX-License-Identifier: Apache-2.0
"""What an iterator's epochs hold, for last-batch policies, shards and readers that repeat samples: of Penstock or of DALI.

    python tests/iterator_epochs.py > tests/dali_iterators.json       # with a Python that has nvidia.dali and torch
"""
import itertools
import json
import logging
import tempfile
import warnings


def epochs_of(fn, pipeline_def, iterator, policies, folder):
    """{setting: [[batches that len() says, the batches] of each of three epochs], or the name of an error}"""
    names = []
    for i in range(9):
        names.append(f"{folder}/{i}")
        with open(names[-1], "wb") as file:
            file.write(bytes([i]))

    @pipeline_def(num_threads=1, device_id=None, seed=1)
    def pipe(n, shard, shards, pad, stick):
        return fn.readers.file(files=names[:n], labels=list(range(n)), shard_id=shard, num_shards=shards, pad_last_batch=pad,
                               stick_to_shard=stick, name="reader")[1]

    found = {}
    for n, (shard, shards), size, pad, stick, policy in itertools.product(
            (7, 9), (("all", 1), ("all", 2), ("all", 3), (0, 2), (1, 2), (1, 3)), (2, 3), (False, True), (False, True),
            ("FILL", "DROP", "PARTIAL")):
        try:
            made = iterator([pipe(n, k, shards, pad, stick, batch_size=size) for k in (range(shards) if shard == "all" else [shard])],
                            ["n"], reader_name="reader", last_batch_policy=policies[policy], auto_reset=True)
            epochs = [[len(made), [[e["n"].flatten().tolist() for e in batch] for batch in made]] for _ in range(3)]
        except (RuntimeError, ValueError):
            epochs = "error"
        found[f"{n} samples, shard {shard} of {shards}, batches of {size}, {'pad' if pad else 'exact'}, "
              f"{'stick' if stick else 'move'}, {policy}"] = epochs
    return found


def main():
    from nvidia.dali import fn, pipeline_def
    from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        found = epochs_of(fn, pipeline_def, DALIGenericIterator, LastBatchPolicy.__members__, folder)
    print("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in found.items()) + "\n}")


if __name__ == "__main__":
    main()
