# SPDX-License-Identifier: Apache-2.0
"""Bad input ends in a typed error that says what is wrong; nothing crashes, hangs or takes the machine's memory."""

import io
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import zlib
from pathlib import Path

import container_files
import numpy as np
import pytest

import penstock
from penstock import DataError, Pipeline, fn, types

LIMIT = 240


@pytest.fixture(autouse=True)
def no_hang():
    """A test that hangs fails. (A handler written in Python runs where waits poll signals.)"""

    def late(*_):
        raise TimeoutError(f"not done after {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def jpeg(h=40, w=50, **options):
    from PIL import Image

    file, ramp = io.BytesIO(), np.add.outer(np.arange(h) * 3, np.arange(w) * 2) % 256
    Image.fromarray(np.dstack([ramp, ramp[::-1], 255 - ramp]).astype(np.uint8)).save(file, "JPEG", **options)
    return file.getvalue()


def png(h=40, w=50):
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray((np.arange(h * w * 3) % 256).astype(np.uint8).reshape(h, w, 3)).save(file, "PNG")
    return file.getvalue()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of(h, w, depth=8, color=2, body=b""):
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, color, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(body))
        + chunk(b"IEND", b"")
    )


def jpeg_of(h, w):
    data = bytearray(jpeg())
    at = data.find(b"\xff\xc0")
    data[at + 5 : at + 9] = struct.pack(">HH", h, w)
    return bytes(data[:1024])


BAD = {
    "empty.jpg": b"",
    "one.jpg": b"\xff",
    "soi.jpg": b"\xff\xd8",
    "header.jpg": jpeg()[:30],
    "text.jpg": b"this is a text, not a picture " * 10,
    "zeros.jpg": bytes(1000),
    "huge.jpg": jpeg_of(65500, 65500),
    "flat.jpg": jpeg_of(0, 0),
    "narrow.jpg": jpeg_of(40, 0),
    "scan.jpg": jpeg()[: jpeg().find(b"\xff\xda")],
    "signature.png": b"\x89PNG\r\n\x1a\n",
    "cut.png": png()[:60],
    "huge.png": png_of(2**31 - 1, 2**31 - 1),
    "beyond.png": png_of(2**31, 2**31),
    "negative.png": png_of(2**32 - 1, 5),
    "flat.png": png_of(0, 0),
    "depth.png": png_of(5, 5, depth=7),
    "color.png": png_of(5, 5, color=5),
    "bomb.png": png_of(60000, 60000, body=bytes(10**6)),
    "crc.png": png()[:20] + b"\0\0\1\0" + png()[24:],
    "gif.png": b"GIF89a" + bytes(100),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("bad")
    for name, data in BAD.items():
        (root / name).write_bytes(data)
    for k in range(12):
        (root / f"good{k:02d}.jpg").write_bytes(jpeg(20 + k, 30 - k))
    (root / "mislabeled.png").write_bytes(jpeg())
    (root / "mislabeled.jpg").write_bytes(png())
    (root / "folder.jpg").mkdir()
    os.mkfifo(root / "fifo.jpg")
    (root / "loop.jpg").symlink_to(root / "loop.jpg")
    return root


def reading(folder, names, batch_size=1, **options):
    pipe = Pipeline(batch_size=batch_size, num_threads=2, seed=1, **options)
    with pipe:
        encoded, label = fn.readers.file(file_root=str(folder), files=names, name="reader")
        pipe.set_outputs(fn.resize(fn.decoders.image(encoded), size=[8.0, 8.0]), label)
    return pipe


def memory():
    """Bytes of this process' own memory."""
    with open("/proc/self/status") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(("RssAnon", "RssShmem"))) * 1024


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_named(folder, name):
    before = memory()
    with pytest.raises(DataError) as error:
        fn.decoders.image(np.frombuffer(BAD[name], np.uint8))
    assert "decoders.image" in str(error.value)
    pipe = reading(folder, [name, "good00.jpg"], prefetch_queue_depth=1)
    with pytest.raises(DataError) as error:
        pipe.run()
    text = str(error.value)
    assert name in text and "decoders.image" in text and "test_bad_input.py:" in text, text
    assert pipe.run()[1][0].numpy()[0] == 1  # usable after it
    assert memory() - before < 100e6


@pytest.mark.parametrize("name", ["huge.jpg", "bomb.png"])
def test_hostile_headers_take_no_memory(folder, name):
    """In a process that may not have more than 1.5 GB of addresses."""
    program = f"""
        import resource, numpy as np
        resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))
        import penstock
        from penstock import fn
        for op in (fn.decoders.image, fn.decoders.image_random_crop):
            try:
                op(np.fromfile({str(folder / name)!r}, np.uint8))
            except penstock.DataError as error:
                print("refused:", error)
        x = np.zeros((4, 4, 3), np.uint8)
        for size in (2.0**31, 2.0**40, float("nan"), float("inf"), 1e30):
            try:
                fn.resize(x, size=[size, size])
            except (ValueError, MemoryError) as error:
                print("refused:", error)
    """
    done = run(program)
    assert done.stdout.count("refused:") == 7, done.stdout + done.stderr


def run(program, **options):
    path = os.path.dirname(os.path.dirname(os.path.abspath(penstock.__file__)))
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=dict(os.environ, PYTHONPATH=path),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        **options,
    )


@pytest.mark.parametrize(
    "name, kind",
    [
        ("missing.jpg", FileNotFoundError),
        ("folder.jpg", OSError),
        ("fifo.jpg", OSError),
        ("loop.jpg", OSError),
        ("good00.jpg/inside.jpg", OSError),
    ],
)
def test_what_cannot_be_read_is_named(folder, name, kind):
    pipe = reading(folder, [name, "good01.jpg"], prefetch_queue_depth=1)
    with pytest.raises((kind, DataError)) as error:
        pipe.run()
    # Files are read by the stage that decodes them, operator by operator by the reader.
    assert name in str(error.value) and ("decoders.image" in str(error.value) or "readers.file" in str(error.value))
    assert pipe.run()[1][0].numpy()[0] == 1


def test_an_unreadable_file_is_named():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "secret.jpg").write_bytes(jpeg())
        (folder / "secret.jpg").chmod(0)
        user = os.geteuid()
        pipe = reading(folder, ["secret.jpg"])
        try:
            if user == 0:  # root may read every file: become the user nobody for a moment
                os.seteuid(65534)
            with pytest.raises((PermissionError, DataError), match="secret.jpg"):
                pipe.run()
        finally:
            os.seteuid(user)


def test_a_wrong_extension_does_not_matter(folder):
    pipe = reading(folder, ["mislabeled.png", "mislabeled.jpg"], batch_size=2)
    assert pipe.run()[0].shape() == [(8, 8, 3)] * 2


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9, 0.99])
def test_truncated_scans_end(folder, cut):
    """Either an error that names the file, or the part of the picture that is there: never a crash."""
    for name, data in (
        ("scan.jpg", jpeg(120, 160)),
        ("scan.png", png(120, 160)),
        ("steps.jpg", jpeg(120, 160, progressive=True)),
    ):
        try:
            image = fn.decoders.image(np.frombuffer(data[: int(cut * len(data))], np.uint8))
            assert image.shape == (120, 160, 3), name
        except DataError as error:
            assert "decoders.image" in str(error)


def test_damaged_files_do_not_crash():
    rng = np.random.default_rng(0)
    for data in (jpeg(60, 80, subsampling=2), jpeg(60, 80, progressive=True), png(60, 80)):
        for _ in range(int(os.environ.get("PENSTOCK_TEST_COUNT", "20")) * 5):
            damaged = np.frombuffer(data, np.uint8).copy()
            damaged[rng.integers(2, len(damaged), rng.integers(1, 8))] = rng.integers(0, 256)
            try:
                assert fn.decoders.image(damaged).nbytes < 600e6
            except DataError:
                pass


# ------------------------------------------------------------------------------------------------------- wrong calls
IMAGE = np.zeros((6, 7, 3), np.uint8)
WRONG_CALLS = [
    (lambda: fn.resize(IMAGE, sizee=[3, 3]), TypeError, "resize.*sizee.*did you mean 'size'"),
    (lambda: fn.resize(IMAGE), ValueError, "resize.*size"),
    (lambda: fn.resize(IMAGE, size=[0.5, np.nan]), ValueError, "resize"),
    (lambda: fn.resize(IMAGE, size=[2.0**31, 2.0**31]), (ValueError, MemoryError), "resize"),
    (lambda: fn.resize(IMAGE, size=[1.0, 2.0, 3.0, 4.0]), ValueError, "resize.*size"),
    (lambda: fn.resize(IMAGE, size="large"), TypeError, "resize.*size"),
    (lambda: fn.resize(IMAGE, size=[3, 3], interp_type=77), ValueError, "resize.*interp_type"),
    (lambda: fn.resize(IMAGE, size=[3, 3], mode="stretched"), ValueError, "resize.*mode"),
    (lambda: fn.resize(penstock.tensor(IMAGE, layout="ABC"), size=[3, 3]), (ValueError, TypeError), "resize.*ABC"),
    (lambda: fn.resize(np.zeros(5, np.uint8), size=[3, 3]), (ValueError, TypeError), "resize"),
    (lambda: fn.resize(IMAGE, IMAGE, size=[3, 3]), ValueError, "resize.*input"),
    (lambda: fn.crop(IMAGE, crop=[100, 100]), (ValueError, IndexError), "crop"),
    (lambda: fn.crop(IMAGE, crop=[-1, -1], crop_h=3), ValueError, "crop"),
    (lambda: fn.crop(IMAGE, crop=[3, 3], crop_pos_x=1.5), ValueError, "crop_pos_x"),
    (lambda: fn.crop(IMAGE, crop=[3, 3], out_of_bounds_policy="ignore"), ValueError, "ignore"),
    (lambda: fn.slice(IMAGE, start=[4], end=[2], axes=[0]), (ValueError, IndexError), "slice"),
    (lambda: fn.slice(IMAGE, start=[4], end=[5], axes=[9]), (ValueError, IndexError), "slice"),
    (
        lambda: fn.transpose(IMAGE, perm=[0, 0, 1]),
        ValueError,
        r"transpose.*perm must name each of the 3 dimensions once, got \[0, 0, 1\]",
    ),
    (lambda: fn.transpose(IMAGE, perm=[0, 1]), ValueError, r"transpose.*perm must .* got \[0, 1\]"),
    (lambda: fn.reshape(IMAGE, shape=[5, 5]), ValueError, "reshape"),
    (lambda: fn.reshape(IMAGE, shape=[2**40, 2**40]), ValueError, "reshape"),
    (lambda: fn.cast(IMAGE, dtype="complex64"), TypeError, "complex64"),
    (lambda: fn.cast(IMAGE), (TypeError, ValueError, RuntimeError), "cast.*dtype"),
    (lambda: fn.hue(IMAGE[..., :2], hue=3.0), ValueError, "hue.*3|hue.*three"),
    (lambda: fn.cat(IMAGE, IMAGE[:3], axis=1), ValueError, "cat"),
    (lambda: fn.stack(IMAGE, IMAGE.astype(np.float32)), (TypeError, ValueError), "stack"),
    (lambda: fn.pad(IMAGE, align=[-3]), ValueError, "pad.*align"),
    (lambda: fn.pad(IMAGE, axes=[0], shape=[2**62]), (ValueError, MemoryError), "pad"),
    (lambda: fn.gaussian_blur(IMAGE, window_size=-3), ValueError, "gaussian_blur.*window"),
    (lambda: fn.gaussian_blur(IMAGE, sigma=-1.0), ValueError, "gaussian_blur.*sigma"),
    (lambda: fn.gaussian_blur(IMAGE, sigma=1e9), (ValueError, MemoryError), "gaussian_blur"),
    (lambda: fn.random_resized_crop(IMAGE, size=[0, 5]), ValueError, "random_resized_crop.*size"),
    (lambda: fn.rotate(IMAGE, angle=float("nan")), ValueError, "rotate.*angle"),
    (lambda: fn.rotate(IMAGE, angle=3.0, size=[1e9, 1e9]), (ValueError, MemoryError), "rotate"),
    (lambda: fn.warp_affine(IMAGE, matrix=[1.0, 2.0]), ValueError, "warp_affine.*matrix"),
    (lambda: fn.squeeze(IMAGE, axes=[0]), ValueError, "squeeze"),
    (lambda: fn.expand_dims(IMAGE, axes=[17]), ValueError, "expand_dims"),
    (lambda: fn.random.uniform(shape=[2**40, 2**40], batch_size=1), (ValueError, MemoryError), "random.uniform"),
    (lambda: fn.random.uniform(shape=[-1], batch_size=1), ValueError, "random.uniform"),
    (lambda: fn.decoders.image(IMAGE.astype(np.float32)), TypeError, "decoders.image.*float32"),
    (lambda: fn.flip(penstock.batch([IMAGE] * 2), horizontal=penstock.per_sample([1])), ValueError, "flip"),
    (lambda: penstock.batch([IMAGE, IMAGE[:2]]).as_tensor(), (TypeError, ValueError), "shape"),
    (lambda: penstock.tensor(IMAGE, layout="HW"), ValueError, "HW"),
]


@pytest.mark.parametrize("k", range(len(WRONG_CALLS)))
def test_a_wrong_call_says_what_is_wrong(k):
    function, kind, text = WRONG_CALLS[k]
    before = memory()
    with pytest.raises(kind, match=text):
        function()
    assert memory() - before < 100e6


def test_errors_of_a_pipeline_name_the_line():
    for define in (
        lambda x: fn.resize(x, sizee=[3, 3]),
        lambda x: fn.resize(x),
        lambda x: fn.flip(x, x),
        lambda x: fn.crop(x, crop=[100.0, 100.0]),
        lambda x: fn.transpose(x, perm=[0, 0, 1]),
    ):
        pipe = Pipeline(batch_size=2, num_threads=1)
        with pytest.raises((ValueError, TypeError, KeyError, IndexError, RuntimeError)) as error:
            with pipe:
                pipe.set_outputs(define(fn.external_source(lambda: [IMAGE] * 2, layout="HWC")))
            pipe.run()
        assert "[" in str(error.value) and "test_bad_input.py:" in str(error.value), str(error.value)


# ------------------------------------------------------------------------------------------------- the error policy
def names_with_bad(bad):
    return [f"good{k:02d}.jpg" if k not in bad else list(BAD)[k] for k in range(12)]


def test_skip_leaves_out_and_lists(folder):
    pipe = reading(folder, names_with_bad({2, 5}), batch_size=4, on_error="skip")
    batches = [[int(v.numpy()[0]) for v in pipe.run()[1]] for _ in range(3)]
    assert batches == [[0, 1, 3], [4, 6, 7], [8, 9, 10, 11]]
    left = [entry for entry in pipe.left_out() if entry[0] == 0]  # the next epoch may be read ahead
    assert [entry[1] for entry in left] == [2, 5]
    assert all(os.path.basename(entry[2]) in BAD and entry[3] for entry in left)


def test_replace_keeps_the_size_and_lists(folder):
    pipe = reading(folder, names_with_bad({2, 5}), batch_size=4, on_error="replace")
    batches = [[int(v.numpy()[0]) for v in pipe.run()[1]] for _ in range(3)]
    for got, want in zip(batches, ([0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11])):
        assert len(got) == 4 and [a for a, b in zip(got, want) if a != b and b not in (2, 5)] == []
    assert not {2, 5} & {k for b in batches for k in b}
    assert [entry[1] for entry in pipe.left_out() if entry[0] == 0] == [2, 5]


@pytest.mark.parametrize("policy", ["skip", "replace"])
def test_the_budget_ends_the_run(folder, policy):
    pipe = reading(
        folder, names_with_bad({1, 2, 5}), batch_size=3, on_error=policy, error_budget=2, prefetch_queue_depth=1
    )
    pipe.run()
    with pytest.raises(DataError, match="budget|2"):
        pipe.run()
        pipe.run()


def plain_png(value):
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.full((4, 4, 3), value, np.uint8)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("label_too", [False, True])
def test_values_made_of_a_replaced_label_follow(tmp_path, label_too):
    for k in range(8):
        (tmp_path / f"{k}.png").write_bytes(plain_png(10 * k) if k not in (2, 5) else b"no picture")
    pipe = Pipeline(batch_size=8, num_threads=3, device_id=None, seed=5, on_error="replace")
    with pipe:
        encoded, label = fn.readers.file(files=[str(tmp_path / f"{k}.png") for k in range(8)])
        twice = fn.cast(label, dtype=types.FLOAT) * 2  # before the decoder
        pixels = fn.decoders.image(encoded)
        pipe.set_outputs(twice, pixels, *([label] if label_too else []))
    for _ in range(2):
        twice, pixels, *label = [[int(np.asarray(x).ravel()[0]) for x in batch] for batch in pipe.run()]
        assert [5 * t for t in twice] == pixels and 20 not in pixels and 50 not in pixels and len(pixels) == 8
        assert not label or [10 * k for k in label[0]] == pixels
    assert [entry[1] for entry in pipe.left_out() if entry[0] == 0] == [2, 5]


def test_an_array_that_is_replaced_while_it_is_loaded_keeps_its_batch(tmp_path):
    for k in range(8):
        np.save(tmp_path / f"{k}.npy", np.array([k]))
    (tmp_path / "5.npy").write_bytes(b"no array")
    pipe = Pipeline(batch_size=4, num_threads=2, device_id=None, seed=5, on_error="replace")
    with pipe:
        fed = (
            fn.external_source(lambda i: np.full((4, 1), i, np.int64), batch=True, dtype=types.INT64, ndim=1) * 1
        )  # in front
        pipe.set_outputs(fed, fn.readers.numpy(files=[str(tmp_path / f"{k}.npy") for k in range(8)]))
    for number, wanted in enumerate(([0, 1, 2, 3], [4, None, 6, 7], [0, 1, 2, 3])):
        fed, got = [[int(np.asarray(x)[0]) for x in batch] for batch in pipe.run()]
        assert fed == [number] * 4 and all(w in (None, g) for w, g in zip(wanted, got)) and 5 not in got


def test_pictures_of_one_record_are_replaced_together(tmp_path):
    records = [{"a": plain_png(k), "b": plain_png(100 + k), "k": np.array([k])} for k in range(9)]
    for k in (1, 4):
        records[k]["a"] = b"no picture"
    for k in (0, 2, 5, 6):
        records[k]["b"] = b"no picture"
    container_files.write_tfrecord(tmp_path / "r", [container_files.example(r) for r in records])
    bytes_of, number = (
        penstock.tfrecord.FixedLenFeature((), penstock.tfrecord.string, ""),
        penstock.tfrecord.FixedLenFeature([1], penstock.tfrecord.int64, 0),
    )
    pipe = Pipeline(batch_size=9, num_threads=2, device_id=None, seed=5, on_error="replace")
    with pipe:
        r = fn.readers.tfrecord(path=str(tmp_path / "r"), features={"a": bytes_of, "b": bytes_of, "k": number})
        pipe.set_outputs(r["k"] + 0, fn.decoders.image(r["a"]), fn.decoders.image(r["b"]))
    k, a, b = [[int(np.asarray(x).ravel()[0]) for x in batch] for batch in pipe.run()]
    assert k == a == [v - 100 for v in b] and len(k) == 9 and set(k) <= {3, 7, 8}


def test_replacing_among_bad_files_ends(folder):
    pipe = reading(folder, ["text.jpg", "zeros.jpg", "soi.jpg"], batch_size=3, on_error="replace")
    with pytest.raises(DataError):
        pipe.run()


def test_raise_continues_with_the_next_batch(folder):
    pipe = reading(folder, names_with_bad({2, 5}), batch_size=4)
    for _ in range(2):
        with pytest.raises(DataError):
            pipe.run()
    assert [int(v.numpy()[0]) for v in pipe.run()[1]] == [8, 9, 10, 11]


def test_unknown_policies_are_refused(folder):
    with pytest.raises(ValueError, match="on_error"):
        reading(folder, ["good00.jpg"], on_error="ignore").run()
    with pytest.raises(ValueError, match="uneven"):
        pipe = Pipeline(batch_size=1, num_threads=1, on_error="skip")
        with pipe:
            pipe.set_outputs(*fn.readers.file(file_root=str(folder), files=["good00.jpg", "good01.jpg"], num_shards=2))
        pipe.run()


# ------------------------------------------------------------------------------------------------- ends and signals
def test_interrupt_ends_within_two_seconds_of_work(folder):
    """Time of the processor, of two threads, so that other programs do not matter."""
    program = """
        import os, signal, threading, time, numpy as np
        from penstock import Pipeline, fn
        from penstock.types import FLOAT
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job may have inherited "ignored"
        big = [np.zeros((3000, 3000, 3), np.uint8)] * 4
        pipe = Pipeline(batch_size=4, num_threads=2, prefetch_queue_depth=4)
        with pipe:
            x = fn.external_source(lambda: big, layout="HWC")
            for k in range(6):
                x = fn.gaussian_blur(x, sigma=8.0, dtype=FLOAT)
            pipe.set_outputs(x)
        pipe.build()
        at = []
        def strike():
            at.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.5, strike).start()
        try:
            while True:
                pipe.run()
        except KeyboardInterrupt:
            print("interrupted after", time.process_time() - at[0])
    """
    done = run(program)
    assert "interrupted after" in done.stdout, done.stdout + done.stderr
    assert float(done.stdout.split()[-1]) < 2.0


def test_a_forked_child_gets_an_error(folder):
    program = f"""
        import os
        from penstock import Pipeline, fn
        pipe = Pipeline(batch_size=2, num_threads=2)
        with pipe:
            encoded, label = fn.readers.file(file_root={str(folder)!r}, files=["good00.jpg", "good01.jpg"])
            pipe.set_outputs(fn.decoders.image(encoded))
        pipe.run()
        child = os.fork()
        if child == 0:
            try:
                pipe.run()
                os._exit(3)
            except (RuntimeError, ValueError) as error:
                os._exit(7 if "fork" in str(error) else 4)
        print("child:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print("parent:", len(pipe.run()[0]))
    """
    done = run(program)
    assert "child: 7" in done.stdout and "parent: 2" in done.stdout, done.stdout + done.stderr


def test_a_pipeline_may_be_dropped_at_any_time(folder):
    names = [f"good{k:02d}.jpg" for k in range(12)]
    for batches in (0, 1, 2):
        pipe = reading(folder, names * 20, batch_size=8, prefetch_queue_depth=6)
        kept = [pipe.run() for _ in range(batches)]
        del pipe
        assert all(np.isfinite(b[0][0].numpy().astype(float)).all() for b in kept)


class Mine(Exception):
    pass


@pytest.mark.parametrize("batch", [True, False])
@pytest.mark.parametrize("kind", [Mine("unchanged", 42), KeyboardInterrupt(), ZeroDivisionError("x")])
def test_exceptions_of_a_source_arrive_unchanged(kind, batch):
    def source(i):
        if (i if batch else i.iteration) == 2:
            raise kind
        return [np.zeros(3, np.float32)] * 2 if batch else np.zeros(3, np.float32)

    pipe = Pipeline(batch_size=2, num_threads=2, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.external_source(source, batch=batch) + 1)
    pipe.run()
    pipe.run()
    with pytest.raises(type(kind)) as error:
        pipe.run()
    assert error.value is kind
    assert len(pipe.run()[0]) == 2  # continues after it


@pytest.mark.parametrize("value", [None, "text", 5, [None], ["a"], [np.array(["a"])], {}, object()])
def test_what_a_source_may_not_give(value):
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.external_source(lambda: value))
    with pytest.raises((TypeError, ValueError)) as error:
        pipe.run()
    assert "external_source" in str(error.value), str(error.value)


def test_batches_may_change_their_type_and_rank():
    batches = [
        np.full((2, 2, 3), 200, np.uint8),
        np.full((2, 2, 3), -300, np.int16),
        np.full((2, 2, 2, 3), 0.5, np.float32),
    ] * 2
    given = iter(batches)
    pipe = Pipeline(batch_size=2, num_threads=2)
    with pipe:
        x = fn.external_source(lambda: [next(given)] * 2)
        pipe.set_outputs(fn.brightness_contrast(x, brightness=0.5), fn.flip(x) + x)
    for batch in batches:
        dark, twice = pipe.run()
        np.testing.assert_array_equal(dark[1].numpy(), (batch * 0.5).astype(batch.dtype))
        np.testing.assert_array_equal(twice[1].numpy(), batch + batch)


def test_a_batch_that_is_too_large_is_refused():
    batches = iter([[np.zeros(2, np.uint8)] * 2, [np.zeros(2, np.uint8)] * 3, [np.ones(2, np.uint8)] * 2])
    pipe = Pipeline(batch_size=2, num_threads=1, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(fn.external_source(lambda: next(batches)))
    pipe.run()
    with pytest.raises((TypeError, ValueError), match="external_source"):
        pipe.run()
    assert pipe.run()[0][0].numpy()[0] == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"nodes": 5}', "[" * 100000, '{"version": 1, "graph": {"nodes": [{}]}}']
)
def test_damaged_saved_pipelines_are_refused(text):
    with pytest.raises((ValueError, RuntimeError, TypeError, KeyError)):
        Pipeline.deserialize(text.encode()).run()


def test_a_saved_pipeline_without_outputs_is_refused():
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        pipe.set_outputs(fn.random.uniform())
    pipe.build()
    saved = json.loads(pipe.serialize())
    pipe.close()
    saved["graph"]["outputs"] = []
    with pytest.raises(ValueError, match="needs at least one output"):
        Pipeline.deserialize(json.dumps(saved).encode()).run()
