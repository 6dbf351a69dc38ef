# SPDX-License-Identifier: Apache-2.0
"""penstock.augment on a GPU: the bytes of the CPU, with the same seeds."""

import numpy as np
import pytest
from augment_calls import CALLS, SQUARES, augmented

from penstock import _core, augment, fn, pipeline_def

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


@pytest.mark.filterwarnings("error::penstock.DeviceWarning")
@pytest.mark.parametrize("name", CALLS)
def test_gpu_equals_cpu(name):
    for a, b in zip(augmented(CALLS[name]), augmented(CALLS[name], gpu=True)):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("function", [augment.mixup, augment.cutmix], ids=["mixup", "cutmix"])
def test_mixes(function):
    @pipeline_def(batch_size=6, num_threads=1, seed=7)
    def pipeline(gpu):
        x = fn.external_source(lambda: SQUARES, batch=True, layout="HWC", dtype="uint8")
        y = fn.external_source(lambda: [np.int32(k) for k in range(6)], batch=True)
        return function(x.gpu() if gpu else x, y, num_classes=6)

    for a, b in zip(pipeline(False).run(), pipeline(True).run()):
        np.testing.assert_array_equal(a.as_array(), b.cpu().as_array())
