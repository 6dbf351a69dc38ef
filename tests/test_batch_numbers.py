# SPDX-License-Identifier: Apache-2.0
"""Batch number i: seek(), schedule(), deal="batch". The model is a pipeline that runs from its beginning."""

import json
import os
import random
import time

import audio_files
import fits_files
import numpy as np
import pytest
import readers
import video_files
from readers import payload

from penstock import DataError, Pipeline, _core, fn, pipeline_def

COUNT = int(os.environ.get("PENSTOCK_TEST_COUNT", "2"))
KINDS = readers.kinds()
SIZE = 17


def content(outputs):
    """A batch of each output as plain values, which compare bit for bit."""
    return [[(s.numpy().tobytes(), s.numpy().shape) for s in batch] for batch in outputs]


def sequential(pipe, count):
    """(content, ids) of the first batches; an error is what its type says."""
    return [one(pipe) for _ in range(count)]


def one(pipe):
    try:
        outputs = pipe.run()
    except DataError as error:
        return str(error).splitlines()[0]
    return content(outputs), [tuple(o[:2]) for o in pipe._origin]


def check_seeks(make, count, rng):
    """Batches in a random order, some of them followed by the next ones, from a pipeline that runs all the time; then listed."""
    expected = sequential(make(), count)
    pipe = make()
    order = list(range(count))
    rng.shuffle(order)
    for i in order:
        pipe.seek(batch=i)
        for k in range(i, min(count, i + rng.randrange(1, 4))):
            assert one(pipe) == expected[k], k
    rng.shuffle(order)
    pipe.schedule(order)
    for i in order:
        assert one(pipe) == expected[i], i
    with pytest.raises(StopIteration, match="all batches that were scheduled"):
        pipe.run()
    pipe.schedule(order[:2])
    assert one(pipe) == expected[order[0]]
    assert one(pipe.seek(batch=1)) == expected[1]
    assert one(pipe) == expected[2]


def options_of(rng, buckets, grouped=False):
    """Random arguments of a reader."""
    shards = rng.choice([1, 1, 2, 3])
    given = {"num_shards": shards, "shard_id": rng.randrange(shards)}
    given["deal"] = rng.choice(["sample", "batch"])
    shuffle = rng.choice(["random_shuffle", "shuffle_after_epoch"])
    given["random_shuffle" if grouped else shuffle] = rng.random() < 0.7
    if rng.random() < 0.3:
        given["seed"] = rng.randrange(100)
    if buckets and rng.random() < 0.3:
        given["lengths"] = [float(rng.randrange(1, 9)) for _ in range(SIZE)]
        given["max_cost"] = rng.choice([0.0, 12.0])
        if given["max_cost"] and rng.random() < 0.5:
            given["packing_window"] = rng.choice([1, 6, 100])
    elif given["deal"] == "sample" and not given.get("shuffle_after_epoch"):
        given["stick_to_shard"] = rng.random() < 0.3
    if rng.random() < 0.3:
        given["pad_last_batch"] = True
    return given


@pytest.mark.parametrize("kind", list(KINDS))
def test_each_reader_gives_any_batch_of_two_epochs(kind, tmp_path):
    kind = KINDS[kind]
    kind.write(tmp_path, [payload(k) for k in range(SIZE)])
    for seed in range(COUNT):
        rng = random.Random(seed)
        given, batch_size = options_of(rng, True, kind.grouped), rng.choice([1, 2, 3, 5])
        mode, depth = rng.choice(["stream", "partial", "drop", "even"]), rng.choice([1, 2, 4])

        def make():
            pipe = Pipeline(batch_size=batch_size, num_threads=2, seed=3, prefetch_queue_depth=depth)
            with pipe:
                data, label = kind.read(tmp_path, name="reader", **given)
                pipe.set_outputs(data, label, fn.random.uniform(range=[0.0, 1.0]))
            pipe._set_epoch_mode(mode)
            return pipe

        count = 2 * SIZE // batch_size // given["num_shards"] + 2
        print(seed, given, mode, batch_size, depth)
        check_seeks(make, count, rng)


ALSO = ("indices", "mix", "dataset", "packed")  # in test_a_mix_and_rows_and_objects


def other_readers(folder):
    """Files for readers of other things than containers, and what reads them."""
    from PIL import Image

    for k in range(SIZE):
        os.makedirs(folder / f"class{k // 6}", exist_ok=True)
        Image.fromarray(np.full((4, 5, 3), 9 * k, np.uint8)).save(folder / f"class{k // 6}" / f"{k:02d}.png")
        np.save(folder / f"{k:02d}.npy", np.arange(k + 1))
        (folder / f"{k:02d}.fits").write_bytes(fits_files.file(fits_files.hdu(np.full((2, 3), k, np.int16), True)))
        (folder / f"{k:02d}.wav").write_bytes(
            audio_files.recorded(np.full((40 + k, 1), 0.1, np.float32), "WAV", "PCM_16")
        )
    lines = [{"audio_filepath": str(folder / f"{k:02d}.wav"), "duration": 1.0, "text": f"{k}"} for k in range(SIZE)]
    (folder / "all.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    pictures = sorted(str(path.relative_to(folder)) for path in folder.glob("class*/*.png"))
    coco = {
        "images": [{"id": k, "file_name": name, "height": 4, "width": 5} for k, name in enumerate(pictures)],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {"id": k, "image_id": k % SIZE, "category_id": 1, "bbox": [0, 0, 1 + k % 4, 2], "area": 2, "iscrowd": 0}
            for k in range(SIZE + 5)
        ],
    }
    (folder / "coco.json").write_text(json.dumps(coco))
    made = {
        "file": lambda **given: fn.readers.file(file_root=str(folder), **given),
        "numpy": lambda **given: fn.readers.numpy(file_root=str(folder), file_filter="*.npy", **given),
        "fits": lambda **given: fn.readers.fits(file_root=str(folder), file_filter="*.fits", **given),
        "nemo_asr": lambda **given: fn.readers.nemo_asr(manifest_filepaths=[str(folder / "all.json")], **given),
        "sequence": lambda **given: fn.readers.sequence(file_root=str(folder), sequence_length=2, **given),
        "coco": lambda **given: fn.readers.coco(
            file_root=str(folder), annotations_file=str(folder / "coco.json"), **given
        ),
    }
    if video_files.shutil.which("ffmpeg"):
        path, frames = str(video_files.make(folder, "h264")), {"sequence_length": 3, "step": 3}
        made["video"] = lambda **given: fn.readers.video(filenames=[path], **frames, **given)
        made["experimental.video"] = lambda **given: fn.experimental.readers.video(filenames=[path], **frames, **given)
    return made


def refuse_readers_without_a_test(others):
    asked = {kind.name for kind in KINDS.values()} | {f"readers.{name}" for name in (*others, *ALSO)}
    asked = {name.replace("readers.experimental.", "experimental.readers.") for name in asked}
    registered = {name for name in _core.operators() if ".readers." in f".{name}"}
    assert registered <= asked, sorted(registered - asked)


def test_readers_of_files_give_any_batch_of_two_epochs(tmp_path):
    others = other_readers(tmp_path)
    refuse_readers_without_a_test(others)
    for name, read in others.items():
        for seed in range(COUNT):
            rng = random.Random(f"{name}{seed}")
            given, batch_size = options_of(rng, False), rng.choice([2, 3, 5])
            mode = rng.choice(["stream", "partial", "even"])

            def make():
                pipe = Pipeline(batch_size=batch_size, num_threads=2, seed=3)
                with pipe:
                    made = read(name="reader", **given)
                    made = list(made) if isinstance(made, (list, tuple)) else [made]
                    pipe.set_outputs(*made, fn.random.uniform(range=[0.0, 1.0]))
                pipe._set_epoch_mode(mode)
                return pipe

            print(name, seed, given, mode, batch_size)
            check_seeks(make, 2 * SIZE // batch_size // given["num_shards"] + 2, rng)


@pytest.mark.parametrize("mode", ["stream", "partial", "drop", "even"])
@pytest.mark.parametrize("deal", ["sample", "batch"])
def test_the_number_of_a_batch_begins_with_each_epoch(mode, deal):
    for n, shards, shard, batch_size in ((13, 1, 0, 4), (13, 3, 1, 2), (14, 3, 2, 4), (30, 2, 1, 3)):

        @pipeline_def(batch_size=batch_size, num_threads=1, seed=7)
        def numbers():
            return fn.readers.indices(
                size=n, random_shuffle=True, num_shards=shards, shard_id=shard, deal=deal, name="reader"
            )

        pipe = numbers()
        pipe._set_epoch_mode(mode)
        batches, epochs = sequential(pipe, 30), {}
        for number, (_, ids) in enumerate(batches):
            epochs.setdefault(ids[0][0], number)
        other = numbers()
        other._set_epoch_mode(mode)
        for epoch, first in reversed(epochs.items()):
            for i in range(min(9, 30 - first)):
                assert one(other.seek(epoch=epoch, batch=i)) == batches[first + i], (epoch, i)


def test_batches_that_are_dealt_are_those_of_one_pipeline():
    for mode in ("stream", "partial", "drop", "even"):
        for size, batch_size, workers in ((23, 4, 3), (24, 4, 2), (9, 2, 5), (40, 3, 4)):

            @pipeline_def(batch_size=batch_size, num_threads=1, seed=7)
            def numbers(**given):
                index = fn.readers.indices(size=size, random_shuffle=True, name="reader", **given)
                return index, fn.random.uniform(range=[0.0, 1.0])

            def made(**given):
                pipe = numbers(**given)
                pipe._set_epoch_mode(mode)
                return pipe

            whole = sequential(made(), 3 * size)
            per_epoch = made().driver().batches_per_epoch()
            for w in range(workers):
                pipe = made(num_shards=workers, shard_id=w, deal="batch")
                pipe.build()
                if mode == "stream":
                    expected = whole[w::workers][:12]
                else:
                    rounds = {"partial": len(range(w, per_epoch, workers)), "drop": per_epoch // workers}
                    rounds = rounds.get(mode, -(-per_epoch // workers))
                    expected = [
                        whole[e * per_epoch + k * workers + w] if k * workers + w < per_epoch else None
                        for e in range(2)
                        for k in range(rounds)
                    ]
                if not expected:
                    continue
                got = sequential(pipe, len(expected))
                for mine, theirs in zip(got, expected):
                    if theirs is not None:
                        assert mine == theirs
                    else:  # the last batch again, with draws of its own
                        assert all(position >= size for _, position in mine[1])
                        assert mine[0][0] == got[0][0][0] or len(mine[1]) <= batch_size


def test_dealt_batches_go_on_with_another_number_of_workers():
    @pipeline_def(batch_size=2, num_threads=1, seed=7)
    def numbers(workers, worker):
        return fn.readers.indices(
            size=19, random_shuffle=True, name="reader", num_shards=workers, shard_id=worker, deal="batch"
        )

    whole = sequential(numbers(1, 0), 20)
    three = [numbers(3, w) for w in range(3)]
    for pipe in three:
        sequential(pipe, 2)  # batches 0 to 5
    states = [pipe.state() for pipe in three]
    assert states[0] == states[1] == states[2]
    for w in range(2):
        pipe = numbers(2, w).load_state(states[0])
        assert sequential(pipe, 5) == whole[6 + w : 16 : 2]


def test_deal_is_checked(tmp_path):
    def build(**given):
        pipe = Pipeline(batch_size=2, num_threads=1)
        with pipe:
            pipe.set_outputs(fn.readers.indices(size=9, name="reader", **given))
        pipe.build()
        return pipe

    with pytest.raises(ValueError, match='deal must be "sample" or "batch", got "rows"'):
        build(deal="rows")
    with pytest.raises(ValueError, match="stick_to_shard does not go with deal"):
        build(deal="batch", stick_to_shard=True)
    assert build(deal="batch", num_shards=2).reader_meta("reader")["deal"] == "batch"
    assert "deal" not in build(deal="batch").reader_meta("reader")


def test_a_mix_and_rows_and_objects(tmp_path):
    rng = random.Random(5)

    class Data:
        sizes = np.random.default_rng(0).integers(1, 9, 40)

        def __len__(self):
            return len(self.sizes)

        def __getitem__(self, k):
            return np.full(self.sizes[k], k, np.int64)

    def mixed():
        a = fn.readers.indices(size=11, random_shuffle=True)
        b = fn.readers.indices(size=7)
        return fn.readers.mix([a, b], weights=[0.6, 0.4], num_shards=2, shard_id=1, name="reader", source_ids=True)

    def dealt():
        a, b = fn.readers.indices(size=11, random_shuffle=True), fn.readers.indices(size=7)
        return fn.readers.mix([a, b], num_shards=2, shard_id=1, name="reader", deal="batch")

    def packed():
        return tuple(fn.readers.packed(Data(), lengths=Data.sizes, row_length=16, random_shuffle=True))

    def objects():
        return fn.readers.dataset(Data(), bucket_by=Data.sizes, max_cost=20, random_shuffle=True)

    def two_readers():
        return fn.readers.indices(size=11, random_shuffle=True), fn.readers.indices(size=7, random_shuffle=True)

    def beside():
        call = fn.external_source(lambda i: np.full((3, 1), i, np.int32))
        return fn.readers.indices(size=9, random_shuffle=True, name="reader"), call, fn.random.uniform()

    def source():
        made = fn.external_source(lambda info: np.int64([info.idx_in_epoch, info.iteration]), batch=False)
        return made, fn.random.uniform(range=[0.0, 1.0])

    def nothing():
        return fn.random.uniform(range=[0.0, 1.0])

    for function in (mixed, dealt, packed, objects, two_readers, beside, source, nothing):
        for mode in ("stream", "partial"):
            if mode == "partial" and function is two_readers:
                continue  # their epochs end at different batches

            def make():
                pipe = pipeline_def(batch_size=3, num_threads=2, seed=4)(function)()
                pipe._set_epoch_mode(mode)
                return pipe

            check_seeks(make, 9, rng)


def test_an_external_source_has_epochs():
    def ending(info):
        if info.iteration == 3:
            raise StopIteration
        return np.int64([info.epoch_idx, info.idx_in_epoch])

    @pipeline_def(batch_size=2, num_threads=1)
    def numbers():
        return fn.external_source(ending, batch=False), fn.random.uniform()

    pipe, epochs = numbers(), []
    for _ in range(3):
        epochs.append([])
        with pytest.raises(StopIteration):
            while True:
                epochs[-1].append(content(pipe.run()))
        pipe.reset()
    for epoch, batch in ((2, 1), (0, 0), (1, 2), (1, 0)):
        assert content(pipe.seek(epoch=epoch, batch=batch).run()) == epochs[epoch][batch]
    with pytest.raises(StopIteration):
        pipe.seek(batch=3).run()
    assert content(pipe.seek(batch=0).run()) == epochs[0][0]


@pytest.mark.parametrize("on_error", ["raise", "skip", "replace"])
def test_files_that_cannot_be_read_keep_their_batch(tmp_path, on_error):
    from PIL import Image

    files = []
    for k in range(11):
        files.append(str(tmp_path / f"{k}.png"))
        Image.fromarray(np.full((4, 5, 3), 20 * k, np.uint8)).save(files[-1])
    for k in (2, 3, 7):
        with open(files[k], "wb") as file:
            file.write(b"no picture")

    def make():
        @pipeline_def(batch_size=3, num_threads=2, seed=1, on_error=on_error)
        def photos():
            encoded, label = fn.readers.file(files=files, random_shuffle=True, name="reader")
            return fn.decoders.image(encoded) + fn.random.uniform(range=[0.0, 9.0]), label

        return photos()

    check_seeks(make, 8, random.Random(1))


def test_filters_that_hand_out_all_batches():
    for too_few in ({"min_batch": 0}, {"too_few": "error"}):

        def make():
            @pipeline_def(batch_size=3, num_threads=2, seed=1)
            def numbers():
                index = fn.readers.indices(size=10, random_shuffle=True, name="reader")
                kept = fn.filter(index, keep=index >= (3 if "min_batch" in too_few else 0), **too_few)
                return fn.expand(kept, k=2) + fn.random.uniform(range=[0.0, 1.0])

            return numbers()

        check_seeks(make, 8, random.Random(1))


def content_decides():
    @pipeline_def(batch_size=2, num_threads=2, seed=1)
    def filtered():
        index = fn.readers.indices(size=11, random_shuffle=True, name="reader")
        return fn.filter(index, keep=index >= 6)

    @pipeline_def(batch_size=2, num_threads=2, seed=1)
    def divided():
        index = fn.readers.indices(size=11, random_shuffle=True, name="reader")
        return fn.rebatch(fn.filter(index, keep=index % 3 > 0, min_batch=0), batch_size=3)

    @pipeline_def(batch_size=2, num_threads=2, seed=1)
    def called():
        sizes = fn.external_source(lambda i: np.full((1 + i % 2, 1), i, np.int32))
        return sizes, fn.random.uniform(range=[0.0, 1.0])

    return [filtered, divided, called]


@pytest.mark.parametrize("which", range(3))
def test_where_the_data_decide_batches_have_no_numbers_but_by_replay(which):
    make = content_decides()[which]
    words = ["leaves out batches", "divides its samples into new batches of 3", "may return fewer samples"][which]
    modes = ["stream"] if which == 2 else ["stream", "partial"]
    for mode in modes:

        def made():
            pipe = make()
            pipe._set_epoch_mode(mode)
            return pipe

        expected, pipe = sequential(made(), 8), made()
        for i in (5, 2, 7, 1):
            with pytest.raises(ValueError, match=words) as error:
                pipe.seek(batch=i)
            assert "replay=True" in str(error.value)
            assert one(pipe.seek(batch=i, replay=True)) == expected[i]
        assert one(pipe.seek()) == expected[0]  # the beginning is known
        with pytest.raises(ValueError, match=words):
            pipe.schedule([0, 1])
        if which < 2 and mode == "stream":
            with pytest.raises(ValueError, match="begins in the middle of a batch"):
                pipe.seek(epoch=1, batch=2, replay=True)
        elif which < 2:
            first = next(k for k, (_, ids) in enumerate(expected) if ids and ids[0][0] == 1)
            assert one(pipe.seek(epoch=1)) == expected[first]
            assert one(pipe.seek(epoch=1, batch=1, replay=True)) == expected[first + 1]


def test_sources_without_numbers_say_so():
    class Stateful:
        n = 0

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            return np.int32([[self.n]])

        def state_dict(self):
            return {"n": self.n}

        def load_state_dict(self, state):
            self.n = state["n"]

    for source in (None, [np.int32([[1]])], lambda: np.int32([[1]]), Stateful()):

        @pipeline_def(batch_size=1, num_threads=1)
        def numbers():
            return fn.external_source(source, name="numbers")

        for call in (lambda p: p.seek(batch=1), lambda p: p.schedule([1]), lambda p: p.seek(batch=1, replay=True)):
            with pytest.raises(ValueError, match=r"\[external_source\].*a callable that takes an index"):
                call(numbers())


def test_wrong_numbers():
    @pipeline_def(batch_size=1, num_threads=1)
    def numbers():
        return fn.readers.indices(size=3, name="reader")

    @pipeline_def(batch_size=1, num_threads=1)
    def drawn():
        return fn.random.uniform()

    pipe = numbers()
    assert pipe.run()[0].as_array().tolist() == [0]
    for wrong in (-1, 2**63):
        with pytest.raises(ValueError, match="batch must not be negative"):
            pipe.seek(batch=wrong)
        with pytest.raises(ValueError, match="a batch must not be negative"):
            pipe.schedule([0, wrong])
    for wrong in (1.0, "1", None):
        with pytest.raises(TypeError, match="epoch must be a whole number"):
            pipe.seek(epoch=wrong)
    with pytest.raises(ValueError, match="epoch must be between 0 and 4294967295, got 4294967296"):
        pipe.seek(epoch=2**32)
    with pytest.raises(ValueError, match="batch must be between 0 and"):
        pipe.seek(batch=2**50)
    for number in (1, 2, 0):  # what was refused has changed nothing
        with pytest.raises(ValueError, match="is of epoch"):
            pipe.seek(epoch=2**32 - 1, batch=5)
        assert pipe.run()[0].as_array().tolist() == [number]
    with pytest.raises(ValueError, match="one epoch that does not end"):
        drawn().seek(epoch=1)
    assert pipe.seek(epoch=2**32 - 1, batch=2).run()[0].as_array().tolist() == [2]
    assert pipe.seek(batch=3 * 2**32 - 1).run()[0].as_array().tolist() == [2]
    pipe.schedule([])
    assert pipe.run()[0].as_array().tolist() == [0]
    with pytest.raises(TypeError, match="debug=True"):
        numbers(debug=True).seek(batch=1)


def test_a_seek_drops_what_runs_and_forgets_what_it_resumed_from():
    @pipeline_def(batch_size=3, num_threads=1, seed=8)
    def numbers(shards=1):
        return fn.readers.indices(size=20, random_shuffle=True, num_shards=shards, seed=5, name="reader")

    expected = sequential(numbers(2), 12)
    first = numbers()
    sequential(first, 2)
    pipe = numbers(2).load_state(first.state())  # the rest of the epoch, divided anew
    assert one(pipe) != expected[0]
    for _ in range(3):
        pipe.schedule_run()
    assert one(pipe.seek(batch=5)) == expected[5]
    assert json.loads(pipe.checkpoint()) == json.loads(_after(numbers(2), 6).checkpoint())
    pipe.seek(batch=9)
    assert json.loads(pipe.checkpoint()) == json.loads(_after(numbers(2), 9).checkpoint())
    assert one(numbers(2).load_state(pipe.state())) == expected[9]
    pipe.seek(batch=1).reset()
    assert pipe.run() is not None


def test_a_list_is_left_where_its_last_batch_was():
    @pipeline_def(batch_size=3, num_threads=2, seed=8, prefetch_queue_depth=4)
    def numbers():
        return fn.readers.indices(size=20, random_shuffle=True, name="reader"), fn.random.uniform()

    @pipeline_def(batch_size=3, num_threads=2, seed=8, prefetch_queue_depth=4)
    def drawn():
        return fn.random.uniform(range=[0.0, 1.0])

    for make in (numbers, drawn):
        expected = sequential(make(), 12)
        for taken in (1, 2, 5):
            pipe, listed = make(), [5, 2, 9, 7, 1]
            pipe.schedule(listed)
            for i in listed[:taken]:
                assert one(pipe) == expected[i]
            pipe.reset()
            assert one(pipe) == expected[listed[taken - 1] + 1]
    pipe = numbers().schedule([4, 1])
    assert [content(outputs) for outputs in pipe] == [sequential(numbers(), 6)[i][0] for i in (4, 1)]


def _after(pipe, batches):
    sequential(pipe, batches)
    return pipe


def test_a_seek_costs_less_than_a_batch(tmp_path):
    """Of time of the processor, so that other programs do not matter; what the pipeline prefetches before and after it is
    of other threads. Nothing that is skipped is read: its files are gone."""
    from PIL import Image

    noise, files = np.random.default_rng(0).integers(0, 256, (300, 400, 3), np.uint8), []
    Image.fromarray(noise).save(tmp_path / "noise.jpg", quality=90)
    for k in range(96):
        files.append(str(tmp_path / f"{k}.jpg"))
        (tmp_path / f"{k}.jpg").write_bytes((tmp_path / "noise.jpg").read_bytes())

    @pipeline_def(batch_size=8, num_threads=1, entropy_index="off")
    def photos():
        encoded, label = fn.readers.file(files=files, name="reader")
        return fn.resize(fn.decoders.image(encoded), size=[224, 224]), label

    pipe, seeks = photos(), []
    pipe.run()
    begin = time.process_time()
    for _ in range(16):
        pipe.run()
    batch = (time.process_time() - begin) / 16
    for i in (5, 1, 9, 3, 7, 11, 0):
        begin = time.thread_time()
        pipe.seek(batch=i)
        seeks.append(time.thread_time() - begin)
        assert pipe.run()[1].as_array().ravel().tolist() == list(range(8 * i, 8 * i + 8))
    assert sorted(seeks)[len(seeks) // 2] < batch
    for path in files[8:80]:
        os.remove(path)
    assert pipe.seek(batch=10).run()[1].as_array().ravel().tolist() == list(range(80, 88))
