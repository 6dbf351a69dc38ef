# SPDX-License-Identifier: Apache-2.0
"""An iterator over pipelines on several GPUs of one process."""

import numpy as np
import pytest

from penstock import _core, fn, pipeline_def
from penstock.plugin.numpy import NumpyIterator
from penstock.plugin.base_iterator import LastBatchPolicy

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_a_pipeline_on_each_gpu(tmp_path, policy):
    names = []
    for i in range(7):
        np.save(tmp_path / f"{i}.npy", np.full((3, 2), i, np.float32))
        names.append(str(tmp_path / f"{i}.npy"))

    @pipeline_def(batch_size=2, num_threads=1)
    def pipe(shard):
        x = fn.readers.numpy(files=names, name="reader", shard_id=shard, num_shards=2, random_shuffle=True)
        return fn.coord_transform(x.gpu() * 2, M=0.5), fn.cast(x.gpu(), dtype=np.int32)

    it = NumpyIterator(
        [pipe(k, device_id=k % _core.gpu_count()) for k in range(2)],
        ["half", "whole"],
        reader_name="reader",
        auto_reset=True,
        last_batch_policy=policy,
    )
    for _ in range(3):
        seen = []
        for batch in it:
            for entry in batch:
                assert np.array_equal(entry["half"], entry["whole"])
                seen += [int(v) for v in entry["whole"][:, 0, 0]]
        if policy is LastBatchPolicy.PARTIAL:
            assert sorted(seen) == list(range(7))
        elif policy is LastBatchPolicy.DROP:
            assert len(set(seen)) == len(seen) == 4
