# SPDX-License-Identifier: Apache-2.0
"""Random calls of the operators on boxes and labels; a part of strategies.py."""

import numpy as np
import reference as ref
import strategies
from hypothesis import strategies as st
from operator_calls import Case


def boxes(draw, least=0, layout="xyXY"):
    """Batches of float32 boxes in units of their image."""
    seed, n = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 3))
    made = []
    for i in range(n):
        rng = np.random.default_rng(seed + i)
        corners = np.sort(rng.random((rng.integers(least, 6), 2, 2), np.float32), 1).reshape(-1, 4)
        if layout == "xyWH":
            corners[:, 2:] -= corners[:, :2]
        made.append(corners)
    return made


def bb_flip(draw):
    xs = boxes(draw)
    given = strategies.arguments(draw, len(xs), {"horizontal": st.integers(0, 1), "vertical": st.integers(0, 1)})
    given[0]["ltrb"] = draw(st.booleans())
    return Case([xs], [""], *given, dtype="float32", expected=lambda i: ref.bb_flip(xs[i], **strategies.of(given, i)))


def bbox_paste(draw):
    xs = boxes(draw)
    given = strategies.arguments(
        draw, len(xs), {"paste_x": strategies.number(0, 1), "paste_y": strategies.number(0, 1)}
    )
    given[1]["ratio"] = [draw(strategies.number(1, 4)) for _ in xs]
    given[0]["ltrb"] = draw(st.booleans())
    return Case(
        [xs], [""], *given, dtype="float32", expected=lambda i: ref.bbox_paste(xs[i], **strategies.of(given, i))
    )


def one_hot(draw):
    n, dims, dtype = draw(st.integers(1, 3)), draw(st.integers(0, 3)), draw(st.sampled_from(strategies.DTYPES))
    classes, out, seed = (
        draw(st.integers(1, 7)),
        draw(st.sampled_from(strategies.NUMBERS)),
        draw(st.integers(0, 2**32 - 1)),
    )
    shapes = [tuple(draw(st.integers(0, 4)) for _ in range(dims)) for _ in range(n)]
    xs = [np.random.default_rng(seed + i).integers(0, classes + 1, s).astype(dtype) for i, s in enumerate(shapes)]
    axis = draw(st.none() | st.integers(-1, dims))
    on, off = draw(st.integers(-3, 300)), draw(st.integers(-3, 300))
    vectors = axis is None and all(x.size == 1 for x in xs)
    place = -1 if axis is None else axis
    constants = {
        "num_classes": classes,
        "dtype": out,
        "on_value": float(on),
        "off_value": float(off),
        **({} if axis is None else {"axis": axis}),
    }

    def expected(i):
        x = xs[i].reshape(()) if vectors else xs[i]
        return ref.to_dtype(ref.one_hot(x, num_classes=classes, axis=place, on_value=on, off_value=off), out)

    return Case(
        [xs], [""], constants, dtype=out, expected=expected, error=0.0, alone={} if vectors else {"axis": place}
    )


def coord_transform(draw):
    n, dims, dtype = draw(st.integers(1, 3)), draw(st.integers(0, 2)), draw(st.sampled_from(strategies.NUMBERS))
    columns, rows, seed = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(0, 2**32 - 1))
    xs = [
        strategies.values(dtype, tuple(draw(st.integers(0, 5)) for _ in range(dims)) + (columns,), seed + i)
        for i in range(n)
    ]
    vector = lambda k: st.lists(strategies.number(-2, 2), min_size=k, max_size=k)
    how = draw(st.sampled_from(["nothing", "M", "M and T", "MT", "T", "one M", "one MT"]))
    wanted = {
        "M": {"M": vector(rows * columns)},
        "M and T": {"M": vector(rows * columns), "T": vector(rows)},
        "MT": {"MT": vector(rows * (columns + 1))},
        "T": {"T": vector(columns)},
        "one M": {"M": vector(1), "T": vector(1)},
        "one MT": {"MT": vector(1)},
    }.get(how, {})
    constants, per_sample = {}, {}
    for name, value in wanted.items():
        if draw(st.booleans()):
            constants[name] = draw(value)
        else:
            per_sample[name] = [draw(value) for _ in xs]
    out = draw(st.sampled_from(strategies.NUMBERS))
    constants["dtype"] = out
    largest = 40 * max([1.0] + [float(np.abs(x.astype(np.float64)).max()) for x in xs if x.size])
    return Case(
        [xs],
        [""],
        constants,
        per_sample,
        dtype=out,
        largest=largest,
        error=1e-6,
        expected=lambda i: ref.coord_transform(
            xs[i], **{k: v for k, v in strategies.of((constants, per_sample), i).items() if k != "dtype"}
        ),
    )


def bbox_rotate(draw):
    layout = draw(st.sampled_from(["xyXY", "xyWH"]))
    xs = boxes(draw, layout=layout)
    images = [[draw(st.integers(10, 60)), draw(st.integers(10, 60))] for _ in xs]
    angles = [draw(st.integers(-180, 180).map(float)) for _ in xs]
    mode, keep = draw(st.sampled_from(["expand", "fixed", "halfway"])), draw(st.booleans())
    threshold = draw(strategies.number(0, 0.9))
    constants = {"bbox_layout": layout, "mode": mode, "keep_size": keep, "remove_threshold": threshold}

    def expected(i):
        canvas = images[i] if keep else ref.rotate_size(images[i], angles[i])
        return ref.bbox_rotate(
            xs[i], angle=angles[i], image=images[i], canvas=canvas, mode=mode, remove_threshold=threshold, layout=layout
        )[0]

    return Case([xs], [""], constants, {"input_shape": images, "angle": angles}, dtype="float32", expected=expected)


def box_encoder(draw):
    xs = boxes(draw)
    labels = [np.arange(1, 1 + len(x), dtype=np.int32) for x in xs]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    anchors = np.sort(rng.random((draw(st.integers(1, 20)), 2, 2), np.float32), 1).reshape(-1, 4)
    constants = {"criteria": draw(strategies.number(0, 1))}
    if draw(st.booleans()):
        constants.update(
            offset=True,
            scale=draw(strategies.number(1, 300)),
            means=[draw(strategies.number(-1, 1)) for _ in range(4)],
            stds=[draw(strategies.number(0.5, 2)) for _ in range(4)],
        )
    return Case(
        [xs, labels],
        ["", ""],
        {"anchors": anchors.ravel().tolist(), **constants},
        dtype="float32",
        expected=lambda i: ref.box_encoder(xs[i], labels[i], anchors=anchors, **constants)[0],
    )


def random_bbox_crop(draw):
    """The window is the whole image, so that nothing is random; what is random has tests of its own."""
    xs = boxes(draw)
    return Case([xs], [""], {}, dtype="float32", expected=lambda i: np.zeros(2))


CASES = {
    f.__name__: f for f in (bb_flip, bbox_paste, one_hot, coord_transform, bbox_rotate, box_encoder, random_bbox_crop)
}
