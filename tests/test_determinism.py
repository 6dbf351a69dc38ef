# SPDX-License-Identifier: Apache-2.0
"""The same seed gives the same bytes: on any number of threads, at any depth, and resumed in the middle of an epoch."""

import hashlib

import numpy as np
import pytest

import penstock
from penstock import FunctionError, Pipeline, fn, pipeline_def, types

FILES = 23


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Photographs of different sizes; the label of each is its number."""
    from PIL import Image

    root, rng = tmp_path_factory.mktemp("order"), np.random.default_rng(5)
    with open(root / "list.txt", "w") as names:
        for k in range(FILES):
            small = rng.integers(0, 256, (4, 4, 3), np.uint8)
            Image.fromarray(small).resize((20 + 5 * k % 37, 20 + 7 * k % 31), Image.BICUBIC).save(root / f"{k:02d}.jpg")
            names.write(f"{k:02d}.jpg {k}\n")
    return root


def make(folder, seed=3, batch_size=4, threads=2, depth=2, checkpoint=None, shard=(0, 1), shuffle=True, **more):
    pipe = Pipeline(
        batch_size=batch_size,
        num_threads=threads,
        seed=seed,
        prefetch_queue_depth=depth,
        enable_checkpointing=True,
        checkpoint=checkpoint,
        **more,
    )
    with pipe:
        encoded, label = fn.readers.file(
            file_list=str(folder / "list.txt"),
            name="reader",
            random_shuffle=shuffle,
            seed=9,
            shard_id=shard[0],
            num_shards=shard[1],
        )
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[16, 16])
        image = fn.rotate(image, angle=fn.random.uniform(range=[-30.0, 30.0]), keep_size=True)
        image = fn.brightness_contrast(image, contrast=fn.random.normal(mean=1.0, stddev=0.2))
        image = fn.crop_mirror_normalize(image, mirror=fn.random.coin_flip(), dtype=types.FLOAT16)
        pipe.set_outputs(image, label, fn.decoders.image_random_crop(encoded))
    return pipe


def take(pipe, batches):
    """(label, digest) of each sample."""
    samples = []
    for _ in range(batches):
        images, labels, crops = pipe.run()
        for image, label, crop in zip(images, labels, crops):
            image, crop = image.numpy(), crop.numpy()
            digest = hashlib.sha256(image.tobytes() + repr(crop.shape).encode() + crop.tobytes()).hexdigest()
            samples.append((int(label.numpy()[0]), digest))
    return samples


@pytest.mark.parametrize("threads", [2, 7])
def test_threads_change_nothing(folder, threads):
    assert take(make(folder, threads=1), 15) == take(make(folder, threads=threads), 15)


@pytest.mark.parametrize("depth", [1, 3, 8])
def test_prefetching_changes_nothing(folder, depth):
    assert take(make(folder, depth=depth), 10) == take(make(folder), 10)


def test_batch_size_changes_nothing(folder):
    assert take(make(folder, batch_size=3), 20) == take(make(folder, batch_size=10), 6)


def test_seeds_and_epochs_differ(folder):
    samples = take(make(folder, batch_size=1), 2 * FILES)
    first, second = samples[:FILES], samples[FILES:]
    assert sorted(k for k, _ in first) == sorted(k for k, _ in second) == list(range(FILES))
    assert [k for k, _ in first] != [k for k, _ in second]
    assert not {d for _, d in first} & {d for _, d in second}
    other = take(make(folder, batch_size=1, seed=4), FILES)
    assert not {d for _, d in first} & {d for _, d in other}
    assert len(set(first)) == FILES


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("taken", [0, 1, 3, 6, 9])
@pytest.mark.parametrize("batch_size", [4, 3, 7])
def test_a_checkpoint_resumes_bit_for_bit(folder, shuffle, taken, batch_size):
    whole = take(make(folder, shuffle=shuffle, batch_size=1), 80)
    pipe = make(folder, shuffle=shuffle, depth=3)
    assert take(pipe, taken) == whole[: 4 * taken]
    state = pipe.checkpoint()
    assert isinstance(state, bytes) and len(state) < 2000
    resumed = make(folder, shuffle=shuffle, batch_size=batch_size, checkpoint=state, threads=3)
    assert resumed.is_restored_from_checkpoint
    assert take(resumed, 5) == whole[4 * taken : 4 * taken + 5 * batch_size]
    assert take(pipe, 2) == whole[4 * taken : 4 * taken + 8]  # taking a checkpoint changes nothing


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("before, after", [(1, 3), (3, 1), (2, 5), (4, 2)])
def test_another_number_of_shards_resumes(folder, shuffle, before, after):
    """Every sample of the epoch once, over all ranks before and all ranks after, with the same augmentation."""
    expected = dict(take(make(folder, batch_size=1, shuffle=shuffle), FILES)) if shuffle else None
    pipes = [make(folder, batch_size=2, shuffle=shuffle, shard=(r, before)) for r in range(before)]
    seen = [s for p in pipes for s in take(p, 2)]
    states = {p.checkpoint() for p in pipes}
    assert len(states) == 1  # all ranks save the same
    state = states.pop()
    rest = FILES - len(seen)
    for rank in range(after):
        pipe = make(folder, batch_size=1, shuffle=shuffle, shard=(rank, after), checkpoint=state)
        if shuffle:
            own = len(range(rank, rest, after))
        else:
            own = rest * (rank + 1) // after - rest * rank // after  # contiguous shards of what is left
        seen += take(pipe, own)
    assert sorted(k for k, _ in seen) == list(range(FILES))
    if expected:
        assert dict(seen) == expected


def test_a_checkpoint_of_other_data_is_refused(folder, tmp_path):
    pipe = make(folder)
    take(pipe, 2)
    lines = (folder / "list.txt").read_text().splitlines()[:-1]
    (folder / "shorter.txt").write_text("\n".join(lines))
    other = Pipeline(batch_size=4, num_threads=2, seed=3, enable_checkpointing=True, checkpoint=pipe.checkpoint())
    with other:
        encoded, label = fn.readers.file(
            file_list=str(folder / "shorter.txt"), name="reader", random_shuffle=True, seed=9
        )
        other.set_outputs(encoded, label)
    with pytest.raises(ValueError, match="samples|files|data"):
        other.run()


@pytest.mark.parametrize("state", [b"", b"{", b"[]", b"{}", b'{"version": 99}', b"\xff\xfe", b"[" * 5000])
def test_a_damaged_checkpoint_is_refused(folder, state):
    with pytest.raises((ValueError, RuntimeError)):
        make(folder, checkpoint=state).run()


class Counting:
    """A source that can be resumed."""

    def __init__(self):
        self.count = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        return [np.full((2, 2), self.count, np.int32)] * 3

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]


def fed(source, checkpoint=None, **more):
    pipe = Pipeline(batch_size=3, num_threads=2, seed=1, enable_checkpointing=True, checkpoint=checkpoint, **more)
    with pipe:
        pipe.set_outputs(fn.external_source(source) + fn.random.uniform(range=[0.0, 1.0]))
    return pipe


@pytest.mark.parametrize(
    "source", [Counting, lambda: lambda k: [np.full((2, 2), k, np.int32)] * 3], ids=["state_dict", "index"]
)
def test_external_sources_resume(source):
    bytes_of = lambda pipe, n: [t.numpy().tobytes() for _ in range(n) for t in pipe.run()[0]]
    expected = bytes_of(fed(source()), 9)
    pipe = fed(source(), prefetch_queue_depth=3)
    assert bytes_of(pipe, 4) == expected[:12]
    assert bytes_of(fed(source(), pipe.checkpoint()), 5) == expected[12:]


def test_a_generator_cannot_be_resumed():
    def generate():
        while True:
            yield [np.zeros(2, np.int32)] * 3

    with pytest.raises((ValueError, RuntimeError, TypeError), match="state_dict"):
        pipe = fed(generate)
        pipe.run()
        pipe.checkpoint()


def test_immediate_calls_follow_the_seed():
    x = penstock.batch([np.arange(300, dtype=np.uint8).reshape(10, 10, 3)] * 2, layout="HWC")

    def draw():
        penstock.seed(4)
        return [t.numpy().tobytes() for _ in range(3) for t in fn.random_resized_crop(x, size=[5, 5])]

    first = draw()
    assert first == draw() and len(set(first)) > 1


def test_a_checkpoint_after_an_error_begins_with_the_batch_that_failed():
    damaged = [2]

    def refuse(number):
        if int(number) // 2 in damaged:
            raise ValueError("damaged")
        return number

    @pipeline_def(batch_size=2, num_threads=1, seed=1)
    def numbers():
        return fn.python_function(fn.readers.indices(size=20, name="reader"), function=refuse)

    read = lambda pipe: pipe.run()[0].as_array().ravel().tolist()  # noqa: E731
    first = numbers()
    assert [read(first), read(first)] == [[0, 1], [2, 3]]
    with pytest.raises(FunctionError):
        read(first)
    state = first.checkpoint()
    assert read(first) == [6, 7]  # the pipeline itself goes on after it
    damaged.clear()
    assert read(numbers(checkpoint=state)) == [4, 5]
