# SPDX-License-Identifier: Apache-2.0
"""Pipelines on the GPU give the CPU's bytes; transfers, errors, devices, and machines without a GPU."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from PIL import Image

import penstock
from penstock import Pipeline, _core, fn, pipeline_def, types

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)

EMULATED = "emulated" in _core.gpu_name(0)
BATCH = 5


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """PNG, so that no GPU decoder takes them: their pixels are the CPU's on every machine."""
    root, rng = tmp_path_factory.mktemp("photographs"), np.random.default_rng(3)
    for k in range(12):
        folder = root / "abc"[k % 3]
        folder.mkdir(exist_ok=True)
        size = rng.integers(60, 150, 2)
        Image.fromarray(rng.integers(0, 256, (6, 8, 3), np.uint8)).resize(size.tolist(), 3).save(
            folder / f"{k:02d}.png"
        )
    return root


@pytest.fixture(scope="module")
def jpegs(tmp_path_factory):
    root, rng = tmp_path_factory.mktemp("jpegs"), np.random.default_rng(4)
    for k in range(23):
        size = rng.integers(60, 150, 2)
        picture = Image.fromarray(rng.integers(0, 256, (6, 8, 3), np.uint8)).resize(size.tolist(), 3)
        picture.save(root / f"{k:02d}.jpg", quality=90, progressive=k % 5 == 4)
    return root


def host(batch):
    return [np.array(sample) for sample in batch.as_cpu()]


def same(define, rounds=4, **options):
    """`define(device, decoder)` gives the outputs; checks that they agree on both devices, and returns the GPU's pipeline."""
    pipes = []
    for device, decoder in (("cpu", "cpu"), ("gpu", "mixed")):
        pipe = Pipeline(**{"batch_size": BATCH, "num_threads": 2, "seed": 7, "device_id": 0, **options})
        with pipe:
            outputs = define(device, decoder)
            pipe.set_outputs(*(outputs if isinstance(outputs, tuple) else (outputs,)))
        pipes.append(pipe)
    for _ in range(rounds):
        for k, (want, got) in enumerate(zip(*(p.run() for p in pipes))):
            assert (got.dtype, got.layout(), len(got)) == (want.dtype, want.layout(), len(want))
            for w, g in zip(host(want), host(got)):
                np.testing.assert_array_equal(g, w, err_msg=f"output {k}")
    return pipes[1]


def pictures(n=BATCH, seed=0, shape=None):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 256, shape or (*rng.integers(20, 40, 2), 3), np.uint8) for _ in range(n)]


def source(seed=0, shape=None, **how):
    return fn.external_source(lambda i: pictures(BATCH, seed + i, shape), layout="HWC", **how)


# --- the same bytes ---------------------------------------------------------------------------------------------------

CHAINS = {
    "training": lambda x: fn.crop_mirror_normalize(
        fn.random_resized_crop(x, size=[24, 24]),
        mirror=fn.random.coin_flip(),
        mean=[124.0, 116.0, 104.0],
        std=[58.0, 57.0, 57.0],
    ),
    "half": lambda x: fn.crop_mirror_normalize(fn.resize(x, resize_shorter=32), crop=[24, 24], dtype=types.FLOAT16),
    "geometry": lambda x: fn.flip(fn.crop(x, crop=(16, 12)), horizontal=1, vertical=fn.random.coin_flip()),
    "color": lambda x: fn.hue(fn.brightness_contrast(x, brightness=fn.random.uniform(range=[0.5, 1.5])), hue=30.0),
    "arithmetic": lambda x: fn.cast((x * 2 + 1) / 3.0, dtype=types.FLOAT),
    "blur": lambda x: fn.gaussian_blur(x, window_size=5),
    "slice": lambda x: fn.slice(x, 0.25, 0.5, axes=[0]),
    "two readers": lambda x: (fn.flip(x), fn.resize(x, size=[9, 11]), x),
    "shape": lambda x: (fn.flip(x).shape(), x.shape(device="cpu")),
    "sizes": lambda x: tuple(fn.resize(x, size=[9, 11], save_attrs=True)),
    "pad": lambda x: fn.pad(x),
    "mean": lambda x: fn.reductions.mean(x),
}


@pytest.mark.parametrize("chain", CHAINS)
def test_chains_give_the_bytes_of_the_cpu(photographs, chain):
    def define(device, decoder):
        encoded, label = fn.readers.file(file_root=str(photographs), random_shuffle=True, name="reader")
        out = CHAINS[chain](fn.decoders.image(encoded, device=decoder))
        return (*(out if isinstance(out, tuple) else (out,)), label)

    same(define)


@pytest.mark.parametrize("chain", CHAINS)
def test_chains_over_a_source_on_the_gpu(chain):
    same(lambda device, _: CHAINS[chain](source(device=device)))


@pytest.mark.parametrize("simple", ["", "simple"])
def test_fused_or_operator_by_operator(photographs, simple, monkeypatch):
    monkeypatch.setenv("PENSTOCK_EXEC", simple)
    same(lambda device, _: CHAINS["color"](source(device=device)))


@pytest.mark.parametrize("decoder", ["image_random_crop", "image_crop", "image_slice"])
def test_decoders_with_a_window(photographs, decoder):
    how = {
        "image_random_crop": lambda f: fn.decoders.image_random_crop,
        "image_crop": lambda f: fn.decoders.image_crop,
        "image_slice": lambda f: fn.decoders.image_slice,
    }[decoder]

    def define(_, device):
        encoded, _ = fn.readers.file(file_root=str(photographs), name="reader")
        given = {"image_random_crop": {}, "image_crop": {"crop": (20, 30)}}.get(
            decoder, {"start": (3, 4), "shape": (20, 30)}
        )
        image = how(None)(encoded, device=device, **given)
        return fn.resize(image, size=[16, 16]), image

    same(define)


@pytest.mark.skipif(not EMULATED, reason="machine: the engine of a real GPU has its own inverse transform")
@pytest.mark.parametrize(
    "options", [{}, {"batch_size": 1}, {"batch_size": 23, "prefetch_queue_depth": 4}], ids=["5", "1", "23"]
)
def test_groups_of_the_decoder_span_iterations(jpegs, options):
    def define(_, device):
        encoded, label = fn.readers.file(
            file_root=str(jpegs.parent), files=sorted(map(str, jpegs.glob("*.jpg"))), random_shuffle=True, name="reader"
        )
        return CHAINS["training"](fn.decoders.image(encoded, device=device)), label

    same(define, rounds=12, **options)


# --- where things run -------------------------------------------------------------------------------------------------


def test_transfers_in_the_middle_of_a_graph():
    def define(device, _):
        x = source(shape=(20, 30, 3))
        y = fn.flip(x.gpu() if device == "gpu" else x)
        y = fn.brightness_contrast(y.cpu(), brightness=1.5)
        z = y.gpu() if device == "gpu" else y
        return fn.contrast(z, contrast=0.7), y, z

    pipe = same(define, rounds=6)
    assert [line.split(":")[0] for line in pipe.plan().strip().splitlines()] == [
        "source",
        "transfer",
        "stage on the GPU",
        "transfer",
        "stage",
        "transfer",
        "stage on the GPU",
    ]
    assert "to the GPU" in str(pipe.executor_statistics()["stages"])


def test_the_device_of_a_value():
    with Pipeline(batch_size=BATCH, num_threads=1, device_id=0) as pipe:
        x = source()
        assert x.device == "cpu" and x.gpu().device == "gpu" and x.gpu().cpu().device == "cpu"
        y = fn.flip(x.gpu())
        assert y.device == "gpu" and fn.flip(y).device == "gpu" and fn.flip(y, device="cpu").device == "cpu"
        assert fn.flip(x, device="gpu").device == "gpu" and y.shape().device == "cpu" and (y + 1).device == "gpu"
        assert x.gpu().gpu().node == x.node  # no operator is added
        pipe.set_outputs(y)
    pipe.run()


def test_arguments_that_come_from_the_gpu():
    def define(device, _):
        x = source(device=device)
        factor = fn.cast(fn.reductions.mean(x), dtype=types.FLOAT) / 128.0
        return fn.brightness(x, brightness=factor)

    same(define)


def test_a_pipeline_whose_inputs_are_numbers():
    same(
        lambda device, _: fn.brightness(
            source(device=device), brightness=fn.random.uniform(range=[0.5, 2.0], device=device)
        )
    )


def test_feeding(rounds=3):
    with Pipeline(batch_size=2, num_threads=1, device_id=0) as pipe:
        pipe.set_outputs(fn.flip(fn.external_source(name="x", layout="HWC", device="gpu")))
    for k in range(rounds):
        given = pictures(2, k)
        for got, want in zip(host(pipe.run(x=given)[0]), given):
            np.testing.assert_array_equal(got, want[:, ::-1])


def test_json_keeps_devices(photographs):
    def define(device, decoder):
        encoded, _ = fn.readers.file(file_root=str(photographs), name="reader")
        return fn.flip(fn.decoders.image(encoded, device=decoder)).cpu(), fn.resize(
            fn.decoders.image(encoded), size=[8, 8]
        ).gpu() if device == "gpu" else fn.resize(fn.decoders.image(encoded), size=[8, 8])

    pipe = same(define)
    again = Pipeline.deserialize(pipe.serialize())
    assert again.text() == pipe.text() and again.plan() == pipe.plan()
    assert again.device_id == 0
    for a, b in zip(again.run(), Pipeline.deserialize(pipe.serialize()).run()):
        for x, y in zip(host(a), host(b)):
            np.testing.assert_array_equal(x, y)


def test_a_checkpoint_resumes(photographs):
    def make(checkpoint=None):
        pipe = Pipeline(
            batch_size=BATCH, num_threads=2, seed=7, device_id=0, enable_checkpointing=True, checkpoint=checkpoint
        )
        with pipe:
            encoded, _ = fn.readers.file(file_root=str(photographs), random_shuffle=True, name="reader")
            pipe.set_outputs(CHAINS["training"](fn.decoders.image(encoded, device="mixed")))
        return pipe

    first = make()
    for _ in range(2):
        first.run()
    again = make(first.checkpoint())
    for _ in range(3):
        for x, y in zip(host(first.run()[0]), host(again.run()[0])):
            np.testing.assert_array_equal(x, y)


def test_batches_live_longer_than_their_pipeline():
    with Pipeline(batch_size=BATCH, num_threads=2, device_id=0) as pipe:
        pipe.set_outputs(fn.flip(source(device="gpu")))
    kept = [pipe.run()[0] for _ in range(6)]
    pipe.close()
    for k, batch in enumerate(kept):
        for got, want in zip(host(batch), pictures(BATCH, k)):
            np.testing.assert_array_equal(got, want[:, ::-1])


@pytest.mark.skipif(_core.gpu_count() < 2, reason="machine: one GPU")
def test_two_devices_in_one_process():
    pipes = []
    for device in (0, 1):
        with Pipeline(batch_size=BATCH, num_threads=1, device_id=device) as pipe:
            pipe.set_outputs(fn.flip(source(device="gpu")))
        pipes.append(pipe)
    for k in range(4):
        for pipe in pipes:
            for got, want in zip(host(pipe.run()[0]), pictures(BATCH, k)):
                np.testing.assert_array_equal(got, want[:, ::-1])


# --- frameworks -------------------------------------------------------------------------------------------------------


def test_the_numpy_iterator(photographs):
    from penstock.plugin.numpy import NumpyIterator

    def make(device):
        pipe = Pipeline(batch_size=BATCH, num_threads=2, seed=7, device_id=0)
        with pipe:
            encoded, label = fn.readers.file(file_root=str(photographs), name="reader")
            pipe.set_outputs(CHAINS["training"](fn.decoders.image(encoded, device=device)), label)
        return NumpyIterator(pipe, ["data", "label"], reader_name="reader")

    for want, got in zip(make("cpu"), make("mixed")):
        for name in want[0]:
            np.testing.assert_array_equal(got[0][name], want[0][name])


@pytest.mark.parametrize("policy", ["FILL", "DROP", "PARTIAL"])
def test_the_torch_iterator(photographs, policy):
    torch = pytest.importorskip("torch")
    if EMULATED or not torch.cuda.is_available():
        pytest.skip("machine: no GPU that torch can use")
    from penstock.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy

    def make(device):
        pipe = Pipeline(batch_size=BATCH, num_threads=2, seed=7, device_id=0)
        with pipe:
            encoded, label = fn.readers.file(file_root=str(photographs), random_shuffle=True, name="Reader")
            image = CHAINS["training"](fn.decoders.image(encoded, device=device))
            pipe.set_outputs(image, label.gpu() if device == "mixed" else label)
        return DALIClassificationIterator(
            pipe, reader_name="Reader", last_batch_policy=LastBatchPolicy[policy], auto_reset=True
        )

    pairs = list(zip(make("cpu"), make("mixed"), strict=True))
    kept = [got[0] for _, got in pairs]
    with torch.cuda.stream(torch.cuda.Stream()):
        for _, got in zip(pairs, make("mixed")):
            assert got[0]["data"].is_cuda and got[0]["data"].device.index == 0
            kept.append({name: tensor * 1 for name, tensor in got[0].items()})
    for k, got in enumerate(kept):
        for name, want in pairs[k % len(pairs)][0][0].items():
            assert torch.equal(got[name].cpu(), want)


# --- what goes wrong --------------------------------------------------------------------------------------------------


def test_a_device_that_does_not_exist():
    with Pipeline(batch_size=1, num_threads=1, device_id=99) as pipe:
        pipe.set_outputs(fn.flip(source(device="gpu")))
    with pytest.raises(ValueError, match="no GPU 99"):
        pipe.build()
    same(lambda device, _: fn.flip(source(device=device)))


def test_a_pipeline_for_the_cpu_alone():
    with Pipeline(batch_size=1, num_threads=1, device_id=types.CPU_ONLY_DEVICE_ID) as pipe:
        pipe.set_outputs(fn.flip(source(device="gpu")))
    with pytest.raises(ValueError, match="made for the CPU only.*device_id") as error:
        pipe.build()
    assert "test_gpu_pipelines.py" in str(error.value)


def test_an_operator_that_refuses_its_input():
    given = [pictures(1, 0, (8, 8, 3)), pictures(1, 1, (20, 20, 3))]
    with Pipeline(batch_size=1, num_threads=1, device_id=0) as pipe:
        x = fn.external_source(lambda i: given[i % 2], layout="HWC", device="gpu")
        pipe.set_outputs(fn.slice(x, [0, 0], [16, 16], axes=[0, 1]))
    for _ in range(3):
        with pytest.raises(Exception, match=r"\[slice\]"):
            pipe.run()
        np.testing.assert_array_equal(host(pipe.run()[0])[0], given[1][0][:16, :16])


@pytest.mark.parametrize("policy", ["raise", "skip", "replace"])
@pytest.mark.parametrize("damage", ["cut", "text"])
def test_files_that_cannot_be_decoded(jpegs, tmp_path, policy, damage):
    paths = sorted(map(str, jpegs.glob("*.jpg")))[:8]
    bad = tmp_path / "bad.jpg"
    data = (jpegs / "00.jpg").read_bytes()
    bad.write_bytes(data[: len(data) // 2] if damage == "cut" else b"no picture")
    paths[3] = str(bad)

    def make(device):
        pipe = Pipeline(batch_size=8, num_threads=2, seed=7, device_id=0, on_error=policy)
        with pipe:
            encoded, label = fn.readers.file(files=paths, name="reader")
            pipe.set_outputs(fn.resize(fn.decoders.image(encoded, device=device), size=[8, 8]), label)
        return pipe

    cpu, gpu = make("cpu"), make("mixed")
    if policy == "raise":
        with pytest.raises(penstock.DataError, match="bad.jpg") as on_cpu:
            cpu.run()
        with pytest.raises(penstock.DataError, match="bad.jpg") as on_gpu:
            gpu.run()
        if EMULATED:
            assert str(on_gpu.value).replace("mixed", "cpu") == str(on_cpu.value)
        return
    for _ in range(3):
        (want, want_label), (got, got_label) = cpu.run(), gpu.run()
        assert [x.tolist() for x in host(got_label)] == [x.tolist() for x in host(want_label)]
        assert len(got) == (7 if policy == "skip" else 8)
        if EMULATED:
            for g, w in zip(host(got), host(want)):
                np.testing.assert_array_equal(g, w)
    assert [x[2] for x in gpu.left_out()] == [x[2] for x in cpu.left_out()]


def run(code, **environment):
    """A program in a process of its own; its standard output."""
    env = {**os.environ, "PENSTOCK_REQUIRE_GPU": "", **environment, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


NO_GPU = """
    import warnings
    import numpy as np, penstock
    from penstock import Pipeline, fn
    warnings.simplefilter("always")
    with warnings.catch_warnings(record=True) as said:
        for _ in range(2):
            with Pipeline(batch_size=2, num_threads=1, device_id=0) as pipe:
                x = fn.external_source(lambda: [np.arange(12, dtype=np.uint8).reshape(2, 2, 3)] * 2, layout="HWC", device="gpu")
                pipe.set_outputs(fn.flip(x.gpu(), device="gpu"), fn.flip(x).cpu())
            print(pipe.plan())
            a, b = pipe.run()
            assert (a.as_array() == b.as_array()).all()
    assert [w.category for w in said] == [penstock.DeviceWarning], said
    print(said[0].message)
"""


def test_a_machine_without_a_gpu():
    out = run(NO_GPU, PENSTOCK_GPU_LIBRARY="/no/such/library.so")
    assert "transfer" not in out and "on the GPU:" not in out
    assert "runs on the CPU" in out and "/no/such/library.so" in out
    with pytest.raises(AssertionError, match="PENSTOCK_REQUIRE_GPU"):
        run(NO_GPU, PENSTOCK_GPU_LIBRARY="/no/such/library.so", PENSTOCK_REQUIRE_GPU="1")


@pytest.mark.skipif(not EMULATED, reason="machine: a real GPU")
def test_the_device_runs_out_of_memory():
    run(
        """
        import numpy as np, pytest
        from penstock import Pipeline, fn
        given = [np.zeros((2000, 1000, 3), np.uint8), np.ones((20, 10, 3), np.uint8)]
        with Pipeline(batch_size=2, num_threads=2, device_id=0) as pipe:
            x = fn.external_source(lambda i: [given[i % 2]] * 2, layout="HWC", device="gpu")
            pipe.set_outputs(fn.flip(x))
        for _ in range(4):
            with pytest.raises(MemoryError, match="GPU 0"):
                pipe.run()
            assert pipe.run()[0].as_cpu().as_array().min() == 1
        """,
        PENSTOCK_EMULATED_MEMORY="4000000",
    )


@pytest.mark.skipif(not EMULATED, reason="machine: a real GPU")
def test_a_device_that_works_later(jpegs):
    """The host neither runs ahead without limit nor waits where no values are read; with damaged files in between."""
    run(
        f"""
        import glob, time, numpy as np, penstock
        from penstock import Pipeline, fn
        files = sorted(glob.glob({str(jpegs)!r} + "/*.jpg"))
        bad = {str(jpegs / "bad")!r}
        open(bad, "wb").write(open(files[0], "rb").read()[:900])
        for policy, threads, depth in (("raise", 1, 1), ("raise", 3, 4), ("skip", 2, 2), ("replace", 3, 3)):
            names = files if policy == "raise" else files[:7] + [bad] + files[7:]
            pipes = []
            for device in ("cpu", "mixed"):
                with Pipeline(batch_size=5, num_threads=threads, seed=3, device_id=0, on_error=policy,
                              prefetch_queue_depth=depth) as pipe:
                    encoded, label = fn.readers.file(files=names, random_shuffle=True)
                    image = fn.random_resized_crop(fn.decoders.image(encoded, device=device), size=[16, 16])
                    back = fn.brightness(image.cpu(), brightness=fn.reductions.mean(image) / 128.0)
                    pipe.set_outputs(image, fn.flip(back.gpu() if device == "mixed" else back), back, label)
                pipes.append(pipe)
            for k in range(12):
                for want, got in zip(*(p.run() for p in pipes)):
                    assert len(want) == len(got)
                    for w, g in zip(want.as_cpu(), got.as_cpu()):
                        np.testing.assert_array_equal(np.array(g), np.array(w))
            pipes[1].run()
            if threads == 3:
                pipes[1].close()
        with Pipeline(batch_size=5, num_threads=1, device_id=0) as pipe:
            encoded, _ = fn.readers.file(files=files)
            pipe.set_outputs(fn.decoders.image(encoded, device="mixed"))
        pipe.build()
        for _ in range(3):
            pipe.run()
        """,
        PENSTOCK_EMULATED_LATENCY="3000",
        PENSTOCK_EMULATED_DECODER_FAILS="7",
    )


@pytest.mark.skipif(not EMULATED, reason="machine: a real GPU")
@pytest.mark.parametrize(
    "environment",
    [{"PENSTOCK_EMULATED_DECODER": "0"}, {"PENSTOCK_EMULATED_DECODER_FAILS": "3"}],
    ids=["absent", "fails"],
)
def test_the_decoder_is_absent_or_fails(jpegs, environment):
    run(
        f"""
        import glob, numpy as np
        from penstock import Pipeline, fn
        pipes = []
        for device in ("cpu", "mixed"):
            with Pipeline(batch_size=5, num_threads=2, seed=3, device_id=0) as pipe:
                encoded, _ = fn.readers.file(files=sorted(glob.glob({str(jpegs)!r} + "/*.jpg")), random_shuffle=True)
                image = fn.decoders.image(encoded, device=device)
                pipe.set_outputs(fn.random_resized_crop(image, size=[16, 16]), image)
            pipes.append(pipe)
        for _ in range(9):
            for want, got in zip(*(p.run() for p in pipes)):
                for w, g in zip(want.as_cpu(), got.as_cpu()):
                    np.testing.assert_array_equal(np.array(g), np.array(w))
        """,
        **environment,
    )


def test_a_steady_iteration_asks_for_one_copy_and_one_launch(order):
    """A batch of a user's own arrays has one order for all of them, not one for each."""
    arrays = [np.full((3 + i % 5, 4 + i % 3, 3), i, np.uint8) for i in range(32)]
    batch = penstock.batch(
        [a for a in penstock.batch(arrays, layout="HWC").gpu()], layout="HWC"
    )  # an owner for each sample

    @pipeline_def(batch_size=32, num_threads=1, device_id=0, prefetch_queue_depth=1)
    def pipeline():
        x = fn.external_source(source=lambda: batch, device="gpu", layout="HWC")
        x = fn.random_resized_crop(x, size=[2, 2], antialias=False)
        return fn.crop_mirror_normalize(
            x, dtype=types.FLOAT16, output_layout="CHW", crop=(2, 2), mirror=fn.random.coin_flip()
        )

    p = pipeline()
    p.build()
    for _ in range(3):
        p.run()
    start = len(order())
    for _ in range(8):
        p.run()
    lines = order()[start:]

    def count(what):
        return sum(what in line for line in lines)

    # At each end of what is counted the executor is at rest, as far ahead as it may be.
    assert count("launch") == 8 and count("copy") == 8
    assert count("record event") <= 3 * 8 and count("waits for event") <= 3 * 8
    assert count("notify") <= 2 * 8 and count("host waits") == 0
