# SPDX-License-Identifier: Apache-2.0
"""Videos whose frames are wanted on a GPU, by the engine or the CPU: the same bytes."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import video_files  # noqa: E402

from penstock import _core, fn, pipeline_def, types  # noqa: E402

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)
pytestmark = video_files.needs_ffmpeg


def test_frames_on_a_gpu_are_the_cpus(tmp_path):
    path = video_files.make(tmp_path, "h264")
    frames, data = video_files.decode(path), np.fromfile(path, np.uint8)

    @pipeline_def(batch_size=2, num_threads=2, device_id=0)
    def pipeline():
        sequences, label = fn.readers.video(
            filenames=[str(path)], labels=[3], sequence_length=5, device="gpu", name="reader"
        )
        some = fn.decoders.video(fn.external_source(lambda: [data] * 2, batch=True), device="mixed", frames=[30, 4])
        return (
            sequences,
            label,
            some,
            fn.crop_mirror_normalize(sequences, crop=(32, 32), output_layout="FCHW", dtype=types.FLOAT),
        )

    pipe = pipeline()
    for first in (0, 10, 20, 30):
        outputs = pipe.run()
        on_host = [[np.array(sample) for sample in out.as_cpu()] for out in outputs]
        for k in range(2):
            np.testing.assert_array_equal(on_host[0][k], frames[first + 5 * k : first + 5 * k + 5])
            assert on_host[1][k].tolist() == [3]
            np.testing.assert_array_equal(on_host[2][k], frames[[30, 4]])
            assert on_host[3][k].shape == (5, 3, 32, 32)


def test_fed_and_resized_videos_on_a_gpu(tmp_path):
    path = video_files.make(tmp_path, "h264")
    frames = video_files.decode(path)

    @pipeline_def(batch_size=4, num_threads=2, device_id=0)
    def pipeline(device):
        fed = fn.experimental.inputs.video(
            name="video", sequence_length=10, device="mixed" if device == "gpu" else device
        )
        small = fn.readers.video_resize(
            filenames=[str(path)], sequence_length=5, resize_shorter=32, device=device, name="reader"
        )
        return fed, fn.flip(fed, horizontal=1), small

    found = {}
    for device in ("cpu", "gpu"):
        pipe = pipeline(device)
        pipe.feed_input("video", path.read_bytes())
        outputs = pipe.run()
        assert [out.device_type for out in outputs] == [device] * 3
        found[device] = [[np.array(sample) for sample in out.as_cpu()] for out in outputs]
    np.testing.assert_array_equal(np.concatenate(found["gpu"][0]), frames)
    for on_host, on_gpu in zip(found["cpu"], found["gpu"]):
        np.testing.assert_array_equal(on_host, on_gpu)
