# SPDX-License-Identifier: Apache-2.0
"""Random chains of operators on samples whose parts are on a GPU: where brute force sees them, and with the bytes of the CPU.

Every chain runs twice there, as calls and as a pipeline: a pipeline makes stages of several operators."""

import os

import numpy as np
import pytest
from sample_chains import calls_of, check, moved, parts_of

import penstock
from penstock import fn, pipeline_def
from penstock.sample import Sample

if penstock._core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({penstock._core.gpu_why_not()})", allow_module_level=True)

CHAINS = 24 if os.environ.get("PENSTOCK_TEST_COUNT") is None else 1000
LAYOUTS = {"image": "HWC", "instances": "FHW"}


def called(parts, calls, places):
    tensors = {name: penstock.tensor(part, layout=LAYOUTS.get(name, "")) for name, part in parts.items()}
    sample = moved(Sample(**{k: v.gpu() if k in places else v for k, v in tensors.items()}), calls)
    return {name: part.cpu().numpy() for name, part in sample.items()}


def piped(parts, calls, places):
    @pipeline_def(batch_size=1, num_threads=1, device_id=0)
    def chain():
        source = lambda name: lambda: [parts[name]]  # noqa: E731
        made = {k: fn.external_source(source(k), layout=LAYOUTS.get(k, "")) for k in parts}
        return moved(Sample(**{k: v.gpu() if k in places else v for k, v in made.items()}), calls)

    return {name: batch.cpu().at(0) for name, batch in chain().run().items()}


@pytest.mark.parametrize("part", range(4))
def test_chains_on_a_gpu_are_those_of_the_cpu(part):
    found = 0
    for seed in range(part, CHAINS, 4):
        parts, calls = parts_of(seed), calls_of(seed)
        about = f"chain {seed}: {[name for name, _ in calls]}"
        expected = called(parts, calls, ())
        places = ("image", "instances") if seed % 2 else tuple(parts)
        for run in (called, piped):
            got = run(parts, calls, places)
            for name, array in expected.items():
                np.testing.assert_array_equal(got[name], array, err_msg=f"{about}, {name}, {run.__name__}")
            found += check(got, calls, about)
    assert found > CHAINS // 4
