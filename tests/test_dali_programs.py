# SPDX-License-Identifier: Apache-2.0
"""Programs for DALI as their users wrote them, run by penstock.dali in processes of their own."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import container_files
import numpy as np
import pytest

SEEDS = Path(__file__).parents[1] / "examples" / "seeds"
EMULATED = sorted(SEEDS.parents[1].glob("build*/libpenstock_emulated_gpu.so"))
MEANT = {
    "overview": {"shuffle", "resize pair"},
    "yolo": {"probability", "decoder on a GPU", "reader_name", "shared argument", "shard", "bytes_per_sample_hint"},
}


def picture(number):
    from PIL import Image

    stream = io.BytesIO()
    pixels = np.random.default_rng(number).integers(0, 256, (4, 5, 3), np.uint8)
    Image.fromarray(pixels).resize((70 + number % 5, 60 + number % 3)).save(stream, "JPEG")
    return stream.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two classes of pictures in folders, and eight pictures with labels and boxes in a TFRecord file."""
    made = tmp_path_factory.mktemp("programs")
    for name, files in (("cat", 70), ("dog", 60)):
        (made / "classes" / name).mkdir(parents=True)
        for i in range(files):
            (made / "classes" / name / f"{i}.jpg").write_bytes(picture(i))
    records = [
        container_files.example(
            {
                "image/encoded": picture(i),
                "image/class/label": np.array([i]),
                **{
                    f"image/bbox/{side}": np.linspace(0, 1, i + 1).astype(np.float32)
                    for side in ("xmin", "ymin", "xmax", "ymax")
                },
            }
        )
        for i in range(8)
    ]
    container_files.write_tfrecord(made / "data.tfrecord", records, made / "index.idx")
    return made


# A program on the emulated GPU: the machine's torch may have no CUDA, so its tensors are copied to the host.
ON_HOST = """
import runpy, sys
from penstock.plugin import pytorch
dense = pytorch.dense
pytorch.dense = lambda batch, keep: dense(batch.cpu(), keep)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(command, gpu=False):
    environment = dict(os.environ, PYTHONWARNINGS="default")
    if gpu:
        environment["PENSTOCK_GPU_LIBRARY"] = str(EMULATED[0])
        command = ["-c", ON_HOST, *command]
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done


def warned(text):
    """How often each meaning was warned of."""
    from penstock.dali.aliases import MEANINGS

    said = {name: text.count(f"MeaningWarning: {meaning}") for name, meaning in MEANINGS.items()}
    return {name: n for name, n in said.items() if n}


@pytest.mark.parametrize(
    "gpu",
    [
        False,
        pytest.param(True, marks=pytest.mark.skipif(not EMULATED, reason="machine: the emulated GPU is not built")),
    ],
)
@pytest.mark.parametrize("name", ["overview", "yolo"])
def test_program_runs(name, gpu, folder):
    done = run([SEEDS / f"{name}.py", folder / "classes" if name == "overview" else folder], gpu)
    assert warned(done.stderr) == dict.fromkeys(MEANT[name], 1), done.stderr
    assert ("DeviceWarning" in done.stderr) == (not gpu)
    assert {"overview": "of the classes [0, 1]", "yolo": "four shards hold each sample once"}[name] in done.stdout


def test_a_script_for_dali_runs_by_the_module(tmp_path, folder):
    """No line of the script knows of Penstock; its arguments and its folder's modules are there."""
    (tmp_path / "beside.py").write_text("SIZE = (30, 20)\n")
    script = tmp_path / "script.py"
    script.write_text("""
import sys
from beside import SIZE
import nvidia.dali as dali
from nvidia.dali import Pipeline, fn, types
import nvidia.dali.fn as operators
from nvidia.dali.plugin.base_iterator import LastBatchPolicy

assert __name__ == "__main__" and operators is fn and dali.fn is fn
pipe = Pipeline(batch_size=4, num_threads=1, device_id=None)
with pipe:
    files, labels = fn.file_reader(file_root=sys.argv[1])
    images = fn.image_decoder(files, output_type=types.RGB)
    pipe.set_outputs(fn.resize(images, resize_x=SIZE, resize_y=SIZE), labels)
pipe.build()
images, labels = pipe.run()
print(images.as_array().shape, labels.as_array().ravel().tolist(), sys.argv[1:])
""")
    done = run(["-m", "penstock.dali", script, folder / "classes"])
    assert done.stdout.strip() == f"(4, 20, 30, 3) [0, 0, 0, 0] ['{folder / 'classes'}']"
    assert re.search(
        r"script.py:12: DeprecationWarning: fn.file_reader is deprecated: use fn.readers.file", done.stderr
    )
    assert re.search(r"script.py:14: MeaningWarning", done.stderr)


def test_a_script_that_fails_fails(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import nvidia.dali.plugin.cupy\n")
    done = subprocess.run([sys.executable, "-m", "penstock.dali", script], capture_output=True, text=True)
    assert done.returncode == 1 and "Penstock has no counterpart of 'nvidia.dali.plugin.cupy' yet" in done.stderr
    assert subprocess.run([sys.executable, "-m", "penstock.dali"], capture_output=True).returncode == 2
