# SPDX-License-Identifier: Apache-2.0
"""python_function: the user's function for samples and batches, in threads and processes, in bodies; against NumPy and DALI."""

import json
import os
import subprocess
import sys
import threading
import time
import weakref

import dali_oracle
import numpy as np
import pytest
from threads_at_rest import wait_for_rest

import penstock
from penstock import Pipeline, fn, pipeline_def, types

IMAGES = [np.random.default_rng(i).integers(0, 256, (10 + i, 12, 3), dtype=np.uint8) for i in range(6)]
FLAT = [np.random.default_rng(i).normal(size=(4, 5)).astype(np.float32) for i in range(6)]


def pipe(body, *sources, batch_size=6, num_threads=2, batches=None, **options):
    """A pipeline of body(value, ...) over the same batch, `batches` times or forever."""

    @pipeline_def(batch_size=batch_size, num_threads=num_threads, seed=3, **options)
    def made():
        def source_of(data):
            def source(i):
                if batches is not None and i >= batches:
                    raise StopIteration
                return data

            return fn.external_source(source)

        return body(*[source_of(s) for s in sources])

    return made()


def arrays(batch):
    return [t.numpy() for t in batch]


def equal(batch, wanted):
    got = arrays(batch)
    return len(got) == len(wanted) and all(
        a.dtype == b.dtype and a.shape == b.shape and (a == b).all() for a, b in zip(got, wanted)
    )


def flipped(x):
    return x[:, ::-1]


def sum_and_mean(x):
    return x.sum(dtype=np.int64), np.float32(x.mean())


@pytest.mark.parametrize(
    "options", [{}, {"num_workers": 3}, {"processes": True}, {"processes": True, "num_workers": 2}], ids=str
)
def test_samples(options):
    p = pipe(
        lambda x: (
            fn.python_function(x, function=flipped, **options),
            *fn.python_function(x, function=sum_and_mean, num_outputs=2, **options),
        ),
        IMAGES,
    )
    for _ in range(3):
        out, total, mean = p.run()
        assert equal(out, [x[:, ::-1] for x in IMAGES])
        assert equal(total, [x.sum(dtype=np.int64) for x in IMAGES]) and equal(
            mean, [np.float32(x.mean()) for x in IMAGES]
        )
    p.close()


@pytest.mark.parametrize("options", [{}, {"num_workers": 2}, {"processes": True}], ids=str)
def test_batches(options):
    p = pipe(
        lambda x, y: fn.python_function(
            x,
            y,
            function=lambda xs, ys: ([x + 1 for x in xs], np.stack(ys).sum((1, 2))),
            num_outputs=2,
            batch_processing=True,
            **options,
        ),
        IMAGES,
        FLAT,
    )
    out, sums = p.run()
    assert equal(out, [x + 1 for x in IMAGES]) and equal(sums, list(np.stack(FLAT).sum((1, 2))))
    p.close()


def test_layouts_and_later_operators():
    p = pipe(lambda x: fn.flip(fn.python_function(x, function=flipped, output_layouts="HWC")), IMAGES)
    (out,) = p.run()
    assert out.layout() == "HWC" and equal(out, IMAGES)
    p = pipe(lambda x: fn.python_function(x, function=lambda v: (v, v), num_outputs=2, output_layouts=["HWC"]), IMAGES)
    assert [b.layout() for b in p.run()] == ["HWC", ""]
    p = pipe(lambda x: fn.python_function(x, function=lambda v: (v, v), num_outputs=2, output_layouts="HWC"), IMAGES)
    assert [b.layout() for b in p.run()] == ["HWC", "HWC"]


def test_inputs_share_the_pipelines_memory_and_are_read_only():
    seen = []

    def look(x):
        seen.append((x.flags.writeable, x.flags.owndata))
        return x

    a, b = pipe(lambda x: (x, fn.python_function(x, function=look)), IMAGES).run()
    assert set(seen) == {(False, False)} and equal(a, IMAGES) and equal(b, IMAGES)


def test_a_buffer_that_the_program_uses_again_is_copied():
    buffer = np.zeros(3, np.int32)

    def again(x):
        buffer[:] = x.shape[0]
        return buffer

    p = pipe(lambda x: fn.python_function(x, function=again) + 0, IMAGES)
    for _ in range(3):
        assert equal(p.run()[0], [np.full(3, len(x), np.int32) for x in IMAGES])


def test_results_of_other_kinds():
    import torch

    p = pipe(
        lambda x: (
            fn.python_function(x, function=lambda v: torch.from_numpy(v + 1)),
            fn.python_function(x, function=lambda v: 2.5),
            fn.python_function(x, function=lambda v: v[0, 0, 0]),
        ),
        IMAGES,
    )
    a, b, c = p.run()
    assert (
        equal(a, [x + 1 for x in IMAGES]) and equal(b, [np.float32(2.5)] * 6) and equal(c, [x[0, 0, 0] for x in IMAGES])
    )


def test_nothing_but_effects():
    calls = []

    def body(x):
        assert fn.python_function(x, function=lambda v: calls.append(v.shape), num_outputs=0) == []
        return x

    p = pipe(body, IMAGES, batches=2)
    list(p)
    assert calls == [x.shape for x in IMAGES] * 2


def test_without_inputs():
    p = pipe(lambda: fn.python_function(function=lambda: np.int32(7)), batch_size=3)
    assert equal(p.run()[0], [np.int32(7)] * 3)


def test_in_conditions_and_loops():
    took = []

    def body(x):
        n = fn.python_function(x, function=lambda v: np.int32(v.shape[0]))
        if n > 12:
            fn.python_function(n, function=lambda v: took.append(int(v)), num_outputs=0)
            n = fn.python_function(n, function=lambda v: v * 10)
        k = 0
        while k < n - 10:
            k = fn.python_function(k, function=lambda v: v + 3)
        return n, k

    @pipeline_def(batch_size=6, num_threads=2)
    def made():
        return body(fn.external_source(lambda: IMAGES, dtype=types.UINT8, ndim=3))

    n, k = made().run()
    wanted = [len(x) * (10 if len(x) > 12 else 1) for x in IMAGES]
    assert arrays(n) == wanted and arrays(k) == [-(-max(0, w - 10) // 3) * 3 for w in wanted]
    assert sorted(set(took)) == [13, 14, 15]


def test_batches_come_in_their_order():
    seen = []

    def body(x):
        y = fn.gaussian_blur(x, sigma=1.0)
        return fn.python_function(
            y, function=lambda ys: seen.append(len(seen)) or [np.int32(seen[-1])] * len(ys), batch_processing=True
        )

    p = pipe(body, IMAGES, num_threads=4, prefetch_queue_depth=4)
    assert [int(arrays(p.run()[0])[0]) for _ in range(20)] == list(range(20))


def test_threads_of_the_pipeline_go_on_while_functions_wait():
    waits = threading.Event()

    def body(x):
        return fn.python_function(x, function=lambda v: waits.wait(120) and v[:1])

    p = pipe(body, IMAGES, num_threads=1, prefetch_queue_depth=3)
    other = pipe(lambda x: fn.flip(x), IMAGES, num_threads=1)
    p.schedule_run()
    p.schedule_run()
    time.sleep(0.1)
    sources = {s["name"]: s["samples"] for s in p.executor_statistics()["stages"]}
    other.run()
    waits.set()
    assert equal(p.outputs()[0], [x[:1] for x in IMAGES])
    assert "python_function" in sources


def test_several_threads_wait_at_the_same_time():
    inside, both, met = threading.Semaphore(1), threading.Event(), []

    def wait(x):
        if not inside.acquire(blocking=False):  # another one is there
            both.set()
        met.append(both.wait(60))
        return x

    pipe(lambda x: fn.python_function(x, function=wait, num_workers=3), IMAGES, prefetch_queue_depth=1).run()
    assert met and all(met)


def test_the_error_and_what_follows():
    def refuse(x):
        if len(x) == 12 and len(errors) < 2:
            raise KeyError("no twelve")
        return x

    errors = []
    p = pipe(lambda x: fn.python_function(x, function=refuse, name="mine"), IMAGES, prefetch_queue_depth=1)
    for _ in range(2):
        with pytest.raises(penstock.FunctionError) as caught:
            p.run()
        errors.append(caught.value)
    assert isinstance(errors[0], RuntimeError) and type(errors[0].__cause__) is KeyError
    assert errors[0].sample == 2 and errors[0].operator == "mine" and errors[0].position == (0, 2)
    assert equal(p.run()[0], IMAGES)


def test_data_errors_follow_the_policy():
    def refuse(x):
        if len(x) in (11, 14):
            raise penstock.DataError("too thin")
        return x

    def body(x):
        return x, fn.python_function(x, function=refuse)

    with pytest.raises(penstock.DataError, match=r"\[python_function\] too thin"):
        pipe(body, IMAGES).run()
    p = pipe(body, IMAGES, on_error="skip")
    kept = [x for x in IMAGES if len(x) not in (11, 14)]
    a, b = p.run()
    assert equal(a, kept) and equal(b, kept) and len(p.left_out()) == 2
    with pytest.raises(penstock.DataError):
        pipe(body, IMAGES, on_error="replace").run()


def test_a_killed_worker_is_an_error():
    p = pipe(lambda x: fn.python_function(x, function=lambda v: os._exit(3), processes=True), IMAGES)
    with pytest.raises(
        penstock.WorkerError,
        match=r"worker process \d+ of the function '<lambda>' ended with exit code 3 before it gave",
    ) as e:
        p.run()
    assert e.value.exitcode == 3 and e.value.signal is None
    p.close()


def test_spawned_processes_need_what_can_be_pickled():
    with open(os.devnull) as file:
        p = pipe(
            lambda x: fn.python_function(x, function=lambda v: file, processes=True), IMAGES, py_start_method="spawn"
        )
        with pytest.raises(TypeError, match=r"\[python_function\] the function cannot be sent to a worker process"):
            p.run()
    p = pipe(
        lambda x: fn.python_function(x, function=lambda v: v[::2], processes=True), IMAGES, py_start_method="spawn"
    )
    assert equal(p.run()[0], [x[::2] for x in IMAGES])
    p.close()


def test_cannot_be_saved(tmp_path):
    p = pipe(lambda x: fn.python_function(x, function=flipped, name="mine"), IMAGES)
    file = tmp_path / "kept"
    file.write_text("an earlier one")
    for save in (p.to_json, p.serialize, lambda: p.save(file)):
        with pytest.raises(
            ValueError,
            match=r"\[python_function\] the pipeline cannot be saved: 'mine' calls a function of this program",
        ):
            save()
    assert file.read_text() == "an earlier one"


def test_a_saved_form_that_names_one_does_not_run():
    p = pipe(lambda x: fn.python_function(x, function=flipped, name="mine"), IMAGES)
    p.build()
    text = p._pipeline.to_json()
    loaded = Pipeline.deserialize(text)
    loaded.feed_input(json.loads(text)["graph"]["nodes"][0]["name"], IMAGES)
    with pytest.raises(
        ValueError, match="'mine' calls a function of a program, which a saved pipeline does not contain"
    ):
        loaded.run()


def test_at_once():
    assert (fn.python_function(np.arange(4), function=lambda x: x * 2) == np.arange(4) * 2).all()
    assert equal(fn.python_function(IMAGES, function=flipped), [flipped(x) for x in IMAGES])
    with pytest.raises(penstock.FunctionError, match="raised ZeroDivisionError"):
        fn.python_function(np.arange(4), function=lambda x: 1 // 0)


def test_capsules():
    import torch

    def double(capsule):
        return torch.utils.dlpack.to_dlpack(torch.utils.dlpack.from_dlpack(capsule) * 2)

    p = pipe(lambda x: fn.dl_tensor_python_function(x, function=double), IMAGES)
    assert equal(p.run()[0], [x * 2 for x in IMAGES])


def test_memory_is_given_back():
    alive = []

    class Counted(np.ndarray):
        pass

    def give(x):
        a = np.zeros((1000, 1000), np.uint8).view(Counted)
        alive.append(weakref.ref(a))
        return np.zeros((500, 500), np.uint8)

    p = pipe(lambda x: fn.python_function(x, function=give) + 1, IMAGES, num_threads=2)
    for _ in range(20):
        p.run()
    p.close()
    wait_for_rest()
    assert sum(r() is not None for r in alive) <= 1


def test_a_program_that_ends_while_its_function_runs():
    code = """
import numpy as np, time
from penstock import fn, pipeline_def
@pipeline_def(batch_size=2, num_threads=1)
def p():
    return fn.python_function(function=lambda: time.sleep(0.2) or np.zeros(3))
q = p()
q.schedule_run()
time.sleep(0.05)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=240).returncode == 0


DALI_PROGRAM = """
import json, sys
import numpy as np
from nvidia.dali import fn, pipeline_def, types
@pipeline_def(batch_size=6, num_threads=2, device_id=None, seed=1, exec_dynamic=True)
def p():
    x = fn.external_source(lambda: images)
    a = fn.python_function(x, function=lambda v: np.ascontiguousarray(v[:, ::-1]))
    b, c = fn.python_function(x, function=lambda v: (v.mean(axis=(0, 1)), np.array(v.shape)), num_outputs=2)
    d = fn.python_function(x, x, function=lambda l, m: [i + j for i, j in zip(l, m)], batch_processing=True)
    return a, b, c, d
images = [np.random.default_rng(i).integers(0, 256, (10 + i, 12, 3), dtype=np.uint8) for i in range(6)]
"""


@pytest.mark.skipif(not dali_oracle.available(), reason="DALI is not installed")
def test_gives_what_dali_gives():
    ours = {}
    exec(DALI_PROGRAM.replace("nvidia.dali", "penstock").replace("np.ascontiguousarray", ""), ours)
    show = """
q = p()
q.build()
print(json.dumps([[[str(np.array(o.at(i)).dtype), np.array(o.at(i)).tolist()] for i in range(6)] for o in q.run()]))
"""
    theirs = subprocess.run(
        [dali_oracle.interpreter(), "-c", DALI_PROGRAM + show], capture_output=True, text=True, timeout=120
    )
    assert theirs.returncode == 0, theirs.stderr
    got = [[[str(t.numpy().dtype), t.numpy().tolist()] for t in b] for b in ours["p"]().run()]
    assert got == json.loads(theirs.stdout.strip().split("\n")[-1])
