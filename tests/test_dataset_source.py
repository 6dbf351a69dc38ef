# SPDX-License-Identifier: Apache-2.0
"""readers.dataset: objects with __len__ and __getitem__ in the order, shards and checkpoints of readers."""

import os
import signal
import time

import numpy as np
import pytest
import torch

import penstock
from penstock import fn, pipeline_def


class Squares:
    """Pairs of a ragged array and a number; some indices misbehave."""

    def __init__(self, size=23, bad=(), deadly=()):
        self.size, self.bad, self.deadly = size, bad, deadly

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if index in self.bad:
            raise KeyError(f"no square {index}")
        if index in self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return np.full((index % 3 + 1, 2), index, np.float32), index * index


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return {
            "image": torch.full((2, 3), index, dtype=torch.uint8),
            "label": index,
            "name": f"n{index}",
            "raw": bytes([index]),
        }


@pipeline_def(batch_size=4, num_threads=2, seed=7)
def numbers(data, **more):
    arrays, squares = fn.readers.dataset(data, name="reader", **more)
    return arrays, squares


def epoch_of(pipe):
    pipe._set_epoch_mode("partial")
    seen = [int(v) for _, squares in pipe for v in np.ravel(squares.as_array())]
    pipe.close()
    return [round(v**0.5) for v in seen]


WAYS = [{}, {"num_workers": 3}, {"num_workers": 2, "processes": True}]


@pytest.mark.parametrize("more", WAYS)
def test_samples_are_the_objects(more):
    pipe = numbers(Squares(), **more)
    arrays, squares = pipe.run()
    got = [np.asarray(a).copy() for a in arrays], squares.as_array().copy()
    pipe.close()
    for i, a in enumerate(got[0]):
        want = Squares()[i][0]
        assert a.dtype == want.dtype and np.array_equal(a, want)
    assert got[1].dtype == np.int64 and got[1].tolist() == [0, 1, 4, 9]


def test_data_sets_of_torch_and_dicts():
    @pipeline_def(batch_size=3, num_threads=2)
    def pipe():
        return fn.readers.dataset(Pairs(), output_layouts={"image": "HW"})

    p = pipe()
    out = p.run()
    assert list(out) == ["image", "label", "name", "raw"] and out["image"].layout() == "HW"
    image = np.asarray(out["image"][2]).copy()
    label, name, raw = (np.asarray(out[k][2]).copy() for k in ("label", "name", "raw"))
    p.close()
    assert image.dtype == np.uint8 and image.shape == (2, 3) and (image == 2).all()
    assert int(label) == 2 and name.tobytes() == b"n2" and raw.tobytes() == b"\2"


def test_one_value_a_sample_and_lists():
    @pipeline_def(batch_size=2, num_threads=1)
    def pipe():
        return fn.readers.dataset([np.arange(3), np.arange(4)]) + 1, fn.readers.dataset([5, 6], num_outputs=1)

    p = pipe()
    a, b = p.run()
    got = [np.asarray(a[1]).tolist(), b.as_array().tolist()]
    p.close()
    assert got == [[1, 2, 3, 4], [5, 6]]


def test_an_epoch_is_every_sample_once_over_shards():
    orders = [epoch_of(numbers(Squares(), random_shuffle=True, num_shards=3, shard_id=s)) for s in range(3)]
    assert sorted(sum(orders, [])) == list(range(23)) and sum(orders, []) != sorted(sum(orders, []))
    pipe = numbers(Squares(), pad_last_batch=True)
    assert pipe.reader_meta("reader")["epoch_size"] == 23
    pipe.close()
    assert epoch_of(numbers(Squares(), random_shuffle=True)) == epoch_of(
        numbers(Squares(), random_shuffle=True, **WAYS[2])
    )


@pytest.mark.parametrize("more", WAYS)
def test_a_checkpoint_goes_on_exactly(more):
    pipe = numbers(Squares(), random_shuffle=True, **more)
    head = [pipe.run()[1].as_array().ravel().tolist() for _ in range(3)]
    state = pipe.checkpoint()
    tail = [pipe.run()[1].as_array().ravel().tolist() for _ in range(5)]
    pipe.close()
    again = numbers(Squares(), random_shuffle=True, checkpoint=state, **more)
    assert [again.run()[1].as_array().ravel().tolist() for _ in range(5)] == tail and head != tail[:3]
    again.close()
    with pytest.raises(ValueError, match="number of samples was 23, is 24"):
        numbers(Squares(24), random_shuffle=True, checkpoint=state).build()


@pytest.mark.parametrize("more", WAYS)
def test_an_exception_names_the_index_and_keeps_its_traceback(more):
    pipe = numbers(Squares(bad=(6,)), **more)
    pipe.run()
    with pytest.raises(
        RuntimeError, match="(?s)sample 6 of the data set: KeyError: 'no square 6'.*test_dataset_source.py.*__getitem__"
    ) as e:
        pipe.run()
    pipe.close()
    assert "position 6 of epoch 0" in str(e.value)


@pytest.mark.parametrize("more", WAYS)
def test_bad_samples_can_be_left_out(more):
    pipe = numbers(Squares(8, bad=(2, 5)), on_error="skip", **more)
    pipe._set_epoch_mode("partial")
    seen = [int(v) for _, squares in pipe for v in squares.as_array().ravel()]
    left = [(e[1], e[3]) for e in pipe.left_out()]
    pipe.close()
    assert seen[:6] == [0, 1, 9, 16, 36, 49]
    assert [p for p, _ in left[:2]] == [2, 5] and "sample 2 of the data set: KeyError" in left[0][1]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_that_is_killed_is_an_error(method):
    pipe = numbers(Squares(deadly=(6,)), num_workers=2, processes=True, py_start_method=method)
    pipe.run()
    begin = time.monotonic()
    with pytest.raises(
        penstock.WorkerError,
        match=r"\[readers.dataset\] worker process \d+ of the data set 'Squares' was killed by SIGKILL",
    ):
        pipe.run()
    waited = time.monotonic() - begin
    pipe.close()
    assert waited < 30  # it ends at all; how soon depends on the machine's load


def test_what_is_no_data_set():
    for data, kind, said in (
        (3, TypeError, "has __len__ and __getitem__, int lacks one"),
        ([], ValueError, "is empty"),
    ):
        with pytest.raises(kind, match=said):
            with penstock.Pipeline(1, 1):
                fn.readers.dataset(data)
    with pytest.raises(ValueError, match="shard_id must be less than num_shards, got 3 of 2"):
        numbers(Squares(), shard_id=3, num_shards=2).build()
    for data, said in (
        ([np.zeros(3), (1, 2)], "sample 1 .*expected 1 values, got 2 values"),
        ([1, {1: 2}], "dict"),
        ([{"a": 1}, {"b": 1}], "expected a dict with 'a', got a dict with 'b'"),
        ([1, None], "NoneType is not an array"),
    ):

        @pipeline_def(batch_size=2, num_threads=1)
        def pipe(data=data):
            out = fn.readers.dataset(data)
            return tuple(out.values()) if isinstance(out, dict) else out

        p = pipe()
        with pytest.raises(RuntimeError, match=f"(?s){said}"):
            p.run()
        p.close()
