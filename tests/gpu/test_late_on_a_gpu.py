# SPDX-License-Identifier: Apache-2.0
"""late="swap" where the CPU's part of a plan comes before a stage on a GPU, or only the reading of files does."""

import itertools
import pathlib
import sys

import pytest

from penstock import Pipeline, _core, fn, pipeline_def

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import late_folder
from late_folder import COUNT, epochs_of, pictures


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("late")
    late_folder.write(made)
    return str(made)


def an_epoch(pipe):
    samples = list(itertools.chain(*itertools.islice(epochs_of(pipe, "partial"), -(-COUNT // pipe.max_batch_size))))
    assert len(samples) == COUNT
    return {s[0]: s[1:3] for s in samples}


@pytest.mark.parametrize("batch_size, prefetch", [(8, 2), (5, 1), (61, 3), (1, 2)])
def test_a_stage_on_the_gpu_after_the_cut(folder, batch_size, prefetch):
    options = {"device_id": 0, "device": "gpu", "seed": 3, "random_shuffle": True}
    pipe = pictures(folder, batch_size=batch_size, num_threads=3, prefetch_queue_depth=prefetch, late="swap", **options)
    expected = an_epoch(pictures(folder, batch_size=7, num_threads=2, **options))
    assert an_epoch(pipe) == expected


def test_a_checkpoint(folder):
    options = {
        "batch_size": 8,
        "num_threads": 3,
        "device_id": 0,
        "device": "gpu",
        "late": "swap",
        "random_shuffle": True,
    }
    labels, state = [], {}
    for stop in (2, 3, 1, 2):
        pipe = pictures(folder, **options, **state)
        for batch in itertools.islice(epochs_of(pipe, "partial"), stop):
            labels += [s[0] for s in batch]
        state = {"checkpoint": pipe.checkpoint()}
    assert sorted(labels) == list(range(COUNT))


@pipeline_def
def decoded(folder):
    files = sorted(str(f) for f in pathlib.Path(folder).glob("*.png"))
    encoded, label = fn.readers.file(files=files, labels=list(range(len(files))), name="reader", random_shuffle=True)
    small = fn.resize(fn.decoders.image(encoded, device="mixed"), size=[5, 4])
    return small, label, fn.random.uniform(range=[0.0, 1.0])


def test_a_step_of_its_own_reads_what_the_gpu_decodes(folder):
    pipe = decoded(folder, batch_size=8, num_threads=3, device_id=0, seed=1, late="swap")
    usual = decoded(folder, batch_size=8, num_threads=3, device_id=0, seed=1)
    assert an_epoch(pipe) == an_epoch(usual)


def test_replacements_where_the_gpu_decodes_are_refused(folder):
    with pytest.raises(ValueError, match="no sample can be replaced"):
        decoded(folder, batch_size=8, num_threads=3, device_id=0, late="swap", on_error="replace").build()


def test_a_damaged_file_where_the_gpu_decodes(tmp_path):
    late_folder.write(tmp_path, count=20)
    (tmp_path / "0007.png").write_bytes(b"no picture")
    pipe = decoded(tmp_path, batch_size=6, num_threads=2, device_id=0, late="swap", on_error="skip")
    labels = [s[0] for batch in itertools.islice(epochs_of(pipe, "partial"), 4) for s in batch]
    assert sorted(labels) == [i for i in range(20) if i != 7]


def test_samples_that_begin_on_the_gpu_are_refused():
    pipe = Pipeline(batch_size=4, num_threads=1, device_id=0, late="swap")
    with pipe:
        pipe.set_outputs(fn.random.uniform(range=[0.0, 1.0], shape=[4], device="gpu"))
    with pytest.raises(ValueError, match="no sample can come late"):
        pipe.run()
