# SPDX-License-Identifier: Apache-2.0
"""Every random operator of the registry draws on a GPU what it draws on the CPU: by its seed, for all inputs of one call."""

import pytest
from random_calls import CALLS, RANDOM, SIZE, bytes_of, call, layouts

import penstock
from penstock import Pipeline, _core, fn

if _core.gpu_why_not():
    pytest.skip(f"machine: no GPU ({_core.gpu_why_not()})", allow_module_level=True)


def run(name, on_gpu, debug=False):
    def define():
        decodes = name.startswith("decoders.")
        made = [
            fn.external_source(lambda info, x=x: x, batch=False, layout=layout)
            for x, layout in zip(CALLS[name][0], layouts(name))
        ]
        options = {"device": "mixed" if decodes else "gpu"} if on_gpu and (decodes or not made) else {}
        if on_gpu and not decodes:
            made = [m.gpu() for m in made]
        calls = [
            call(name, made, seed=11, **options),
            call(name, made, seed=11, **options),
            call(name, made, **options),
            call(name, made, **options),
        ]
        if made:
            sets = call(name, [[m, m] for m in made], **options)
            calls += [list(s) for s in zip(*sets)] if isinstance(sets[0], list) else [[x] for x in sets]
        counts.extend(len(c) for c in calls)
        return tuple(x for c in calls for x in c)

    counts = []
    if debug:
        pipe = penstock.pipeline_def(define)(batch_size=SIZE, num_threads=2, seed=3, debug=True)
    else:
        pipe = Pipeline(batch_size=SIZE, num_threads=2, seed=3)
        with pipe:
            pipe.set_outputs(*define())
    out, got = list(pipe.run()), []
    for n in counts:
        got.append(bytes_of(out[:n]))
        del out[:n]
    pipe.close()
    return got


@pytest.mark.parametrize("name", RANDOM)
def test_draws_on_a_gpu(name):
    got = run(name, True)
    first, second, alone, other, *sets = got
    assert first == second and sets[:1] == sets[1:]
    different = [first, alone, other, *sets[:1]]
    assert len({str(x) for x in different}) == len(different)
    want = run(name, False)
    if name.startswith("decoders."):  # pixels of another decoder
        got, want = [[[shape for shape, _ in x] for x in numbers] for numbers in (got, want)]
    else:
        assert run(name, True, debug=True) == got
    assert got == want


def test_operators_of_one_kernel_draw_by_their_own_seeds():
    def define(place):
        image = place(fn.external_source(lambda info: CALLS["random_resized_crop"][0][0], batch=False, layout="HWC"))
        return [
            fn.random_resized_crop(fn.random_resized_crop(image, size=[20, 30], seed=1), size=[9, 10], seed=s)
            for s in (2, 3, 2)
        ]

    results = []
    for place in (lambda x: x, lambda x: x.gpu()):
        pipe = Pipeline(batch_size=SIZE, num_threads=2, seed=3)
        with pipe:
            pipe.set_outputs(*define(place))
        results.append([bytes_of([b]) for b in pipe.run()])
    assert results[1][0] == results[1][2] != results[1][1]
    assert [[shape for shape, _ in b] for b in results[0]] == [[shape for shape, _ in b] for b in results[1]]


def test_immediate_calls_on_a_gpu_draw_by_their_seed():
    image = penstock.batch([CALLS["jitter"][0][0]] * 4, layout="HWC")
    for name in ("noise.gaussian", "random_resized_crop", "jitter"):
        here, there = ([bytes_of(call(name, [b], seed=5)) for _ in range(2)] for b in (image, image.gpu()))
        assert here[0] == here[1] and there[0] == there[1] and here == there
        penstock.seed(1)
        one, same = call(name, [[image.gpu()] * 2])
        assert bytes_of([one]) == bytes_of([same]) != bytes_of(call(name, [image.gpu()]))
        penstock.seed(1)
        assert bytes_of(call(name, [image])) == bytes_of([one])
    penstock.seed(None)
