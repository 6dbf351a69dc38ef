# SPDX-License-Identifier: Apache-2.0
"""Pipelines on a GPU, the emulated one or a real one: their results are copied to the host, into the response."""

import warnings

import numpy as np
from gpu_regions import REAL, surroundings
from penstock import fn, pipeline_def, types
from served_pipelines import of_pipeline, photograph, photographs
from triton_server import RequestError, Server, save_model


@pipeline_def(batch_size=16, num_threads=2)
def preprocessing(device="cpu"):
    images = fn.decoders.image(
        fn.external_source(name="jpegs", dtype=types.UINT8, ndim=1), device="mixed" if device == "gpu" else device
    )
    images = fn.resize(images, size=[24, 40])
    floats = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mean=[9.0, 8.0, 7.0])
    return floats, fn.flip(images), fn.shapes(images)


def test_outputs_on_a_gpu(backends, tmp_path):
    with warnings.catch_warnings(action="ignore"):  # this process has no GPU
        save_model(tmp_path / "models", "on_gpu.penstock", preprocessing(device="gpu"))
    gpu = {name: value for name, value in surroundings(tmp_path / "gpu").items() if name != "LD_PRELOAD"}
    (tmp_path / "gpu").touch()
    with Server(tmp_path / "models", backends, tmp_path / "log", environment=gpu) as server, server.client() as client:
        for count in (1, 5, 16):
            files = photographs(count)
            answer = client.infer("on_gpu.penstock", {"jpegs": files})
            for k, expected in enumerate(of_pipeline(preprocessing(), jpegs=files)):
                np.testing.assert_array_equal(answer[f"OUTPUT{k}"], expected)
        try:
            client.infer("on_gpu.penstock", {"jpegs": [photograph(1), photograph(2)[:70]]})
            raise AssertionError("a damaged file was not refused")
        except RequestError as error:
            assert "decoders.image" in str(error) and "sample 1" in str(error)
    assert REAL or "gpu 0: launch" in (tmp_path / "gpu").read_text()
