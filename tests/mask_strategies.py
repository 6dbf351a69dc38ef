# SPDX-License-Identifier: Apache-2.0
"""Random calls of the operators on masks; a part of strategies.py. What they draw is drawn from one thing only."""

import numpy as np
import reference as ref
import strategies
from hypothesis import strategies as st
from operator_calls import Case


def grid_mask(draw):
    xs, layout, dtype = strategies.images(draw, ["HWC", "CHW", "HW", "FHWC"])
    given = strategies.arguments(
        draw,
        len(xs),
        {
            "tile": st.integers(1, 60),
            "ratio": strategies.number(-0.25, 1.25),
            "angle": strategies.number(-3, 3),
            "shift_x": strategies.number(-50, 50),
            "shift_y": strategies.number(-50, 50),
        },
    )
    return Case(
        [xs],
        [layout],
        *given,
        dtype=dtype,
        error=0.0,
        expected=lambda i: ref.grid_mask(xs[i], layout=layout, **strategies.of(given, i)),
    )


def _shape(draw):
    return tuple(draw(st.integers(1, 9)) for _ in range(draw(st.integers(1, 3))))


def random_mask_pixel(draw):
    shape, dtype = _shape(draw), draw(st.sampled_from(strategies.DTYPES))
    xs = [np.zeros(shape, dtype) for _ in range(draw(st.integers(1, 3)))]
    for x in xs:
        x[tuple(draw(st.integers(0, n - 1)) for n in shape)] = 1
    constants = draw(st.sampled_from([{}, {"threshold": 0.5}, {"value": 1}]))
    return Case(
        [xs], [""], {"foreground": 1, **constants}, dtype="int64", expected=lambda i: ref.random_mask_pixel(xs[i])
    )


def random_object_bbox(draw):
    """One box of a label, or nothing."""
    shape, dtype = _shape(draw), draw(st.sampled_from(["bool", *strategies.INTEGERS]))
    xs = [np.zeros(shape, dtype) for _ in range(draw(st.integers(1, 3)))]
    for x in xs:
        x[tuple(slice(*sorted((draw(st.integers(0, n)), draw(st.integers(0, n))))) for n in shape)] = 1
    form = draw(st.sampled_from(["anchor_shape", "start_end", "box"]))
    return Case(
        [xs], [""], {"format": form}, dtype="int32", expected=lambda i: ref.random_object_bbox(xs[i], format=form)
    )


def select_masks(draw):
    n, seed, inputs = draw(st.integers(1, 3)), draw(st.integers(0, 2**32 - 1)), ([], [], [])
    for i in range(n):
        rng = np.random.default_rng(seed + i)
        masks, vertices = int(rng.integers(1, 6)), int(rng.integers(0, 30))
        ranges = np.sort(rng.integers(0, vertices + 1, (masks + 2, 2)), 1)
        names = np.concatenate([np.arange(masks), rng.integers(0, masks, 2)])
        inputs[0].append(rng.permutation(masks)[: rng.integers(0, masks + 1)].astype(np.int32))
        inputs[1].append(np.column_stack([names, ranges]).astype(np.int32))
        inputs[2].append(rng.random((vertices, 2), np.float32))
    reindex = draw(st.booleans())
    return Case(
        list(inputs),
        ["", "", ""],
        {"reindex_masks": reindex},
        dtype="int32",
        expected=lambda i: ref.select_masks(*[x[i] for x in inputs], reindex_masks=reindex)[0],
    )


CASES = {
    "grid_mask": grid_mask,
    "segmentation.random_mask_pixel": random_mask_pixel,
    "segmentation.random_object_bbox": random_object_bbox,
    "segmentation.select_masks": select_masks,
}
