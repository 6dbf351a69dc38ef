# SPDX-License-Identifier: Apache-2.0
"""Batches by length: how much of padded batches is samples, and how long a plan takes, beside Lhotse's sampler.

    python benchmarks/batch_by_length.py [--samples 100000] [--plan 10000000] [--json FILE]

Samples of 0.4 to 4 s, uniform, and of a long-tailed distribution (log-normal, 1 to 35 s); at most 400 s a padded batch. Random batches have
as many samples as the batches by length have on average. Lhotse is left out where it is not installed. `real` is the share of the
lengths in batches that are padded to their longest sample; `short` the share of batches that are less than three quarters full;
`seconds` the processor time until the first batch is known and for all batches of an epoch, without reading.
"""

import argparse
import json
import time

import numpy as np

MAX_COST, MOST = 400.0, 2000


def lengths_of(kind, count):
    rng = np.random.default_rng(7)
    if kind == "uniform":
        return rng.uniform(0.4, 4, count).astype(np.float32)
    return np.clip(rng.lognormal(2.0, 0.7, count), 1, 35).astype(np.float32)


def by_penstock(data, batch_size=MOST, **arguments):
    """(seconds until the plan is made, seconds of an epoch, batches)"""
    from penstock import fn, pipeline_def

    @pipeline_def(batch_size=batch_size, num_threads=1, seed=3)
    def indices():
        return fn.readers.indices(size=len(data), random_shuffle=True, name="reader", **arguments)

    begin = time.process_time()
    pipeline = indices()
    driver = pipeline.driver(epochs="partial")
    planned = time.process_time() - begin
    begin, batches, ends = time.process_time(), [], False
    while not ends:
        step = driver.run()
        batches.append(step.outputs[0].as_array().reshape(-1).copy())
        ends = step.ends_epoch
    return planned, time.process_time() - begin, batches


def by_lhotse(lengths):
    from lhotse import CutSet, Recording, AudioSource  # noqa: I001
    from lhotse.cut import MonoCut
    from lhotse.dataset import DynamicBucketingSampler

    def cut(k, seconds):
        samples = round(float(seconds) * 16000)
        source = [AudioSource(type="file", channels=[0], source="none.wav")]
        return MonoCut(
            id=str(k), start=0, duration=samples / 16000, channel=0,
            recording=Recording(str(k), source, 16000, samples, samples / 16000),
        )  # fmt: skip

    cuts = CutSet.from_cuts(cut(k, seconds) for k, seconds in enumerate(lengths))
    begin = time.process_time()
    sampler = DynamicBucketingSampler(cuts, max_duration=MAX_COST, num_buckets=30, shuffle=True, drop_last=False)
    batch = next(iter(sampler))
    planned = time.process_time() - begin
    begin, found = time.process_time(), []
    while batch is not None:  # `for` would begin again: the sampler is its own iterator
        found.append(np.array([int(c.id) for c in batch]))
        batch = next(sampler, None)
    return planned, time.process_time() - begin, found


def row(name, lengths, planned, epoch, batches):
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    costs = np.array([len(b) * lengths[b].max() for b in batches], np.float64)
    return {
        "batches formed by": name,
        "real": round(float(lengths.sum(dtype=np.float64) / costs.sum()), 3),
        "batches": len(batches),
        "largest padded batch (s)": round(float(costs.max()), 1),
        "short": round(float((costs < 0.75 * MAX_COST).mean()), 3),
        "plan (s)": round(planned, 2),
        "epoch (s)": round(epoch, 2),
    }


def rows_of(lengths):
    found = [row("Penstock", lengths, *by_penstock(lengths, lengths=lengths, max_cost=MAX_COST))]
    for width in (0.2, 0.02):
        how = {"lengths": lengths, "max_cost": MAX_COST, "bucket_width": width}
        found.append(row(f"Penstock, bucket_width={width}", lengths, *by_penstock(lengths, **how)))
    size = round(len(lengths) / found[0]["batches"])
    found.insert(0, row(f"chance, {size} samples each", lengths, *by_penstock(lengths, size)))
    try:
        import lhotse  # noqa: F401
    except ImportError:
        return found
    return [*found, row("Lhotse, 30 buckets", lengths, *by_lhotse(lengths))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--plan", type=int, default=10_000_000, help="samples of a plan whose time is measured")
    parser.add_argument("--json")
    options = parser.parse_args()
    results = {kind: rows_of(lengths_of(kind, options.samples)) for kind in ("uniform", "long-tailed")}
    for kind, rows in results.items():
        print(f"\n{kind}, {options.samples} samples, at most {MAX_COST:.0f} s a batch\n")
        print("|", " | ".join(rows[0]), "|\n|" + "---|" * len(rows[0]))
        for each in rows:
            print("|", " | ".join(map(str, each.values())), "|")
    lengths = lengths_of("uniform", options.plan)
    begin = time.process_time()

    from penstock import fn, pipeline_def

    @pipeline_def(batch_size=MOST, num_threads=1)
    def planned():
        return fn.readers.indices(size=options.plan, lengths=lengths, max_cost=MAX_COST, random_shuffle=True)

    planned().build()
    results["plan"] = {"samples": options.plan, "seconds": round(time.process_time() - begin, 2)}
    print(f"\na plan of {options.plan} samples: {results['plan']['seconds']} s")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
