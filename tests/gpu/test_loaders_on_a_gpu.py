# SPDX-License-Identifier: Apache-2.0
"""penstock.detection with device="gpu" gives the batches of the CPU, also masks and keypoints."""

import annotation_files
import numpy as np
import pytest

import penstock

if penstock._core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({penstock._core.gpu_why_not()})", allow_module_level=True)


def test_detection_on_a_gpu(tmp_path):
    annotation_files.coco(tmp_path)

    def batches(device):
        return list(
            penstock.detection(
                tmp_path / "coco.json",
                tmp_path / "images",
                size=64,
                batch_size=3,
                masks=True,
                keypoints=True,
                flip_pairs=[(1, 2)],
                num_threads=1,
                framework="numpy",
                device=device,
            )
        )

    for cpu, gpu in zip(batches("cpu"), batches("gpu"), strict=True):
        assert list(cpu) == list(gpu) == ["image", "boxes", "labels", "masks", "keypoints"]
        for name in cpu:
            for expected, got in zip(cpu[name], gpu[name], strict=True):
                np.testing.assert_array_equal(got, expected, err_msg=name)
