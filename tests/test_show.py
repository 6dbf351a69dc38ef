# SPDX-License-Identifier: Apache-2.0
"""Pictures of batches and samples: what is drawn, and where."""

import numpy as np
import penstock
import pytest
from penstock import fn
from penstock.pictures import show
from penstock.pictures.captions import captions_of
from penstock.pictures.marks import COLORS, corners
from penstock.pictures.pixels import kind_of
from penstock.sample import Boxes, Mask, Sample

GRAY = np.full((100, 100, 3), 128, np.uint8)


def pixels(sheet):
    return np.asarray(sheet)[4:-4, 4:-4]


def test_boxes_are_drawn_where_they_are():
    box = np.float32([[20, 30, 60, 80]])
    for layout, values in (("ltrb", box), ("xywh", box - [[0, 0, 20, 30]]), ("cxcywh", np.float32([[40, 55, 40, 50]]))):
        got = pixels(show(GRAY, size=100, boxes=values, box_layout=layout))
        assert got.shape == (100, 100, 3)
        drawn = np.argwhere((got == COLORS[0]).all(2))
        assert (drawn.min(0) == (30, 20)).all() and (drawn.max(0) == (79, 59)).all()
        assert (got[35:75, 25:55] == 128).all()


def test_normalized_boxes_are_fractions():
    np.testing.assert_allclose(
        corners(np.float32([[0.5, 0.5, 1, 1]]), "cxcywh", True, (40, 20)), [[0, 0, 40, 20]], atol=1e-5
    )


def test_masks_tint_all_classes_but_0():
    mask = np.zeros((100, 100), np.int32)
    mask[:50] = 3
    got = pixels(show(GRAY, size=100, masks=[mask]))
    assert (got[50:] == 128).all() and (np.abs(got[:50] - (128.0 + np.array(COLORS[3])) / 2) <= 1).all()


def test_points_labels_and_names():
    got = pixels(show(GRAY, size=100, points=[[10.0, 90.0]]))
    assert (got[90, 10] == COLORS[0]).all() and (got[50, 50] == 128).all()
    plain, named = show(GRAY, size=100), show(GRAY, size=100, labels=[1], names=["cat", "dog"])
    assert named.height == plain.height + 13 and np.asarray(named)[104:].min() < 128
    np.testing.assert_array_equal(named, show(GRAY, size=100, labels=["dog"]))
    np.testing.assert_array_equal(named, show(GRAY, size=100, labels=np.int64([7]), names={7: "dog"}))


def test_a_sample_shows_its_parts_and_what_it_was():
    mask = np.zeros((40, 60), np.uint8)
    mask[:, :30] = 1
    sample = Sample(
        image=np.full((40, 60, 3), 100, np.uint8), mask=Mask(mask), boxes=Boxes(np.float32([[5, 5, 25, 35]]))
    )
    sheet = pixels(show(fn.flip(sample), before=sample, size=60))
    assert sheet.shape == (40, 121, 3)
    assert (sheet[20, 45] == 100).all() and (sheet[20, 20] != 100).any()
    assert (sheet[20, 61 + 15] == 100).all() and (sheet[20, 61 + 45] != 100).any()


@pytest.mark.parametrize(
    "shape, dtype, layout, kind",
    [
        ((), np.int32, "", "number"),
        ((400,), np.float32, "", "sound"),
        ((400, 2), np.float32, "", "sound"),
        ((65, 30), np.float32, "ft", "spectrogram"),
        ((5, 8, 9, 3), np.uint8, "FHWC", "frames"),
        ((5, 8, 9), np.float32, "DHW", "frames"),
        ((8, 9), np.float32, "", "image"),
        ((3, 8, 9), np.float32, "CHW", "image"),
        ((8, 9, 1), bool, "HWC", "image"),
    ],
)
def test_each_kind_of_data_has_a_picture(shape, dtype, layout, kind):
    x = np.random.default_rng(0).uniform(0, 200, shape).astype(dtype)
    assert kind_of(x, layout) == kind
    assert np.asarray(show(x, layout=layout, size=60)).std() > 0


@pytest.mark.parametrize("shape", [(0, 5, 3), (5, 0, 3), (0,), (0, 2), (0, 4, 4, 3), (1, 1, 1)])
def test_empty_and_small_samples(shape):
    show(np.zeros(shape, np.uint8), boxes=[np.zeros((0, 4))], size=20)


def test_text_and_numbers_that_are_not_finite():
    assert kind_of(np.frombuffer("Grüße".encode(), np.uint8), "") == "text"
    show(["a caption", "another one that is rather long and needs lines"])
    show(np.float32([np.nan, np.inf, 1.0, 2.0, 3.0]))
    show(np.full((4, 4), np.nan, np.float32))


@pytest.mark.parametrize(
    "marks, error, words",
    [
        ({"boxes": [np.zeros((1, 4))]}, ValueError, "boxes has 1 entries for 2 samples"),
        ({"boxes": 3}, TypeError, "one entry for each of 2"),
        ({"boxes": [np.zeros((1, 3))] * 2}, ValueError, r"\(N, 4\)"),
        ({"boxes": [np.zeros((1, 4))] * 2, "box_layout": "tlbr"}, ValueError, "ltrb"),
        ({"masks": [np.zeros((3, 3, 3))] * 2}, ValueError, "class numbers"),
        ({"before": [GRAY]}, ValueError, "1 samples for 2"),
    ],
)
def test_errors(marks, error, words):
    with pytest.raises(error, match=words):
        penstock.batch([GRAY, GRAY], layout="HWC").show(**marks)


def test_values_that_cannot_be_shown():
    with pytest.raises(TypeError, match="Sample"):
        show({"image": GRAY})
    with pytest.raises(TypeError, match="arrays"):
        show(object())


def test_notebooks():
    assert "<img" in penstock.batch([GRAY])._repr_html_()
    assert penstock.batch(np.zeros((1, 1, 1, 1, 1, 1), np.uint8))._repr_html_().startswith("<pre>")


def test_show_batch_keeps_the_position():
    from penstock.torch import DataLoader

    @penstock.pipeline_def(batch_size=2, num_threads=1)
    def images():
        index = fn.readers.indices(size=6, name="reader")
        image = fn.cast(fn.constant(fdata=[1.0] * 64, shape=[8, 8]), dtype=penstock.types.FLOAT) * index
        return image, index

    loader = DataLoader(images(), ["image", "index"])
    assert loader.show_batch(size=16, labels="index").size == (44, 8 * 2 + 13 + 8)
    assert [b["index"].tolist() for b in loader] == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(ValueError, match="no output 'x'"):
        loader.show_batch("x")


def test_params_stand_below_their_samples():
    @penstock.pipeline_def(batch_size=3, num_threads=1, seed=1)
    def turned():
        image = fn.external_source(name="images", layout="HWC")
        return fn.rotate(image, angle=fn.random.uniform(range=[10.0, 20.0]), fill_value=0, keep_size=True)

    pipe = turned().log_steps()
    (batch,) = pipe.run(images=[GRAY] * 3)
    lines = [line for caption in captions_of(None, None, pipe.params) for line in caption]
    angles = [step["arguments"]["angle"] for params in pipe.params for step in params["steps"]]
    assert lines == [f"rotate angle={angle:.4g} keep_size=True fill_value=0" for angle in angles]
    plain, labels = batch.show(size=100, columns=3), ["a", "b", "c"]
    assert batch.show(size=100, columns=3, params=pipe.params).height == plain.height + 13
    both = batch.show(size=100, columns=3, params=pipe.params, labels=labels)
    assert both.height == plain.height + 26 and np.asarray(both)[104:].min() < 128
    sample = fn.flip(fn.rotate(Sample(image=GRAY), angle=5.0, keep_size=True, fill_value=0), horizontal=1)
    assert show(sample, size=100, params=sample.params).height == plain.height + 26
    with pytest.raises(ValueError, match="2 entries for 3 samples"):
        batch.show(params=pipe.params[:2])
    with pytest.raises(TypeError, match="Pipeline.params or Sample.params"):
        batch.show(params=[3, 4, 5])
    with pytest.raises(ValueError, match="log_steps"):
        batch.show(params=[{key: p[key] for key in p if key != "steps"} for p in pipe.params])


def test_long_params_are_cut():
    steps = [{"op": f"op{k}", "arguments": {"window": [1.0, 2.25], "mode": "x"}} for k in range(12)]
    (lines,) = captions_of(["cat"], None, [{"steps": steps}])
    assert lines[:2] == ["cat", "op0 mode=x window=[1 2.25]"] and lines[-1] == "and 5 more" and len(lines) == 9
