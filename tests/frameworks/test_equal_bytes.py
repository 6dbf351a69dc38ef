# SPDX-License-Identifier: Apache-2.0
"""One pipeline gives the same bytes in NumPy and torch, in the Python of the other tests, and in TensorFlow and JAX here."""

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np

from penstock import fn, pipeline_def, types

ROOT = Path(__file__).resolve().parent.parent.parent
BATCHES = 6


@pipeline_def(batch_size=4, num_threads=2, seed=11)
def images():
    index = fn.readers.indices(size=22, random_shuffle=True, name="reader")
    noise = fn.cast(fn.random.uniform(range=[0.0, 255.0], shape=[48, 40, 3]), dtype=types.UINT8)
    resized = fn.random_resized_crop(fn.reinterpret(noise, layout="HWC"), size=[24, 24])
    mean = [123.7, 116.3, 103.5]
    return fn.crop_mirror_normalize(resized, mean=mean, mirror=fn.random.coin_flip(), output_layout="HWC"), index


def crc(batches):
    value = 0
    for batch in batches:
        for array in batch:
            value = zlib.crc32(np.ascontiguousarray(array).tobytes(), value)
    return value


def by_numpy_and_torch():
    from penstock.plugin.numpy import NumpyIterator
    from penstock.plugin.pytorch import DALIGenericIterator

    def of(kind, numpy_of):
        made = kind(images(), ["images", "index"], reader_name="reader")
        return crc([[numpy_of(batch[name]) for name in ("images", "index")] for (batch,) in made])

    return [of(NumpyIterator, np.asarray), of(DALIGenericIterator, lambda tensor: tensor.numpy())]


def test_equal_bytes_in_all_frameworks():
    import jax

    from penstock.plugin.jax import DALIGenericIterator
    from penstock.plugin.tf import PenstockDataset

    python = ROOT / ".venv" / "bin" / "python"
    said = subprocess.run(
        [python, __file__], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""}, timeout=240
    )
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    pipe = images()
    found.append(crc([[output.as_array() for output in pipe.run()] for _ in range(BATCHES)]))
    found.append(crc([[t.numpy() for t in e] for e in PenstockDataset(images()).take(BATCHES)]))
    with jax.enable_x64(True):
        made = DALIGenericIterator(images(), ["images", "index"], reader_name="reader")
        found.append(crc([[np.asarray(batch["images"]), np.asarray(batch["index"])] for batch in made]))
    assert len(set(found)) == 1, found


if __name__ == "__main__":
    json.dump(by_numpy_and_torch(), sys.stdout)
