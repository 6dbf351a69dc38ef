# SPDX-License-Identifier: Apache-2.0
"""The contents of an iterator's epochs, for last-batch policies, shards and readers that repeat samples: of Penstock or of DALI.

python tests/iterator_epochs.py > tests/dali_iterators.json       # with a Python that has nvidia.dali and torch
python tests/iterator_epochs.py counts > tests/dali_iterator_counts.json                # one that has nvidia.dali
"""

import itertools
import json
import logging
import random
import sys
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
        return fn.readers.file(
            files=names[:n],
            labels=list(range(n)),
            shard_id=shard,
            num_shards=shards,
            pad_last_batch=pad,
            stick_to_shard=stick,
            name="reader",
        )[1]

    found = {}
    for n, (shard, shards), size, pad, stick, policy in itertools.product(
        (7, 9),
        (("all", 1), ("all", 2), ("all", 3), (0, 2), (1, 2), (1, 3)),
        (2, 3),
        (False, True),
        (False, True),
        ("FILL", "DROP", "PARTIAL"),
    ):
        try:
            made = iterator(
                [
                    pipe(n, k, shards, pad, stick, batch_size=size)
                    for k in (range(shards) if shard == "all" else [shard])
                ],
                ["n"],
                reader_name="reader",
                last_batch_policy=policies[policy],
                auto_reset=True,
            )
            epochs = [[len(made), [[e["n"].flatten().tolist() for e in batch] for batch in made]] for _ in range(3)]
        except (RuntimeError, ValueError):
            epochs = "error"
        found[
            f"{n} samples, shard {shard} of {shards}, batches of {size}, {'pad' if pad else 'exact'}, "
            f"{'stick' if stick else 'move'}, {policy}"
        ] = epochs
    return found


def settings(count):
    """Random ones, including uneven shards."""
    rng = random.Random(7)
    for _ in range(count):
        shards = rng.randint(1, 6)
        yield {
            "n": rng.randint(shards, 24),
            "shards": shards,
            "batch_size": rng.randint(1, 9),
            "policy": rng.choice(("FILL", "DROP", "PARTIAL")),
            "pad": rng.random() < 0.3,
            "stick": rng.random() < 0.3,
            "shuffle": rng.choice(("", "", "random_shuffle", "shuffle_after_epoch")),
        }


def counts_of(fn, pipeline_def, iterator, policies, folder, given):
    """For each shard (len() before it, samples of each batch) of each of five epochs, or the name of an error."""

    @pipeline_def(num_threads=1, device_id=None, seed=1, batch_size=given["batch_size"])
    def pipe(names, shard):
        options = {given["shuffle"]: True} if given["shuffle"] else {}
        return fn.readers.file(
            files=names,
            labels=list(range(len(names))),
            shard_id=shard,
            num_shards=given["shards"],
            name="reader",
            pad_last_batch=given["pad"],
            stick_to_shard=given["stick"],
            **options,
        )[1]

    names = [f"{folder}/0"] * given["n"]
    with open(names[0], "wb") as file:
        file.write(b"x")
    found = []
    for shard in range(given["shards"]):
        try:
            made = iterator(pipe(names, shard), policies[given["policy"]])
            found.append([[len(made), [int(size) for size in made]] for _ in range(5)])
        except (RuntimeError, ValueError):
            found.append("error")
    return found


def dali_counts():
    """DALI's own epochs, without a framework."""
    from nvidia.dali import fn, pipeline_def
    from nvidia.dali.plugin.base_iterator import LastBatchPolicy, _DaliBaseIterator

    class Sizes(_DaliBaseIterator):
        def __init__(self, pipeline, policy):
            super().__init__([pipeline], reader_name="reader", last_batch_policy=policy, auto_reset=True)
            if not len(self):  # the first batch, which the frameworks' iterators prepare
                self._report_no_data_in_pipeline()

        def __next__(self):
            self._ever_consumed = True
            size = len(self._get_outputs()[0][0])
            self._schedule_runs()
            self._advance_and_check_drop_last()
            dropped, left = self._remove_padded()
            return max(0, int(left[0])) if dropped is not False and dropped[0] else size

    with tempfile.TemporaryDirectory() as folder:
        for given in settings(240):
            yield given, counts_of(fn, pipeline_def, Sizes, LastBatchPolicy.__members__, folder, given)


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if sys.argv[1:] == ["counts"]:
        print("[\n" + ",\n".join(json.dumps(pair, separators=(",", ":")) for pair in dali_counts()) + "\n]")
        return
    from nvidia.dali import fn, pipeline_def
    from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

    with tempfile.TemporaryDirectory() as folder:
        found = epochs_of(fn, pipeline_def, DALIGenericIterator, LastBatchPolicy.__members__, folder)
    print(
        "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in found.items()) + "\n}"
    )


if __name__ == "__main__":
    main()
