# SPDX-License-Identifier: Apache-2.0
"""Expressions of several values become one stage along each of their operands, and keep the bytes of one operator at a time."""

import numpy as np
import pytest

from penstock import fn, pipeline_def, types

RNG = np.random.default_rng(7)
IMAGES = [RNG.integers(0, 256, (6 + k, 9, 3), np.uint8) for k in range(3)]
BACK = [RNG.integers(0, 256, (6 + k, 9, 3), np.uint8) for k in range(3)]
MASKS = [RNG.random((6 + k, 9, 1), np.float32) for k in range(3)]
WEIGHTS = [np.int32(k - 1) for k in range(3)]


def giver(values):
    return lambda: values


def make(body):
    @pipeline_def(batch_size=3, num_threads=2, seed=1)
    def pipe():
        given = [(IMAGES, types.UINT8, "HWC"), (BACK, types.UINT8, "HWC"), (MASKS, types.FLOAT, "HWC")]
        values = [fn.external_source(giver(s), dtype=t, layout=layout) for s, t, layout in given]
        values.append(fn.external_source(lambda: WEIGHTS, dtype=types.INT32, ndim=0))
        return body(*values)

    return pipe()


def run(body):
    p = make(body)
    return [[np.array(t.numpy()) for t in b] for b in p.run()], p.text(planned=True)


def stages(text):
    return [line for line in text.splitlines() if line.startswith("stage")]


@pytest.mark.parametrize(
    "body,count",
    [
        (lambda p, b, m, w: m * p + (1 - m) * b, 1),
        (lambda p, b, m, w: (p - b) * m + b, 1),
        (lambda p, b, m, w: b - m * p, 1),
        (lambda p, b, m, w: fn.where(m > 0.5, p, b) + w, 1),
        (lambda p, b, m, w: fn.where(m > w, p * 2, b - 1), 1),
        (
            lambda p, b, m, w: fn.flip(m * p, horizontal=1) + (1 - m) * b,
            3,
        ),  # a picture that is moved waits for its pixels
        (lambda p, b, m, w: fn.normalize(p) + m * b, 1),
    ],
)
def test_how_many_stages(body, count):
    found = stages(run(body)[1])
    assert len(found) == count, found


def expression(rng, depth, used):
    """A random expression over p, b, m, w as Python text; each of `used` is there already."""
    pick = lambda *choices: choices[rng.integers(len(choices))]  # noqa: E731
    if depth == 0 or rng.random() < 0.1:
        return pick("p", "b", "m", "w", "p", "b", *used)
    a, c = expression(rng, depth - 1, used), expression(rng, depth - 1, used)
    kind = rng.integers(12)
    if kind < 6:
        return f"({a} {pick('+', '-', '*', '+', '*')} {c})"
    if kind < 8:
        return f"fn.where({expression(rng, depth - 1, used)} {pick('>', '<=', '!=')} {c}, {a}, {pick(c, '3', '0.5')})"
    if kind == 8:
        return f"fn.cast({a}, dtype=types.{pick('UINT8', 'INT16', 'FLOAT', 'FLOAT64', 'INT64')})"
    if kind == 9:
        return f"({pick('2', '0.25', '-1')} - {a})"
    if kind == 10:
        return f"fn.brightness_contrast({pick('p', 'b')}, brightness=1.1) * {c}"
    return f"fn.where({a}, {c}, {a})"


@pytest.mark.parametrize("seed", range(40))
def test_random_expressions_keep_their_bytes(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    texts = [expression(rng, 4, ["s"]) for _ in range(2)]
    program = f"lambda p, b, m, w: (lambda s: ({', '.join(texts)}))({expression(rng, 2, [])})"
    body = eval(program, {"fn": fn, "types": types})
    monkeypatch.delenv("PENSTOCK_EXEC", raising=False)
    one, _ = run(body)
    monkeypatch.setenv("PENSTOCK_EXEC", "simple")
    other, _ = run(body)
    for a, b in zip(one, other, strict=True):
        for x, y in zip(a, b, strict=True):
            assert x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes(), program


TYPES = [
    np.bool_,
    np.uint8,
    np.int8,
    np.uint16,
    np.int16,
    np.uint32,
    np.int32,
    np.uint64,
    np.int64,
    np.float16,
    np.float32,
    np.float64,
]


@pytest.mark.parametrize("condition", TYPES)
def test_conditions_of_all_types(condition):
    """True where the element is not 0, even if it is very small, very large, or 0 in the type of the chosen value."""
    if condition == np.bool_:
        c = np.array([0, 1, 0, 1], bool)
    elif np.issubdtype(condition, np.integer):
        info = np.iinfo(condition)
        c = np.array([0, info.max, info.min, info.max // 2 + 1], condition)
    else:
        c = np.array([0.0, np.finfo(condition).tiny, -0.0, np.nan], condition)
    for chosen in TYPES:
        a, b = np.array([1, 0, 1, 1], bool).astype(chosen), np.array([0, 1, 0, 0], bool).astype(chosen)
        if np.issubdtype(chosen, np.integer):
            a[1:], b[0] = np.iinfo(chosen).max, np.iinfo(chosen).min
        np.testing.assert_array_equal(fn.where(c, a, b), np.where(c != 0, a, b), err_msg=f"{condition} {chosen}")


def test_shapes_and_layouts():
    picture, other = IMAGES[0], BACK[0]
    mask = MASKS[0][:, :, 0] > 0.5
    np.testing.assert_array_equal(
        fn.where(mask[:, :, None], picture, other), np.where(mask[:, :, None], picture, other)
    )
    np.testing.assert_array_equal(fn.where(np.array(True), picture, other), picture)
    np.testing.assert_array_equal(
        fn.where(mask, np.float32(2), np.int32(3)), np.where(mask, np.float32(2), np.float32(3))
    )
    np.testing.assert_array_equal(
        fn.where(picture > 7, picture, np.arange(9, dtype=np.uint8)[:, None]),
        np.where(picture > 7, picture, np.arange(9, dtype=np.uint8)[:, None]),
    )
    assert fn.where(np.zeros((2, 0), bool), np.zeros((2, 0), np.uint8), np.uint8(1)).shape == (2, 0)
